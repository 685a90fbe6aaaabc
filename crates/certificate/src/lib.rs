//! Certificates: a least time that others can check.
//!
//! A certificate is a folder. It states which time is the least, gives a configuration that takes
//! it, and a proof that no other takes less ([`folder`]). It is checked by [`check::check`], which
//! reads these files, runs the simulator, and uses none of the encodings and searches that found
//! the time.
//!
//! What is to be proved of a problem, its conditions and its run time as a sum, is an
//! [obligation](tickbound_timing::obligation).
//!
//! - [`inequalities`]: what a proof is, and its checker;
//! - [`prove`]: finding one, by elimination;
//! - [`branches`], [`mod@branch`]: the same by branch and bound, where elimination would take too
//!   much;
//! - [`labels`]: the same by prices and labels, where parameters share something;
//! - [`smt`], [`pseudo_boolean`]: the same for solvers and a checker that others have written, and
//!   [`tools`], which asks them;
//! - [`optimise`]: the problem, with its run time as an objective, for optimisers of others;
//! - [`mod@write`]: a certificate for a problem and its least time;
//! - [`check`]: all of it checked, and what had to be trusted.

pub mod branch;
pub mod branches;
pub mod check;
pub mod folder;
pub mod inequalities;
pub mod labels;
pub mod optimise;
pub mod prove;
pub mod pseudo_boolean;
mod refusal;
mod schedules;
pub mod smt;
mod texts;
pub mod tools;
mod walk;
pub mod write;

pub use folder::{Certificate, Claim};
pub use refusal::Refusal;
