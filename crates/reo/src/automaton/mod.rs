//! Constraint automata, standard and algebraic.
//!
//! An [`Automaton`] is the standard form: states, an alphabet of names, and for each state the
//! steps that leave it - which names fire, under which data constraint, and to which state. Steps
//! stand in rows, one row a state (CSR), labels as bit sets (`label.rs`), constraints as
//! numbers into a table of the automaton's own. A step in which no name fires is *silent*: only
//! hiding makes them.
//!
//! The *algebraic* form of the thesis (Vilbergsson 2012, section 3.1, after Pourvatan and Rouhy
//! 2007) gives every name of the alphabet a sign in every step and adds to each state an idle loop
//! with all names negative. As a label already tells for every name of the alphabet whether it
//! fires, the two forms differ in the idle loops alone: [`Automaton::with_idle`] adds them and
//! [`Automaton::without_idle`] takes them away.

mod build;
mod data;
mod forms;

pub use build::AutomatonBuilder;
pub use data::{Automaton, AutomatonError, AutomatonRows, MAX_STATES, Transition};
