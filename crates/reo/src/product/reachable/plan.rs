//! The parts, made ready: every step as a vector of words, and the order of the search.

use itertools::Itertools;

use super::guard::{self, Known};
use super::index::Digits;
use super::layout::{Layout, Wide};
use super::part_steps::{Move, PartSteps, on, search_order};
use crate::automaton::Automaton;
use crate::constraint::DataConstraint;
use crate::label;
use crate::limits::{Limited, ProductLimits};
use crate::symbol::NameId;

/// What the engine knows of the parts. Labels and masks are over the union alphabet and have
/// `layout.label` words; vectors have `layout.all()`.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub alphabet: Vec<NameId>,
    pub layout: Wide,
    /// How the tuple of the parts' states, in the parts' order, is packed.
    pub states: Digits,
    /// How the tuple of the parts' conditions is packed.
    pub conditions: Digits,
    /// For each part, the numbers in its table of the conditions of its steps; first `true`.
    pub used: Vec<Vec<u32>>,
    /// For each part its constraints, in the order of `used`; empty if all steps are possible.
    pub guards: Vec<Vec<DataConstraint>>,
    /// What is known of their conjunctions.
    pub known: Known,
    /// Whether steps of parts that share no name may exclude each other by their data.
    pub ground: bool,
    /// The initial states' keys, in order.
    pub initial: Vec<Vec<u64>>,
    /// As they were given.
    pub parts: Vec<Part>,
    /// From this place in the search order on, parts share only names that are decided before it.
    pub tail: usize,
    /// For each part, in search order, its names that parts before it in the search have too.
    pub decided: Vec<u64>,
    /// For each part, in search order, the names that it does not have.
    pub foreign: Vec<u64>,
    /// For each state of each part, the names that it may fire or does not have.
    pub allowed: Vec<u64>,
    /// For each state of each part, where its options begin, and the end of the last.
    pub options: Vec<u32>,
    /// Names that fire in each option.
    pub labels: Vec<u64>,
    /// The vector of each option, of its label only names that no earlier part decides.
    pub vectors: Vec<u64>,
    /// As `options`, of the silent steps.
    pub silent: Vec<u32>,
    pub silent_vectors: Vec<u64>,
    /// The parts that have silent steps, as they were given.
    pub silent_parts: Vec<usize>,
    /// Whether two steps of a row may be alike.
    pub twins: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Its place in the search order.
    pub place: usize,
    /// Where its states begin in [`Plan::options`].
    pub base: usize,
}

impl Plan {
    pub fn new(parts: &[&Automaton], limits: &ProductLimits) -> Limited<Plan> {
        let alphabet: Vec<NameId> =
            parts.iter().flat_map(|p| p.alphabet()).copied().sorted_unstable().dedup().collect();
        let words = label::words_for(alphabet.len());
        let steps: usize = parts.iter().map(|p| p.transitions() + p.states()).sum();
        limits.fits("the parts of the product", (steps * (words * 4 + 4) * 8) as u128)?;
        let prepared: Vec<PartSteps> =
            parts.iter().map(|p| PartSteps::new(p, &alphabet, words)).collect();
        let sizes: Vec<u64> = parts.iter().map(|p| p.states().max(1) as u64).collect();
        let states = Digits::new(&sizes);
        let kinds: Vec<u64> = prepared.iter().map(|d| d.used.len() as u64).collect();
        let conditions = Digits::new(&kinds);
        let plain = kinds.iter().all(|k| *k == 1);
        let condition = if plain { 0 } else { conditions.words };
        let layout = Wide { label: words, state: states.words, condition };
        let initial = initial(parts, &states, limits)?;
        let used: Vec<Vec<u32>> = prepared.iter().map(|d| d.used.clone()).collect();
        let guards = guard::guards(parts, &used);
        let ground = guard::ground(&guards);
        let mut plan = Plan {
            alphabet,
            layout,
            states,
            conditions,
            used,
            guards,
            ground,
            initial,
            parts: vec![Part { place: 0, base: 0 }; parts.len()],
            options: vec![0],
            silent: vec![0],
            twins: prepared.iter().any(|d| d.twins)
                || prepared.iter().filter(|d| d.loops).count() > 1,
            ..Plan::default()
        };
        plan.fill(prepared);
        Ok(plan)
    }

