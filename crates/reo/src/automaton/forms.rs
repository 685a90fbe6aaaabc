//! Automata made from others.

use super::build::AutomatonBuilder;
use super::data::{Automaton, Transition};
use crate::constraint::DataConstraint;
use crate::constraint::simplify::is_possible;
use crate::symbol::{Cell, NameId, SymbolId};

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

    /// With some of the steps.
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
