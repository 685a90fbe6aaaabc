//! The product of constraint automata: several that run together, in agreement on shared names.
//!
//! A step of the product takes from each automaton one step or none, at least one in all, such that
//! a name that two automata share fires in both or in neither; its constraint is the conjunction
//! (Baier, Sirjani, Arbab, Rutten 2006, definition 4.1: for two automata a joint step where
//! N1 and Names2 agree with N2 and Names1, and a step of one alone where it fires none of the
//! other's names). A silent step shares no name, so each can be taken alone; joint steps of silent
//! ones are left to the sequences of both, see `docs/reo.md`.
//!
//! [`textbook`] is the plain reference. The engines that are used are its siblings.

pub mod dense;
pub mod implicit;
pub mod order;
pub mod reachable;
pub mod stepwise;
pub mod textbook;
