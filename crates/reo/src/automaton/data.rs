//! The data of an automaton.

use std::collections::BTreeSet;
use thiserror::Error;

use crate::constraint::{ConstraintStore, DataConstraint, DataTerm};
use crate::label;
use crate::symbol::{Cell, NameId, SymbolId, Symbols};

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AutomatonError {
    #[error("state {state} is mentioned, but there are only {states} (numbered from 0)")]
    State { state: u32, states: usize },
    #[error("a step fires a name that the automaton's alphabet lacks")]
    Name,
    #[error("{0} states; at most {MAX_STATES} can be numbered")]
    States(usize),
    #[error("the rows of an automaton do not fit together: {0}")]
    Rows(&'static str),
}

/// Most states of one automaton: states are numbered with 32 bits.
pub const MAX_STATES: usize = u32::MAX as usize;

/// A constraint automaton in standard form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automaton {
    /// Sorted, none twice; bit i of a label is the i-th.
    alphabet: Vec<NameId>,
    /// Sorted; every cell that a constraint mentions.
    cells: Vec<Cell>,
    /// Sorted, none twice; may be empty only if there is no state.
    initial: Vec<u32>,
    /// What is in cells at the start; other cells hold nothing that may be read.
    contents: Vec<(Cell, SymbolId)>,
    rows: AutomatonRows,
    constraints: ConstraintStore,
}

/// One step of an automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition<'a> {
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AutomatonRows {
    /// Where each state's steps begin, and the end of the last: one more than there are states.
    pub rows: Vec<usize>,
    /// The state after each step.
    pub targets: Vec<u32>,
    /// The label of each step, as many words each as the alphabet needs.
    pub labels: Vec<u64>,
    /// The constraint of each step, or nothing if all are `true`.
    pub conditions: Vec<u32>,
}

impl AutomatonRows {
    /// Adds rows behind the others.
    pub fn append(&mut self, more: &AutomatonRows) {
        let begin = self.targets.len();
        self.rows.extend(more.rows.iter().skip(1).map(|end| begin + end));
        self.targets.extend_from_slice(&more.targets);
        self.labels.extend_from_slice(&more.labels);
        self.conditions.extend_from_slice(&more.conditions);
    }
}

impl Automaton {
    /// An automaton over sorted `alphabet` from rows that an engine made.
    ///
    /// # Errors
    /// What does not fit: lengths, numbers of states or constraints out of range, an alphabet or
    /// initial states that are not sorted.
    pub fn from_rows(
        alphabet: Vec<NameId>,
        initial: Vec<u32>,
        rows: AutomatonRows,
        constraints: ConstraintStore,
        contents: Vec<(Cell, SymbolId)>,
    ) -> Result<Automaton, AutomatonError> {
        let ascending = |row: &[u32]| row.windows(2).all(|w| w[0] < w[1]);
        let states = rows.rows.len().saturating_sub(1);
        let steps = rows.targets.len();
        let fault = |what| Err(AutomatonError::Rows(what));
        if states > MAX_STATES {
            return Err(AutomatonError::States(states));
        }
        if rows.rows.first() != Some(&0) || rows.rows.last() != Some(&steps) {
            return fault("the ends of the rows");
        }
        if !rows.rows.windows(2).all(|w| w[0] <= w[1]) {
            return fault("rows that end before they begin");
        }
        if rows.labels.len() != steps * label::words_for(alphabet.len()) {
            return fault("the words of the labels");
        }
        if !(rows.conditions.is_empty() || rows.conditions.len() == steps) {
            return fault("the number of conditions");
        }
        if rows.conditions.iter().any(|c| *c as usize >= constraints.len()) {
            return fault("the number of a condition");
        }
        if !alphabet.windows(2).all(|w| w[0] < w[1]) || !ascending(&initial) {
            return fault("an order");
        }
        let outside = |s: &&u32| **s as usize >= states;
        if let Some(state) = rows.targets.iter().chain(&initial).find(outside) {
            return Err(AutomatonError::State { state: *state, states });
        }
        Ok(assemble(alphabet, initial, rows, constraints, contents))
    }

    /// Names that steps may fire, sorted.
    pub fn alphabet(&self) -> &[NameId] {
        &self.alphabet
    }

    /// Cells that constraints mention, sorted.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// States that a run may begin in.
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// What is in cells at the start.
    pub fn contents(&self) -> &[(Cell, SymbolId)] {
        &self.contents
    }

    /// How many states there are; they are numbered from 0.
    pub fn states(&self) -> usize {
        self.rows.rows.len() - 1
    }

