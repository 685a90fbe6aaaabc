//! Constraint automata on OpenCL devices, and the experiment of the thesis.
//!
//! The automata themselves, and every engine that needs no device, are the crate
//! [`tickbound_reo`]. Here is what makes its dense product on a device - [`Multiplier`], the same cells
//! bit for bit - and [`bench`](mod@bench), which runs Vilbergsson's experiment (2012, chapter 4) again on
//! every device of this machine.

pub mod bench;
mod multiplier;

pub use multiplier::{Multiplier, MultiplierError};
