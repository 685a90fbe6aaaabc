//! The product of constraint automata: several that run together, in agreement on shared names.
//!
//! A step takes from each automaton one step or none, at least one in all, such that a shared name
//! fires in both or in neither; its constraint is the conjunction (Baier, Sirjani, Arbab, Rutten
//! 2006, definition 4.1). A silent step is taken alone; joint steps of silent ones are left to
//! their sequences, see `docs/reo.md`. The reference for the engines is
//! `tests/families/textbook.rs`.

pub mod dense;
pub mod halves;
pub mod implicit;
pub mod order;
pub mod reachable;
mod regions;
pub mod stepwise;

pub use regions::regions;
