//! Where the states of a product are that memory has no room for: on disk, or on other machines.

use std::io;

use thiserror::Error;

use crate::limits::Stopped;

/// A number that is not known.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// Why a product that is not kept was not made.
#[derive(Debug, Error)]
pub enum StreamError {
    /// It was stopped, or memory does not suffice.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// Files that it needs on its way cannot be written or read.
    #[error("temporary files of the product: {0}; make room, or set TMPDIR to a folder with more")]
    Store(io::Error),
    /// The other processes that make the product cannot be reached.
    #[error("the exchange between ranks: {0}")]
    Exchange(io::Error),
    /// What the steps say of data decides which of them there are.
    #[error(
        "which steps this product has depends on data that only the whole shows; leave data out \
         (--no-data), or make it whole"
    )]
    Data,
}

/// Some states that are to be worked on, with consecutive numbers.
pub(super) struct StateBlock {
    /// The number of the first.
    pub first: usize,
    /// Their keys, in order.
    pub keys: Vec<u64>,
}

/// All states, those that memory knows and those that it has forgotten.
pub(super) trait StateStore {
    /// States that have not been worked on, about that many, in the order of their numbers; none if
    /// there are no more, here or elsewhere.
    fn next(&mut self, rows: usize) -> Result<Option<StateBlock>, StreamError>;

    /// How many of the offered states are worked on now, where `fitting` of `all` have so few steps
    /// that memory takes them at once. The others are offered again.
    fn take(&mut self, fitting: usize, all: usize) -> usize;

    /// The numbers of states that memory does not know: `keys`, none twice, in the order in which
    /// rows lead to them. `numbers` is [`UNKNOWN`] for each of them. Those that are new get the
    /// next numbers, in this order.
    fn resolve(&mut self, keys: &[u64], numbers: &mut [u32]) -> Result<(), StreamError>;

    /// Memory forgets all states, which must stay known; if that cannot be, `full` is the reason.
    fn forget(&mut self, full: Stopped) -> Result<(), StreamError>;

    /// How many states have a number.
    fn states(&self) -> usize;

    /// Whether memory knows every state that has a number, in this order.
    fn is_whole(&self) -> bool;
}
