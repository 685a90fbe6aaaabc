//! The dense product of the thesis: every cell of the Kronecker product.
//!
//! Vilbergsson (2012, chapter 3) writes an automaton in the algebraic form as its adjacency matrix:
//! each cell holds the labels of the steps from its row's state to its column's. A cell of the
//! product needs one cell of each factor: `a | b` where the labels agree on the names that both
//! know, else no step. So cells can be made in any order, by threads here or by OpenCL devices from
//! the same [`DensePlan`].
//!
//! A [`Matrix`] of n states has n * n cells of k slots, a 64-bit word each: the names that fire as
//! bits, at most [`MAX_NAMES`], or [`EMPTY`]. State (p, q) of a product with m states on the right
//! is p * m + q, and slots are numbered alike; both are associative.
//!
//! There are no data constraints, and no silent step but idling. [`fold`] checks n * n * k * 8
//! bytes before it takes memory; [`DenseStream`] makes a product in blocks of rows.
//!
//! ```
//! use tickbound_reo::limits::ProductLimits;
//! use tickbound_reo::primitive::{BufferContent, fifo1};
//! use tickbound_reo::product::dense::{CellData, Matrix, fold};
//! use tickbound_reo::symbol::Symbols;
//!
//! let mut symbols = Symbols::new();
//! let limits = ProductLimits::memory(1 << 20);
//! let buffers: Vec<Matrix> = ["x", "y"]
//!     .map(|x| {
//!         let (a, b) = (symbols.name(&format!("{x}in")), symbols.name(&format!("{x}out")));
//!         let buffer = fifo1(a, b, symbols.cell(x), BufferContent::Empty);
//!         Matrix::new(&buffer, CellData::Ignore, &limits).unwrap()
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
mod matrix;
mod plan;
mod sizes;
mod sparse;
mod stream;
mod tally;

pub use batch::{Batch, BatchPart, BatchPlan, batch};
pub use checksum::Checksum;
pub use fold::{compose, fold, need, need_of_halves, plan};
pub use matrix::{CellData, DenseError, DenseResult, EMPTY, MAX_NAMES, Matrix};
pub use plan::{DensePlan, product};
pub use sizes::Sizes;
pub use sparse::SparseForm;
pub use stream::{BlockColumns, DenseStream, RowBlock, RowsOf, in_turn};
pub use tally::{CellCondition, CellTally, mixed};
