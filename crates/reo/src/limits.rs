//! What long work may use, how it is stopped, and who follows its progress.

use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

use crate::symbol::{SymbolId, Symbols};

/// How far work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProductProgress {
    /// How many states were found to differ, while states are compared.
    pub blocks: Option<u64>,
    /// States found so far, or compared.
    pub states: u64,
    /// Transitions found so far.
    pub transitions: u64,
}

/// Limits of one piece of work.
#[derive(Clone, Copy)]
pub struct ProductLimits<'a> {
    /// Most bytes for the result and what is needed to make it, as counted by the engine. Work that
    /// would need more ends in [`Stopped::Memory`] before it takes them.
    pub memory: u64,
    /// Set from outside to stop the work soon.
    pub stop: &'a AtomicBool,
    /// Called now and then, from any thread.
    pub progress: &'a (dyn Fn(ProductProgress) + Sync),
}

/// Why work did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Stopped {
    /// It would need more memory than allowed.
    #[error(
        "{what}: {needed} bytes or more, over the limit of {limit}; raise --memory, hide names, or \
         use --mode implicit"
    )]
    Memory {
        /// What would need it.
        what: &'static str,
        /// Bytes, where known.
        needed: u128,
        /// The limit, in bytes.
        limit: u64,
    },
    /// More states than can be numbered with 32 bits.
    #[error(
        "{0} states or more; at most 4294967295 can be numbered; hide names, or use --mode implicit"
    )]
    States(u128),
    /// Silent steps change or test values in ever new ways; the function they apply, if known.
    #[error(
        "silent closure: conditions on values that go round inside have no end; show a name on \
         their way, or leave data out with --no-data"
    )]
    Values(Option<SymbolId>),
    /// It was stopped from outside.
    #[error("stopped")]
    Interrupted,
}

impl Stopped {
    /// The error for people who know the words of the connector.
    pub fn text(&self, symbols: &Symbols) -> String {
        match self {
            Stopped::Values(Some(function)) => {
                format!("function `{}`: {self}", symbols.word(*function))
            }
            _ => self.to_string(),
        }
    }
}

/// A result that may be [`Stopped`].
pub type Limited<T> = Result<T, Stopped>;

static NEVER: AtomicBool = AtomicBool::new(false);

impl ProductLimits<'static> {
    /// Only the memory is limited; there is no stop flag and no observer.
    pub fn memory(bytes: u64) -> Self {
        ProductLimits { memory: bytes, stop: &NEVER, progress: &|_| {} }
    }
}

impl ProductLimits<'_> {
    /// Whether that many bytes are still allowed.
    pub fn fits(&self, what: &'static str, bytes: u128) -> Limited<()> {
        if bytes > u128::from(self.memory) {
            return Err(Stopped::Memory { what, needed: bytes, limit: self.memory });
        }
        Ok(())
    }

    /// Whether to go on.
    pub fn go_on(&self) -> Limited<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Stopped::Interrupted) } else { Ok(()) }
    }

    /// Whether to go on; if so, reports how far the work is, as in [`ProductProgress`].
    pub fn go_on_from(&self, blocks: Option<u64>, states: u64, transitions: u64) -> Limited<()> {
        self.go_on()?;
        (self.progress)(ProductProgress { blocks, states, transitions });
        Ok(())
    }
}
