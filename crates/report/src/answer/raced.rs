//! What `race` answers.

use serde::{Deserialize, Serialize};
use tickbound_input::message::grouped;

use super::about::About;
use super::data::Values;
use super::words::{named, shown};

/// The object that `race` prints with `--json`: two kernels that compute the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Raced {
    /// The first kernel.
    pub a: RacedKernel,
    /// The second kernel.
    pub b: RacedKernel,
    /// Ticks of `b` over those of `a`, each at the configuration that is best in the model.
    pub predicted: Option<f64>,
    /// Times on a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<RaceMeasurement>,
    /// How much slower `b` may be, in percent.
    pub threshold_percent: f64,
    /// Whether `b` is slower by more than the threshold: as measured, if it was, else as
    /// predicted.
    pub slower: bool,
}

/// A kernel of a race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RacedKernel {
    /// Its problem, or its source.
    pub file: String,
    /// What it is about.
    pub about: About,
    /// The configuration: the best in the model.
    pub configuration: Values,
    /// Its ticks in the model.
    pub ticks: Option<i64>,
    /// Whether they are proved to be the least.
    pub proved: bool,
}

/// Times of two kernels in turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RaceMeasurement {
    /// The device.
    pub device: String,
    /// Seconds of each run of `a`.
    pub a_seconds: Vec<f64>,
    /// Seconds of each run of `b`; runs with the same number are a pair.
    pub b_seconds: Vec<f64>,
    /// The median of `b` over `a` within pairs.
    pub ratio: f64,
    /// The interval that has it with at least 99 %; null for fewer than 8 pairs.
    pub interval: Option<[f64; 2]>,
}

impl RaceMeasurement {
    /// Whether `b` is slower: by more than the threshold, and beyond what chance explains.
    pub fn is_slower(&self, threshold_percent: f64) -> bool {
        self.ratio > 1.0 + threshold_percent / 100.0 && self.interval.is_some_and(|i| i[0] > 1.0)
    }

    fn words(&self) -> String {
        let interval = self.interval.map_or("too few pairs for an interval".to_owned(), |i| {
            format!("with 99 % between {:.3} and {:.3}", i[0], i[1])
        });
        let pairs = self.a_seconds.len();
        format!("b takes {:.3} times a ({interval}; {pairs} pairs on {})", self.ratio, self.device)
    }
}

impl RacedKernel {
    fn words(&self) -> String {
        let ticks = |ticks| format!("{} ticks", grouped(ticks));
        let ticks = self.ticks.map_or("no time in the model".to_owned(), ticks);
        format!("{}, {ticks} at {}", self.file, named(&self.configuration))
    }
}

impl Raced {
    fn verdict(&self) -> String {
        let by = format!("more than {} %", self.threshold_percent);
        let how = if self.measured.is_some() { "measured" } else { "predicted" };
        format!("b is {}slower by {by}, {how}", if self.slower { "" } else { "not " })
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let (_, model) = self.a.about.model();
        let mut lines = vec![("a:", self.a.words()), ("b:", self.b.words()), ("model:", model)];
        let times = |ratio| format!("b takes {ratio:.3} times a");
        lines.extend(self.predicted.map(|ratio| ("predicted:", times(ratio))));
        if let Some(measured) = &self.measured {
            lines.push(("measured:", measured.words()));
            lines.push(("outputs:", "equal".to_owned()));
        }
        lines.push(("verdict:", self.verdict()));
        lines
    }

    /// The lines for people.
    pub fn words(&self) -> String {
        self.lines().iter().map(shown).collect()
    }

    /// A table in Markdown, for comments on changes.
    pub fn markdown(&self) -> String {
        let row = |(name, text): &(&str, String)| {
            format!("| {} | {} |\n", name.trim_end_matches(':'), text.replace('|', "\\|"))
        };
        let rows: String = self.lines().iter().map(row).collect();
        format!("| race | |\n| --- | --- |\n{rows}")
    }
}
