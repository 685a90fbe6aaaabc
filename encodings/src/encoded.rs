//! The result of an encoding.

use thiserror::Error;

use crate::system::run::SystemRunError;
use crate::system::{InternalError, System};

/// Steps after which a program that is closed as a whole has reached its goal.
pub const CLOSED_STEPS: usize = 2;

/// What became of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EncodingReport {
    /// Sorts of configurations that were closed separately.
    pub shapes: usize,
    /// Pieces of program that were closed.
    pub closed: usize,
    /// Pieces that stayed a program: loops, joins or whole shapes.
    pub open: usize,
    /// Nodes of all terms that went into egg.
    pub nodes_in: usize,
    /// Nodes of the arithmetic that came out.
    pub nodes_out: usize,
    /// Nodes of all e-graphs at their end.
    pub nodes_explored: usize,
}

/// Why a plan has no transition system.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// A fault of this program.
    #[error(transparent)]
    Fault(#[from] InternalError),
    /// A group that differs from others has no ticks: they leave 63 bits, or take too many steps.
    #[error("a group of configuration {configuration}: {error}")]
    Group {
        /// Index of the configuration in the plan.
        configuration: usize,
        /// Why the group has no ticks.
        error: SystemRunError,
    },
}

/// A transition system, and what is known of how it was made.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The system.
    pub system: System,
    /// What became of the program, where the encoding closes pieces of it.
    pub report: Option<EncodingReport>,
}

impl Encoded {
    /// True if the whole program was closed: every configuration then ends within
    /// [`CLOSED_STEPS`] steps.
    pub fn is_closed(&self) -> bool {
        self.report.is_some_and(|report| report.open == 0)
    }
}

impl From<System> for Encoded {
    fn from(system: System) -> Encoded {
        Encoded { system, report: None }
    }
}
