//! What `tune --over` answers.

use serde::{Deserialize, Serialize};
use tickbound_input::message::grouped;

use super::about::About;
use super::data::Values;
use super::words::{PROVED, named, shown};

/// The object that `tune --over` prints with `--json`: configurations, of which at each size the
/// one with the least predicted time is picked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SizeRule {
    /// What it is about; the inputs are those that are no sizes.
    pub about: About,
    /// The sizes, as the option takes them; empty with `--devices` alone.
    pub over: String,
    /// The platforms of `--devices`; `about` is that of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub platforms: Vec<String>,
    /// How many sizes there are; with several platforms on all of them together.
    pub sizes: usize,
    /// The size at which the rule loses most.
    pub worst: WorstSize,
    /// The configurations, those first that serve most sizes.
    pub variants: Vec<RuleVariant>,
    /// How many leaves the decision tree has that picks; without one the least predicted time does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<usize>,
    /// The greatest loss in percent with one configuration, with two, and so on; null where no
    /// such configurations are valid at all sizes.
    pub fewer: Vec<Option<f64>>,
    /// The sizes at which no configuration is valid.
    pub infeasible: Vec<String>,
    /// At how many sizes nothing is proved, because the search was stopped.
    pub open: usize,
    /// What stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// For how many sizes the configurations were chosen.
    pub examined: usize,
    /// At how many sizes, drawn at random, the simulator has confirmed the time.
    pub simulated: usize,
    /// How long it took.
    pub seconds: f64,
}

/// A configuration of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleVariant {
    /// Its parameters.
    pub configuration: Values,
    /// At how many sizes it is picked.
    pub sizes: usize,
}

/// The size at which a rule loses most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorstSize {
    /// The size.
    pub size: String,
    /// Ticks of the configuration that is picked.
    pub ticks: i64,
    /// The least ticks of all configurations.
    pub least: i64,
    /// How much more the first is than the second, in percent.
    pub percent: f64,
}

impl SizeRule {
    /// Whether the loss is proved at every size that has a valid configuration, and is as small
    /// as was wanted.
    pub fn proved(&self) -> bool {
        self.open == 0 && self.stopped_by.is_none()
    }

    /// The lines for people.
    pub fn words(&self) -> String {
        let at = if self.over.is_empty() { "" } else { "at " };
        let count = sizes(self.sizes);
        let mut text = format!("{}, {count} {at}{}\n", self.about.name, self.places());
        let mut line = |name: &'static str, what: String| text += &shown(&(name, what));
        let (_, model) = self.about.model();
        let several = !self.platforms.is_empty();
        line("model:", if several { format!("profile {}", self.about.profile) } else { model });
        line("rule:", self.rule());
        for (place, variant) in self.variants.iter().enumerate() {
            let what = format!("{} ({})", named(&variant.configuration), sizes(variant.sizes));
            line(if place == 0 { "variants:" } else { "" }, what);
        }
        line("loss:", self.worst.words());
        if !self.fewer.is_empty() {
            line("fewer:", self.curve());
        }
        if let [first, ..] = &self.infeasible[..] {
            let what =
                format!("{}, {first} first; nothing is picked", sizes(self.infeasible.len()));
            line("invalid:", what);
        }
        match self.proved() {
            true => text += &format!("{PROVED} {}\n", self.proof()),
            false => {
                let why = self.stopped_by.as_deref().unwrap_or("a search that did not end");
                line("not proved:", format!("at {} ({why})", sizes(self.open)));
            }
        }
        let took = format!("as many ticks in the simulator at {}", sizes(self.simulated));
        text + &shown(&("replayed:", took)) + &shown(&("in:", format!("{:.3} s", self.seconds)))
    }

    /// The sizes, and the devices where there are several.
    pub fn places(&self) -> String {
        match (self.over.as_str(), &self.platforms[..]) {
            (over, []) => over.to_owned(),
            ("", on) => format!("on {}", on.join(", ")),
            (over, on) => format!("{over} on {}", on.join(", ")),
        }
    }

    /// What is picked at a size.
    pub fn rule(&self) -> String {
        match (self.variants.len(), self.leaves) {
            (1, _) => "1 configuration for all sizes".to_owned(),
            (count, Some(leaves)) => {
                format!("of {count} configurations one by a decision tree of {leaves} leaves")
            }
            (count, None) => {
                format!("of {count} configurations the one with the least predicted time")
            }
        }
    }

    /// What a proof rests on.
    pub fn proof(&self) -> String {
        format!("the least time at each of {}", sizes(self.sizes - self.infeasible.len()))
    }

    fn curve(&self) -> String {
        let item = |(place, loss): (usize, &Option<f64>)| match loss {
            Some(percent) => format!("{}: {percent:.2} %", place + 1),
            None => format!("{}: not valid at all sizes", place + 1),
        };
        self.fewer.iter().enumerate().map(item).collect::<Vec<_>>().join("; ")
    }
}

impl WorstSize {
    /// The greatest loss and where it is, for people.
    pub fn words(&self) -> String {
        let WorstSize { size, ticks, least, percent } = self;
        match ticks == least {
            true => "0 % at every size".to_owned(),
            false => format!(
                "at most {percent:.2} % at any size: {} ticks instead of {} at {size}",
                grouped(*ticks),
                grouped(*least)
            ),
        }
    }
}

fn sizes(count: usize) -> String {
    if count == 1 { "1 size".to_owned() } else { format!("{} sizes", grouped(count as i64)) }
}
