//! Everything that is measured on a device, before prices are made of it.

use super::run::{Facts, Fault, Run, Work};
use super::sample::{Sample, Sampler};

/// Groups for each unit where all units are to be busy: so many that it does not matter much where
/// the last ones run.
pub const GROUPS_PER_UNIT: usize = 64;
/// Items of a group where nothing else decides; fewer where the device allows fewer.
pub const USUAL_GROUP: usize = 256;
/// Footprints of the chases through caches, in bytes.
pub const LEVELS: [usize; 3] = [16 << 10, 256 << 10, 4 << 20];
/// More than any unit has; keeps what is made of it small.
const MOST_ELEMENTS: usize = 1 << 20;

/// An operation of all items together, in groups of so many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Busy {
    /// Items of a group.
    pub group: usize,
    /// One operation.
    pub sample: Sample,
}

/// What was measured, in seconds. "Of all items together" is the time of a launch over the number
/// of operations of all its items.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Bytes that `stream`, the last chase and the fill go over.
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
}

/// Sizes of groups and buffers on a device.
struct Sizes {
    units: usize,
    footprint: usize,
    max_group: usize,
    local_memory: usize,
    /// Items of a group that leaves no element idle.
    busy_group: usize,
}

/// Measures everything. `progress` is told what comes next.
///
/// # Errors
/// The device fails or computes something wrong, or the user has had enough.
pub fn survey(
    sampler: &mut Sampler<'_>,
    facts: &Facts,
    footprint: usize,
    progress: &mut dyn FnMut(&str),
) -> Result<Survey, Fault> {
    let mut sizes = Sizes {
        units: facts.units.max(1) as usize,
        footprint,
        max_group: facts.max_group.max(1),
        local_memory: usize::try_from(facts.local_memory).unwrap_or(usize::MAX),
        busy_group: USUAL_GROUP,
    };
    let one = |work| Run::new(work, 1, 1);
    progress("arithmetic");
    let single = sampler.operation(one(Work::Chain))?;
    let full = sizes.full(sampler)?;
    sizes.busy_group = busy_group(elements(single, &full, sizes.units).0);
    let mut chases = Vec::new();
    for bytes in LEVELS.into_iter().filter(|bytes| *bytes < footprint).chain([footprint]) {
        progress(&format!("latency in {}", bytes_text(bytes)));
        chases.push((bytes, sampler.operation(one(Work::Chase { bytes }))?));
    }
    progress("latency of local and constant memory");
    let chase_local = sampler.operation(one(Work::ChaseLocal))?;
    let chase_constant = sampler.operation(one(Work::ChaseConstant))?;
    progress("bandwidth of global memory");
    let stream = sizes.stream(sampler)?;
    let [fill, _] = sampler.launch(one(Work::Fill { bytes: footprint }))?;
    progress("bandwidth of local and constant memory");
    let local = sizes.load(sampler, Work::LoadLocal)?;
    let constant = sizes.load(sampler, Work::LoadConstant)?;
    progress("atomic operations");
    let atomic = sizes.load(sampler, Work::Atomic)?;
    let atomic_shared = sizes.load(sampler, Work::AtomicShared)?;
    let local_atomic = sizes.load(sampler, Work::LocalAtomic)?;
    let local_atomic_shared = sizes.load(sampler, Work::LocalAtomicShared)?;
    progress("barriers");
    let barriers = sizes.barriers(sampler)?;
    progress("starting groups and kernels");
    let group = sampler.group(Run::new(Work::Start, sizes.units, 1), true)?;
    let [launch, queued] = sampler.launch(one(Work::Start))?;
    Ok(Survey {
        footprint,
        single,
        full,
        chases,
        chase_local,
        chase_constant,
        stream,
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

impl Sizes {
    /// The largest group of at most `wish` items that a kernel can be run in.
    fn group(&self, sampler: &mut Sampler<'_>, work: Work, wish: usize) -> Result<usize, Fault> {
        let most = sampler.runner.most_items(work)?.min(self.max_group).min(wish);
        let fits = match work {
            // Two cells an item and 16 more.
            Work::LoadLocal => (self.local_memory / 4).saturating_sub(16) / 2,
            Work::LocalAtomic | Work::LocalAtomicShared => self.local_memory / 4,
            _ => most,
        };
        Ok(most.min(fits).max(1))
    }

    /// An operation where all units are busy.
    fn load(&self, sampler: &mut Sampler<'_>, work: Work) -> Result<Busy, Fault> {
        let group = self.group(sampler, work, self.busy_group)?;
        let sample = sampler.operation(Run::new(work, GROUPS_PER_UNIT * self.units, group))?;
        Ok(Busy { group, sample })
    }

    /// The same over the footprint, read once.
    fn stream(&self, sampler: &mut Sampler<'_>) -> Result<Busy, Fault> {
        let work = Work::Stream { bytes: self.footprint };
        let group = self.group(sampler, work, self.busy_group)?;
        let groups = self.footprint / 4 / 8 / group;
        let sample = sampler.group(Run::new(work, groups.max(1), group), false)?;
        Ok(Busy { group, sample: sample.times(1.0 / (8 * group) as f64) })
    }

    fn full(&self, sampler: &mut Sampler<'_>) -> Result<Vec<Busy>, Fault> {
        let groups = GROUPS_PER_UNIT * self.units;
        let mut sizes = Vec::new();
        for wish in [64, USUAL_GROUP, usize::MAX] {
            sizes.push(self.group(sampler, Work::Chain, wish)?);
        }
        sizes.dedup();
        let each = |group| {
            let sample = sampler.operation(Run::new(Work::Chain, groups, group))?;
            Ok(Busy { group, sample })
        };
        sizes.into_iter().map(each).collect()
    }

    fn barriers(&self, sampler: &mut Sampler<'_>) -> Result<Vec<(usize, Sample)>, Fault> {
        let mut sizes = Vec::new();
        for wish in [64, usize::MAX] {
            let size = self.group(sampler, Work::Barriers, wish)?;
            sizes.push(size.min(self.group(sampler, Work::OneBarrier, wish)?));
        }
        sizes.dedup();
        let each = |group| {
            let of = |work| Run::new(work, 1, group);
            let sample = sampler.difference(of(Work::Barriers), of(Work::OneBarrier))?;
            // One barrier after each of the operations, against one after the last.
            let more = Work::Barriers.operations() as f64 - 1.0;
            Ok((group, sample.times(1.0 / more)))
        };
        sizes.into_iter().map(each).collect()
    }
}

/// Items that one unit runs at the speed of a single one, and the measurement that says so: what an
/// operation takes alone, over what a unit takes for one where all are busy. At least 1, which is what
/// is assumed where either is too little to be seen.
#[must_use]
pub fn elements(single: Sample, full: &[Busy], units: usize) -> (usize, Option<Busy>) {
    let seen = full.iter().filter(|busy| busy.sample.seen());
    let Some(best) = seen.min_by(|a, b| a.sample.seconds.total_cmp(&b.sample.seconds)) else {
        return (1, full.first().copied());
    };
    let ratio = single.seconds / (best.sample.seconds * units as f64);
    ((ratio.round() as usize).clamp(1, MOST_ELEMENTS), Some(*best))
}

/// Items of a group that leaves none of so many elements idle.
fn busy_group(elements: usize) -> usize {
    elements.next_power_of_two().max(USUAL_GROUP)
}

/// `16 KiB`, `4 MiB`.
#[must_use]
pub fn bytes_text(bytes: usize) -> String {
    match bytes {
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 => format!("{} KiB", b >> 10),
        b => format!("{b} bytes"),
    }
}
