//! The dense product of constraint automata on OpenCL devices.
//!
//! [`Multiplier`] makes the same cells as [`tickbound_reo`]; [`Maker`] hands a product on in
//! blocks, or has devices count its rows where they are ([`TalliesIn`]). [`Explorer`] counts the
//! reachable product, or finds a shortest run in it.

mod explore;
mod multiplier;
mod shortest;
mod stream;
mod tally;

pub use explore::{EXPLORE_KERNELS, ExploreSizes, ExploredProduct, Explorer};
pub use multiplier::{KERNELS, Multiplier, MultiplierError, MultiplierResult, RowsIn, agree};
pub use stream::{Maker, composed, tallied};
pub use tally::{Clause, TalliesIn, clauses};
