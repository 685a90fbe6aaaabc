//! What the search promises. One binary for all, so that the crate is linked once.

mod bracket;
mod faults;
mod guards;
mod open;
mod problems;
mod solve;
mod unlisted;
