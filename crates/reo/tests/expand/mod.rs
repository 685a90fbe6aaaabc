//! Automata with their data written out over a few values: states with what the cells hold, steps
//! with the data at the names. What reductions keep is asked of these, by plain bisimulation.

#![allow(dead_code)]

pub mod machines;

use std::collections::{BTreeMap, BTreeSet};

use tickbound_reo::automaton::Automaton;
use tickbound_reo::symbol::{Cell, NameId};

use super::values::{Meaning, Value, View, combinations, relation_from};

/// Which names fire, and with which data; nothing for a silent step.
pub type Action = Vec<(NameId, Value)>;

/// States with their steps, all written out.
#[derive(Debug, Clone, Default)]
pub struct Expanded {
    /// Where runs begin.
    pub initial: Vec<usize>,
    /// The steps of each state.
    pub steps: Vec<BTreeSet<(Action, usize)>>,
}

/// What an automaton does over the values of `meaning`. A cell whose content is not known at the
/// start may hold any value.
pub fn expand(automaton: &Automaton, meaning: &Meaning) -> Expanded {
    let cells = automaton.cells().to_vec();
    let mut numbers: BTreeMap<(u32, Vec<Value>), usize> = BTreeMap::new();
    let mut order = Vec::new();
    let mut number = |state: (u32, Vec<Value>), order: &mut Vec<_>| {
        *numbers.entry(state.clone()).or_insert_with(|| {
            order.push(state);
            order.len() - 1
        })
    };
    let mut made = Expanded::default();
    for memory in beginnings(automaton, &cells, meaning) {
        for state in automaton.initial() {
            made.initial.push(number((*state, memory.clone()), &mut order));
        }
    }
    while made.steps.len() < order.len() {
        let (state, memory) = order[made.steps.len()].clone();
        let mut steps = BTreeSet::new();
        for step in automaton.steps(state) {
            let names: Vec<NameId> = automaton.fires(&step).collect();
            let view = View { names: names.clone(), cells: cells.clone(), dead: Vec::new() };
            for (data, _, after) in
                relation_from(automaton.constraint(&step), &view, meaning, Some(&memory))
            {
                let action: Action = names.iter().copied().zip(data).collect();
                steps.insert((action, number((step.to, after), &mut order)));
            }
        }
        made.steps.push(steps);
    }
    made
}

/// What the cells may hold at the start.
fn beginnings(automaton: &Automaton, cells: &[Cell], meaning: &Meaning) -> Vec<Vec<Value>> {
    let mut all = combinations(cells.len(), meaning.values);
    for (cell, constant) in automaton.contents() {
        let at = cells.iter().position(|c| c == cell).expect("a cell of the automaton");
        all.retain(|memory| memory[at] == meaning.constant(*constant));
    }
    all
}

impl Expanded {
    /// Without `names`, whose data nobody sees.
    pub fn hidden(&self, names: &[NameId]) -> Expanded {
        let seen = |action: &Action| -> Action {
            action.iter().filter(|(name, _)| !names.contains(name)).copied().collect()
        };
        let row =
            |row: &BTreeSet<(Action, usize)>| row.iter().map(|(a, to)| (seen(a), *to)).collect();
        Expanded { initial: self.initial.clone(), steps: self.steps.iter().map(row).collect() }
    }

    /// Each state with the steps of all that it reaches silently, and no silent steps.
    pub fn closed(&self) -> Expanded {
        let all = self.silent();
        let visible = |via: &usize| self.steps[*via].iter().filter(|(a, _)| !a.is_empty()).cloned();
        let row = |silent: &BTreeSet<usize>| silent.iter().flat_map(visible).collect();
        Expanded { initial: self.initial.clone(), steps: all.iter().map(row).collect() }
    }

