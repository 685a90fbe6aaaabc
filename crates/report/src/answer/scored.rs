//! What `score` answers, as data.

use serde::{Deserialize, Serialize};

use crate::answer::About;
use tickbound_measure::guided::Replay;
use tickbound_measure::score::{FloorScore, Programs, Reached};

/// The object that `score` prints with `--json`; what is not known is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Scored {
    /// What it is about.
    pub about: About,
    /// The file with measured times.
    pub results: String,
    /// The device that they are of.
    pub device: Option<String>,
    /// The platform's name.
    pub platform: String,
    /// Configurations that have both times.
    pub entries: usize,
    /// Results that are failures.
    pub failed: usize,
    /// Lines of the file that are no results.
    pub broken: usize,
    /// Results that are no configurations of the problem.
    pub outside: usize,
    /// Configurations that are too large to simulate.
    pub not_simulated: usize,
    /// Configurations that have no time in the model for another reason.
    pub faults: usize,
    /// The median of measured times over predicted ones, under the profile `resources` where the
    /// platform states its clock.
    pub measured_over_predicted: Option<f64>,
    /// Spearman's rank correlation, if both sides vary.
    pub spearman: Option<f64>,
    /// Kendall's tau-b, if both sides vary.
    pub kendall: Option<f64>,
    /// What some trials reach.
    pub reached: Option<Vec<Reached>>,
    /// How well the model ranks distinct programs.
    pub distinct: Option<Programs>,
    /// Guided searches on the measured times, if they were requested.
    pub guided: Option<Replay>,
    /// What the best configurations of other results are worth here.
    pub others: Vec<Other>,
    /// How the times lie above the floors of their configurations, where the platform has floors.
    #[serde(default)]
    pub floor: Option<FloorScore>,
}

/// What the best configuration of other results is worth here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Other {
    /// The file with these results.
    pub results: String,
    /// Their device.
    pub device: Option<String>,
    /// The best time here over its time here; `null` if no configuration is in both.
    pub reached: Option<f64>,
    /// Its place among the other results, from 1: better ones have no time here.
    pub place: Option<usize>,
}
