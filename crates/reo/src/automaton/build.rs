//! Making automata step by step.

use itertools::Itertools;
use rayon::prelude::*;

use super::data::{Automaton, AutomatonError, AutomatonRows, MAX_STATES, assemble};
use crate::constraint::{ConstraintStore, DataConstraint};
use crate::label;
use crate::symbol::{Cell, NameId, SymbolId};

/// An automaton in the making. Steps may come in any order.
#[derive(Debug, Clone)]
pub struct AutomatonBuilder {
    alphabet: Vec<NameId>,
    states: usize,
    initial: Vec<u32>,
    contents: Vec<(Cell, SymbolId)>,
    steps: Vec<(u32, u32, u32)>,
    labels: Vec<u64>,
    constraints: ConstraintStore,
    error: Option<AutomatonError>,
}

impl AutomatonBuilder {
    /// An automaton over some names, in any order, with `states` states, `initial` among them.
    pub fn over(names: impl IntoIterator<Item = NameId>, states: usize, initial: Vec<u32>) -> Self {
        let alphabet: Vec<NameId> = names.into_iter().sorted_unstable().dedup().collect();
        let error = (states > MAX_STATES).then_some(AutomatonError::States(states));
        let mut builder = AutomatonBuilder {
            alphabet,
            states,
            initial,
            contents: Vec::new(),
            steps: Vec::new(),
            labels: Vec::new(),
            constraints: ConstraintStore::default(),
            error,
        };
        builder.initial.sort_unstable();
        builder.initial.dedup();
        for state in builder.initial.clone() {
            builder.check(state);
        }
        builder
    }

    /// What cells hold at the start.
    pub fn contents(&mut self, contents: impl IntoIterator<Item = (Cell, SymbolId)>) -> &mut Self {
        self.contents.extend(contents);
        self
    }

    /// A step in which `names` fire.
    pub fn step(
        &mut self,
        from: u32,
        names: &[NameId],
        constraint: DataConstraint,
        to: u32,
    ) -> &mut Self {
        let mut label = vec![0; label::words_for(self.alphabet.len())];
        for name in names {
            match self.alphabet.binary_search(name) {
                Ok(bit) => label::set(&mut label, bit),
                Err(_) => self.error = Some(AutomatonError::Name),
            }
        }
        self.push(from, &label, constraint, to);
        self
    }

    /// A step with a label over the alphabet.
    pub fn push(&mut self, from: u32, label: &[u64], constraint: DataConstraint, to: u32) {
        self.check(from);
        self.check(to);
        if label.len() != label::words_for(self.alphabet.len()) {
            self.error = Some(AutomatonError::Rows("the words of a label"));
        }
        let condition = self.constraints.intern(constraint);
        self.steps.push((from, to, condition));
        self.labels.extend_from_slice(label);
    }

    fn check(&mut self, state: u32) {
        if state as usize >= self.states {
            self.error = Some(AutomatonError::State { state, states: self.states });
        }
    }

    /// The automaton: steps of a state in the order of labels, targets and constraints, none twice.
    pub fn finish(self) -> Result<Automaton, AutomatonError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.done()),
        }
    }

    /// As [`AutomatonBuilder::finish`], where the parts come from an automaton and fit.
    pub(crate) fn done(self) -> Automaton {
        debug_assert_eq!(self.error, None);
        let words = label::words_for(self.alphabet.len());
        let label = |at: usize| &self.labels[at * words..(at + 1) * words];
        let mut order: Vec<usize> = (0..self.steps.len()).collect();
        let key = |at: usize| {
            let (from, to, condition) = self.steps[at];
            (from, label(at), to, self.constraints.get(condition))
        };
        order.par_sort_by(|a, b| key(*a).cmp(&key(*b)));
        order.dedup_by(|a, b| key(*a) == key(*b));
        let mut rows =
            AutomatonRows { rows: Vec::with_capacity(self.states + 1), ..AutomatonRows::default() };
        // Constraints are numbered in the order of the steps, so that equal automata are equal
        // data.
        let mut constraints = ConstraintStore::default();
        for at in order {
            let (from, to, condition) = self.steps[at];
            rows.rows.resize(from as usize + 1, rows.targets.len());
            rows.targets.push(to);
            rows.labels.extend_from_slice(label(at));
            rows.conditions.push(constraints.intern(self.constraints.get(condition).clone()));
        }
        rows.rows.resize(self.states + 1, rows.targets.len());
        assemble(self.alphabet, self.initial, rows, constraints, self.contents)
    }
}
