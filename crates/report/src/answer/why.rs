//! What `why` answers, as data.

use indexmap::IndexMap;
use itertools::Itertools;
use serde::{Deserialize, Serialize};
use tickbound_model::Problem;
use tickbound_model::verdict::{Status, TimedConfiguration};
use tickbound_solver::TuneResult;

use crate::answer::resources::Resources;
use crate::answer::{About, Tally, Values, tenth_of_millisecond, values};

/// The object that `why` prints with `--json`. Times are in ticks; what is not known is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Why {
    /// What it is about.
    pub about: About,
    /// How much is known of the least time.
    #[cfg_attr(test, schemars(schema_with = "crate::answer::names::status"))]
    pub status: Status,
    /// The least time, or that of the best configuration found.
    pub time: Option<i64>,
    /// No configuration takes fewer ticks than this.
    pub lower: i64,
    /// The best configuration found.
    pub configuration: Option<Values>,
    /// Valid configurations, if they were counted.
    pub configurations: Option<Tally>,
    /// How many configurations take the least time, if they were counted.
    pub optima_count: Option<Tally>,
    /// The values of the parameters in which configurations differ that take the least time.
    pub ties: IndexMap<String, Vec<i64>>,
    /// There are more configurations that take the least time than `ties` looks at.
    pub more_ties: bool,
    /// Parameters on which no run time was found to depend.
    pub indifferent: Vec<String>,
    /// Ticks of the best configuration that is not optimal.
    pub next: Option<i64>,
    /// By how many ticks that is more.
    pub next_more: Option<i64>,
    /// The same as a part of the least time, in percent.
    pub next_percent: Option<f64>,
    /// What bounds the time of the best configuration, under the profile `resources`.
    pub resources: Option<Resources>,
    /// The best configuration with one kind of work left out; `null` if that was not begun.
    pub spent: Option<Spent>,
    /// The search with constraints left out.
    pub constraints: Constraints,
    /// The search with one number of the platform one unit better.
    pub platform: Vec<Number>,
    /// What was asked and not answered.
    pub not_known: Vec<String>,
    /// What ended the search early.
    pub stopped_by: Option<String>,
    /// Wall-clock seconds, all in all.
    pub seconds: f64,
}

/// How much one search on a changed problem has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing: it was not begun, or stopped before it found anything.
    #[default]
    NotKnown,
    /// It was stopped between two bounds.
    Bounded,
    /// The least time is proved.
    Optimal,
    /// The least time follows from that of another search.
    Follows,
    /// There is no valid configuration.
    Infeasible,
    /// The changed problem has no time.
    Refused,
}

/// What one search on a changed problem has found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// How much that is.
    pub status: Verdict,
    /// Ticks of the best configuration found.
    pub time: Option<i64>,
    /// No configuration takes fewer ticks than this.
    pub lower: Option<i64>,
    /// By how many ticks the least time falls, if it is known; below 0 where it rises.
    pub saves: Option<i64>,
    /// The best configuration found.
    pub configuration: Option<Values>,
    /// Why the changed problem has no time.
    pub because: Option<String>,
}

impl Finding {
    /// The least time is known, or that there is none.
    pub fn is_known(&self) -> bool {
        !matches!(self.status, Verdict::NotKnown | Verdict::Bounded)
    }

    /// A configuration was found that is faster than `least`; any is, where there was none.
    pub fn is_faster(&self, least: Option<i64>) -> bool {
        self.time.is_some_and(|time| least.is_none_or(|least| time < least))
    }

    /// It is proved that nothing is faster than `least`.
    pub fn is_not_faster(&self, least: Option<i64>) -> bool {
        match self.status {
            Verdict::Infeasible => true,
            _ => self.lower.zip(least).is_some_and(|(lower, least)| lower >= least),
        }
    }
}

/// Where the time of the best configuration goes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Spent {
    /// Kinds of statements, or parts of the profile `resources`, of which something is left out.
    pub parts: Vec<Share>,
    /// Statements that have a name in the problem.
    pub steps: Vec<Share>,
    /// Why nothing is known of them.
    pub because: Option<String>,
}

/// What the best configuration takes without something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Share {
    /// What is left out.
    pub name: String,
    /// Ticks without it.
    pub time: Option<i64>,
    /// By how many ticks that is less.
    pub saves: Option<i64>,
    /// The same as a part of the time, in percent.
    pub percent: Option<f64>,
    /// Why it is not known.
    pub because: Option<String>,
}

/// Constraints left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Constraints {
    /// Without all of them; `null` where there are none.
    pub all: Option<Finding>,
    /// Without one of them.
    pub each: Vec<Without>,
    /// Where no single one prevents it: several that do so together.
    pub together: Option<Together>,
}

