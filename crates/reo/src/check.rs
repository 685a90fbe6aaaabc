//! Questions about what a connector can do: can it get stuck, can something happen that must not,
//! does something that is to happen always happen.
//!
//! [`deadlock`] and [`violation`] answer with a shortest run to the place, [`counterexample`] with
//! a run that ends in a cycle ([`Lasso`]).

mod cover;
mod formula;
mod lasso;
mod run;
mod text;

pub use formula::{FormulaError, Ltl, LtlFormula};
pub use lasso::{Lasso, counterexample};
pub use run::{AutomatonRun, deadlock, violation};
