//! What closed forms promise.

mod resources;
