//! Why a search has no result.

use thiserror::Error;
use tickbound_encodings::Encoding;
use tickbound_encodings::plan::PlanError;
use tickbound_encodings::system::InternalError;
use tickbound_model::ModelError;
use tickbound_schedules::ScheduleError;
use tickbound_simulator::SimulateError;
use tickbound_timing::Uncovered;

/// Why there is no result.
#[derive(Debug, Error)]
pub enum SolveError {
    /// The problem is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The problem is outside what the encoding covers.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The run time is no expression over the parameters.
    #[error("{0}; use another strategy")]
    Uncovered(#[from] Uncovered),
    /// The simulator refuses.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A configuration's time leaves 63 bits.
    #[error("{configuration}: its time leaves 63 bits; make the inputs smaller or exclude it")]
    Overflow {
        /// The configuration.
        configuration: String,
    },
    /// The encoding needs too many steps.
    #[error(
        "--encoding {encoding}: {configuration} needs more than {limit} steps; use --encoding \
         summary or smaller inputs"
    )]
    TooDeep {
        /// The encoding.
        encoding: Encoding,
        /// The configuration.
        configuration: String,
        /// Most steps allowed.
        limit: usize,
    },
    /// An encoding and the simulator differ: a fault of this program.
    #[error(
        "{configuration}: the encoding says {encoding} ticks, the simulator {}; this is a fault of \
         tickbound, please report it with the problem file",
        simulator.map_or_else(|| "cannot follow its schedule".to_owned(), |ticks| ticks.to_string())
    )]
    Disagreement {
        /// The configuration.
        configuration: String,
        /// Ticks according to the encoding.
        encoding: i64,
        /// Ticks according to the simulator; `None` if it cannot follow the schedule.
        simulator: Option<i64>,
    },
    /// The confirming solver found something faster: a fault of this program.
    #[error(
        "a plain solver finds {found} ticks below the proved least time {claimed}; this is a fault \
         of tickbound, please report it with the problem file"
    )]
    Refuted {
        /// What was claimed.
        claimed: i64,
        /// What the confirming solver found.
        found: i64,
    },
    /// The time as derived a second way has another least: a fault of this program.
    #[error(
        "the least time is {claimed} ticks, and by a second derivation of the time {found}; this \
         is a fault of tickbound, please report it with the problem file"
    )]
    Derivations {
        /// What was claimed.
        claimed: i64,
        /// The least time of the second derivation.
        found: i64,
    },
    /// What cannot be: a fault of this program.
    #[error(transparent)]
    Fault(#[from] InternalError),
    /// Schedules cannot be explored.
    #[error(transparent)]
    Schedule(ScheduleError),
    /// A strategy panicked: a fault of this program.
    #[error(
        "a search thread failed; this is a fault of tickbound, please report it with the problem \
         file"
    )]
    Panicked,
}

impl SolveError {
    /// True if this program is at fault, not what it was given.
    pub fn is_fault(&self) -> bool {
        use SolveError::{Derivations, Disagreement, Fault, Panicked, Refuted, Schedule, Simulate};
        matches!(
            self,
            Disagreement { .. }
                | Refuted { .. }
                | Derivations { .. }
                | Fault(_)
                | Panicked
                | Simulate(SimulateError::Counts { .. })
                | Schedule(ScheduleError::Fault(_))
        )
    }
}

impl From<ScheduleError> for SolveError {
    fn from(error: ScheduleError) -> SolveError {
        match error {
            ScheduleError::Simulate(error) => SolveError::Simulate(error),
            error => SolveError::Schedule(error),
        }
    }
}
