//! What the engines answer: the types behind `--json`, and the lines for people that they share.
//!
//! `tune`, `spin` and `cp-sat` print an [`Answer`], `tune --over` a [`SizeRule`], `tune --mix` a
//! [`SizeMix`], `compare` a [`comparison::Comparison`], `check` a [`Checked`], `simulate` a
//! [`Simulated`], `explain` an [`Explained`] and `verify` a [`Verified`]; the objects of `why`,
//! `measure` and `score` are with what makes them. Programs that read their output can use the
//! same types.
//! `docs/reference/answer.schema.json` is generated from them.
//!
//! - [`tune`] and [`spin`]: answers out of the engines' results;
//! - [`resources`]: where the time goes under the profile of that name;
//! - [`comparison`]: engines side by side.

mod about;
mod checked;
pub mod comparison;
mod counts;
mod data;
mod explained;
mod floor;
mod hints;
#[cfg(feature = "measured")]
mod measurement;
mod mix;
#[cfg(test)]
pub(crate) mod names;
mod raced;
pub mod resources;
mod rule;
#[cfg(feature = "measured")]
mod rule_measured;
#[cfg(feature = "measured")]
mod scored;
mod simulated;
pub mod spin;
mod ties;
pub mod tune;
mod verified;
pub mod why;
mod words;

pub use about::{About, Units};
pub use checked::Checked;
pub use counts::{COUNTED, Counts, counts};
pub use data::{Answer, Optimum, Run, Tally, Trail, Values, tenth_of_millisecond, values};
pub use explained::{Explained, Reading};
pub use floor::{FloorAnswer, microseconds};
#[cfg(feature = "measured")]
pub use measurement::{BaselineComparison, End, Entry, MeasuredFloor, Measurement};
pub use mix::{SizeMix, SizeOfMix};
pub use raced::{RaceMeasurement, Raced, RacedKernel};
pub use rule::{RuleVariant, SizeRule, WorstSize};
#[cfg(feature = "measured")]
pub use rule_measured::{MeasuredSize, RuleMeasurement};
#[cfg(feature = "measured")]
pub use scored::{Other, Scored};
pub use simulated::{Phase, Simulated};
pub use verified::Verified;
pub use words::{AnswerLine, PROVED, named, shown, titled};
