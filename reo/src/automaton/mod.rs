//! Constraint automata, standard and algebraic.
//!
//! An [`Automaton`] is the standard form: states, an alphabet of names, and for each state the steps
//! that leave it - which names fire, under which data constraint, and to which state. Steps stand in
//! rows, one row a state (CSR), labels as bit sets ([`crate::label`]), constraints as numbers into a
//! table of the automaton's own. A step in which no name fires is *silent*: only hiding makes them.
//!
//! The *algebraic* form of the thesis (Vilbergsson 2012, section 3.1, after Pourvatan and Rouhy 2007)
//! gives every name of the alphabet a sign in every step and adds to each state an idle loop with
//! all names negative. As a label already tells for every name of the alphabet whether it fires,
//! the two forms differ in the idle loops alone: [`Automaton::with_idle`] adds them and
//! [`Automaton::without_idle`] takes them away.

mod build;

pub use build::{AutomatonError, Builder};

use crate::constraint::{Constraint, Constraints};
use crate::label;
use crate::symbol::{Cell, Name, Symbol, Symbols};

/// Most states of one automaton: states are numbered with 32 bits.
pub const MAX_STATES: usize = u32::MAX as usize;

/// A constraint automaton in standard form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automaton {
    /// Sorted, none twice; bit i of a label is the i-th.
    alphabet: Vec<Name>,
    /// Sorted; every cell that a constraint mentions.
    cells: Vec<Cell>,
    /// Sorted, none twice; may be empty only if there is no state.
    initial: Vec<u32>,
    /// What is in cells at the start; other cells hold nothing that may be read.
    contents: Vec<(Cell, Symbol)>,
    /// Row s is the steps `rows[s]..rows[s + 1]`.
    rows: Vec<usize>,
    targets: Vec<u32>,
    /// [`Automaton::words`] for each step.
    labels: Vec<u64>,
    /// For each step; empty if all are `true`.
    conditions: Vec<u32>,
    constraints: Constraints,
}

/// One step of an automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// Where it starts.
    pub from: u32,
    /// Which names fire.
    pub label: &'a [u64],
    /// The number of its constraint in [`Automaton::constraints`].
    pub condition: u32,
    /// Where it ends.
    pub to: u32,
}

/// The plain data of an automaton, for engines that make rows directly.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// Where each state's steps begin, and the end of the last: one more than there are states.
    pub rows: Vec<usize>,
    /// The state after each step.
    pub targets: Vec<u32>,
    /// The label of each step, [`label::words_for`] the alphabet each.
    pub labels: Vec<u64>,
    /// The constraint of each step, or nothing if all are `true`.
    pub conditions: Vec<u32>,
}

impl Automaton {
    /// An automaton over sorted `alphabet` from rows that an engine made.
    ///
    /// # Errors
    /// What does not fit: lengths, numbers of states or constraints out of range, an alphabet or
    /// initial states that are not sorted.
    pub fn from_rows(
        alphabet: Vec<Name>,
        initial: Vec<u32>,
        rows: Rows,
        constraints: Constraints,
        contents: Vec<(Cell, Symbol)>,
    ) -> Result<Automaton, AutomatonError> {
        build::from_rows(alphabet, initial, rows, constraints, contents)
    }

    /// Names that steps may fire, sorted.
    #[must_use]
    pub fn alphabet(&self) -> &[Name] {
        &self.alphabet
    }

    /// Cells that constraints mention, sorted.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// States that a run may begin in.
    #[must_use]
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// What is in cells at the start.
    #[must_use]
    pub fn contents(&self) -> &[(Cell, Symbol)] {
        &self.contents
    }

    /// How many states there are; they are numbered from 0.
    #[must_use]
    pub fn states(&self) -> usize {
        self.rows.len() - 1
    }

