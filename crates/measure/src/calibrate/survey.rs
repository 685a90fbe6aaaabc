//! Everything that is measured on a device, before prices are made of it.

use super::held::{self, Held};
use super::levels::levels;
use super::rates::{self, Rates};
use super::run::{CalibrateError, CalibrationRun, Facts, Work};
use super::sample::{Sample, Sampler};
use super::sizes::{Busy, Sizes};

/// Bytes of the least footprint of the chases through caches; each further one is twice as large.
const LEAST_CHASE: usize = 4 << 10;
/// More than any unit has; keeps what is made of it small.
const MAX_ELEMENTS: usize = 1 << 20;

/// What was measured, in seconds. "Of all items together" is the time of a launch over the number
/// of operations of all its items.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Bytes that `stream`, the pass and the fill go over, and the last chase at most.
    pub footprint: usize,
    /// One fused multiply-add of one item.
    pub single: Sample,
    /// One fused multiply-add of all items together, by the size of groups.
    pub full: Vec<Busy>,
    /// One dependent load of one item, by the bytes of the footprint; the last one is the largest.
    pub chases: Vec<(usize, Sample)>,
    /// One dependent load of one item from local memory.
    pub chase_local: Sample,
    /// One dependent load of one item from constant memory.
    pub chase_constant: Sample,
    /// One load of 4 bytes from global memory, of all items together; starting the groups included.
    pub stream: Busy,
    /// A launch that reads the footprint once.
    pub pass: Sample,
    /// A fill of the footprint.
    pub fill: Sample,
    /// One load of 4 bytes from local memory, of all items together.
    pub local: Busy,
    /// One load of 4 bytes from constant memory, of all items together.
    pub constant: Busy,
    /// One atomic addition to a counter of the item's own, of all items together.
    pub atomic: Busy,
    /// One atomic addition to the same counter, of all items together.
    pub atomic_shared: Busy,
    /// One atomic addition to a counter of the item's own in local memory, of all items together.
    pub local_atomic: Busy,
    /// One atomic addition to the same counter of the group in local memory, of all items together.
    pub local_atomic_shared: Busy,
    /// One barrier of one group, by the size of the group; the last one is the largest.
    pub barriers: Vec<(usize, Sample)>,
    /// One group without work, of all units together.
    pub group: Sample,
    /// A launch of one group without work, on the device.
    pub launch: Sample,
    /// The same from the queue to the end.
    pub queued: Sample,
    /// How many groups run side by side on a unit by their local memory, where that is clear.
    pub held: Option<Held>,
    /// How many operations a unit does at once.
    pub rates: Rates,
}

/// Measures everything, global memory over `least` bytes or more. `progress` is called with what
/// comes next.
///
/// # Errors
/// The device fails or computes something wrong, or the user has had enough.
pub fn survey(
    sampler: &mut Sampler<'_>,
    facts: &Facts,
    least: usize,
    progress: &mut dyn FnMut(&str),
) -> Result<Survey, CalibrateError> {
    let mut sizes = Sizes::of(facts, least);
    progress("arithmetic");
    let single = sampler.operation(one(Work::Chain))?;
    let full = sizes.full(sampler)?;
    sizes.fill(elements(single, &full, sizes.units).0);
    let chases = chases(sampler, sizes.footprint, progress)?;
    sizes.exceed(facts, least, &levels(&chases).0);
    progress("latency of local and constant memory");
    let [chase_local, chase_constant] = small_chases(sampler)?;
    progress("bandwidth of global memory");
    let (stream, [pass, fill]) = sizes.stream(sampler)?;
    progress("bandwidth of local and constant memory");
    let local = sizes.load(sampler, Work::LoadLocal)?;
    let constant = sizes.load(sampler, Work::LoadConstant)?;
    progress("atomic operations");
    let [atomic, atomic_shared, local_atomic, local_atomic_shared] = atomics(sampler, &sizes)?;
    progress("barriers");
    let barriers = sizes.barriers(sampler)?;
    progress("starting groups and kernels");
    let [group, launch, queued] = starts(sampler, &sizes)?;
    Ok(Survey {
        rates: rates::rates(sampler, facts, &sizes, &chases, progress)?,
        held: held::held(sampler, facts, progress)?,
        footprint: sizes.footprint,
        single,
        full,
        chases,
        chase_local,
        chase_constant,
        stream,
        pass,
        fill,
        local,
        constant,
        atomic,
        atomic_shared,
        local_atomic,
        local_atomic_shared,
        barriers,
        group,
        launch,
        queued,
    })
}

/// A run of one item.
fn one(work: Work) -> CalibrationRun {
    CalibrationRun::new(work, 1, 1)
}

/// One dependent load of one item, by the bytes of the footprint.
fn chases(
    sampler: &mut Sampler<'_>,
    footprint: usize,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<(usize, Sample)>, CalibrateError> {
    let mut chases = Vec::new();
    let doubled = std::iter::successors(Some(LEAST_CHASE), |bytes| Some(2 * bytes));
    for bytes in doubled.take_while(|bytes| *bytes < footprint).chain([footprint]) {
        progress(&format!("latency in {}", bytes_text(bytes)));
        chases.push((bytes, sampler.operation(one(Work::Chase { bytes }))?));
    }
    Ok(chases)
}

/// The same from local and from constant memory.
fn small_chases(sampler: &mut Sampler<'_>) -> Result<[Sample; 2], CalibrateError> {
    Ok([sampler.operation(one(Work::ChaseLocal))?, sampler.operation(one(Work::ChaseConstant))?])
}

/// A group more of a launch, and a launch of one group, on the device and from the queue on.
fn starts(sampler: &mut Sampler<'_>, sizes: &Sizes) -> Result<[Sample; 3], CalibrateError> {
    let group = sampler.group(CalibrationRun::new(Work::Start, sizes.units, 1), true)?;
    let [launch, queued] = sampler.launch(one(Work::Start))?;
    Ok([group, launch, queued])
}

/// One atomic addition of all items together, in the order of the fields of [`Survey`].
fn atomics(sampler: &mut Sampler<'_>, sizes: &Sizes) -> Result<[Busy; 4], CalibrateError> {
    Ok([
        sizes.load(sampler, Work::Atomic)?,
        sizes.load(sampler, Work::AtomicShared)?,
        sizes.load(sampler, Work::LocalAtomic)?,
        sizes.load(sampler, Work::LocalAtomicShared)?,
    ])
}

/// Items that one unit runs at the speed of a single one, and the measurement that shows it: the
/// time of an operation alone over its time where all are busy. At least 1, which is also assumed
/// where either is too short to be measured.
pub fn elements(single: Sample, full: &[Busy], units: usize) -> (usize, Option<Busy>) {
    let seen = full.iter().filter(|busy| busy.sample.seen());
    let Some(best) = seen.min_by(|a, b| a.sample.seconds.total_cmp(&b.sample.seconds)) else {
        return (1, full.first().copied());
    };
    let ratio = single.seconds / (best.sample.seconds * units as f64);
    ((ratio.round() as usize).clamp(1, MAX_ELEMENTS), Some(*best))
}

/// `16 KiB`, `4 MiB`.
pub fn bytes_text(bytes: usize) -> String {
    match bytes {
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 => format!("{} KiB", b >> 10),
        b => format!("{b} bytes"),
    }
}
