//! Tuning problems and what can be said about their run time without a device or a solver.
//!
//! Data flows one way: a [`model::Problem`] is simulated by [`mod@simulate`] or encoded as a bounded
//! transition system by `tick`, `event` and `summary`. This crate is pure: it starts no solver,
//! opens no file and knows no device.

pub mod model;
