//! Steps as text, and counted: what tests compare.

mod count;
mod print;

pub use count::{StepCounts, count};
pub use print::print;
