//! The least time of a configuration over all its schedules.
//!
//! Small launches are explored by the simulator, schedule by schedule. Larger ones are explored by
//! counted warps, which is then trusted and reported as such: a proof would take longer to check
//! than it takes to find both ends again.

use tickbound_model::{Bound, Problem};
use tickbound_schedules::{ScheduleError, ScheduleLimits, WarpLaunch};
use tickbound_simulator::SimulateError;

use crate::refusal::Refusal;

/// Most states that the simulator explores for one configuration.
const FEW: u64 = 20_000;

/// What was trusted on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trusted {
    /// Configurations that were explored by counted warps.
    pub counted: usize,
    /// Configurations that were bounded from below.
    pub bounded: usize,
}

/// The time of a configuration under its best schedule, or a bound of it that is at least `enough`.
///
/// # Errors
/// It has no time, or is too large.
pub fn least(
    problem: &Problem,
    bound: &Bound,
    enough: i64,
    stop: &dyn Fn() -> bool,
    trusted: &mut Trusted,
) -> Result<i64, Refusal> {
    if !problem.has_open_schedule() {
        return Ok(tickbound_simulator::simulate(problem, bound, &Default::default())?.time);
    }
    let limits = tickbound_simulator::ExploreLimits {
        max_states: FEW,
        ..tickbound_simulator::ExploreLimits::default()
    };
    match tickbound_simulator::explore(problem, bound, &limits) {
        Ok(both) => return Ok(both.best),
        Err(SimulateError::TooManyStates { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let launch = WarpLaunch::new(problem, bound).map_err(refusal)?;
    if launch.least() >= enough {
        trusted.bounded += 1;
        return Ok(launch.least());
    }
    trusted.counted += 1;
    let limits = ScheduleLimits { max_recorded: 0, ..ScheduleLimits::default() };
    Ok(launch.explore(&limits, stop).map_err(refusal)?.best)
}

fn refusal(error: ScheduleError) -> Refusal {
    match error {
        ScheduleError::Simulate(error) => error.into(),
        ScheduleError::Stopped => Refusal::Stopped,
        error => Refusal::wrong(format!("not checked: {error}")),
    }
}
