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
    /// A number that no Promela type holds.
    #[error("{what}: {value} is beyond Promela's 32-bit int; {fix}")]
    TooWide {
        /// What it is.
        what: String,
        /// How large it gets.
        value: i64,
        /// What to shrink.
        fix: String,
    },
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
    /// An array or a table that is too large to be written out.
    #[error("{at}: {count} {what}, a Promela text holds {limit}; {fix}")]
    TooMany {
        /// Where.
        at: String,
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// The most that are possible.
        limit: u64,
        /// What to shrink.
        fix: String,
    },
    /// A template that does not fit: a fault of this program.
    #[error(
        "the template `{template}` failed: {why}; this is a fault of tickbound, please report it"
    )]
    Template {
        /// Its name.
        template: String,
        /// In the template engine's words.
        why: String,
    },
}
