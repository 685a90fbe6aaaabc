//! Questions about connectors: deadlocks, broken invariants, and runs that break a formula.
//!
//! [`deadlock`] and [`violation`] give a shortest run, [`counterexample`] a [`Lasso`].

mod cover;
mod formula;
mod lasso;
mod run;
mod text;

pub use formula::{FormulaError, Ltl, LtlFormula};
pub use lasso::{Lasso, counterexample};
pub use run::{AutomatonRun, deadlock, violation};