    /// Bytes that the plan takes, nearly.
    pub fn bytes(&self) -> u128 {
        let long = self.labels.len() + self.vectors.len() + self.silent_vectors.len();
        let long = long + self.allowed.len() + self.initial.len() * (self.states.words + 3);
        (long * 8 + (self.options.len() + self.silent.len()) * 4) as u128
    }

    #[inline]
    pub fn vector_of(&self, layout: impl Layout, option: u32) -> &[u64] {
        &self.vectors[option as usize * layout.all()..][..layout.all()]
    }

    fn fill(&mut self, prepared: Vec<PartSteps>) {
        let order = search_order(&prepared, self.alphabet.len());
        self.tail = order.tail;
        let mut decided = vec![0; self.layout.label];
        for (place, given) in order.parts.into_iter().enumerate() {
            let part_steps = &prepared[given];
            self.parts[given] = Part { place, base: self.options.len() - 1 };
            let shared: Vec<u64> =
                part_steps.names.iter().zip(&decided).map(|(n, d)| n & d).collect();
            for state in 0..part_steps.rows.len() {
                self.fill_state(part_steps, given, state, &shared);
            }
            self.decided.extend_from_slice(&shared);
            self.foreign.extend(part_steps.names.iter().map(|n| !n));
            decided.iter_mut().zip(&part_steps.names).for_each(|(d, n)| *d |= n);
        }
        let silent = |given: &usize| prepared[*given].silent.iter().any(|row| !row.is_empty());
        self.silent_parts = (0..prepared.len()).filter(silent).collect();
    }

    /// One state of a part: its options in the order of the names that are decided before them, so
    /// that those which agree with what is decided lie side by side.
    fn fill_state(&mut self, part_steps: &PartSteps, given: usize, state: usize, shared: &[u64]) {
        let mut row: Vec<&Move> = part_steps.rows[state].iter().collect();
        row.sort_by(|a, b| on(&a.label, shared).cmp(on(&b.label, shared)));
        let mut allowed: Vec<u64> = part_steps.names.iter().map(|n| !n).collect();
        for step in row {
            allowed.iter_mut().zip(&step.label).for_each(|(a, l)| *a |= l);
            let own: Vec<u64> = step.label.iter().zip(shared).map(|(l, s)| l & !s).collect();
            self.labels.extend_from_slice(&step.label);
            let vector = self.vector(&own, given, state, step);
            self.vectors.extend(vector);
        }
        for step in &part_steps.silent[state] {
            let vector = self.vector(&step.label, given, state, step);
            self.silent_vectors.extend(vector);
        }
        self.allowed.extend(allowed);
        self.options.push((self.labels.len() / self.layout.label) as u32);
        self.silent.push((self.silent_vectors.len() / self.layout.all()) as u32);
    }

    fn vector(&self, own: &[u64], given: usize, from: usize, step: &Move) -> Vec<u64> {
        let Wide { label, state, condition } = self.layout;
        let mut vector = vec![0; self.layout.all()];
        vector[..label].copy_from_slice(own);
        let (word, delta) = self.states.delta(given, from as u64, u64::from(step.to));
        vector[label + word] = delta;
        if condition > 0 {
            let (word, delta) = self.conditions.delta(given, 0, u64::from(step.condition));
            vector[label + state + word] = delta;
        }
        vector
    }
}

/// The keys of the initial states: all combinations of the parts' initial states, in order.
fn initial(
    parts: &[&Automaton],
    states: &Digits,
    limits: &ProductLimits,
) -> Limited<Vec<Vec<u64>>> {
    let sizes = parts.iter().map(|p| p.initial().len() as u128);
    // No factor after one that is 0 may saturate the product.
    let many = if parts.iter().any(|p| p.initial().is_empty()) {
        0
    } else {
        sizes.fold(1, u128::saturating_mul)
    };
    limits.fits("the initial states", many.saturating_mul(states.words as u128 * 8 + 24))?;
    let mut keys = vec![vec![0; states.words]; many.min(1) as usize];
    for (given, part) in parts.iter().enumerate() {
        let with = |key: &Vec<u64>, state: u32| {
            let (word, delta) = states.delta(given, 0, u64::from(state));
            let mut key = key.clone();
            key[word] += delta;
            key
        };
        keys = keys.iter().flat_map(|k| part.initial().iter().map(move |s| with(k, *s))).collect();
    }
    Ok(keys)
}
