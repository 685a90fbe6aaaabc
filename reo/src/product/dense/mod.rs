//! The dense product of the thesis: every cell of the Kronecker product.
//!
//! Vilbergsson (2012, chapter 3) writes an automaton in the algebraic form as its adjacency matrix,
//! in which each cell holds the labels of the steps from its row's state to its column's. Every
//! name has a sign in every label, so a cell of the product needs one cell of each factor and
//! nothing else: `a | b` where the two labels agree on the names that both automata know, no step
//! where they contradict each other. All cells can be made at once, in any order, by any number of
//! workers - here by threads, in the root crate by OpenCL devices, which fill the same matrix from
//! the same [`Plan`].
//!
//! A [`Matrix`] of n states has n * n cells of k slots, one 64-bit word a slot: the names that fire
//! as bits over its alphabet of at most [`MAX_NAMES`] names, or [`EMPTY`]. State (p, q) of a
//! product of n and m states is p * m + q, and slots are numbered alike; both are associative, so
//! any bracketing of several factors gives the same cells.
//!
//! The form is plain: it has no data constraints, and no silent step but idling. It is also as
//! large as it looks, n * n * k * 8 bytes: [`fold`] checks the limit before it takes any memory.
//!
//! ```
//! use tickbound_reo::limits::Limits;
//! use tickbound_reo::primitive::{Content, fifo1};
//! use tickbound_reo::product::dense::{Data, Matrix, fold};
//! use tickbound_reo::symbol::Symbols;
//!
//! let mut symbols = Symbols::new();
//! let limits = Limits::memory(1 << 20);
//! let buffers: Vec<Matrix> = ["x", "y"]
//!     .map(|x| {
//!         let (a, b) = (symbols.name(&format!("{x}in")), symbols.name(&format!("{x}out")));
//!         let buffer = fifo1(a, b, symbols.cell(x), Content::Empty);
//!         Matrix::new(&buffer, Data::Ignore, &limits).unwrap()
//!     })
//!     .into();
//! // The square of the thesis: 4 states, 16 algebraic transitions, 4 of them idle loops.
//! let square = fold(&buffers, &limits).unwrap();
//! assert_eq!((square.states(), square.transitions()), (4, 16));
//! assert_eq!(square.to_automaton(&limits).unwrap().without_idle().transitions(), 12);
//! ```

mod alphabet;
mod batch;
mod cells;
mod checksum;
mod fold;
mod memory;
mod plan;
mod sparse;

use rayon::prelude::*;
use thiserror::Error;

pub use batch::{Batch, BatchPlan, Part, batch};
pub use checksum::Checksum;
pub use fold::{compose, fold, need};
pub use plan::{Plan, Shape, product};
pub use sparse::Form;

use crate::automaton::{Automaton, Rows};
use crate::label;
use crate::limits::{Limits, Stopped};
use crate::symbol::Name;

/// A slot without a step: bit 63 alone, which is no name's.
pub const EMPTY: u64 = 1 << 63;

/// Most names of one matrix: the bits of a word but the one of [`EMPTY`].
pub const MAX_NAMES: usize = 63;

/// Why there is no dense product.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DenseError {
    /// Too many names together.
    #[error("{0} names; a dense matrix has at most {MAX_NAMES}; use --mode reachable or implicit")]
    Names(usize),
    /// A step has a data constraint, and these were not to be ignored.
    #[error(
        "a step from state {from} has a data constraint, which the dense form cannot hold; leave data out, or use --mode reachable"
    )]
    Data {
        /// Where the step starts.
        from: u32,
    },
    /// A step without names goes to another state.
    #[error(
        "a silent step goes from state {from} to {to}, which the dense form cannot hold; hide names after composing, or use --mode reachable"
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
    /// The system did not give the memory, though the limit allows it.
    #[error(
        "the system has no {bytes} bytes of memory for {what}; lower --memory to find out earlier"
    )]
    Allocation {
        /// What needed it.
        what: &'static str,
        /// How many bytes.
        bytes: u128,
    },
    /// A limit, or somebody, stopped it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// What becomes of data constraints, which a matrix cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// An automaton with any is refused.
    Refuse,
    /// They are taken to be `true`; steps that are then alike become one.
    Ignore,
}

/// An automaton in the algebraic form, as its adjacency matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// Sorted; bit i of a label is the i-th.
    alphabet: Vec<Name>,
    initial: Vec<u32>,
    states: usize,
    /// At least 1.
    slots: usize,
    /// `states * states * slots`, row by row.
    cells: Vec<u64>,
}

