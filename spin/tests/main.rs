//! What the Promela text promises. One binary for all, so that the crate is linked once.

mod promela;
mod promela_open;
