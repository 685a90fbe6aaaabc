//! Why an exploration has no result.

use thiserror::Error;
use tickbound_simulator::SimulateError;

/// Why there is no least and greatest time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// The configuration has no time at all, or not as an open schedule.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// The launch is larger than what is explored.
    #[error("the launch has {0}")]
    TooLarge(TooLarge),
    /// More work than allowed.
    #[error("not explored within {0}")]
    Limit(Limit),
    /// The caller has stopped it.
    #[error("stopped")]
    Stopped,
    /// A fault of this program: the two views of the launch differ.
    #[error("internal fault: {0}; please report it with the problem file")]
    Fault(String),
}

/// What is too large to be explored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TooLarge {
    /// Steps of all warps, loops unrolled.
    #[error("more than {0} steps of warps")]
    Steps(usize),
    /// Ticks of one phase of a warp.
    #[error("a warp that takes more than {0} ticks between two barriers")]
    Ticks(i64),
    /// Ticks of the whole launch.
    #[error("a time beyond 63 bits")]
    Time,
    /// Groups that have a place at once.
    #[error("places for more than {0} groups at once")]
    Places(usize),
}

/// Which limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Limit {
    /// Different situations of a unit.
    #[error("{0} states of a unit")]
    States(usize),
    /// States with places in the program and groups left.
    #[error("{0} visits")]
    Visits(u64),
}
