//! The run time of a problem in closed form: an expression over the parameters.
//!
//! In goes a problem, out comes its [`Cost`]: a [`Term`] of sums, products and maxima whose leaves
//! are the problem's own expressions. No configuration is visited, so the size of the space does
//! not matter. It is derived from the semantics (`docs/semantics.md`) independently of the plans of
//! the encodings and of the simulator, which makes each a check of the others.
//!
//! - [`term`]: what a term is, its value for a configuration, and a bound over a box of them;
//! - `derive`: from a problem to its term;
//! - `resources`: the same for the profile of that name;
//! - [`StepBounds`]: bounds of that over boxes;
//! - [`parameter_box`]: what a box is;
//! - [`factored`]: a term as a sum of products, with their common factors;
//! - [`tables`]: the factors over their few parameters, as relations;
//! - [`direct_form`]: a term and the conditions of a space as tables and accumulators;
//! - [`obligation`]: a second, smaller derivation, which certificates are checked against;
//! - [`max_plus`]: what an item does to its clock and its mark.
//!
//! Items that differ and wait for marks in sequence in one element have no such expression:
//! then the cost is a lower bound ([`Cost::is_exact`] is false).

mod at;
mod chain;
mod cost;
mod derive;
mod direct;
pub mod factored;
pub mod max_plus;
pub mod obligation;
pub mod parameter_box;
mod phases;
mod program;
mod resources;
mod step_bounds;
mod sums;
pub mod tables;
pub mod term;
mod uncovered;

pub use cost::Cost;
pub use direct::direct_form;
pub use factored::FactoredSum;
pub use parameter_box::ParameterBox;
pub use step_bounds::StepBounds;
pub use tables::CostTables;
pub use term::{Term, TermFault};
pub use uncovered::Uncovered;
