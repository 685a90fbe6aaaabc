//! What is to be proved as a pseudo-Boolean formula, and its proof, for the checker VeriPB.
//!
//! - [`clusters`]: how the run time is divided among tables over a few parameters;
//! - [`formula`]: the formula, in the format OPB;
//! - [`accumulators`]: the formula of a time with sums and maxima over many parameters;
//! - [`proof`]: that its least objective is the time claimed, in VeriPB's format.

pub mod accumulators;
pub mod clusters;
pub mod formula;
pub mod proof;
