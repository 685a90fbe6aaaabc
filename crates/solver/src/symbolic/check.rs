//! Holding the cost against the simulator: everywhere if that is cheap, elsewhere at random.

use tickbound_model::Space;
use tickbound_model::verdict::TimedConfiguration;

use crate::error::SolveError;
use crate::search::Search;
use crate::simulated::{Simulated, simulated};
use tickbound_model::random::SplitMix64;

/// Most configurations that are all simulated.
const MAX_LISTED: u64 = 20_000;
/// Most events of all these simulations together: about a tenth of a second.
const MAX_EVENTS: u64 = 4_000_000;
/// What starting a simulation is worth, in events.
const OVERHEAD: u64 = 60;
/// Configurations drawn at random.
const SAMPLE: usize = 64;
/// Most events for each of these.
const SAMPLE_EVENTS: u64 = 2_000_000;

/// Simulates all configurations, if that is cheap, and closes the bracket; false if it is not.
pub(super) fn all(search: &Search<'_>) -> Result<bool, SolveError> {
    let few = search.configurations.count().and_then(|n| u64::try_from(n).ok());
    if few.is_none_or(|n| n > MAX_LISTED) {
        return Ok(false);
    }
    let problem = search.problem();
    let Space { bound, .. } = problem.space()?;
    let mut left = MAX_EVENTS.saturating_sub(OVERHEAD * bound.len() as u64);
    // Three of them tell whether it is worth a try.
    let three = [0, bound.len() / 2, bound.len().saturating_sub(1)];
    for b in three.iter().filter_map(|c| bound.get(*c)) {
        let share = left / bound.len().max(1) as u64;
        // A fault is met again below, where it is in the order of the space.
        if let Ok(Simulated::TooLarge) = simulated(problem, b, 4 * share + OVERHEAD) {
            return Ok(false);
        }
    }
    let mut all = Vec::with_capacity(bound.len());
    for b in bound {
        if search.bracket.out_of_time() {
            return Ok(false);
        }
        let Simulated::Time { ticks, events } = simulated(problem, &b, left)? else {
            return Ok(false);
        };
        left = left.saturating_sub(events);
        all.push(TimedConfiguration { configuration: b.configuration, time: ticks });
    }
    search.listed(all)?;
    Ok(true)
}

/// Simulates one configuration drawn at random and offers its time, so that a search that is
/// stopped before it proposes anything has something to show.
pub(super) fn first(search: &Search<'_>, seed: u64) -> Result<(), SolveError> {
    let mut random = SplitMix64(seed);
    let Some(configuration) = search.configurations.random(&mut || random.draw()) else {
        return Ok(());
    };
    let bound = search.configurations.bind(&configuration)?;
    // One at fault or too large is left to the search, and so is one that closes the bracket:
    // the strategy that closes it has the proof.
    match simulated(search.problem(), &bound, SAMPLE_EVENTS) {
        Ok(Simulated::Time { ticks, .. }) if ticks > search.bracket.bounds().lower => {
            search.offer(configuration, None).map(|_| ())
        }
        _ => Ok(()),
    }
}

/// Simulates configurations drawn at random and compares; how many.
pub(super) fn sample(search: &Search<'_>, seed: u64) -> Result<u64, SolveError> {
    let mut random = SplitMix64(seed);
    let mut compared = 0;
    for _ in 0..SAMPLE {
        if search.bracket.out_of_time() {
            break;
        }
        let Some(configuration) = search.configurations.random(&mut || random.draw()) else {
            break;
        };
        let claimed = search.claimed(&configuration)?;
        let bound = search.configurations.bind(&configuration)?;
        let time = match simulated(search.problem(), &bound, SAMPLE_EVENTS)? {
            Simulated::Time { ticks, .. } => ticks,
            Simulated::Beyond => i64::MAX,
            Simulated::TooLarge => continue,
        };
        let agrees = if search.cost.is_exact() { claimed == time } else { claimed <= time };
        if !agrees {
            return Err(search.disagreement(&configuration, claimed, Some(time)));
        }
        search.bracket.check(time)?;
        compared += 1;
    }
    Ok(compared)
}
