//! A kernel program as numbered places, with what happens at each: the alternatives of `go_on`. The
//! variable `at[e]` holds the place of row `e`.

use tickbound_model::Stmt;

use super::error::PromelaError;
use super::lines::comment;
use super::program::{Branch, Counters, Program, Written};

/// A place whose number is not known yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label(usize);

/// Where a step stands, once all places are known.
pub(crate) struct Place<'g> {
    pub here: usize,
    /// The number of the place after it.
    pub next: usize,
    labels: &'g [usize],
}

impl Place<'_> {
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
    pub counters: Counters,
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

    pub fn goto(&mut self, label: Label) {
        self.push_more(move |place| format!("-> at[e] = {}", place.of(label)));
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

/// A branch of a program that is written into a graph.
pub(crate) fn choose<P: Program>(
    program: &mut P,
    graph: fn(&mut P) -> &mut Graph,
    branch: Branch<'_>,
) -> Result<(), PromelaError> {
    let places = graph(program);
    let (first, second, end) = (places.label(), places.label(), places.label());
    let condition = branch.condition.to_owned();
    places.push(branch.stmt, move |place| {
        format!("-> at[e] = ({condition} -> {} : {})", place.of(first), place.of(second))
    });
    places.place(first);
    program.program(branch.then)?;
    if !branch.otherwise.is_empty() {
        graph(program).goto(end);
    }
    graph(program).place(second);
    program.program(branch.otherwise)?;
    graph(program).place(end);
    Ok(())
}
