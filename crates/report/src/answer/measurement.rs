//! What `measure` answers, as data.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::answer::{About, Values};
use tickbound_measure::outcome::FailureKind;
use tickbound_measure::worker::Described;

/// The object that `measure` prints with `--json`. Times are in seconds, those of the model in
/// ticks; what is not known is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measurement {
    /// What it is about.
    pub about: About,
    /// The problem's name.
    pub problem: String,
    /// Values of its inputs.
    pub inputs: IndexMap<String, i64>,
    /// The device.
    pub device: Described,
    /// How many configurations were requested.
    pub asked: usize,
    /// How many there were to choose from, where a guide chose.
    pub candidates: Option<usize>,
    /// How many have a time.
    pub measured: usize,
    /// How many results were in the cache.
    pub cached: usize,
    /// How many have none, by what failed.
    pub failed: IndexMap<String, usize>,
    /// How many times did not become steady.
    pub unsteady: usize,
    /// There is a reference that outputs were compared with.
    pub checked: bool,
    /// The fastest configuration.
    pub best: Option<Values>,
    /// Its median, in seconds.
    pub time: Option<f64>,
    /// The user's own configuration beside the best other one, if both have times.
    pub baseline: Option<BaselineComparison>,
    /// Floors, where the platform has them and is that of the device.
    #[serde(default)]
    pub floor: Option<MeasuredFloor>,
    /// The budget was spent before all of them were measured.
    pub budget_spent: bool,
    /// Why it ended before all of them were measured.
    pub stopped_by: Option<String>,
    /// The file where results are kept.
    pub cache: Option<String>,
    /// Wall-clock seconds, all in all.
    pub seconds: f64,
    /// The results, in the order in which they were requested.
    pub results: Vec<Entry>,
}

/// What measuring made of floors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeasuredFloor {
    /// Seconds that each configuration of the space takes at least on the device.
    pub seconds: Option<f64>,
    /// The term that binds there.
    pub term: Option<String>,
    /// Configurations that were not run, as their floors are above the best time.
    pub skipped: usize,
    /// Configurations with a time below their floor, by the term that is contradicted: a fault of
    /// a rule or of the platform's numbers.
    pub contradicted: IndexMap<String, usize>,
}

/// Two configurations, timed in turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BaselineComparison {
    /// The user's own.
    pub configuration: Option<Values>,
    /// The best other one.
    pub other: Option<Values>,
    /// The median of the own one's time over the other's, in the same round.
    pub ratio: f64,
    /// The interval that has it with at least 95 %, from here.
    pub low: f64,
    /// Its other end.
    pub high: f64,
    /// How many rounds there were.
    pub rounds: usize,
    /// The other one is faster: the whole interval is above 1.
    pub faster: bool,
}

/// What came of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entry {
    /// The configuration.
    pub configuration: Values,
    /// It was in the cache.
    pub cached: bool,
    /// Its times, or why it has none.
    #[serde(flatten)]
    pub end: End,
    /// Ticks of the model, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticks: Option<i64>,
}

/// The end of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum End {
    /// It ran.
    Timed {
        /// The median of its runs, in seconds.
        time: f64,
        /// How far runs are apart, as a part of the median.
        spread: Option<f64>,
        /// The spread became small enough.
        steady: bool,
        /// The output was compared with the reference's and is right.
        checked: bool,
        /// Seconds of each run that counts, in order.
        runs: Vec<f64>,
        /// The same of runs in turns with other configurations, for the best.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rounds: Vec<f64>,
        /// 10^9 bytes a second, where the problem states how many it moves.
        #[serde(rename = "GB/s", skip_serializing_if = "Option::is_none")]
        bytes: Option<f64>,
        /// 10^9 operations a second, where the problem states how many there are.
        #[serde(rename = "GOP/s", skip_serializing_if = "Option::is_none")]
        operations: Option<f64>,
    },
    /// It did not.
    Failed {
        /// What failed.
        #[cfg_attr(test, schemars(schema_with = "crate::answer::names::named::<FailureKind>"))]
        failure: FailureKind,
        /// One line for a user.
        message: String,
    },
}
