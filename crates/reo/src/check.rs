//! Questions about connectors: deadlocks, broken invariants, and runs that break a formula.
//!
//! [`deadlock`] and [`violation`] give a shortest run, [`counterexample`] a [`Lasso`].

mod cover;
mod formula;
mod run;
mod text;

pub use formula::{FormulaError, Ltl, LtlFormula};
pub use run::{AutomatonRun, Lasso, counterexample, deadlock, violation};
