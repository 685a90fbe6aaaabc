//! What the search promises. One binary for all, so that the crate is linked once.

mod bracket;
mod faults;
mod guards;
mod labels;
mod problems;
mod schedule_formula;
mod schedules;
mod shared_problems;
mod solve;
mod unlisted;