impl Matrix {
    /// The matrix of an automaton. Each state gets an idle loop; a cell has as many slots as the
    /// most steps between two states.
    ///
    /// # Errors
    /// More than [`MAX_NAMES`] names, constraints that `data` refuses, a silent step to another
    /// state, too little memory.
    pub fn new(automaton: &Automaton, data: Data, limits: &Limits) -> Result<Matrix, DenseError> {
        if automaton.alphabet().len() > MAX_NAMES {
            return Err(DenseError::Names(automaton.alphabet().len()));
        }
        let constrained = automaton.all_steps().find(|s| !automaton.constraint(s).is_true());
        if let (Data::Refuse, Some(step)) = (data, constrained) {
            return Err(DenseError::Data { from: step.from });
        }
        let plain = automaton.without_data().with_idle();
        let moves = plain.all_steps().find(|s| label::is_silent(s.label) && s.from != s.to);
        if let Some(step) = moves {
            return Err(DenseError::Silent { from: step.from, to: step.to });
        }
        filled(&plain, limits)
    }

    /// Names, sorted; bit i of a label is the i-th.
    #[must_use]
    pub fn alphabet(&self) -> &[Name] {
        &self.alphabet
    }

    /// States that a run may begin in, sorted.
    #[must_use]
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// How many states there are.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// Slots of each cell, at least 1.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// All slots: the words of cell (p, q) begin at `(p * states + q) * slots`.
    #[must_use]
    pub fn cells(&self) -> &[u64] {
        &self.cells
    }

    /// How many steps there are, idle loops among them: slots that are not [`EMPTY`].
    #[must_use]
    pub fn transitions(&self) -> u64 {
        let count = |block: &[u64]| block.iter().filter(|word| **word != EMPTY).count() as u64;
        self.cells.par_chunks(1 << 16).map(count).sum()
    }

    /// The automaton, idle loops among its steps.
    ///
    /// # Errors
    /// More memory than allowed.
    pub fn to_automaton(&self, limits: &Limits) -> Result<Automaton, DenseError> {
        let steps = u128::from(self.transitions());
        let bytes = steps * sparse::STEP_BYTES + 8 * (self.states as u128 + 1);
        limits.fits("the sparse rows", bytes)?;
        let mut rows = Rows { rows: vec![0], ..Rows::default() };
        let mut row: Vec<(u64, u32)> = Vec::new();
        for cells in self.cells.chunks_exact((self.states * self.slots).max(1)) {
            row.clear();
            let steps = cells.iter().enumerate().filter(|(_, label)| **label != EMPTY);
            row.extend(steps.map(|(at, label)| (*label, (at / self.slots) as u32)));
            row.sort_unstable();
            rows.labels.extend(row.iter().map(|(label, _)| label));
            rows.targets.extend(row.iter().map(|(_, to)| to));
            rows.rows.push(rows.targets.len());
        }
        Ok(sparse::assemble(&self.alphabet, &self.initial, rows))
    }
}

/// The matrix of an automaton without data, with idle loops and without other silent steps.
fn filled(plain: &Automaton, limits: &Limits) -> Result<Matrix, DenseError> {
    let states = plain.states();
    let slots = (0..states as u32).map(|state| most_parallel(plain, state)).max().unwrap_or(1);
    let needed = (states as u128).pow(2) * slots as u128 * 8;
    limits.fits("a dense matrix", needed)?;
    let mut cells = memory::zeroed("a dense matrix", states * states * slots)?;
    cells.fill(EMPTY);
    for step in plain.all_steps() {
        let at = (step.from as usize * states + step.to as usize) * slots;
        let free = cells[at..at + slots].iter_mut().find(|word| **word == EMPTY);
        // There is one: `slots` is the most steps that any cell holds.
        if let Some(word) = free {
            *word = step.label[0];
        }
    }
    Ok(Matrix {
        alphabet: plain.alphabet().to_vec(),
        initial: plain.initial().to_vec(),
        states,
        slots,
        cells,
    })
}

/// The most steps that go from one state to the same other one, at least 1.
fn most_parallel(automaton: &Automaton, state: u32) -> usize {
    let mut targets: Vec<u32> = automaton.steps(state).map(|step| step.to).collect();
    targets.sort_unstable();
    targets.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(1)
}
