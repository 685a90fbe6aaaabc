//! The lines of an answer that all engines have, for people.

use tickbound_input::message::grouped;
use tickbound_model::verdict::Status;

use super::data::{Answer, Values};

/// A line under the first two: its name, such as `proved:`, and its text.
pub type AnswerLine = (&'static str, String);

/// The label of what a proof rests on. It states what a proof is about: the model, not the device.
pub const PROVED: &str = "proved in the model:";

/// A line as it is printed, with its text in the column that short names leave.
pub fn shown((name, text): &AnswerLine) -> String {
    format!("{name:<11} {text}\n")
}

/// A problem by its name and inputs, as `Minimum (size = 16)`.
pub fn titled(name: &str, inputs: &Values) -> String {
    let inputs: Vec<String> = inputs.iter().map(|(name, n)| format!("{name} = {n}")).collect();
    if inputs.is_empty() { name.to_owned() } else { format!("{name} ({})", inputs.join(", ")) }
}

/// A configuration as `WG=4, TS=2`; one without parameters is the only one.
pub fn named(configuration: &Values) -> String {
    match listed(configuration) {
        only if only.is_empty() => "the only configuration".to_owned(),
        listed => listed,
    }
}

/// As [`named`], but empty where there are no parameters.
pub(super) fn listed(configuration: &Values) -> String {
    let pairs = configuration.iter().map(|(name, v)| format!("{name}={v}"));
    pairs.collect::<Vec<_>>().join(", ")
}

impl Answer {
    /// The text: the heading, the model, the least time or what is known of it, called `least`,
    /// then `lines`, and how long it took.
    pub fn words(
        &self,
        heading: &str,
        least: &str,
        lines: impl IntoIterator<Item = AnswerLine>,
    ) -> String {
        let model: String = self.about.iter().map(|about| shown(&about.model())).collect();
        let first = format!("{heading}\n{model}{}\n", self.least(least));
        if self.status == Status::Infeasible {
            return first;
        }
        let took = self.seconds.map(|s| ("in:", format!("{s:.3} s")));
        let lines = lines.into_iter().chain(took);
        first + &lines.map(|line| shown(&line)).collect::<String>()
    }

    /// A time for people, in microseconds where their length is known.
    fn for_people(&self, ticks: i64) -> String {
        let ticks_alone = || format!("{} ticks", grouped(ticks));
        self.about.as_ref().map_or_else(ticks_alone, |about| about.units.time(ticks))
    }

    fn bracket(&self, upper: i64) -> String {
        let ticks_alone = || format!("{} and {} ticks", grouped(self.lower), grouped(upper));
        self.about.as_ref().map_or_else(ticks_alone, |about| about.units.range(self.lower, upper))
    }

    fn least(&self, name: &str) -> String {
        let at = self.configuration.as_ref().map(named).unwrap_or_default();
        let is_bounded = |time: i64| self.lower >= time;
        match (self.status, self.time) {
            (Status::Infeasible, _) => "no configuration satisfies the constraints".to_owned(),
            (Status::Optimal, Some(time)) => format!("{name} {} at {at}", self.for_people(time)),
            (_, Some(time)) if is_bounded(time) => format!(
                "not confirmed: by the lower bounds the {} is {} at {at}, but no solver has \
                 refuted {} ticks",
                name.trim_end_matches(':'),
                self.for_people(time),
                grouped(time - 1)
            ),
            (_, Some(time)) => format!(
                "not proved: the {} is between {}; best so far: {at}",
                name.trim_end_matches(':'),
                self.bracket(time)
            ),
            (_, None) => {
                let lower = self.for_people(self.lower);
                format!("not proved: nothing found; the least time is at least {lower}")
            }
        }
    }

    /// Whether the simulator has run the configuration.
    pub fn replay(&self) -> Option<AnswerLine> {
        self.time?;
        let confirmed = self.replayed == Some(true);
        let text =
            if confirmed { "the simulator takes as many ticks" } else { "too large to simulate" };
        Some(("replayed:", text.to_owned()))
    }

    /// What ended the search early.
    pub fn stop(&self) -> Option<AnswerLine> {
        self.stopped_by.clone().map(|why| ("stopped by:", why))
    }
}
