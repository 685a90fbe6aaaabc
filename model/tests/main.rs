//! What the model promises. One binary for all, so that the crate is linked once.

mod groups;
mod interval;
mod schedules;
mod simulate;
mod t1;
mod t1_random;
