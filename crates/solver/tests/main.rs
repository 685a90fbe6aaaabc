//! What the search promises. One binary for all, so that the crate is linked once.

#[path = "../../timing/tests/chains.rs"]
#[allow(dead_code, reason = "the tests of bounds use more of it")]
mod random_chains;

mod bracket;
mod chains;
mod faults;
mod guards;
mod labels;
mod problems;
mod schedule_formula;
mod schedules;
mod shared_problems;
mod solve;
mod symbolic;
