//! Constraint automata on OpenCL devices, and the experiment of the thesis.
//!
//! The automata themselves, and every engine that needs no device, are the crate
//! [`tickbound_reo`]. Here is what makes its dense product on a device - [`Multiplier`], the same cells
//! bit for bit -, [`Maker`], which hands a product on block by block, and [`bench`](mod@bench), which runs Vilbergsson's experiment (2012, chapter 4) again on
//! every device of this machine.

pub mod bench;
mod multiplier;
mod stream;

pub use multiplier::{Multiplier, MultiplierError, Rows, agree};
pub use stream::Maker;
