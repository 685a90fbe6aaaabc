//! Automata as matrices of labels, their words and memory, and errors of dense products.

use std::alloc::{Layout, alloc_zeroed};

use rayon::prelude::*;
use thiserror::Error;

use crate::automaton::{Automaton, AutomatonRows};
use crate::constraint::ConstraintStore;
use crate::label;
use crate::limits::{ProductLimits, Stopped};
use crate::symbol::NameId;

/// A slot without a step: bit 63 alone, which belongs to no name.
pub const EMPTY: u64 = 1 << 63;

/// Most names of one matrix: the bits of a word but the one of [`EMPTY`].
pub const MAX_NAMES: usize = 63;

/// What becomes of data constraints, which a matrix cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellData {
    /// An automaton with any is refused.
    Refuse,
    /// They are taken to be `true`; steps that are then alike become one.
    Ignore,
}

/// An automaton in the algebraic form, as its adjacency matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// Sorted; bit i of a label is the i-th.
    pub(super) alphabet: Vec<NameId>,
    pub(super) initial: Vec<u32>,
    pub(super) states: usize,
    /// At least 1.
    pub(super) slots: usize,
    /// `states * states * slots`, row by row.
    pub(super) cells: Vec<u64>,
}

impl Matrix {
    /// The matrix of an automaton. Each state gets an idle loop; a cell has as many slots as the
    /// most steps between two states.
    ///
    /// # Errors
    /// More than [`MAX_NAMES`] names, constraints that `data` refuses, a silent step to another
    /// state, too little memory.
    pub fn new(
        automaton: &Automaton,
        data: CellData,
        limits: &ProductLimits,
    ) -> DenseResult<Matrix> {
        if automaton.alphabet().len() > MAX_NAMES {
            return Err(DenseError::Names(automaton.alphabet().len()));
        }
        let constrained = automaton.all_steps().find(|s| !automaton.constraint(s).is_true());
        if let (CellData::Refuse, Some(step)) = (data, constrained) {
            return Err(DenseError::Data { from: step.from });
        }
        let plain = automaton.without_data().with_idle();
        let moves = plain.all_steps().find(|s| label::is_silent(s.label) && s.from != s.to);
        if let Some(step) = moves {
            return Err(DenseError::Silent { from: step.from, to: step.to });
        }
        filled(&plain, limits)
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Slots of each cell, at least 1.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// All slots: the words of cell (p, q) begin at `(p * states + q) * slots`.
    pub fn cells(&self) -> &[u64] {
        &self.cells
    }

    /// How many steps there are, idle loops among them: slots that are not [`EMPTY`].
    pub fn transitions(&self) -> u64 {
        let count = |block: &[u64]| block.iter().filter(|word| **word != EMPTY).count() as u64;
        self.cells.par_chunks(1 << 16).map(count).sum()
    }

    /// The automaton, idle loops among its steps.
    pub fn to_automaton(&self, limits: &ProductLimits) -> DenseResult<Automaton> {
        let steps = u128::from(self.transitions());
        let bytes = steps * STEP_BYTES + 8 * (self.states as u128 + 1);
        limits.fits("the sparse rows", bytes)?;
        let row = (self.states * self.slots).max(1);
        let rows = sparse_rows(&self.cells, row, self.slots, |_| true);
        Ok(assemble(&self.alphabet, &self.initial, rows))
    }
}

/// The steps that are kept, by their labels and targets, in rows of `row` words with cells of
/// `slots`.
pub(super) fn sparse_rows(
    cells: &[u64],
    row: usize,
    slots: usize,
    is_kept: impl Fn(u64) -> bool,
) -> AutomatonRows {
    let mut rows = AutomatonRows { rows: vec![0], ..AutomatonRows::default() };
    let mut steps: Vec<(u64, u32)> = Vec::new();
    for cells in cells.chunks_exact(row) {
        let here = cells.iter().enumerate();
        let here = here.filter(|(_, label)| **label != EMPTY && is_kept(**label));
        steps.clear();
        steps.extend(here.map(|(at, label)| (*label, (at / slots) as u32)));
        steps.sort_unstable();
        rows.labels.extend(steps.iter().map(|(label, _)| label));
        rows.targets.extend(steps.iter().map(|(_, to)| to));
        rows.rows.push(rows.targets.len());
    }
    rows
}

/// The matrix of an automaton without data, with idle loops and without other silent steps.
fn filled(plain: &Automaton, limits: &ProductLimits) -> DenseResult<Matrix> {
    let states = plain.states();
    let slots = (0..states as u32).map(|state| most_parallel(plain, state)).max().unwrap_or(1);
    let needed = (states as u128).pow(2) * slots as u128 * 8;
    limits.fits("a dense matrix", needed)?;
    let mut cells = zeroed("a dense matrix", states * states * slots)?;
    cells.fill(EMPTY);
    for step in plain.all_steps() {
        let at = (step.from as usize * states + step.to as usize) * slots;
        let free = cells[at..at + slots].iter_mut().find(|word| **word == EMPTY);
        // There is one: `slots` is the most steps that any cell holds.
        if let Some(word) = free {
            *word = step.label[0];
        }
    }
    let (alphabet, initial) = (plain.alphabet().to_vec(), plain.initial().to_vec());
    Ok(Matrix { alphabet, initial, states, slots, cells })
}

/// The most steps that go from one state to the same other one, at least 1.
fn most_parallel(automaton: &Automaton, state: u32) -> usize {
    let mut targets: Vec<u32> = automaton.steps(state).map(|step| step.to).collect();
    targets.sort_unstable();
    targets.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(1)
}

/// A result that may be a [`DenseError`].
pub type DenseResult<T> = Result<T, DenseError>;

/// Errors of a dense product.
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
    /// The system refused memory within the limit: what needed it, and how many bytes.
    #[error("the system has no {1} bytes of memory for {0}; lower --memory to find out earlier")]
    Allocation(&'static str, u128),
    /// A limit, or somebody, stopped it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// `len` zeros, or an error where `vec![0; len]` would abort; its pages are untouched.
pub(super) fn zeroed(what: &'static str, len: usize) -> DenseResult<Vec<u64>> {
    let fail = || DenseError::Allocation(what, len as u128 * 8);
    if len == 0 {
        return Ok(Vec::new());
    }
    let layout = Layout::array::<u64>(len).map_err(|_| fail())?;
    // SAFETY: the layout is not of size 0, as len > 0.
    let pointer = unsafe { alloc_zeroed(layout) }.cast::<u64>();
    if pointer.is_null() {
        return Err(fail());
    }
    // SAFETY: the pointer comes from the global allocator with the layout of an array of `len`
    // words, which is that of a vector with this capacity; all `len` words are initialised, to 0.
    Ok(unsafe { Vec::from_raw_parts(pointer, len, len) })
}

/// Bytes of one step in sparse rows: its label and its target.
pub(super) const STEP_BYTES: u128 = 12;

/// The automaton of rows whose labels are of one word.
pub(super) fn assemble(alphabet: &[NameId], initial: &[u32], rows: AutomatonRows) -> Automaton {
    let (alphabet, initial) = (alphabet.to_vec(), initial.to_vec());
    let made =
        Automaton::from_rows(alphabet, initial, rows, ConstraintStore::default(), Vec::new());
    // Rows of matrices fit: they are as many as there are states, targets are columns, labels have
    // one word as there are at most 63 names, and alphabets and initial states are sorted.
    made.unwrap_or_else(|e| unreachable!("rows of a matrix: {e}"))
}
