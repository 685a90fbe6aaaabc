//! The steps of one product state, found by going through the factors with what they agree on.

use super::factors::{Implicit, StateError};
use crate::constraint::DataConstraint;
use crate::label;

/// A step of the product.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProductStep {
    /// The names that fire, over [`Implicit::alphabet`].
    pub label: Vec<u64>,
    /// The conjunction of the parts' constraints.
    pub constraint: DataConstraint,
    /// The states of the factors after it.
    pub to: Vec<u32>,
}

/// What a factor may do: a step, or nothing.
#[derive(Debug)]
struct FactorStep<'a> {
    /// For each name of the factor's alphabet, whether it fires.
    fires: Vec<bool>,
    /// Over the product's alphabet.
    label: Vec<u64>,
    constraint: Option<&'a DataConstraint>,
    to: u32,
}

/// A factor and what it may do in its state. The first choice is to do nothing.
#[derive(Debug)]
struct Factor<'a> {
    number: usize,
    /// Where its names stand in the product's alphabet.
    names: Vec<usize>,
    choices: Vec<FactorStep<'a>>,
}

/// The steps that leave one state of the product: the silent ones, factor by factor, then the joint
/// ones. The order is the same each time. Steps of parts that differ in their constraints alone
/// may join to steps that are alike.
///
/// Factors are gone through such that each, where possible, shares a name with one before it, so
/// that choices that do not agree are given up early.
#[derive(Debug)]
pub struct ProductRow<'a> {
    state: Vec<u32>,
    words: usize,
    silent: std::vec::IntoIter<ProductStep>,
    factors: Vec<Factor<'a>>,
    /// The choice of each factor so far.
    taken: Vec<usize>,
    /// Whether each name fires, and how many factors so far have it.
    names: Vec<(bool, u32)>,
    done: bool,
}

impl Implicit {
    /// The steps that leave a state, one after another as they are requested; there may be
    /// exponentially many. See [`ProductRow`] for their order.
    pub fn row(&self, state: &[u32]) -> Result<ProductRow<'_>, StateError> {
        self.check(state)?;
        let factors = order(self).into_iter().map(|number| factor(self, number, state[number]));
        Ok(ProductRow {
            state: state.to_vec(),
            words: label::words_for(self.alphabet.len()),
            silent: silent(self, state).into_iter(),
            factors: factors.collect(),
            taken: Vec::new(),
            names: vec![(false, 0); self.alphabet.len()],
            done: false,
        })
    }
}

impl ProductRow<'_> {
    /// Lets the next factor take its first choice from `from` on that agrees with those before.
    fn take(&mut self, from: usize) -> bool {
        let factor = &self.factors[self.taken.len()];
        let agrees = |choice: &FactorStep| {
            let mut names = factor.names.iter().zip(&choice.fires);
            names.all(|(name, fires)| {
                let (before, parts) = self.names[*name];
                parts == 0 || before == *fires
            })
        };
        let Some(found) = (from..factor.choices.len()).find(|at| agrees(&factor.choices[*at]))
        else {
            return false;
        };
        for (name, fires) in factor.names.iter().zip(&factor.choices[found].fires) {
            let (value, parts) = &mut self.names[*name];
            *value = *fires;
            *parts += 1;
        }
        self.taken.push(found);
        true
    }

    /// Takes back the last choice, and returns which it was.
    fn give_up(&mut self) -> Option<usize> {
        let last = self.taken.pop()?;
        for name in &self.factors[self.taken.len()].names {
            self.names[*name].1 -= 1;
        }
        Some(last)
    }

    /// The next choice for all factors.
    fn advance(&mut self) -> bool {
        let mut from = 0;
        let mut back = self.taken.len() == self.factors.len();
        while back || self.taken.len() < self.factors.len() {
            if back {
                let Some(last) = self.give_up() else { return false };
                from = last + 1;
            }
            back = !self.take(from);
            from = 0;
        }
        true
    }

    fn step(&self) -> ProductStep {
        let mut step = ProductStep {
            label: vec![0; self.words],
            constraint: DataConstraint::default(),
            to: self.state.clone(),
        };
        for (factor, at) in self.factors.iter().zip(&self.taken) {
            let choice = &factor.choices[*at];
            step.to[factor.number] = choice.to;
            step.label.iter_mut().zip(&choice.label).for_each(|(word, more)| *word |= more);
            if let Some(constraint) = choice.constraint {
                step.constraint = step.constraint.and(constraint);
            }
        }
        step
    }
}

impl Iterator for ProductRow<'_> {
    type Item = ProductStep;

    fn next(&mut self) -> Option<ProductStep> {
        if let Some(step) = self.silent.next() {
            return Some(step);
        }
        while !self.done {
            if !self.advance() {
                self.done = true;
            } else if self.taken.iter().any(|choice| *choice != 0) {
                return Some(self.step());
            }
        }
        None
    }
}

/// The factors' numbers, such that each shares a name with one before it where possible.
fn order(product: &Implicit) -> Vec<usize> {
    let mut having: Vec<Vec<usize>> = vec![Vec::new(); product.alphabet.len()];
    let places = |number: usize| {
        let names = product.factors[number].alphabet().iter();
        names.filter_map(|name| product.alphabet.binary_search(name).ok())
    };
    for number in 0..product.factors.len() {
        places(number).for_each(|name| having[name].push(number));
    }
    let mut seen = vec![false; product.factors.len()];
    let mut order = Vec::with_capacity(product.factors.len());
    for first in 0..product.factors.len() {
        let mut next = order.len();
        if !std::mem::replace(&mut seen[first], true) {
            order.push(first);
        }
        while next < order.len() {
            for name in places(order[next]) {
                for other in std::mem::take(&mut having[name]) {
                    if !std::mem::replace(&mut seen[other], true) {
                        order.push(other);
                    }
                }
            }
            next += 1;
        }
    }
    order
}

fn factor(product: &Implicit, number: usize, state: u32) -> Factor<'_> {
    let (automaton, map) = (&product.factors[number], &product.maps[number]);
    let size = automaton.alphabet().len();
    let idle = FactorStep {
        fires: vec![false; size],
        label: vec![0; label::words_for(product.alphabet.len())],
        constraint: None,
        to: state,
    };
    let steps = automaton.steps(state).filter(|step| !label::is_silent(step.label));
    let steps = steps.map(|step| FactorStep {
        fires: (0..size).map(|bit| label::has(step.label, bit)).collect(),
        label: map.apply(step.label),
        constraint: Some(automaton.constraints().get(step.condition)),
        to: step.to,
    });
    let names = automaton.alphabet().iter();
    Factor {
        number,
        names: names.filter_map(|name| product.alphabet.binary_search(name).ok()).collect(),
        choices: std::iter::once(idle).chain(steps).collect(),
    }
}

/// The silent steps of the factors, each alone; not those that do nothing.
fn silent(product: &Implicit, state: &[u32]) -> Vec<ProductStep> {
    let mut steps = Vec::new();
    for (number, automaton) in product.factors.iter().enumerate() {
        let silent = automaton.steps(state[number]).filter(|s| label::is_silent(s.label));
        for step in silent.filter(|s| !automaton.is_idle(s)) {
            let mut to = state.to_vec();
            to[number] = step.to;
            let constraint = automaton.constraint(&step).clone();
            let label = vec![0; label::words_for(product.alphabet.len())];
            steps.push(ProductStep { label, constraint, to });
        }
    }
    steps
}
