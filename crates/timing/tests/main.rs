//! What closed forms promise.

mod chains;
mod formulas;
mod resources;
mod step_bounds;
