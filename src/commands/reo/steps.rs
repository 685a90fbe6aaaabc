//! Steps of connectors as text.

use std::collections::BTreeSet;
use tickbound_reo::connector::Connector;
use tickbound_reo::constraint::DataConstraint;
use tickbound_reo::symbol::NameId;

/// For each step of a run the names that fire, and under which constraint.
pub(super) type Steps = [(Vec<NameId>, DataConstraint)];

/// Steps with their numbers, a line each.
pub(super) fn listed(steps: &[String], before: usize) -> String {
    steps.iter().enumerate().map(|(k, s)| format!("  {}. {s}\n", before + k + 1)).collect()
}

/// Each step of a run as text: the names of the interface, and those of the formula, that fire in
/// it; all names where it is a step inside.
pub(super) fn steps(connector: &Connector, run: &Steps, spoken: &BTreeSet<NameId>) -> Vec<String> {
    let outer = |n: &NameId| connector.interface.contains(n);
    let text = |names: &Vec<NameId>, constraint| {
        if !names.iter().any(outer) {
            return format!("inside: {}", step(connector, names, constraint));
        }
        let shown = names.iter().copied().filter(|n| outer(n) || spoken.contains(n));
        step(connector, &shown.collect::<Vec<_>>(), constraint)
    };
    run.iter().map(|(names, constraint)| text(names, constraint)).collect()
}

/// A step as text: the names that fire, and under which constraint.
pub(super) fn step(connector: &Connector, names: &[NameId], constraint: &DataConstraint) -> String {
    let words: Vec<&str> = names.iter().map(|n| connector.symbols.word(n.0)).collect();
    let text = format!("{{{}}}", words.join(", "));
    if constraint.is_true() {
        text
    } else {
        format!("{text} {}", constraint.text(&connector.symbols))
    }
}
