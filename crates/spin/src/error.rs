//! Why a search with SPIN has no result.

use thiserror::Error;
use tickbound_simulator::SimulateError;

/// What ends the messages about faults of this program.
const FAULT: &str = "this is a fault of tickbound, please report it with the problem file";

/// Why there is no result.
#[derive(Debug, Error)]
pub enum SpinError {
    /// An unusable program, file or option, or an unreadable answer: what, why, and the fix.
    #[error("{0}")]
    Unusable(String),
    /// The model is at fault, or the search: what shows it.
    #[error("{0}; {FAULT}")]
    Fault(String),
    /// A trail that does not fit the problem: what is wrong with it.
    #[error("a trail of SPIN cannot be used: {0}; {FAULT} (--keep DIR keeps the trail)")]
    Trail(String),
    /// SPIN and our simulator differ: the configuration, and what each makes of it.
    #[error("{0}; {FAULT} (--keep DIR keeps the trail)")]
    Disagreement(String),
    /// SPIN has proved a bound and then found something below it, or our simulator has.
    #[error(
        "SPIN proves that nothing takes {proved} ticks or fewer, but {who} takes {found}; {FAULT}"
    )]
    Contradiction {
        /// The bound for which `OverTime` was proved.
        proved: i64,
        /// Who found otherwise.
        who: String,
        /// Ticks found.
        found: i64,
    },
    /// The simulator refuses.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
}

impl SpinError {
    /// The fault is in this program, not in what it was given or in what is installed.
    pub fn is_fault(&self) -> bool {
        !matches!(self, SpinError::Unusable(_) | SpinError::Simulate(_))
    }
}