    /// How many steps there are.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.targets.len()
    }

    /// Words of each label.
    #[must_use]
    pub fn words(&self) -> usize {
        label::words_for(self.alphabet.len())
    }

    /// The constraints of its steps.
    #[must_use]
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// Whether every step's constraint is `true`.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The steps that leave `state`, in the order of the rows.
    pub fn steps(&self, state: u32) -> impl ExactSizeIterator<Item = Step<'_>> {
        let range = self.rows[state as usize]..self.rows[state as usize + 1];
        range.map(move |at| self.step(state, at))
    }

    /// All steps, state by state.
    pub fn all_steps(&self) -> impl Iterator<Item = Step<'_>> {
        (0..self.states() as u32).flat_map(|state| self.steps(state))
    }

    fn step(&self, from: u32, at: usize) -> Step<'_> {
        let words = self.words();
        Step {
            from,
            label: &self.labels[at * words..(at + 1) * words],
            condition: self.conditions.get(at).copied().unwrap_or(0),
            to: self.targets[at],
        }
    }

    /// The constraint of a step of this automaton.
    #[must_use]
    pub fn constraint(&self, step: &Step<'_>) -> &Constraint {
        self.constraints.get(step.condition)
    }

    /// Names that fire in a step of this automaton, sorted.
    pub fn fires(&self, step: &Step<'_>) -> impl Iterator<Item = Name> {
        label::bits(step.label).filter_map(|bit| self.alphabet.get(bit).copied())
    }

    /// The rows, as engines read them.
    #[must_use]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The states after the steps, in the order of the rows.
    #[must_use]
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The labels of the steps, [`Automaton::words`] each.
    #[must_use]
    pub fn labels(&self) -> &[u64] {
        &self.labels
    }

    /// The constraint of each step, or nothing if all are `true`.
    #[must_use]
    pub fn conditions(&self) -> &[u32] {
        &self.conditions
    }

    /// With an idle loop, in which no name fires, at each state that has none: the algebraic form.
    #[must_use]
    pub fn with_idle(&self) -> Automaton {
        let idle = |step: &Step<'_>| self.is_idle(step);
        let mut builder = self.builder(self.states());
        for state in 0..self.states() as u32 {
            if !self.steps(state).any(|s| idle(&s)) {
                builder.push(state, &vec![0; self.words()], Constraint::default(), state);
            }
            self.steps(state).for_each(|s| self.copy(&s, &mut builder));
        }
        builder.done()
    }

    /// Without steps that do nothing: no name fires, no condition, no other state.
    #[must_use]
    pub fn without_idle(&self) -> Automaton {
        let mut builder = self.builder(self.states());
        self.all_steps().filter(|s| !self.is_idle(s)).for_each(|s| self.copy(&s, &mut builder));
        builder.done()
    }

    /// Without data: every constraint becomes `true`, steps that are then alike become one.
    #[must_use]
    pub fn without_data(&self) -> Automaton {
        let mut builder = Builder::over(self.alphabet.clone(), self.states(), self.initial.clone());
        for step in self.all_steps() {
            builder.push(step.from, step.label, Constraint::default(), step.to);
        }
        builder.done()
    }

    /// With other symbols for names, cells, constants and functions: `to` gives each its own.
    #[must_use]
    pub fn renamed(&self, to: &dyn Fn(Symbol) -> Symbol) -> Automaton {
        let names = self.alphabet.iter().map(|n| Name(to(n.0)));
        let mut builder = Builder::over(names, self.states(), self.initial.clone());
        builder.contents(self.contents.iter().map(|(cell, c)| (Cell(to(cell.0)), to(*c))));
        let constraints: Vec<Constraint> = (0..self.constraints.len() as u32)
            .map(|number| self.constraints.get(number).renamed(to))
            .collect();
        for step in self.all_steps() {
            let fire: Vec<Name> = self.fires(&step).map(|n| Name(to(n.0))).collect();
            let constraint = constraints[step.condition as usize].clone();
            builder.step(step.from, &fire, constraint, step.to);
        }
        builder.done()
    }

    /// Only the states that can be reached, renumbered in the order of a breadth-first search from
    /// the initial states, and the number that each state of the result had before.
    #[must_use]
    pub fn reachable(&self) -> (Automaton, Vec<u32>) {
        let mut new = vec![u32::MAX; self.states()];
        let mut old = self.initial.clone();
        old.iter().enumerate().for_each(|(n, s)| new[*s as usize] = n as u32);
        let mut next = 0;
        while next < old.len() {
            for step in self.steps(old[next]) {
                if new[step.to as usize] == u32::MAX {
                    new[step.to as usize] = old.len() as u32;
                    old.push(step.to);
                }
            }
            next += 1;
        }
        let initial = (0..self.initial.len() as u32).collect();
        let mut builder = Builder::over(self.alphabet.clone(), old.len(), initial);
        builder.contents(self.contents.iter().copied());
        for (from, before) in old.iter().enumerate() {
            for step in self.steps(*before) {
                let constraint = self.constraint(&step).clone();
                builder.push(from as u32, step.label, constraint, new[step.to as usize]);
            }
        }
        (builder.done(), old)
    }

    /// Whether a step does nothing.
    #[must_use]
    pub fn is_idle(&self, step: &Step<'_>) -> bool {
        step.from == step.to && label::is_silent(step.label) && self.constraint(step).is_true()
    }

    /// A builder with this automaton's alphabet, initial states and contents.
    fn builder(&self, states: usize) -> Builder {
        let mut builder = Builder::over(self.alphabet.clone(), states, self.initial.clone());
        builder.contents(self.contents.iter().copied());
        builder
    }

    fn copy(&self, step: &Step<'_>, builder: &mut Builder) {
        builder.push(step.from, step.label, self.constraint(step).clone(), step.to);
    }

    /// One line for each step, `0 {a, b} x = y -> 1`, for people and tests.
    #[must_use]
    pub fn text(&self, symbols: &Symbols) -> String {
        let line = |step: Step<'_>| {
            let names: Vec<&str> = self.fires(&step).map(|n| symbols.word(n.0)).collect();
            let constraint = self.constraint(&step).text(symbols);
            format!("{} {{{}}} {constraint} -> {}\n", step.from, names.join(", "), step.to)
        };
        self.all_steps().map(line).collect()
    }
}
