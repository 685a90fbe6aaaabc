//! What the model promises. One binary for all, so that the crate is linked once.

#[path = "../../expr/tests/random.rs"]
mod random;
mod spaces;
mod t1;
mod t1_random;
