//! Running a configuration within a budget of events, and what that can come to.

use tickbound_model::{Bound, Problem};
use tickbound_simulator::{SimulateError, SimulateOptions, simulate};

use crate::error::SolveError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Simulated {
    /// It takes this many ticks.
    Time {
        /// Its run time.
        ticks: i64,
        /// Events that the simulation took.
        events: u64,
    },
    /// Its time leaves 63 bits.
    Beyond,
    /// It has too many events or items to be simulated.
    TooLarge,
}

/// Simulates a configuration with at most `max_events` events.
///
/// # Errors
/// A fault of the problem.
pub(crate) fn simulated(
    problem: &Problem,
    bound: &Bound,
    max_events: u64,
) -> Result<Simulated, SolveError> {
    match simulate(problem, bound, &SimulateOptions { max_events, ..SimulateOptions::default() }) {
        Ok(run) => Ok(Simulated::Time { ticks: run.time, events: run.events }),
        Err(SimulateError::Overflow { .. }) => Ok(Simulated::Beyond),
        Err(e) if e.is_too_large() => Ok(Simulated::TooLarge),
        Err(e) => Err(e.into()),
    }
}
