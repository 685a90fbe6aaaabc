//! Making automata, step by step or from whole rows.

use rustc_hash::FxHashSet;
use thiserror::Error;

use super::{Automaton, MAX_STATES, Rows};
use crate::constraint::{Constraint, Constraints, Term};
use crate::label;
use crate::symbol::{Cell, Name, Symbol};

/// What is wrong with the parts of an automaton.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AutomatonError {
    /// A state that does not exist.
    #[error("state {state} is mentioned, but there are only {states} (numbered from 0)")]
    State {
        /// Its number.
        state: u32,
        /// How many there are.
        states: usize,
    },
    /// A name fires that the alphabet lacks.
    #[error("a step fires a name that the automaton's alphabet lacks")]
    Name,
    /// Too many states.
    #[error("{0} states; at most {MAX_STATES} can be numbered")]
    States(usize),
    /// Rows, targets, labels and conditions do not fit together.
    #[error("the rows of an automaton do not fit together: {0}")]
    Rows(&'static str),
}

/// An automaton in the making. Steps may come in any order.
#[derive(Debug, Clone)]
pub struct Builder {
    alphabet: Vec<Name>,
    states: usize,
    initial: Vec<u32>,
    contents: Vec<(Cell, Symbol)>,
    steps: Vec<(u32, u32, u32)>,
    labels: Vec<u64>,
    constraints: Constraints,
    error: Option<AutomatonError>,
}

impl Builder {
    /// An automaton over some names, in any order, with `states` states, `initial` among them.
    #[must_use]
    pub fn over(names: impl IntoIterator<Item = Name>, states: usize, initial: Vec<u32>) -> Self {
        let mut alphabet: Vec<Name> = names.into_iter().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let error = (states > MAX_STATES).then_some(AutomatonError::States(states));
        let mut builder = Builder {
            alphabet,
            states,
            initial,
            contents: Vec::new(),
            steps: Vec::new(),
            labels: Vec::new(),
            constraints: Constraints::default(),
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
    pub fn contents(&mut self, contents: impl IntoIterator<Item = (Cell, Symbol)>) -> &mut Self {
        self.contents.extend(contents);
        self
    }

    /// A step in which `names` fire.
    pub fn step(
        &mut self,
        from: u32,
        names: &[Name],
        constraint: Constraint,
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
    pub fn push(&mut self, from: u32, label: &[u64], constraint: Constraint, to: u32) {
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

    /// The automaton. Steps of a state are in the order of their labels, targets and constraints;
    /// steps that are alike are one.
    ///
    /// # Errors
    /// The first thing that did not fit.
    pub fn finish(self) -> Result<Automaton, AutomatonError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.done()),
        }
    }

    /// As [`Builder::finish`], where the parts come from an automaton and fit.
    pub(crate) fn done(self) -> Automaton {
        debug_assert_eq!(self.error, None);
        let words = label::words_for(self.alphabet.len());
        let label = |at: usize| &self.labels[at * words..(at + 1) * words];
        let mut order: Vec<usize> = (0..self.steps.len()).collect();
        let key = |at: usize| {
            let (from, to, condition) = self.steps[at];
            (from, label(at), to, self.constraints.get(condition))
        };
        order.sort_by(|a, b| key(*a).cmp(&key(*b)));
        order.dedup_by(|a, b| key(*a) == key(*b));
        let mut rows = Rows { rows: Vec::with_capacity(self.states + 1), ..Rows::default() };
        // Constraints are numbered anew in the order of the steps, so that equal automata are
        // equal as data.
        let mut constraints = Constraints::default();
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

/// See [`Automaton::from_rows`].
pub(super) fn from_rows(
    alphabet: Vec<Name>,
    initial: Vec<u32>,
    rows: Rows,
    constraints: Constraints,
    contents: Vec<(Cell, Symbol)>,
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

fn assemble(
    alphabet: Vec<Name>,
    initial: Vec<u32>,
    mut rows: Rows,
    constraints: Constraints,
    mut contents: Vec<(Cell, Symbol)>,
) -> Automaton {
    if rows.conditions.iter().all(|c| *c == 0) {
        rows.conditions = Vec::new();
    }
    contents.sort_unstable();
    contents.dedup();
    let mut cells: FxHashSet<Cell> = contents.iter().map(|(cell, _)| *cell).collect();
    for number in 0..constraints.len() as u32 {
        constraints.get(number).visit(|leaf| {
            if let Term::Before(cell) | Term::After(cell) = leaf {
                cells.insert(*cell);
            }
        });
    }
    let mut cells: Vec<Cell> = cells.into_iter().collect();
    cells.sort_unstable();
    let Rows { rows, targets, labels, conditions } = rows;
    Automaton { alphabet, cells, initial, contents, rows, targets, labels, conditions, constraints }
}
