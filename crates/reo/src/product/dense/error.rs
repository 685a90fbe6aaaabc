//! Why there is no dense product.

use thiserror::Error;

use super::word::MAX_NAMES;
use crate::limits::Stopped;

/// A result that may be a [`DenseError`].
pub type DenseResult<T> = Result<T, DenseError>;

/// Why there is no dense product.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DenseError {
    /// Too many names together.
    #[error("{0} names; a dense matrix has at most {MAX_NAMES}; use --mode reachable or implicit")]
    Names(usize),
    /// A step has a data constraint, and these were not to be ignored.
    #[error(
        "a step from state {from} has a data constraint, which the dense form cannot hold; leave \
         data out, or use --mode reachable"
    )]
    Data {
        /// Where the step starts.
        from: u32,
    },
    /// A step without names goes to another state.
    #[error(
        "a silent step goes from state {from} to {to}, which the dense form cannot hold; hide \
         names after composing, or use --mode reachable"
    )]
    Silent {
        /// Where the step starts.
        from: u32,
        /// Where it ends.
        to: u32,
    },
    /// Cells that do not make the matrix that was planned.
    #[error("{found} cells do not fit a product of {needed}")]
    Cells {
        /// How many words were given.
        found: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The system did not give the memory, though the limit allows it: what needed it, and how many
    /// bytes.
    #[error("the system has no {1} bytes of memory for {0}; lower --memory to find out earlier")]
    Allocation(&'static str, u128),
    /// A limit, or somebody, stopped it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}
