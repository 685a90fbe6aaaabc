//! What `measure --rule` answers.

use serde::{Deserialize, Serialize};

use super::about::About;
use super::data::Values;
use super::words::{listed, shown};
use crate::table::Table;

/// The object that `measure --rule` prints with `--json`: the configurations of a rule, timed at
/// some of its sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleMeasurement {
    /// What it is about; the inputs are those that are no sizes.
    pub about: About,
    /// The file with the rule.
    pub rule: String,
    /// The rule's sizes, as the option takes them.
    pub over: String,
    /// The device.
    pub device: String,
    /// What came of each size that was measured.
    pub sizes: Vec<MeasuredSize>,
    /// Why it ended before all sizes were measured.
    pub stopped_by: Option<String>,
    /// Wall-clock seconds, all in all.
    pub seconds: f64,
}

/// The configurations of a rule, timed at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeasuredSize {
    /// The size.
    pub size: String,
    /// How many configurations are valid there and have a time.
    pub timed: usize,
    /// The configuration that the rule picks: that with the least predicted time.
    pub picked: Values,
    /// The median of its runs, in seconds; null if it failed.
    pub picked_seconds: Option<f64>,
    /// The fastest of the rule's configurations.
    pub fastest: Option<Values>,
    /// The median of its runs, in seconds.
    pub fastest_seconds: Option<f64>,
}

impl MeasuredSize {
    /// How much longer the picked configuration takes than the fastest, in percent.
    pub fn loss(&self) -> Option<f64> {
        let (picked, fastest) = self.picked_seconds.zip(self.fastest_seconds)?;
        Some(100.0 * (picked / fastest - 1.0))
    }
}

impl RuleMeasurement {
    /// Whether the picked configuration has a time at every size that was to be measured.
    pub fn is_whole(&self) -> bool {
        self.stopped_by.is_none() && self.sizes.iter().all(|size| size.picked_seconds.is_some())
    }

    /// The lines for people, in a terminal of this width.
    pub fn words(&self, width: usize) -> String {
        let milliseconds = |seconds: Option<f64>| {
            seconds.map_or_else(|| "failed".to_owned(), |s| format!("{:.4}", 1e3 * s))
        };
        let mut table = Table::new(["size", "picked", "ms", "fastest", "ms", "loss"]);
        for size in &self.sizes {
            let fastest = size.fastest.as_ref().map(listed).unwrap_or_default();
            let same = size.fastest.as_ref() == Some(&size.picked);
            table.push([
                size.size.clone(),
                listed(&size.picked),
                milliseconds(size.picked_seconds),
                if same { "the same".to_owned() } else { fastest },
                milliseconds(size.fastest_seconds),
                size.loss().map(|loss| format!("{loss:.1} %")).unwrap_or_default(),
            ]);
        }
        let mut text = format!("{} on {}\n\n", self.about.name, self.device);
        text += &format!("{}\n", table.fitted(width));
        let losses = self.sizes.iter().filter_map(|size| Some((size.loss()?, &size.size)));
        if let Some((loss, size)) = losses.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let what = format!("{loss:.1} % at {size}, against the fastest of the rule's own");
            text += &shown(&("worst:", what));
        }
        let stop = self.stopped_by.iter().map(|why| shown(&("stopped by:", why.clone())));
        text + &stop.collect::<String>()
    }
}
