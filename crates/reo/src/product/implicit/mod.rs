//! The product kept as its factors: rows on demand, counts in closed form.
//!
//! [`Implicit`] gives the steps of one product state ([`Implicit::row`]) and counts the whole
//! without visiting a state ([`Implicit::transitions`]): how often each set of shared names fires
//! in a factor, joined by variable elimination (Dechter, Bucket elimination, 1999). The work grows
//! with the names that are shared at one time, not with the states.
//!
//! Labels are counted: steps that differ in their constraints alone are one, as in
//! `tests/families/textbook.rs` without data. A silent step is taken alone.
//!
//! ```
//! use tickbound_reo::limits::ProductLimits;
//! use tickbound_reo::primitive::{BufferContent, fifo1};
//! use tickbound_reo::product::implicit::Implicit;
//! use tickbound_reo::symbol::Symbols;
//!
//! let mut symbols = Symbols::new();
//! // A chain: what leaves buffer i enters buffer i + 1 in the same step.
//! let chain = (0..100).map(|i| {
//!     let (a, b) = (symbols.name(&format!("n{i}")), symbols.name(&format!("n{}", i + 1)));
//!     fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty)
//! });
//! let product = Implicit::new(chain.collect());
//! let limits = ProductLimits::memory(1 << 20);
//! assert_eq!(product.states().to_string(), (1u128 << 100).to_string());
//! let row = product.row(&vec![0; 100]).unwrap();
//! assert_eq!(row.count(), 1); // when all are empty, only the first can take something
//! assert!(product.transitions(&limits).unwrap() > product.states());
//! ```

mod factors;
mod row;

pub use factors::{Implicit, StateError};
pub use row::{ProductRow, ProductStep};
