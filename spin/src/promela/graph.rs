//! A kernel program as numbered places, with what happens at each: the alternatives of `go_on`. The
//! variable `at[e]` holds the place of row `e`.

use tickbound_model::Stmt;

use super::lines::comment;
use super::program::{Counters, Written};

/// A place whose number is not known yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label(usize);

/// Where a step stands, once all places are known.
pub(crate) struct Place<'g> {
    /// Its number.
    pub here: usize,
    /// The number of the place after it.
    pub next: usize,
    labels: &'g [usize],
}

impl Place<'_> {
    /// The number of a label.
    pub fn of(&self, label: Label) -> usize {
        self.labels[label.0]
    }
}

/// What follows `:: at[e] == PLACE`.
type Step = Box<dyn Fn(&Place<'_>) -> String>;

/// The places of a program.
#[derive(Default)]
pub(crate) struct Graph {
    /// Number of the first place.
    first: usize,
    /// What happens, and the comment behind it; `None` where others move a row on.
    steps: Vec<Option<(Step, String)>>,
    labels: Vec<usize>,
    /// The program's loop counters.
    pub counters: Counters,
}

/// The labels of a branch.
pub(crate) struct Fork {
    second: Label,
    end: Label,
}

impl Graph {
    /// No places so far; the first one gets this number.
    pub fn starting_at(first: usize) -> Graph {
        Graph { first, ..Graph::default() }
    }

    /// The number of the next place.
    pub fn here(&self) -> usize {
        self.first + self.steps.len()
    }

    /// A label that is not placed yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(0);
        Label(self.labels.len() - 1)
    }

    /// Puts a label at the next place.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = self.here();
    }

    /// A place of a statement.
    pub fn push(&mut self, stmt: &Stmt, step: impl Fn(&Place<'_>) -> String + 'static) {
        self.steps.push(Some((Box::new(step), comment(stmt))));
    }

    /// One more place of the same statement.
    pub fn push_more(&mut self, step: impl Fn(&Place<'_>) -> String + 'static) {
        self.steps.push(Some((Box::new(step), String::new())));
    }

    /// A place where a row waits until others move it on.
    pub fn push_waiting(&mut self) {
        self.steps.push(None);
    }

    /// Moves to a label.
    pub fn goto(&mut self, label: Label) {
        self.push_more(move |place| format!("-> at[e] = {}", place.of(label)));
    }

    /// Begins a branch; the next place is that of its first side.
    pub fn fork(&mut self, stmt: &Stmt, condition: &str) -> Fork {
        let (first, second, end) = (self.label(), self.label(), self.label());
        let condition = condition.to_owned();
        self.push(stmt, move |place| {
            format!("-> at[e] = ({condition} -> {} : {})", place.of(first), place.of(second))
        });
        self.place(first);
        Fork { second, end }
    }

    /// Ends the first side of a branch; the second may be empty.
    pub fn second_side(&mut self, fork: &Fork, empty: bool) {
        if !empty {
            self.goto(fork.end);
        }
        self.place(fork.second);
    }

    /// Ends the second side of a branch.
    pub fn join(&mut self, fork: &Fork) {
        self.place(fork.end);
    }

    /// The alternatives of an `if` or a `do`, without the final `else`.
    pub fn write(self) -> Written {
        let line = |(i, step): (usize, &Option<(Step, String)>)| {
            let here = self.first + i;
            let (step, comment) = step.as_ref()?;
            let place = Place { here, next: here + 1, labels: &self.labels };
            Some(format!(":: at[e] == {here} {}{comment}", step(&place)))
        };
        let lines = self.steps.iter().enumerate().filter_map(line).collect();
        Written { lines, counters: self.counters.widths }
    }
}
