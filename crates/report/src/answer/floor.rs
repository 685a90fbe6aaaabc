//! The floor of a space: a time that no configuration can undercut on the device.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_model::{FloorTerm, Problem};

use super::About;

/// What `tune --floor` has found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FloorAnswer {
    /// Picoseconds that each configuration takes at least.
    pub picoseconds: i64,
    /// What takes them, where anything does: the term that binds.
    pub term: Option<String>,
    /// Whether each term's least value is proved.
    pub proved: bool,
    /// A configuration with a small floor.
    pub configuration: Option<IndexMap<String, i64>>,
    /// The floor of that configuration in picoseconds: that of the space is not greater.
    pub reached: Option<i64>,
    /// For each term that may bind the picoseconds that it takes in each configuration at least.
    pub terms: IndexMap<String, i64>,
}

impl FloorAnswer {
    /// Of the least values of terms, and the floor of the space with the term that binds; `least`
    /// is a configuration, and `reached` its floor.
    pub fn new(
        terms: &[(FloorTerm, i64)],
        binding: Option<(FloorTerm, i64)>,
        (least, reached): (Option<IndexMap<String, i64>>, Option<i64>),
        proved: bool,
    ) -> FloorAnswer {
        FloorAnswer {
            picoseconds: binding.map_or(0, |(_, picoseconds)| picoseconds),
            term: binding.map(|(term, _)| term.name().to_owned()),
            proved,
            configuration: least,
            reached,
            terms: terms.iter().map(|(term, least)| (term.name().to_owned(), *least)).collect(),
        }
    }

    /// The floor in words, beside the model's least ticks.
    pub fn words(&self, problem: &Problem, ticks: Option<i64>) -> String {
        let Some(term) = self.term.as_ref().filter(|_| self.picoseconds > 0) else {
            let why = "nothing of the kernel can be counted that every compiler keeps";
            return format!("0 us: {why}");
        };
        let on = &problem.platform.name;
        let known = if self.proved { "proved" } else { "not proved to be the greatest" };
        let mut line = format!(
            "{} by {term}: no configuration takes less on {on} ({known})",
            microseconds(self.picoseconds)
        );
        let model = ticks.zip(About::of(problem).units.tick_microseconds);
        if let Some((ticks, length)) = model {
            let model = ticks as f64 * length;
            let above = model * 1e6 / self.picoseconds as f64;
            line += &format!("; the model's least time {model:.1} us ({above:.2}x)");
        }
        if let Some(reached) = self.reached.filter(|reached| *reached > self.picoseconds) {
            line += &format!("; the floor of the space is at most {}", microseconds(reached));
        }
        line
    }
}

/// Microseconds with four significant digits.
pub fn microseconds(picoseconds: i64) -> String {
    let us = picoseconds as f64 / 1e6;
    let digits = if us >= 1000.0 {
        0
    } else if us >= 1.0 {
        1
    } else {
        4
    };
    format!("{us:.digits$} us")
}
