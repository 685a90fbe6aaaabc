//! What a rule is wanted for, and errors of the search for it.

use std::sync::atomic::{AtomicBool, Ordering};

use tickbound_model::Problem;
use tickbound_solver::{SearchOptions, SolveError};

use crate::sizes::RuleSizes;

/// What a rule is wanted for.
pub struct RuleRequest<'r> {
    /// The sizes.
    pub sizes: &'r RuleSizes,
    /// The problem at a size: [`RuleSizes::values`] for its first parameters, and the platform.
    pub problem_at: &'r (dyn Fn(usize) -> Result<Problem, RuleError> + Sync),
    /// The greatest loss at any size, in millionths of the least time.
    pub loss: u64,
    /// How many variants there may be; then `loss` is not used, and the least loss is found.
    pub variants: Option<usize>,
    /// A decision tree over the sizes picks, not the least predicted time.
    pub tree: bool,
    /// How least times are searched for.
    pub options: SearchOptions,
    /// Ends the search when it becomes true.
    pub interrupt: &'r AtomicBool,
    /// Shows what is done.
    pub progress: &'r (dyn Fn(&str) + Sync),
}

impl RuleRequest<'_> {
    pub(crate) fn stopped(&self) -> bool {
        let SearchOptions { timeout, since, .. } = self.options;
        let late = timeout.zip(since).is_some_and(|(most, since)| since.elapsed() > most);
        late || self.interrupt.load(Ordering::Relaxed)
    }
}

/// Errors of the search for a rule.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// A size is at fault, or a fault was found at it.
    #[error("at {size}: {error}")]
    At {
        /// The size.
        size: String,
        /// What is wrong.
        error: SolveError,
    },
    /// The kernel cannot be read.
    #[error("{0}")]
    Kernel(String),
    /// A time cannot be written as code.
    #[error("--emit: {0}; `tune --over --json` has the configurations")]
    NoForm(String),
    /// A decision tree cannot be the rule.
    #[error("--tree: {0}")]
    NoTree(String),
    /// No size has a valid configuration.
    #[error(
        "--over {0}: no configuration is valid at any of these sizes; `tickbound tune` with \
         --input names the constraints"
    )]
    Infeasible(String),
    /// No configuration is valid at a size, or at all of them.
    #[error(
        "--mix: no configuration is valid at {0}; `tickbound tune --size` names the constraints"
    )]
    NoMix(String),
    /// The times of all launches together are too long.
    #[error("--mix: the time of all launches together is beyond 2^63 ticks; give smaller weights")]
    Total,
    /// The search ended before anything was known.
    #[error("the search ended before the least time of a size was known; give it more time")]
    Nothing,
    /// More variants are needed than are allowed.
    #[error(
        "--variants {most}: no {most} of the configurations that were examined are valid at all \
         sizes; {needed} are"
    )]
    TooFew {
        /// How many are allowed.
        most: usize,
        /// How many are enough.
        needed: usize,
    },
}

impl RuleError {
    pub(crate) fn at(request: &RuleRequest<'_>, size: usize, error: SolveError) -> RuleError {
        RuleError::At { size: request.sizes.name(size), error }
    }

    /// The fault is in tickbound, not in what it was given.
    pub fn is_fault(&self) -> bool {
        matches!(self, RuleError::At { error, .. } if error.is_fault())
    }
}