    /// With silent steps before, after, and instead of steps: strong bisimulation of what results
    /// is weak bisimulation.
    pub fn saturated(&self) -> Expanded {
        let silent = self.silent();
        let row = |state: usize| {
            let mut row: BTreeSet<(Action, usize)> =
                silent[state].iter().map(|to| (Vec::new(), *to)).collect();
            for via in &silent[state] {
                for (action, to) in self.steps[*via].iter().filter(|(a, _)| !a.is_empty()) {
                    row.extend(silent[*to].iter().map(|end| (action.clone(), *end)));
                }
            }
            row
        };
        let steps = (0..self.steps.len()).map(row).collect();
        Expanded { initial: self.initial.clone(), steps }
    }

    /// Where silent steps lead from each state, itself among them.
    fn silent(&self) -> Vec<BTreeSet<usize>> {
        let from = |state: usize| {
            let (mut found, mut next) = (BTreeSet::from([state]), vec![state]);
            while let Some(at) = next.pop() {
                for (action, to) in &self.steps[at] {
                    if action.is_empty() && found.insert(*to) {
                        next.push(*to);
                    }
                }
            }
            found
        };
        (0..self.steps.len()).map(from).collect()
    }

    /// Only states that a run reaches, so that no other one costs time.
    pub fn reachable(&self) -> Expanded {
        let mut order = self.initial.clone();
        order.sort_unstable();
        order.dedup();
        let mut at = 0;
        let mut seen: BTreeSet<usize> = order.iter().copied().collect();
        while at < order.len() {
            for (_, to) in &self.steps[order[at]] {
                if seen.insert(*to) {
                    order.push(*to);
                }
            }
            at += 1;
        }
        let new: BTreeMap<usize, usize> = order.iter().enumerate().map(|(k, s)| (*s, k)).collect();
        let row = |s: &usize| self.steps[*s].iter().map(|(a, to)| (a.clone(), new[to])).collect();
        Expanded {
            initial: self.initial.iter().map(|s| new[s]).collect(),
            steps: order.iter().map(row).collect(),
        }
    }
}

/// Whether each beginning of one is strongly bisimilar to a beginning of the other.
pub fn strongly_alike(one: &Expanded, other: &Expanded) -> bool {
    let (one, other) = (one.reachable(), other.reachable());
    let mut actions: BTreeMap<&Action, usize> = BTreeMap::new();
    let mut rows: Vec<Vec<(usize, usize)>> = Vec::new();
    for (side, shift) in [(&one, 0), (&other, one.steps.len())] {
        for row in &side.steps {
            let mut numbered = Vec::with_capacity(row.len());
            for (action, to) in row {
                let next = actions.len();
                numbered.push((*actions.entry(action).or_insert(next), to + shift));
            }
            rows.push(numbered);
        }
    }
    let block = blocks(&rows);
    let of = |side: &Expanded, shift: usize| -> BTreeSet<usize> {
        side.initial.iter().map(|s| block[s + shift]).collect()
    };
    of(&one, 0) == of(&other, one.steps.len())
}

/// Whether each beginning of one is weakly bisimilar to a beginning of the other.
pub fn weakly_alike(one: &Expanded, other: &Expanded) -> bool {
    strongly_alike(&one.reachable().saturated(), &other.reachable().saturated())
}

/// The block of each state in the coarsest stable partition.
fn blocks(rows: &[Vec<(usize, usize)>]) -> Vec<usize> {
    let mut block = vec![0; rows.len()];
    let mut count = 1;
    loop {
        let mut numbers: BTreeMap<(usize, BTreeSet<(usize, usize)>), usize> = BTreeMap::new();
        let mut next = Vec::with_capacity(rows.len());
        for (state, row) in rows.iter().enumerate() {
            let signature = row.iter().map(|(action, to)| (*action, block[*to])).collect();
            let new = numbers.len();
            next.push(*numbers.entry((block[state], signature)).or_insert(new));
        }
        if numbers.len() == count {
            return block;
        }
        (block, count) = (next, numbers.len());
    }
}
