//! What plans and encodings promise. One binary for all, so that the crate is linked once.

mod btor2;
mod closing;
mod common;
mod differential;
mod encodings;
mod system;
