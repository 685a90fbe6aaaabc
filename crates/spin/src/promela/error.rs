//! Why a problem cannot be written in Promela.

use thiserror::Error;

use tickbound_model::ModelError;
use tickbound_simulator::SimulateError;

/// Why there is no Promela text; each message ends with what to shrink.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PromelaError {
    /// The problem itself is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A configuration cannot be run, so there is nothing to check.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// No configuration satisfies the constraints.
    #[error("the space is empty: no configuration satisfies the constraints; loosen one of them")]
    EmptySpace,
    /// A number, of this size, that no Promela type holds, and what to shrink.
    #[error("{0}: {1} is beyond Promela's 32-bit int; {2}")]
    TooWide(String, i64, String),
    /// More processes than SPIN can run.
    #[error(
        "--style processes: {count} processes ({what}), SPIN has at most {limit}; {fix}, or take \
         --style lockstep"
    )]
    TooManyProcesses {
        /// How many there would be.
        count: u64,
        /// Of what kinds.
        what: String,
        /// The most that are possible.
        limit: u64,
        /// What to shrink.
        fix: String,
    },
    /// An array or a table is too large to be written out: where, of what, and what to shrink.
    #[error("{0}")]
    TooMany(String),
    /// A template does not fit, and why: a fault of this program.
    #[error("the template `{0}` failed: {1}; this is a fault of tickbound, please report it")]
    Template(String, String),
}

impl PromelaError {
    /// The error for `count` of `what`, above `limit`; `fix` states what to shrink.
    pub(super) fn too_many(at: &str, what: &str, count: u64, limit: u64, fix: &str) -> Self {
        let text = format!("{at}: {count} {what}, a Promela text holds {limit}; {fix}");
        PromelaError::TooMany(text)
    }
}
