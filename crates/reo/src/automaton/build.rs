//! Automata made step by step, or from others.

use itertools::Itertools;
use rayon::prelude::*;

use super::data::{Automaton, AutomatonError, AutomatonRows, MAX_STATES, Transition, assemble};
use crate::constraint::simplify::is_possible;
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

impl Automaton {
    /// With an idle loop, in which no name fires, at each state that has none: the algebraic form.
    pub fn with_idle(&self) -> Automaton {
        let mut builder = self.builder_over(self.alphabet().iter().copied());
        for state in 0..self.states() as u32 {
            if !self.steps(state).any(|s| self.is_idle(&s)) {
                builder.push(state, &vec![0; self.words()], DataConstraint::default(), state);
            }
            self.steps(state).for_each(|s| self.copy(&s, &mut builder));
        }
        builder.done()
    }

    /// Without steps that do nothing: no name fires, no condition, no other state.
    pub fn without_idle(&self) -> Automaton {
        self.with_steps(|step| !self.is_idle(step))
    }

    /// As [`Automaton::without_idle`], of an owned automaton: itself, if it has no such steps.
    pub(crate) fn into_without_idle(self) -> Automaton {
        let idle = self.has_silent_labels() && self.all_steps().any(|step| self.is_idle(&step));
        if idle { self.without_idle() } else { self }
    }

    fn with_steps(&self, stays: impl Fn(&Transition<'_>) -> bool) -> Automaton {
        let mut builder = self.builder_over(self.alphabet().iter().copied());
        self.all_steps().filter(stays).for_each(|step| self.copy(&step, &mut builder));
        builder.done()
    }

    /// Without steps whose constraint no data fulfil.
    pub fn possible(&self) -> Automaton {
        let possible: Vec<bool> = self.constraints().iter().map(is_possible).collect();
        if possible.iter().all(|p| *p) {
            return self.clone();
        }
        self.with_steps(|step| possible[step.condition as usize])
    }

    /// Without data: every constraint becomes `true`, steps that are then alike become one.
    pub fn without_data(&self) -> Automaton {
        let alphabet = self.alphabet().iter().copied();
        let mut builder = AutomatonBuilder::over(alphabet, self.states(), self.initial().to_vec());
        for step in self.all_steps() {
            builder.push(step.from, step.label, DataConstraint::default(), step.to);
        }
        builder.done()
    }

    /// With other symbols for names, cells, constants and functions: `to` gives each its own.
    pub fn renamed(&self, to: &dyn Fn(SymbolId) -> SymbolId) -> Automaton {
        let names = self.alphabet().iter().map(|n| NameId(to(n.0)));
        let mut builder = AutomatonBuilder::over(names, self.states(), self.initial().to_vec());
        builder.contents(self.contents().iter().map(|(cell, c)| (Cell(to(cell.0)), to(*c))));
        let constraints: Vec<DataConstraint> =
            self.constraints().iter().map(|constraint| constraint.renamed(to)).collect();
        for step in self.all_steps() {
            let fire: Vec<NameId> = self.fires(&step).map(|n| NameId(to(n.0))).collect();
            let constraint = constraints[step.condition as usize].clone();
            builder.step(step.from, &fire, constraint, step.to);
        }
        builder.done()
    }

    /// Only the states that can be reached, renumbered in the order of a breadth-first search from
    /// the initial states, and the number that each state of the result had before.
    pub fn reachable(&self) -> (Automaton, Vec<u32>) {
        let (old, new) = self.breadth_first();
        let initial = (0..self.initial().len() as u32).collect();
        let mut builder = self.builder(old.len(), initial);
        for (from, before) in old.iter().enumerate() {
            for step in self.steps(*before) {
                let constraint = self.constraint(&step).clone();
                builder.push(from as u32, step.label, constraint, new[step.to as usize]);
            }
        }
        (builder.done(), old)
    }

    /// As [`Automaton::reachable`], of an owned automaton: itself, if it is numbered so.
    #[must_use]
    pub fn into_reachable(self) -> Automaton {
        if self.is_breadth_first() { self } else { self.reachable().0 }
    }

    /// Whether all states are reachable and numbered breadth first: read in order, each state is
    /// found before its own steps are read, and after all that have smaller numbers.
    fn is_breadth_first(&self) -> bool {
        let mut found = self.initial().len();
        let in_order = self.initial().iter().zip(0..).all(|(state, number)| *state == number);
        let read = |state: usize| {
            let row = &self.targets()[self.rows()[state]..self.rows()[state + 1]];
            state < found
                && row.iter().all(|to| {
                    found += usize::from(*to as usize == found);
                    (*to as usize) < found
                })
        };
        in_order && (0..self.states()).all(read)
    }

    /// The states that can be reached, breadth first, and for each state its place among them.
    pub(crate) fn breadth_first(&self) -> (Vec<u32>, Vec<u32>) {
        let mut new = vec![u32::MAX; self.states()];
        let mut old = self.initial().to_vec();
        old.iter().enumerate().for_each(|(n, s)| new[*s as usize] = n as u32);
        let mut next = 0;
        while let Some(state) = old.get(next).copied() {
            for step in self.steps(state) {
                if new[step.to as usize] == u32::MAX {
                    new[step.to as usize] = old.len() as u32;
                    old.push(step.to);
                }
            }
            next += 1;
        }
        (old, new)
    }

    /// A builder with this automaton's alphabet and contents.
    pub(crate) fn builder(&self, states: usize, initial: Vec<u32>) -> AutomatonBuilder {
        let mut builder = AutomatonBuilder::over(self.alphabet().iter().copied(), states, initial);
        builder.contents(self.contents().iter().copied());
        builder
    }

    /// A builder with this automaton's states and contents over other names.
    pub(crate) fn builder_over(&self, names: impl IntoIterator<Item = NameId>) -> AutomatonBuilder {
        let mut builder = AutomatonBuilder::over(names, self.states(), self.initial().to_vec());
        builder.contents(self.contents().iter().copied());
        builder
    }

    fn copy(&self, step: &Transition, builder: &mut AutomatonBuilder) {
        builder.push(step.from, step.label, self.constraint(step).clone(), step.to);
    }
}