    /// How many steps there are.
    pub fn transitions(&self) -> usize {
        self.rows.targets.len()
    }

    /// Words of each label.
    pub fn words(&self) -> usize {
        label::words_for(self.alphabet.len())
    }

    /// The constraints of its steps.
    pub fn constraints(&self) -> &ConstraintStore {
        &self.constraints
    }

    /// Whether every step's constraint is `true`.
    pub fn is_plain(&self) -> bool {
        self.rows.conditions.is_empty()
    }

    /// The steps that leave `state`, in the order of the rows.
    pub fn steps(&self, state: u32) -> impl ExactSizeIterator<Item = Transition<'_>> {
        let range = self.rows.rows[state as usize]..self.rows.rows[state as usize + 1];
        range.map(move |at| self.step(state, at))
    }

    /// All steps, state by state.
    pub fn all_steps(&self) -> impl Iterator<Item = Transition<'_>> {
        (0..self.states() as u32).flat_map(|state| self.steps(state))
    }

    /// The step of state `from` that has place `at` in the rows.
    pub(crate) fn step(&self, from: u32, at: usize) -> Transition<'_> {
        let words = self.words();
        Transition {
            from,
            label: &self.rows.labels[at * words..(at + 1) * words],
            condition: self.rows.conditions.get(at).copied().unwrap_or(0),
            to: self.rows.targets[at],
        }
    }

    /// The constraint of a step of this automaton.
    pub fn constraint(&self, step: &Transition<'_>) -> &DataConstraint {
        self.constraints.get(step.condition)
    }

    /// Names that fire in a step of this automaton, sorted.
    pub fn fires(&self, step: &Transition<'_>) -> impl Iterator<Item = NameId> {
        label::bits(step.label).filter_map(|bit| self.alphabet.get(bit).copied())
    }

    /// The rows, as engines read them.
    pub fn rows(&self) -> &[usize] {
        &self.rows.rows
    }

    /// The states after the steps, in the order of the rows.
    pub fn targets(&self) -> &[u32] {
        &self.rows.targets
    }

    /// The labels of the steps, [`Automaton::words`] each.
    pub fn labels(&self) -> &[u64] {
        &self.rows.labels
    }

    /// The constraint of each step, or nothing if all are `true`.
    pub fn conditions(&self) -> &[u32] {
        &self.rows.conditions
    }

    /// Whether no name fires in a step, and there is no condition on data and memory.
    pub fn is_silent(&self, step: &Transition) -> bool {
        label::is_silent(step.label) && self.constraint(step).is_true()
    }

    /// Whether in some step no name fires.
    pub(crate) fn has_silent_labels(&self) -> bool {
        self.labels().chunks_exact(self.words()).any(label::is_silent)
    }

    /// Whether a step does nothing.
    pub fn is_idle(&self, step: &Transition) -> bool {
        step.from == step.to && self.is_silent(step)
    }

    /// The words of the names that fire in a step of this automaton, sorted by the names.
    pub(crate) fn words_of<'s>(&self, step: &Transition, symbols: &'s Symbols) -> Vec<&'s str> {
        self.fires(step).map(|name| symbols.word(name.0)).collect()
    }

    /// One line for each step, `0 {a, b} x = y -> 1`, for people and tests.
    pub fn text(&self, symbols: &Symbols) -> String {
        let line = |step: Transition<'_>| {
            let names = self.words_of(&step, symbols).join(", ");
            let constraint = self.constraint(&step).text(symbols);
            format!("{} {{{names}}} {constraint} -> {}\n", step.from, step.to)
        };
        self.all_steps().map(line).collect()
    }
}

/// The automaton of parts that fit.
pub(super) fn assemble(
    alphabet: Vec<NameId>,
    initial: Vec<u32>,
    mut rows: AutomatonRows,
    constraints: ConstraintStore,
    mut contents: Vec<(Cell, SymbolId)>,
) -> Automaton {
    if rows.conditions.iter().all(|c| *c == 0) {
        rows.conditions = Vec::new();
    }
    contents.sort_unstable();
    contents.dedup();
    let mut cells: BTreeSet<Cell> = contents.iter().map(|(cell, _)| *cell).collect();
    for constraint in constraints.iter() {
        constraint.visit(|leaf| {
            if let DataTerm::Before(cell) | DataTerm::After(cell) = leaf {
                cells.insert(*cell);
            }
        });
    }
    let cells = cells.into_iter().collect();
    Automaton { alphabet, cells, initial, contents, rows, constraints }
}
