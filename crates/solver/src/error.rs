//! Why a search has no result.

use thiserror::Error;
use tickbound_encodings::Encoding;
use tickbound_encodings::plan::PlanError;
use tickbound_encodings::system::InternalError;
use tickbound_model::{Configuration, ModelError, Problem};
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
    /// This configuration's time leaves 63 bits.
    #[error("{0}: its time leaves 63 bits; make the inputs smaller or exclude it")]
    Overflow(String),
    /// The encoding needs more steps than this for a configuration.
    #[error(
        "--encoding {0}: {1} needs more than {2} steps; use --encoding summary or smaller inputs"
    )]
    TooDeep(Encoding, String, usize),
    /// Two times that have to be the same differ: a fault of this program.
    #[error("{0}; this is a fault of tickbound, please report it with the problem file")]
    Disagreement(String),
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
    /// The error for an encoding and the simulator that differ about a configuration: the ticks of
    /// each; `None` if the simulator cannot follow the schedule.
    pub fn disagreement(
        problem: &Problem,
        configuration: &Configuration,
        encoding: i64,
        simulator: Option<i64>,
    ) -> SolveError {
        let simulator = simulator
            .map_or_else(|| "cannot follow its schedule".to_owned(), |ticks| ticks.to_string());
        SolveError::Disagreement(format!(
            "{}: the encoding says {encoding} ticks, the simulator {simulator}",
            problem.name_values(configuration)
        ))
    }

    /// The error for a least time for which the confirming solver found something faster.
    pub(crate) fn refuted(claimed: i64, found: i64) -> SolveError {
        SolveError::Disagreement(format!(
            "a plain solver finds {found} ticks below the proved least time {claimed}"
        ))
    }

    /// True if this program is at fault, not what it was given.
    pub fn is_fault(&self) -> bool {
        use SolveError::{Disagreement, Fault, Panicked, Schedule, Simulate};
        matches!(
            self,
            Disagreement(_)
                | Fault(_)
                | Panicked
                | Simulate(SimulateError::Counts(..))
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
