//! Shortest runs to a place.

use super::formula::LtlFormula;
use crate::automaton::{Automaton, Transition};
use crate::constraint::DataConstraint;
use crate::symbol::NameId;

/// A run from an initial state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutomatonRun {
    /// For each step the names that fire and the constraint.
    pub steps: Vec<(Vec<NameId>, DataConstraint)>,
    /// The state at the end.
    pub state: u32,
}

/// A shortest run to a state that no step leaves, if any; a silent loop does not count as leaving.
pub fn deadlock(automaton: &Automaton) -> Option<AutomatonRun> {
    let search = Search::new(automaton);
    let stuck = |s: &u32| automaton.steps(*s).all(|step| automaton.is_idle(&step));
    search.order.iter().find(|s| stuck(s)).map(|s| search.run(*s))
}

/// A shortest run whose last step breaks `invariant`, if any. Silent steps do not count.
pub fn violation(automaton: &Automaton, invariant: &LtlFormula) -> Option<AutomatonRun> {
    let search = Search::new(automaton);
    for state in &search.order {
        for step in automaton.steps(*state) {
            let fire: Vec<NameId> = automaton.fires(&step).collect();
            if !fire.is_empty() && !invariant.holds(&|name| fire.contains(&name)) {
                let mut run = search.run(*state);
                run.steps.push((fire, automaton.constraint(&step).clone()));
                run.state = step.to;
                return Some(run);
            }
        }
    }
    None
}

/// A breadth-first search: which step led to each state first.
struct Search<'a> {
    automaton: &'a Automaton,
    order: Vec<u32>,
    from: Vec<Option<Transition<'a>>>,
}

impl<'a> Search<'a> {
    fn new(automaton: &'a Automaton) -> Self {
        let (order, _) = automaton.breadth_first();
        let mut from = vec![None; automaton.states()];
        for step in order.iter().flat_map(|state| automaton.steps(*state)) {
            if automaton.initial().binary_search(&step.to).is_err() {
                from[step.to as usize].get_or_insert(step);
            }
        }
        Search { automaton, order, from }
    }

    fn run(&self, state: u32) -> AutomatonRun {
        let mut steps = Vec::new();
        let mut at = state;
        while let Some(step) = &self.from[at as usize] {
            let fire = self.automaton.fires(step).collect();
            steps.push((fire, self.automaton.constraint(step).clone()));
            at = step.from;
        }
        steps.reverse();
        AutomatonRun { steps, state }
    }
}
