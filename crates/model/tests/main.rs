//! What the model promises. One binary for all, so that the crate is linked once.

mod groups;
mod interval;
mod random;
mod schedules;
mod simulate;
mod t1;
mod t1_random;
