//! The local memory of a unit, seen in how many groups run side by side on it.
//!
//! OpenCL states what a group can have. A unit may have several times as much, and then runs as
//! many groups at once. Groups here take a fixed time, and each has local memory: launches of 1, 2,
//! 3 ... groups for each unit take as long as one, until one group too many makes a second round.

use super::run::{CalibrateError, CalibrationRun, Facts, Work};
use super::sample::{Sample, Sampler};

/// More groups than this may be limited by something else, and share the lanes of a unit.
const MAX_GROUPS: usize = 16;
/// Bytes to which the local memory of a group is searched for: that of recent graphics processors
/// is given out in multiples of as many (CUDA occupancy calculator).
const GRANULE: usize = 128;
/// Launches of one round take at most this many times as long as one group for each unit.
const MAX_ONE_ROUND: f64 = 1.25;
/// Launches of two rounds take at least this many times as long.
const MIN_TWO_ROUNDS: f64 = 1.75;

/// Groups that run side by side on a unit, where one more does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// How many.
    pub groups: usize,
    /// Bytes of local memory that each has.
    pub bytes: usize,
    /// An operation of one group for each unit.
    pub sample: Sample,
}

/// Finds the groups that take most local memory together: as many as fit with the limit of a group
/// each, or one more with less each. Nothing on a processor, whose local memory is in its caches,
/// and where times are not clearly of one round or of two.
///
/// # Errors
/// The device computes something wrong, or the user has had enough.
pub(super) fn held(
    sampler: &mut Sampler<'_>,
    facts: &Facts,
    progress: &mut dyn FnMut(&str),
) -> Result<Option<Held>, CalibrateError> {
    let limit = usize::try_from(facts.local_memory).unwrap_or(usize::MAX) / GRANULE * GRANULE;
    if facts.processor || limit == 0 {
        return Ok(None);
    }
    progress("local memory of a unit");
    let units = facts.units.max(1) as usize;
    let mut time = |groups: usize, local: usize| -> Result<Sample, CalibrateError> {
        let run = CalibrationRun::new(Work::Hold { local }, groups * units, 1);
        Ok(sampler.operation(run)?.times((groups * units) as f64))
    };
    let sample = match time(1, limit) {
        Ok(sample) if sample.seen() => sample,
        // Some drivers state more than a kernel can have.
        Ok(_) | Err(CalibrateError::Device(_)) => return Ok(None),
        Err(fault) => return Err(fault),
    };
    let mut longer =
        |groups, local| Ok::<_, CalibrateError>(time(groups, local)?.seconds / sample.seconds);
    let mut groups = 1;
    loop {
        match longer(groups + 1, limit)? {
            one if one <= MAX_ONE_ROUND && groups < MAX_GROUPS => groups += 1,
            two if two >= MIN_TWO_ROUNDS => break,
            _ => return Ok(None),
        }
    }
    // Between what one group more can have for certain and what it cannot have.
    let (mut fits, mut exceeds) = (groups * limit / (groups + 1) / GRANULE, limit / GRANULE);
    while exceeds - fits > 1 {
        let middle = fits.midpoint(exceeds);
        let one = longer(groups + 1, middle * GRANULE)? <= MAX_ONE_ROUND;
        *(if one { &mut fits } else { &mut exceeds }) = middle;
    }
    let more = (groups + 1) * fits * GRANULE > groups * limit;
    let (groups, bytes) = if more { (groups + 1, fits * GRANULE) } else { (groups, limit) };
    Ok(Some(Held { groups, bytes, sample }))
}
