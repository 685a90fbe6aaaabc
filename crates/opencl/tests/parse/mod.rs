//! What libclang's trees become, and what is said of sources that have none.

mod accepted;
mod macros;
mod operators;
mod print;
mod random;
mod rejected;
mod together;
pub mod tree;
