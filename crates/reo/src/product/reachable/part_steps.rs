//! The parts with their steps over the union alphabet.

use std::collections::HashMap;

use itertools::Itertools;

use crate::automaton::Automaton;
use crate::constraint::simplify::is_possible;
use crate::label;
use crate::symbol::NameId;

/// A step of a part.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Move {
    pub label: Vec<u64>,
    pub to: u32,
    pub condition: u32,
}

/// A part on its way into the plan.
pub(super) struct PartSteps {
    pub names: Vec<u64>,
    /// For each state the steps in which names fire, none twice.
    pub rows: Vec<Vec<Move>>,
    /// For each state the steps in which none fires, without idle loops.
    pub silent: Vec<Vec<Move>>,
    /// The conditions of its steps.
    pub used: Vec<u32>,
    /// Whether two steps differ in their conditions alone.
    pub twins: bool,
    /// Whether a silent step leads back to its state.
    pub loops: bool,
}

impl PartSteps {
    pub fn new(part: &Automaton, alphabet: &[NameId], words: usize) -> PartSteps {
        let map = label::Map::new(part.alphabet(), alphabet);
        let mut names = vec![0; words];
        let places = part.alphabet().iter().filter_map(|name| alphabet.binary_search(name).ok());
        places.for_each(|bit| label::set(&mut names, bit));
        let mut part_steps = PartSteps {
            names,
            rows: vec![Vec::new(); part.states()],
            silent: vec![Vec::new(); part.states()],
            used: vec![0],
            twins: false,
            loops: false,
        };
        // For each condition its number here; none if nothing fulfils it.
        let mut seen = HashMap::from([(0, Some(0))]);
        for step in part.all_steps().filter(|s| !part.is_idle(s)) {
            let condition = *seen.entry(step.condition).or_insert_with(|| {
                is_possible(part.constraint(&step)).then(|| {
                    part_steps.used.push(step.condition);
                    part_steps.used.len() as u32 - 1
                })
            });
            let Some(condition) = condition else { continue };
            let made = Move { label: map.apply(step.label), to: step.to, condition };
            let silent = label::is_silent(step.label);
            part_steps.loops |= silent && step.from == step.to;
            let rows = if silent { &mut part_steps.silent } else { &mut part_steps.rows };
            rows[step.from as usize].push(made);
        }
        for row in part_steps.rows.iter_mut().chain(&mut part_steps.silent) {
            *row = std::mem::take(row).into_iter().unique().collect();
        }
        part_steps.twins = part_steps.rows.iter().any(|row| has_twins(row));
        part_steps
    }
}

/// Whether two steps differ in their conditions alone.
fn has_twins(row: &[Move]) -> bool {
    let mut all: Vec<(&[u64], u32)> = row.iter().map(|m| (&m.label[..], m.to)).collect();
    all.sort_unstable();
    all.windows(2).any(|w| w[0] == w[1])
}
