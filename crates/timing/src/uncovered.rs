//! What the cost of a problem does not cover.

use thiserror::Error;
use tickbound_model::ModelError;

/// What the cost of a problem does not cover.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Uncovered {
    /// The problem itself is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Something that the time cannot be written down for: where it stands, and what it is.
    #[error("{0}: {1}")]
    Statement(String, &'static str),
}

pub(crate) fn uncovered<T>(at: &str, what: &'static str) -> Result<T, Uncovered> {
    Err(Uncovered::Statement(at.to_owned(), what))
}
