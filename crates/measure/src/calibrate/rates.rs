//! How much a unit does at once: what the profile `resources` needs to know beyond prices.
//!
//! Throughput is measured where all units are busy, with operations that do not wait for each
//! other; on a processor an operation is one on a vector. The meaning of the numbers is in
//! `docs/calibrate.md`.

use super::expect::LINE;
use super::levels::levels;
use super::run::{CalibrateError, CalibrationRun, Facts, Work};
use super::sample::{Sample, Sampler};
use super::sizes::{Busy, Sizes};

/// Items further apart in local memory than this do not meet more often on any device.
const MAX_BANKS: usize = 64;

/// What was measured, in seconds for one operation of all items together.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// A dependent operation on whole numbers, one item alone: on a processor one clock.
    pub clock: Option<Sample>,
    /// A multiply-add.
    pub real: Busy,
    /// An operation on whole numbers.
    pub integer: Busy,
    /// Either of these, by turns.
    pub mixed: Busy,
    /// A square root.
    pub special: Busy,
    /// A load that L1 serves.
    pub near: Busy,
    /// The same where neighbours load from lines of their own; not on processors, where all do.
    pub lines: Option<Busy>,
    /// A load from local memory, by the cells between neighbours; processors have no banks.
    pub banks: Vec<(usize, Busy)>,
    /// A byte of a piece of memory that all read over and over, by the bytes of the piece: at most
    /// half of what each cache holds behind the first, then the largest footprint.
    pub sweeps: Vec<(usize, Sample)>,
}

/// Measures them. `chases` are the latencies by footprint, in which caches are seen.
///
/// # Errors
/// The device fails or computes something wrong, or the user has had enough.
pub(super) fn rates(
    sampler: &mut Sampler<'_>,
    facts: &Facts,
    sizes: &Sizes,
    chases: &[(usize, Sample)],
    progress: &mut dyn FnMut(&str),
) -> Result<Rates, CalibrateError> {
    progress("throughput of arithmetic");
    let clock = match facts.processor {
        true => Some(sampler.operation(CalibrationRun::new(Work::Clock, 1, 1))?),
        false => None,
    };
    let real = sizes.load(sampler, Work::Reals)?;
    let integer = sizes.load(sampler, Work::Integers)?;
    let mixed = sizes.load(sampler, Work::Mixed)?;
    let special = sizes.load(sampler, Work::Specials)?;
    progress("bandwidth of caches");
    let near = sizes.load(sampler, Work::LoadNear { apart: 1 })?;
    let (mut lines, mut banks) = (None, Vec::new());
    if !facts.processor {
        // One cell more than a line: neighbours do not meet in a bank.
        lines = Some(sizes.load(sampler, Work::LoadNear { apart: LINE + 1 })?);
        let mut apart = 1;
        while apart <= MAX_BANKS {
            banks.push((apart, sizes.load(sampler, Work::LoadBanks { apart })?));
            apart *= 2;
        }
    }
    let (caches, _) = levels(chases);
    let behind = caches.iter().skip(1).map(|level| 1 << (level.bytes / 2).max(1).ilog2());
    let mut sweeps = Vec::new();
    for bytes in behind.chain([sizes.footprint]) {
        sweeps.push((bytes, sizes.sweep(sampler, bytes, facts.vector)?));
    }
    Ok(Rates { clock, real, integer, mixed, special, near, lines, banks, sweeps })
}
