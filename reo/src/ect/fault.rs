//! Why a `.reo` file cannot be read.

use thiserror::Error;

use crate::catalog::CatalogError;
use crate::syntax::At;

/// A fault and its place, on one line.
pub type EctError = At<EctFault>;

/// What is wrong with a `.reo` file, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EctFault {
    /// It is no XML that is read here.
    #[error("{0}")]
    Xml(String),
    /// Nothing to read.
    #[error("the file has no `connectors`; give a file that the Reo editor has saved")]
    Empty,
    /// Several connectors, or none of this name.
    #[error("the file has the connectors {0}; give --component and one of them")]
    Several(String),
    /// A channel that has no meaning here.
    #[error(
        "`{0}` is no channel that is read here; use Sync, LossySync, FIFO, LossyFIFO, drains, spouts, Filter, Transform or Timer"
    )]
    Kind(String),
    /// An end without a node.
    #[error("an end joins {0}; connect it to a node")]
    End(String),
    /// Something that a channel or node needs.
    #[error("{0}")]
    Value(&'static str),
    /// Arguments or ends that do not fit.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}
