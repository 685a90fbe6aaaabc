//! The tests of this crate, in one binary.

mod direct;
mod random;