/// One constraint left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Without {
    /// The constraint as it is written.
    pub constraint: String,
    /// What is found without it.
    pub found: Finding,
}

/// Constraints that are left out together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Together {
    /// The constraints as they are written.
    pub constraints: Vec<String>,
    /// With any of them put back nothing is faster: that is proved for each.
    pub smallest: bool,
    /// What is found without them.
    pub found: Finding,
}

/// A number of the platform that is changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Number {
    /// Its name.
    pub name: String,
    /// Its value.
    pub from: i64,
    /// The value that was tried.
    pub to: i64,
    /// What is found with it.
    pub found: Finding,
}

impl Why {
    /// What is known after the search on the problem itself; `fixed` of its constraints, the last,
    /// are not asked about.
    pub fn begun(problem: &Problem, fixed: usize, r: &TuneResult) -> Why {
        let named = |found: &TimedConfiguration| values(problem, &found.configuration);
        let configuration = r.best.as_ref().map(named);
        let proved = r.status == Status::Optimal;
        let next_more = r.next.zip(r.upper).map(|(next, least)| next - least);
        let written = problem.constraints.len().saturating_sub(fixed);
        let each = problem.constraints[..written]
            .iter()
            .map(|c| Without { constraint: c.text.clone(), found: Finding::default() });
        Why {
            about: About::of(problem),
            status: r.status,
            time: r.upper,
            lower: r.lower,
            resources: configuration.as_ref().and_then(|at| Resources::of(problem, at)),
            configuration,
            configurations: r.configurations.as_ref().map(Tally::of),
            optima_count: r.optima_count.as_ref().filter(|_| proved).map(Tally::of),
            ties: ties(problem, r),
            more_ties: r.more_optima,
            indifferent: r.indifferent.clone(),
            next: r.next,
            next_more,
            next_percent: next_more.zip(r.upper).and_then(|(more, least)| percent(more, least)),
            spent: None,
            constraints: Constraints {
                all: (written > 0).then(Finding::default),
                each: each.collect(),
                together: None,
            },
            platform: Vec::new(),
            not_known: Vec::new(),
            stopped_by: r.stopped_by.as_ref().map(ToString::to_string),
            seconds: tenth_of_millisecond(r.seconds),
        }
        .noted()
    }

    /// With the time that all took, and with what is not known.
    pub fn ended(&mut self, seconds: f64) {
        self.seconds = tenth_of_millisecond(seconds);
        self.not_known = self.open();
    }

    /// With what is not known.
    #[must_use]
    pub fn noted(self) -> Why {
        Why { not_known: self.open(), ..self }
    }

    /// What the best configuration takes without something.
    pub fn shares(&self) -> impl Iterator<Item = &Share> {
        self.spent.iter().flat_map(|spent| spent.parts.iter().chain(&spent.steps))
    }

    /// What was asked and not answered.
    fn open(&self) -> Vec<String> {
        let mut open = Vec::new();
        if self.status == Status::Bounded {
            open.push("the least time".to_owned());
        }
        if self.status == Status::Optimal && self.spent.is_none() {
            open.push("where the time goes".to_owned());
        }
        let shares = self.shares().filter(|share| share.time.is_none());
        open.extend(shares.map(|share| format!("the time without {}", share.name)));
        let unknown = |found: &Finding| !found.is_known();
        if self.constraints.all.as_ref().is_some_and(unknown) {
            open.push("the least time without all constraints".to_owned());
        }
        let each = self.constraints.each.iter().filter(|without| unknown(&without.found));
        open.extend(each.map(|without| format!("the least time without `{}`", without.constraint)));
        if self.constraints.together.as_ref().is_some_and(|together| !together.smallest) {
            open.push("whether fewer constraints stand in the way together".to_owned());
        }
        let numbers = self.platform.iter().filter(|number| unknown(&number.found));
        open.extend(numbers.map(|n| format!("the least time with {} {}", n.name, n.to)));
        open
    }
}

/// A part of a time in percent, to a hundredth.
pub fn percent(part: i64, of: i64) -> Option<f64> {
    (of > 0).then(|| (part as f64 / of as f64 * 1e4).round() / 1e2)
}

/// The values of the parameters in which the optimal configurations differ.
fn ties(problem: &Problem, r: &TuneResult) -> IndexMap<String, Vec<i64>> {
    let optima: Vec<_> = r.optima.iter().filter(|f| Some(f.time) == r.upper).collect();
    let values = |place: usize| -> Vec<i64> {
        optima.iter().map(|f| f.configuration.0[place]).sorted_unstable().dedup().collect()
    };
    let named = problem.parameters.iter().enumerate().map(|(p, of)| (of.name.clone(), values(p)));
    named.filter(|(_, values)| values.len() > 1).collect()
}
