//! Where the time goes: a run's time, or a group's, divided by what it is spent on.

use indexmap::IndexMap;
use itertools::Itertools;
use serde::Serialize;

use super::figures::numbers_grouped;
use super::lanes::kind;
use crate::timeline::TimelineSpan;

/// Most steps that are distinguished where the time goes.
const MAX_STEPS: usize = 12;
/// The kind of the time in which an element does nothing.
const IDLE: &str = "idle";

/// What a run spends its time on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpentChart {
    /// What was counted.
    pub about: String,
    /// What the amounts are, such as `ticks`.
    pub unit: &'static str,
    /// The same time, divided in several ways.
    pub parts: Vec<SpentPart>,
}

/// A time divided into stripes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpentPart {
    /// By what it is divided.
    pub head: &'static str,
    /// The stripes, in the order in which they are shown.
    pub lines: Vec<Stripe>,
}

/// A share of a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stripe {
    /// What it was spent on.
    pub name: String,
    /// Which colour it has: the kind of work, as timelines have kinds.
    pub kind: String,
    /// How much, for people.
    pub amount: String,
    /// Its share, in percent.
    pub percent: String,
}

impl Stripe {
    /// A share of `all`, which is above 0.
    pub fn new(name: &str, kind: &str, amount: f64, all: f64, digits: usize) -> Stripe {
        Stripe {
            name: name.to_owned(),
            kind: kind.to_owned(),
            amount: numbers_grouped(&format!("{amount:.digits$}")),
            percent: format!("{:.1}", 100.0 * amount / all),
        }
    }
}

impl SpentChart {
    /// What a run of `time` ticks spends its time on: of all spans, and of elements that have some.
    pub fn of(spans: &[TimelineSpan], time: i64, truncated: bool) -> Option<SpentChart> {
        let elements = spans.iter().map(|s| (&s.process, &s.thread)).unique().count();
        let kind = spans.first().map_or("element", |s| kind(&s.thread));
        let mut kinds: IndexMap<&str, i128> = IndexMap::new();
        let mut steps: IndexMap<(&str, &str), i128> = IndexMap::new();
        for span in spans {
            let ticks = i128::from(span.end - span.start);
            *kinds.entry(&span.category).or_default() += ticks;
            *steps.entry((&span.name, &span.category)).or_default() += ticks;
        }
        let busy: i128 = kinds.values().sum();
        let all = if truncated { busy } else { i128::from(time) * elements as i128 };
        if all <= 0 {
            return None;
        }
        let idle = (all - busy).max(0);
        kinds.sort_by(|_, a, _, b| b.cmp(a));
        steps.sort_by(|_, a, _, b| b.cmp(a));
        let stripe = |name: &str, kind: &str, ticks: i128| {
            Stripe::new(name, kind, ticks as f64, all as f64, 0)
        };
        let mut by_kind: Vec<Stripe> = kinds.iter().map(|(k, n)| stripe(k, k, *n)).collect();
        by_kind.extend((idle > 0).then(|| stripe(IDLE, IDLE, idle)));
        let few = steps.iter().take(MAX_STEPS);
        let called = |step: &str, kind: &str| {
            if step == kind { step.to_owned() } else { format!("{step} ({kind})") }
        };
        let mut by_step: Vec<Stripe> =
            few.map(|((s, k), n)| stripe(&called(s, k), k, *n)).collect();
        let others: i128 = steps.values().skip(MAX_STEPS).sum();
        by_step.extend((others > 0).then(|| stripe("other steps", IDLE, others)));
        let counted = match truncated {
            false => format!(
                "The {time} ticks of each of {elements} {kind}s that work, of the best \
                 configuration."
            ),
            true => format!(
                "The first {} spans of the best configuration's run, which has more; the ticks of \
                 {elements} {kind}s, added up.",
                spans.len()
            ),
        };
        // Steps without names of their own are called as their kinds.
        let named = by_step.iter().any(|line| line.name != line.kind);
        let mut parts = vec![SpentPart { head: "kind", lines: by_kind }];
        parts.extend(named.then_some(SpentPart { head: "step", lines: by_step }));
        Some(SpentChart { about: numbers_grouped(&counted), unit: "ticks", parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ticks_are_of_some_kind() {
        let span = |element: i64, kind: &str, start, end| TimelineSpan {
            process: "unit 0".into(),
            thread: format!("element {element}"),
            name: kind.into(),
            category: kind.into(),
            start,
            end,
            args: Vec::new(),
        };
        let mut spans: Vec<TimelineSpan> =
            (0..6).flat_map(|e| [span(e, "global", 0, 8), span(e, "barrier", 8, 9)]).collect();
        spans.push(span(6, "global", 1, 9));
        let lines = |truncated| {
            let spent = SpentChart::of(&spans, 9, truncated).unwrap();
            let lines = spent.parts[0].lines.iter();
            lines.map(|l| format!("{} {} {}", l.name, l.amount, l.percent)).collect::<Vec<_>>()
        };
        assert_eq!(lines(false), ["global 56 88.9", "barrier 6 9.5", "idle 1 1.6"]);
        assert_eq!(lines(true), ["global 56 90.3", "barrier 6 9.7"]);
        assert_eq!(SpentChart::of(&[], 9, false), None);
    }
}
