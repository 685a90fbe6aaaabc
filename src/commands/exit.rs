//! How commands end: the exit status, and errors.

use tickbound_solver::SolveError;

use tickbound_compare::cp_sat::CpSatError;
use tickbound_report::ReportError;
use tickbound_report::answer::Answer;

/// What the help states of [`Exit`].
pub(super) const EXIT_STATUS: &str = "\
Exit status:
  0  proved, or done
  1  not proved, infeasible, or nothing found
  2  bad input
  3  a fault of tickbound: please report it with the problem file
  4  measure --baseline: another configuration is faster";

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done; a least time is proved.
    Done,
    /// 1: nothing is proved, or nothing was found.
    Nothing,
    /// 2: bad input.
    Input,
    /// 3: a fault of tickbound.
    Fault,
    /// 4: a configuration is faster than the user's own.
    Faster,
}

impl Exit {
    /// The end of a command that searches for a least time.
    pub(super) fn of(answer: &Answer) -> Exit {
        Exit::found(answer.proved())
    }

    /// Done if what was looked for was found.
    pub(super) fn found(found: bool) -> Exit {
        if found { Exit::Done } else { Exit::Nothing }
    }
}

/// Why a command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Bad input, or a fault found by the engines.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A file could not be read.
    #[error("{path}: {error}; give the path of a problem file")]
    Read {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The problem cannot be written in Promela.
    #[error(transparent)]
    Promela(#[from] tickbound_spin::promela::PromelaError),
    /// A kernel in OpenCL C cannot be read.
    #[error(transparent)]
    Kernel(#[from] tickbound_opencl::ReadError),
    /// No problem file can be proposed.
    #[error(transparent)]
    Propose(#[from] tickbound_propose::ProposeError),
    /// CP-SAT is missing, or has found a fault.
    #[error(transparent)]
    CpSat(#[from] CpSatError),
    /// SPIN is missing, or has found a fault.
    #[error(transparent)]
    Spin(#[from] tickbound_spin::SpinError),
    /// A certificate cannot be written.
    #[error("--certificate: {0}")]
    Certificate(#[from] tickbound_certificate::Refusal),
    /// A report could not be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Measured times cannot be read.
    #[error(transparent)]
    Results(#[from] tickbound_measure::score::ResultsError),
    /// No rule over sizes was found.
    #[error(transparent)]
    Rule(#[from] tickbound_rules::RuleError),
    /// Nothing could be measured.
    #[error(transparent)]
    Measure(#[from] tickbound_measure::MeasureError),
    /// Standard output or another file could not be written.
    #[error("{path}: cannot be written: {error}; choose a place that exists and may be written to")]
    Write {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// Something else about the input.
    #[error("{0}")]
    Input(String),
}

impl CliError {
    /// Why a format cannot have a problem.
    pub fn not_written(format: &str, what: &str) -> CliError {
        let format = format!("--to {format}");
        CliError::Input(format!("{format}: {what}; `tickbound tune` finds the least time without"))
    }

    /// The fault is in tickbound, not in what it was given.
    pub fn is_fault(&self) -> bool {
        match self {
            CliError::Solve(e) => e.is_fault(),
            CliError::Spin(e) => e.is_fault(),
            CliError::CpSat(e) => e.is_fault(),
            CliError::Rule(e) => e.is_fault(),
            // What the search has proved is not so, or the problem is not what it was.
            CliError::Certificate(e) => matches!(e, tickbound_certificate::Refusal::Wrong(_)),
            _ => false,
        }
    }
}

impl From<tickbound_model::ModelError> for CliError {
    fn from(e: tickbound_model::ModelError) -> Self {
        CliError::Solve(e.into())
    }
}

impl From<tickbound_simulator::SimulateError> for CliError {
    fn from(e: tickbound_simulator::SimulateError) -> Self {
        CliError::Solve(e.into())
    }
}

/// An error of a library as an error about the input: it states what, where and the fix itself.
pub(crate) fn input(error: impl std::fmt::Display) -> CliError {
    CliError::Input(error.to_string())
}
