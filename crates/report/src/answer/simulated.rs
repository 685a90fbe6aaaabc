//! What `simulate` answers, as data.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_simulator::Trace;

use super::about::About;
use super::counts::Counts;
use super::data::Values;
use super::resources::Resources;

/// The object that `simulate` prints with `--json`. Times are in ticks; what is not known is
/// `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Simulated {
    /// What it is about.
    pub about: About,
    /// Ticks of the run.
    pub time: i64,
    /// The configuration.
    pub configuration: Values,
    /// What all items of the launch do.
    pub counts: Option<Counts>,
    /// The steps of the kernel that took time, in the order in which they began; `null` under the
    /// profile `resources`, which runs no items, and for a run of more spans than a timeline has.
    pub phases: Option<Vec<Phase>>,
    /// What bounds the time, under the profile `resources`.
    pub resources: Option<Resources>,
}

/// One step of the kernel, over all items, or warps, that took it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Phase {
    /// Its name in the problem; that of its kind where it has none.
    pub name: String,
    /// The kind of work, such as `global`; `until` and `barrier` are waits.
    pub kind: String,
    /// The first tick of it.
    pub start: i64,
    /// The tick at which the last of it was over.
    pub end: i64,
    /// Ticks that items, or warps, spent on it, all together.
    pub ticks: i64,
    /// How often one did.
    pub times: u64,
}

impl Phase {
    /// The steps of a run that was recorded whole.
    pub fn of(trace: &Trace) -> Option<Vec<Phase>> {
        if trace.truncated {
            return None;
        }
        let mut phases: IndexMap<(&str, &str), Phase> = IndexMap::new();
        for span in &trace.spans {
            let (name, kind) = (span.label.as_str(), span.kind.name());
            let phase = phases.entry((name, kind)).or_insert_with(|| Phase {
                name: name.to_owned(),
                kind: kind.to_owned(),
                start: span.start,
                end: span.end,
                ticks: 0,
                times: 0,
            });
            phase.start = phase.start.min(span.start);
            phase.end = phase.end.max(span.end);
            phase.ticks = phase.ticks.saturating_add(span.end - span.start);
            phase.times += 1;
        }
        let mut phases: Vec<Phase> = phases.into_values().collect();
        phases.sort_by(|a, b| (a.start, a.end, &a.name).cmp(&(b.start, b.end, &b.name)));
        Some(phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickbound_model::AccessKind;
    use tickbound_simulator::{Span, SpanKind};

    #[test]
    fn phases_by_hand() {
        let span = |item, label: &str, kind, start, end| Span {
            unit: 0,
            element: item,
            group: 0,
            item,
            kind,
            label: label.to_owned(),
            start,
            end,
        };
        let load = SpanKind::Access(AccessKind::Global);
        let spans = vec![
            span(0, "barrier", SpanKind::Barrier, 4, 9),
            span(0, "load", load, 0, 4),
            span(1, "load", load, 2, 9),
        ];
        let trace = Trace { waits: Vec::new(), spans, truncated: false };
        let phase = |name: &str, kind: &str, start, end, ticks, times| Phase {
            name: name.to_owned(),
            kind: kind.to_owned(),
            start,
            end,
            ticks,
            times,
        };
        let expected =
            vec![phase("load", "global", 0, 9, 11, 2), phase("barrier", "barrier", 4, 9, 5, 1)];
        assert_eq!(Phase::of(&trace), Some(expected));
        assert_eq!(Phase::of(&Trace { truncated: true, ..trace }), None);
    }
}
