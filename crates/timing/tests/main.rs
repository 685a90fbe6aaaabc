//! What closed forms promise.

mod formulas;
mod resources;
