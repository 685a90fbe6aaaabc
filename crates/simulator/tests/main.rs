//! What the simulator promises. One binary for all, so that the crate is linked once.

mod groups;
mod schedules;
mod simulate;
