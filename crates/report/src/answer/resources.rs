//! Where the time goes under the profile `resources`, as data and in words.

use std::cmp::Reverse;
use std::path::Path;

use indexmap::IndexMap;
use itertools::Itertools;
use serde::{Deserialize, Serialize};
use tickbound_model::{Bound, Problem, Profile};
use tickbound_simulator::{
    Bottleneck, PARTS, ResourceTime, SimulateError, of_lines, resource_time,
};

use super::hints::hint;
use crate::sarif::{SarifFinding, SarifLevel};

/// What bounds the time of a configuration under the profile `resources`, and how full a unit is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Resources {
    /// What bounds the time: a resource of the units, `chain` (what one group waits for, step after
    /// step), `dram`, `contention`, `dispatch`, or `finish` where that takes longer than the
    /// launch.
    pub bound_by: String,
    /// Clocks that one group takes of each resource of a unit.
    pub group: IndexMap<String, f64>,
    /// Groups that a unit holds at once.
    pub groups: i64,
    /// Warps that a unit holds at once.
    pub warps: i64,
    /// Most warps that a unit can hold.
    pub most_warps: Option<i64>,
    /// What limits how many groups a unit holds.
    pub limited_by: String,
    /// Registers of an item, as they are given out.
    pub registers: i64,
    /// Live registers of an item for which there is no place.
    pub spilled: i64,
    /// Clocks of the program `finish`, which one element runs after the launch.
    pub finish: i64,
    /// The time in microseconds, where the clock is known.
    pub microseconds: Option<f64>,
    /// Lines of the source by how much they ask for of what bounds the time, most first; none where
    /// the usage was not counted in a source.
    pub source_lines: Vec<SourceLine>,
}

/// How much one line of the source asks for of what bounds the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceLine {
    /// The file, as messages name it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Its share in what all lines ask for, each for itself: from 0 to 1.
    pub share: f64,
    /// What would make it cheaper, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Most lines of the source that are shown to people, and the least share of one.
const MAX_LINES: usize = 6;
const LEAST_SHARE: f64 = 0.01;
/// Characters of a bar for a whole.
const BAR: f64 = 30.0;

impl Resources {
    /// Of one configuration; `None` under other profiles, or if it has no time.
    pub fn of(problem: &Problem, values: &IndexMap<String, i64>) -> Option<Resources> {
        if problem.profile != Profile::Resources {
            return None;
        }
        Resources::of_bound(problem, &problem.bind(values).ok()?).ok()
    }

    /// Of one configuration under the profile `resources`.
    ///
    /// # Errors
    /// It has no time.
    pub fn of_bound(problem: &Problem, bound: &Bound) -> Result<Resources, SimulateError> {
        let time = resource_time(problem, bound)?;
        // A line alone may have no value where the whole has one; then lines are not distinguished.
        let asked = of_lines(problem, bound, &time).unwrap_or_default();
        Ok(Resources {
            source_lines: shares(problem, bound, &asked),
            ..Resources::new(problem, &time)
        })
    }

    fn new(problem: &Problem, time: &ResourceTime) -> Resources {
        let clocks = |parts: i64| (parts as f64 / PARTS as f64 * 10.0).round() / 10.0;
        Resources {
            bound_by: match time.bottleneck {
                _ if time.finish > time.time - time.finish => "finish".to_owned(),
                Bottleneck::Unit => time.busiest().map_or("nothing", |r| r.name()).to_owned(),
                other => other.name().to_owned(),
            },
            group: time
                .group
                .iter()
                .map(|(r, parts)| (r.name().to_owned(), clocks(*parts)))
                .collect(),
            groups: time.groups,
            warps: time.warps,
            most_warps: problem.platform.resources().warps_per_unit,
            limited_by: time.limit.name().to_owned(),
            registers: time.registers,
            spilled: time.spilled,
            finish: time.finish,
            microseconds: problem
                .platform
                .clock_microseconds()
                .map(|clock| (time.time as f64 * clock * 1e3).round() / 1e3),
            source_lines: Vec::new(),
        }
    }

