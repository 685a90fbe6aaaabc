//! What is read of a kernel for proofs: events over exact terms. The module `exact` makes it.

pub mod events;
mod operations;
pub mod terms;

pub use operations::{bits_of, gcd};
