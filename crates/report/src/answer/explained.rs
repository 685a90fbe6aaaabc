//! What `explain` answers, as data.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::about::About;
use super::counts::Counts;
use super::data::{Tally, Values};

/// The object that `explain` prints with `--json`; what was not requested, or is not known, is
/// `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explained {
    /// What it is about.
    pub about: About,
    /// The problem's name.
    pub name: String,
    /// Valid configurations, if they were counted.
    pub configurations: Option<Tally>,
    /// Configurations that satisfy the constraints and cannot be launched, as in the object of
    /// `tune`.
    pub left_out: Option<IndexMap<String, Tally>>,
    /// Choices of values for the parameters, valid or not.
    pub choices: u64,
    /// What was read out of the kernel's source, where there is one.
    #[serde(flatten)]
    pub reading: Option<Reading>,
    /// What all items of one launch do, of a configuration that was requested.
    pub counts: Option<Counts>,
    /// What that launch uses of a device, under the profile `resources`.
    pub usage: Option<Values>,
}

/// What was read out of a kernel's source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reading {
    /// The program of a work item, as problem files write it (docs/reference/problem.schema.json).
    pub program: Value,
    /// Macros that the source's text depends on.
    pub structural: Vec<String>,
    /// How many different texts there are.
    pub readings: usize,
    /// Loops that are taken to succeed at once, as `kernel.bounds` names them.
    pub assumed: Vec<String>,
}
