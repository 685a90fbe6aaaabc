//! The outcome of a search for the least time, by any engine.

use serde::{Deserialize, Serialize};

use crate::Configuration;

/// How much is known about the least time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The least time is known and proved.
    Optimal,
    /// It lies between a lower and an upper bound.
    #[default]
    Bounded,
    /// There is no valid configuration.
    Infeasible,
}

/// One configuration and its time, confirmed by the simulator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedConfiguration {
    /// The configuration.
    pub configuration: Configuration,
    /// Its time in ticks.
    pub time: i64,
}

/// What ended a search before it was finished.
#[derive(Debug, Clone, PartialEq)]
pub enum StopReason {
    /// The time given ran out; in seconds.
    TimeOut(f64),
    /// It took more memory than this many bytes.
    Memory(u64),
    /// The user interrupted it.
    Interrupted,
    /// The solver gave up; its own words.
    Solver(String),
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StopReason::TimeOut(seconds) => write!(f, "time-out of {seconds} s"),
            StopReason::Memory(bytes) => {
                write!(f, "memory limit of {} MB", bytes.div_ceil(1_000_000))
            }
            StopReason::Interrupted => f.write_str("interrupt"),
            StopReason::Solver(why) => write!(f, "solver: {why}"),
        }
    }
}
