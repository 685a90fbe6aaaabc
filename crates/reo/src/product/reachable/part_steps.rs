//! The parts with their steps over the union alphabet, and the order in which they are searched.
//!
//! The order is greedy, so that little is guessed before much is decided. First come parts that
//! have no choice once the names so far are decided, then the part with the fewest bits of choice
//! for each name that it decides for others. Parts whose choice concerns no other part come last,
//! the *tail*; whether they refuse is asked before the first of them chooses.

use std::cmp::Ordering;
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

fn has_twins(row: &[Move]) -> bool {
    let mut all: Vec<(&[u64], u32)> = row.iter().map(|m| (&m.label[..], m.to)).collect();
    all.sort_unstable();
    all.windows(2).any(|w| w[0] == w[1])
}

pub(super) struct Order {
    /// Numbers of the parts, as given.
    pub parts: Vec<usize>,
    /// From this place on parts decide nothing for others.
    pub tail: usize,
}

/// The bits of a label on the names of a mask, word by word.
pub(super) fn on<'a>(label: &'a [u64], mask: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
    label.iter().zip(mask).map(|(l, m)| l & m)
}

/// The cost of a part that decides nothing for others.
const LAST: u64 = u64::MAX;

/// The order for these parts; of equally good parts the first comes first.
pub(super) fn search_order(prepared: &[PartSteps], names: usize) -> Order {
    let mut owners: Vec<Vec<usize>> = vec![Vec::new(); names];
    for (part, part_steps) in prepared.iter().enumerate() {
        label::bits(&part_steps.names).for_each(|name| owners[name].push(part));
    }
    let mut decided = vec![0; label::words_for(names)];
    let mut waiting = vec![true; prepared.len()];
    let others = |part: usize, name: usize, waiting: &[bool]| {
        owners[name].iter().any(|other| *other != part && waiting[*other])
    };
    let cost = |part: usize, decided: &[u64], waiting: &[bool]| {
        let names = label::bits(&prepared[part].names).filter(|n| !label::has(decided, *n));
        let fresh = names.filter(|name| others(part, *name, waiting)).count() as u64;
        match (bits(choices(&prepared[part], decided)), fresh) {
            (0, _) => 0,
            (_, 0) => LAST,
            (bits, fresh) => (bits << 16) / fresh,
        }
    };
    let mut costs: Vec<u64> = (0..prepared.len()).map(|p| cost(p, &decided, &waiting)).collect();
    let mut order = Order { parts: Vec::with_capacity(prepared.len()), tail: 0 };
    while let Some(next) = (0..prepared.len()).filter(|p| waiting[*p]).min_by_key(|p| costs[*p]) {
        if costs[next] != LAST {
            order.tail = order.parts.len() + 1;
        }
        order.parts.push(next);
        waiting[next] = false;
        let mine: Vec<usize> = label::bits(&prepared[next].names).collect();
        mine.iter().for_each(|name| label::set(&mut decided, *name));
        let near: Vec<usize> =
            mine.iter().flat_map(|n| &owners[*n]).copied().sorted_unstable().dedup().collect();
        for part in near.into_iter().filter(|p| waiting[*p]) {
            costs[part] = cost(part, &decided, &waiting);
        }
    }
    order
}

/// The most choices that a part has in a state when it is known which decided names fire.
fn choices(part_steps: &PartSteps, decided: &[u64]) -> usize {
    let compare = |a: &&Vec<u64>, b: &&Vec<u64>| on(a, decided).cmp(on(b, decided));
    let most = |row: &Vec<Move>| {
        let mut labels: Vec<&Vec<u64>> = row.iter().map(|step| &step.label).collect();
        labels.sort_unstable_by(compare);
        let same = labels.chunk_by(|a, b| compare(a, b) == Ordering::Equal);
        // To do nothing is a choice too, where no decided name fires.
        let size = |group: &[&Vec<u64>]| {
            group.len() + usize::from(on(group[0], decided).all(|word| word == 0))
        };
        same.map(size).max().unwrap_or(1)
    };
    part_steps.rows.iter().map(most).max().unwrap_or(1)
}

/// log2, in sixteenths, nearly; 0 for 1.
fn bits(choices: usize) -> u64 {
    let whole = choices.max(1).ilog2();
    let rest = ((choices as u128) << 4 >> whole) as u64 & 15;
    u64::from(whole) * 16 + rest
}
