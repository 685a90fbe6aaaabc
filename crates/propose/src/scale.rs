//! Guessed sizes with which a launch has a time.
//!
//! Where loops stand in loops, a thousand of everything is more work than 63 bits count. In goes a
//! draft that can be read; out comes the same one, with the inputs that were guessed divided by
//! four until its first configuration ends within [`LONGEST`] ticks, but not below [`LEAST`]. Other
//! configurations take some times as long at most. What the user has given stays.

use tickbound_elimination::TableLimits;
use tickbound_model::Problem;
use tickbound_simulator::{SimulateError, SimulateOptions, simulate};

use crate::Reader;
use crate::draft::Draft;

/// Ticks of the longest launch that is proposed: days, where a tick is a clock.
const LONGEST: i64 = 1 << 50;
/// No guess becomes smaller than this.
const LEAST: i64 = 16;
/// What takes more events has far fewer ticks than [`LONGEST`], or is decided by its bounds later.
const EVENTS: u64 = 1_000_000;

/// The draft of this problem, with smaller guesses if its launch would take too long.
pub(crate) fn scaled(draft: Draft, mut problem: Problem, read: Reader<'_>) -> Draft {
    let mut scaled = draft.clone();
    while too_long(&problem) {
        let mut smaller = false;
        for name in &scaled.guessed {
            if let Some(size) = scaled.inputs.get_mut(name).filter(|size| **size > LEAST) {
                *size = (*size / 4).max(LEAST);
                smaller = true;
            }
        }
        if !smaller {
            break;
        }
        // A draft that cannot be read with smaller sizes stays as it was.
        let Ok((again, Some(_))) = read(&scaled) else { return draft };
        problem = again;
    }
    scaled
}

fn too_long(problem: &Problem) -> bool {
    let Ok(configurations) = problem.configurations(&TableLimits::default()) else { return false };
    let Some(first) = configurations.first() else { return false };
    let Ok(bound) = configurations.bind(&first) else { return false };
    let options = SimulateOptions { max_events: EVENTS, ..SimulateOptions::default() };
    match simulate(problem, &bound, &options) {
        Ok(run) => run.time > LONGEST,
        Err(error) => matches!(error, SimulateError::Overflow { .. }),
    }
}
