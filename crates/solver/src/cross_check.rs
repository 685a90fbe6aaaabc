//! Checks of a plan against the simulator.
//!
//! Bounds, incumbents and encoding come from one plan, so a fault in it would show nowhere else.
//! Where that is cheap all configurations are simulated, elsewhere some that a seed chooses.

use tickbound_encodings::system::InternalError;

use crate::error::SolveError;
use crate::simulated::{Simulated, simulated};
use crate::task::Task;
use tickbound_model::random::SplitMix64;

/// Most configurations that are all simulated.
const MAX_ALL: usize = 2_000;
/// Most events of all simulations together: about half a second.
const MAX_EVENTS: u64 = 20_000_000;
/// How many are simulated where there are more.
const SAMPLE: usize = 64;

/// Compares bounds and times with the simulator's; how many configurations were compared.
/// `computed` is the time of a configuration by an encoding, where it has one.
pub(crate) fn simulator(
    task: &Task<'_>,
    seed: u64,
    computed: &mut dyn FnMut(usize) -> Result<Option<i64>, SolveError>,
) -> Result<u64, SolveError> {
    let all = task.space.bound.len();
    let mut random = SplitMix64(seed);
    let chosen: Vec<usize> = match all <= MAX_ALL {
        true => (0..all).collect(),
        false => (0..SAMPLE).map(|_| random.draw() as usize % all).collect(),
    };
    let (mut left, mut compared) = (MAX_EVENTS, 0);
    for c in chosen {
        if task.bracket.out_of_time() {
            break;
        }
        let run = simulated(task.problem, &task.space.bound[c], left)?;
        let Simulated::Time { ticks, events } = run else { continue };
        left = left.saturating_sub(events);
        agrees(task, c, ticks, computed(c)?)?;
        compared += 1;
    }
    Ok(compared)
}

fn agrees(task: &Task<'_>, c: usize, time: i64, computed: Option<i64>) -> Result<(), SolveError> {
    task.bracket.check(time)?;
    let (problem, configuration) = (task.problem, &task.space.bound[c].configuration);
    if time < task.lower[c] {
        let (name, bound) = (problem.name_values(configuration), task.lower[c]);
        let what = format!("{name}: takes {time} ticks, but its lower bound is {bound}");
        return Err(InternalError(what).into());
    }
    match computed.filter(|claimed| *claimed != time) {
        None => Ok(()),
        Some(claimed) => Err(SolveError::disagreement(problem, configuration, claimed, Some(time))),
    }
}
