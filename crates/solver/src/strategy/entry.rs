//! What the register of strategies holds of each.

use crate::error::SolveError;
use crate::formula::SmtFormula;
use crate::proof::Proof;
use crate::search::Search;
use crate::task::{FormulaSearch, Task};

/// What a name represents.
pub(crate) struct Entry {
    pub run: Run,
    /// Its place in a race, the most promising first; `None` if it takes no part.
    pub rank: Option<u8>,
    /// It begins with neither bounds nor probes.
    pub from_nothing: bool,
}

/// How a strategy closes the bracket.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// By asking a solver about a formula.
    OnFormula(OnFormula),
    /// On the space as a structure and the time as an expression, without a list.
    Symbolic(OnStructure),
    /// By simulating.
    OnSimulator(fn(&Task<'_>) -> Result<(), SolveError>),
    /// By several of the others at once, the most promising first.
    Together(fn(&Task<'_>, SmtFormula<'_>, &[OnFormula]) -> Result<(), SolveError>),
}

/// Closes the bracket without a list, and returns the proof; `None` if it did not.
pub(crate) type OnStructure = fn(&Search<'_>) -> Result<Option<Proof>, SolveError>;

/// Asks a solver until the bracket is closed.
pub(crate) type OnFormula = fn(&dyn FormulaSearch) -> Result<(), SolveError>;

impl Entry {
    pub const fn on_formula(run: OnFormula) -> Entry {
        Entry::with(Run::OnFormula(run))
    }

    /// An entry that neither takes part in a race nor is special otherwise.
    pub const fn with(run: Run) -> Entry {
        Entry { run, rank: None, from_nothing: false }
    }
}
