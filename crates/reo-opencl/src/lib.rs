//! The dense product of constraint automata on OpenCL devices.
//!
//! [`Multiplier`] makes the same cells as [`tickbound_reo`]; [`Maker`] hands a product on in
//! blocks.

mod multiplier;
mod stream;

pub use multiplier::{Multiplier, MultiplierError, MultiplierResult, RowsIn, agree};
pub use stream::Maker;
