//! What the engines answer: the types behind `--json`, and the lines for people that they share.
//!
//! `tune`, `spin` and `cp-sat` print an [`Answer`], `compare` prints a [`comparison::Comparison`].
//! Whoever reads their output reads the same types. `schema/answer.schema.json` is generated from
//! them.
//!
//! - [`tune`] and [`spin`]: answers out of the engines' results;
//! - [`resources`]: where the time goes under the profile of that name;
//! - [`comparison`]: engines side by side.

mod about;
mod checked;
pub mod comparison;
mod counts;
mod data;
#[cfg(test)]
pub(crate) mod names;
pub mod resources;
pub mod spin;
pub mod tune;
mod words;

pub use about::About;
pub use checked::Checked;
pub use counts::{COUNTED, counts};
pub use data::{Answer, Optimum, Run, Tally, Trail, Values, tenth_of_millisecond, values};
pub use words::{Line, named, titled};
