//! A run on the pictures: what is lit at each step.

use std::collections::BTreeSet;

use super::circuit::{channels, nodes};
use crate::automaton::Automaton;
use crate::connector::Connector;
use crate::run::Taken;
use crate::symbol::NameId;

/// One step of a run, or its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The step, and what the cells hold behind it.
    pub caption: String,
    /// The items that are lit: what fires, possible steps of the automaton, states behind them.
    pub on: BTreeSet<String>,
}

/// The beginning and each step of a run of `connector`. The `automaton` has some of its names: it
/// may do what agrees with those that fired, with silent steps before and after.
pub fn frames(connector: &Connector, automaton: Option<&Automaton>, run: &[Taken]) -> Vec<Frame> {
    let mut trace = automaton.map(Trace::new);
    let begin: BTreeSet<String> = trace.iter().flat_map(Trace::states).collect();
    let mut frames = vec![Frame { caption: "start".into(), on: begin }];
    for (k, taken) in run.iter().enumerate() {
        let mut on = fired(connector, &taken.names);
        if let Some(trace) = &mut trace {
            on.extend(trace.go(&taken.names));
        }
        let cells = match &taken.cells[..] {
            [] => String::new(),
            cells => format!("  ->  {}", cells.join(", ")),
        };
        frames.push(Frame { caption: format!("{}. {}{cells}", k + 1, taken.text), on });
    }
    frames
}

/// The items of the circuit that take part in a step.
fn fired(connector: &Connector, names: &[NameId]) -> BTreeSet<String> {
    let channels = channels(connector);
    let mut on = BTreeSet::new();
    for (k, channel) in channels.iter().enumerate() {
        for (end, _) in channel.names.iter().enumerate().filter(|(_, n)| names.contains(n)) {
            on.insert(format!("c{k}"));
            on.insert(format!("c{k}.{end}"));
        }
    }
    for (k, node) in nodes(connector, &channels).keys().enumerate() {
        if connector.symbols.find(node).is_some_and(|symbol| names.contains(&NameId(symbol))) {
            on.insert(format!("n{k}"));
        }
    }
    on
}

/// Where an automaton may be.
struct Trace<'a> {
    automaton: &'a Automaton,
    at: BTreeSet<u32>,
}

impl<'a> Trace<'a> {
    fn new(automaton: &'a Automaton) -> Trace<'a> {
        let mut trace = Trace { automaton, at: automaton.initial().iter().copied().collect() };
        trace.close();
        trace
    }

    fn states(&self) -> Vec<String> {
        self.at.iter().map(|state| format!("s{state}")).collect()
    }

    fn close(&mut self) {
        let mut open: Vec<u32> = self.at.iter().copied().collect();
        while let Some(state) = open.pop() {
            for step in self.automaton.steps(state).filter(|step| self.automaton.is_silent(step)) {
                if self.at.insert(step.to) {
                    open.push(step.to);
                }
            }
        }
    }

    /// The steps that agree with what fired, and the states behind them.
    fn go(&mut self, names: &[NameId]) -> Vec<String> {
        let automaton = self.automaton;
        let mut seen: Vec<NameId> =
            names.iter().copied().filter(|n| automaton.alphabet().contains(n)).collect();
        seen.sort_unstable();
        if seen.is_empty() {
            return self.states();
        }
        let fits = |step: &crate::automaton::Transition<'_>| {
            self.at.contains(&step.from) && automaton.fires(step).eq(seen.iter().copied())
        };
        let steps = automaton.all_steps().enumerate().filter(|(_, step)| fits(step));
        let steps: Vec<(usize, u32)> = steps.map(|(k, step)| (k, step.to)).collect();
        self.at = steps.iter().map(|(_, to)| *to).collect();
        self.close();
        steps.into_iter().map(|(k, _)| format!("t{k}")).chain(self.states()).collect()
    }
}
