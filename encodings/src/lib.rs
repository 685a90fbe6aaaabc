//! Tuning problems and what can be said about their run time without a device or a solver.
//!
//! Data flows one way: a [`model::Problem`] is simulated by `simulate`, or becomes a [`plan::Plan`]
//! and from there a bounded transition system ([`system::System`]) by one of the encodings
//! [`tick`], [`event`] and `summary`. This crate is pure: it starts no solver, opens no file and
//! knows no device.

pub mod bounds;
pub mod event;
mod machine;
pub mod plan;
pub mod promela;
pub mod schedule;
pub mod simplify;
pub mod summary;
pub mod system;
pub mod tick;
