//! Why something is no proof.

use tickbound_model::ModelError;
use tickbound_simulator::SimulateError;

use tickbound_timing::obligation::product::ObligationError;

/// Why a certificate cannot be written, or is rejected.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The problem is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The time is no sum, or has no value.
    #[error(transparent)]
    Obligation(#[from] ObligationError),
    /// A configuration cannot be simulated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// There is more to look at than can be.
    #[error("{0}")]
    TooLarge(&'static str),
    /// The user stopped it.
    #[error("stopped before the end")]
    Stopped,
    /// What is claimed is wrong, or does not follow.
    #[error("{0}")]
    Wrong(String),
    /// A file of the folder: which, and what is wrong with it.
    #[error("{0}: {1}")]
    File(String, String),
}

impl Refusal {
    pub(crate) fn wrong(what: impl Into<String>) -> Refusal {
        Refusal::Wrong(what.into())
    }
}
