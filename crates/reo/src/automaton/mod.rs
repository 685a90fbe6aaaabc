//! Constraint automata, standard and algebraic.
//!
//! An [`Automaton`] is the standard form: for each state the steps that leave it, with the names
//! that fire, a data constraint, and the target. Rows are stored as CSR, labels as bit sets
//! (`label.rs`), constraints as numbers into a table. A step in which no name fires is *silent*:
//! only hiding makes them.
//!
//! The *algebraic* form (Vilbergsson 2012, section 3.1, after Pourvatan and Rouhy 2007) adds to
//! each state an idle loop, in which no name fires: [`Automaton::with_idle`].

mod build;
mod data;

pub use build::AutomatonBuilder;
pub use data::{Automaton, AutomatonRows, Transition};
pub(crate) use data::{AutomatonError, MAX_STATES};
