//! Why a configuration has no time.

use thiserror::Error;

use tickbound_model::ModelError;

/// Why a simulation has no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SimulateError {
    /// An expression of the program has no value, or the configuration does not fit the problem.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What was counted in the source has no value: a fault of the counts, not of the problem.
    /// Which number of the usage, why, and the configuration.
    #[error(
        "{0}: what was counted in the source has no value for {2} ({1}); this is a fault of \
         tickbound: please report it with the problem file and its source, and take --profile \
         opencl meanwhile"
    )]
    Counts(String, String, String),
    /// An access or work has a negative amount, or the items of one group, or of one warp, do not
    /// all take the same barrier: where, the configuration, and the fix.
    #[error("{0}")]
    Program(String),
    /// A time beyond 63 bits: the statement or number counted last, and the configuration.
    #[error("{0}: the time exceeds 63 bits for {1}; use a coarser tick")]
    Overflow(String, String),
    /// More events than [`Options::max_events`](super::SimulateOptions::max_events).
    #[error(
        "more than {limit} events for {configuration}; simulate a smaller input or raise the limit"
    )]
    TooManyEvents {
        /// The limit.
        limit: u64,
        /// The configuration.
        configuration: String,
    },
    /// More items on one unit than [`MAX_ITEMS`](super::MAX_ITEMS).
    #[error(
        "{items} items on one unit at once, but at most {limit} can be simulated, for \
         {configuration}; use smaller groups"
    )]
    TooManyItems {
        /// How many there are.
        items: i64,
        /// The limit.
        limit: i64,
        /// The configuration.
        configuration: String,
    },
    /// A chooser has chosen an option that does not exist.
    #[error("option {index} was chosen of {options} options at tick {time}; count them from 0")]
    NoSuchOption {
        /// The index.
        index: usize,
        /// How many options there were.
        options: usize,
        /// The time.
        time: i64,
    },
    /// More states than [`Limits::max_states`](super::ExploreLimits::max_states).
    #[error(
        "more than {limit} states for {configuration}{}; explore a smaller input or raise the \
         limit",
        found(.times)
    )]
    TooManyStates {
        /// The limit.
        limit: u64,
        /// The least and the greatest time of the schedules that were completed, if there were any.
        times: Option<(i64, i64)>,
        /// The configuration.
        configuration: String,
    },
}

impl SimulateError {
    /// True if the simulator refused because of the size, not because of a fault.
    pub fn is_too_large(&self) -> bool {
        matches!(self, SimulateError::TooManyEvents { .. } | SimulateError::TooManyItems { .. })
    }
}

fn found(times: &Option<(i64, i64)>) -> String {
    times.map_or(String::new(), |(best, worst)| format!(", times from {best} to {worst} so far"))
}
