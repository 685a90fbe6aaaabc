//! Why there is no program.

use thiserror::Error;

/// Most steps of a program: beyond, compilers take too long to be of use.
pub(super) const MAX_STEPS: usize = 20_000;

/// Why an automaton cannot be a program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GenerateError {
    /// It does not begin in one state.
    #[error("a program begins in one state, the automaton in {0}; mark one as initial")]
    Initial(usize),
    /// No step fires a name.
    #[error("no step fires a name that the environment sees; show some names in the interface")]
    Ports,
    /// A step in which no name fires.
    #[error("step `{0}` fires nothing; take silent steps into those behind them first")]
    Silent(String),
    /// Too large.
    #[error(
        "a program of {0} steps is too large to compile (at most {MAX_STEPS}); hide names, or \
         minimise it"
    )]
    Large(usize),
    /// A step leaves a value open: that of a name, of a cell, or of a test.
    #[error(
        "step `{0}` leaves {1} open: no equation gives it a value; add one, such as `b = a` or `b \
         = f($m)`, or let the environment write to the name"
    )]
    Open(String, String),
}
