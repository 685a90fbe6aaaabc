//! What `check` answers, as data.

use serde::{Deserialize, Serialize};

use super::about::About;
use super::data::Values;

/// The object that `check` prints with `--json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Checked {
    /// The problem that the certificate is about, if that can be read.
    pub about: Option<About>,
    /// All that was to be checked is right.
    pub holds: bool,
    /// It was stopped before all was checked.
    pub stopped: bool,
    /// Why it does not hold; `null` if nothing is wrong.
    pub rejected: Option<String>,
    /// Ticks that are claimed, if that can be read.
    pub time: Option<i64>,
    /// The configuration that is claimed to take them.
    pub configuration: Values,
    /// What was checked, a sentence each.
    pub checked: Vec<String>,
    /// What a program that is not there, or has no answer, would have checked.
    pub not_checked: Vec<String>,
    /// What had to be trusted.
    pub trusted: Vec<String>,
}
