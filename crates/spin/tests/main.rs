//! What the Promela text promises. One binary for all, so that the crate is linked once.

#[path = "../../../tests/with_spin/here.rs"]
mod here;
mod promela;
mod promela_open;