    /// The lines for people: a name, such as `bound by:`, and its text; at the end bars by line
    /// of the source.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let seen = self.source_lines.iter().filter(|line| line.share >= LEAST_SHARE);
        let bars = seen.take(MAX_LINES).map(SourceLine::bar);
        let bars = bars.enumerate().map(|(i, bar)| (if i == 0 { "by line:" } else { "" }, bar));
        self.facts().into_iter().chain(bars).collect()
    }

    /// What would make lines cheaper, for the author of the kernel.
    pub fn hints(&self) -> impl Iterator<Item = String> {
        let seen = self.source_lines.iter().filter(|line| line.share >= LEAST_SHARE);
        let hint = |line: &SourceLine| {
            Some(format!("{}:{}: {}", line.file, line.line, line.hint.as_ref()?))
        };
        seen.take(MAX_LINES).filter_map(hint)
    }

    /// The lines of the source that take time, as findings for editors and code review. Files count
    /// from `folder`.
    pub fn findings(&self, folder: &Path) -> Vec<SarifFinding> {
        let finding = |line: &SourceLine| {
            let share = format!("{:.0} % of what bounds the time", line.share * 100.0);
            let hint = line.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
            SarifFinding {
                rule: ("time".to_owned(), "a line that takes time".to_owned()),
                level: SarifLevel::Note,
                message: format!("{share} ({}){hint}", self.bound()),
                places: vec![(folder.join(&line.file).to_string_lossy().into_owned(), line.line)],
            }
        };
        let seen = self.source_lines.iter().filter(|line| line.share >= LEAST_SHARE);
        seen.map(finding).collect()
    }

    /// As [`Resources::lines`], without the bars.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut each: Vec<(&String, &f64)> =
            self.group.iter().filter(|(_, clocks)| **clocks > 0.0).collect();
        each.sort_by(|a, b| b.1.total_cmp(a.1));
        let each: Vec<String> = each.iter().map(|(name, n)| format!("{name} {n:.1}")).collect();
        let most = self.most_warps.map_or_else(String::new, |most| format!(" of {most}"));
        let spilled = match self.spilled {
            0 => String::new(),
            n => format!(", {n} more are kept in memory"),
        };
        let mut facts = vec![
            ("bound by:", self.bound().to_owned()),
            ("a group:", format!("clocks of {}", each.join(", "))),
            (
                "occupancy:",
                format!(
                    "{} groups, {}{most} warps in a unit; limited by {}",
                    self.groups, self.warps, self.limited_by
                ),
            ),
            ("registers:", format!("{} of an item{spilled}", self.registers)),
        ];
        if self.finish > 0 {
            facts.push(("finish:", format!("{} clocks", self.finish)));
        }
        facts.extend(self.hints().map(|hint| ("hint:", hint)));
        facts
    }
}

impl Resources {
    fn bound(&self) -> &str {
        match self.bound_by.as_str() {
            "chain" => "what one group waits for, step after step",
            "dram" => "the device's memory",
            "contention" => "atomic operations on one address",
            "dispatch" => "the start of its groups, in sequence",
            "finish" => "what one element does after the launch",
            resource => resource,
        }
    }
}

impl SourceLine {
    fn bar(&self) -> String {
        let bar = "#".repeat((self.share * BAR).round() as usize);
        format!("{:>3.0} % {bar:<30} {}:{}", self.share * 100.0, self.file, self.line)
    }
}

/// The lines of the source that ask for something, most first.
fn shares(problem: &Problem, bound: &Bound, asked: &[i64]) -> Vec<SourceLine> {
    let whole: f64 = asked.iter().map(|n| *n as f64).sum();
    let asking = problem.usage_lines().iter().zip(asked).filter(|(_, n)| **n > 0);
    asking
        .sorted_by_key(|(_, n)| Reverse(**n))
        .map(|(of, n)| SourceLine {
            file: of.file.clone(),
            line: of.line,
            share: (*n as f64 / whole * 1e4).round() / 1e4,
            hint: hint(&of.usage, &bound.env),
        })
        .collect()
}
