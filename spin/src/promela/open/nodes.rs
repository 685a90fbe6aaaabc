//! A warp's program as a list of places with what happens at each: the `do` of `go_on`.

use super::Common;
use crate::promela::amounts::{Amounts, Sides};
use crate::promela::comment;
use crate::promela::error::PromelaError;
use crate::promela::width::Width;
use tickbound_model::{Access, Expr, Stmt, StmtKind};

/// A place that is not known yet.
#[derive(Debug, Clone, Copy)]
struct Label(usize);

/// What happens at a place.
enum Step {
    /// Moves to the next place, and does something there.
    Next(String),
    /// Moves.
    Goto(Label),
    /// Moves by a condition.
    Choose(String, Label, Label),
    /// Sets the counter of a loop of this depth, and begins an iteration if one is left.
    Loop { depth: usize, counter: String, body: Label, exit: Label },
}

/// The places of a program; the first is 0.
pub(super) struct Nodes<'b, 'f, 'a> {
    amounts: &'b Amounts<'f, 'a>,
    common: &'b Common<'f, 'a>,
    steps: Vec<(Step, String)>,
    labels: Vec<usize>,
    depth: usize,
    counters: Vec<Width>,
}

/// What a program has become.
pub(super) struct Written {
    /// Alternatives of an `if`, without the final `else`.
    pub lines: Vec<String>,
    /// The type of the counter of each depth of loops.
    pub counters: Vec<Width>,
}

impl<'b, 'f, 'a> Nodes<'b, 'f, 'a> {
    pub fn new(amounts: &'b Amounts<'f, 'a>, common: &'b Common<'f, 'a>) -> Self {
        let (steps, labels, counters) = (Vec::new(), Vec::new(), Vec::new());
        Nodes { amounts, common, steps, labels, depth: 0, counters }
    }

    /// The places of `program`.
    ///
    /// # Errors
    /// A number that Promela cannot hold.
    pub fn write(mut self, program: &[Stmt]) -> Result<Written, PromelaError> {
        self.program(program)?;
        let places = self.steps.iter().enumerate();
        let lines = places.map(|(place, (step, comment))| {
            format!(":: at[e] == {place} -> {}{comment}", self.action(place, step))
        });
        Ok(Written { lines: lines.collect(), counters: self.counters.clone() })
    }

    fn action(&self, place: usize, step: &Step) -> String {
        let to = |label: &Label| self.labels[label.0];
        match step {
            Step::Next(action) => format!("at[e] = {}; {action}", place + 1),
            Step::Goto(label) => format!("at[e] = {}", to(label)),
            Step::Choose(condition, a, b) => {
                format!("at[e] = ({condition} -> {} : {})", to(a), to(b))
            }
            Step::Loop { depth, counter, body, exit } => format!(
                "k{depth}[e] = {counter}; at[e] = (k{depth}[e] > 0 -> {} : {})",
                to(body),
                to(exit)
            ),
        }
    }

    fn label(&mut self) -> Label {
        self.labels.push(0);
        Label(self.labels.len() - 1)
    }

    fn place(&mut self, label: Label) {
        self.labels[label.0] = self.steps.len();
    }

    fn push(&mut self, step: Step, comment: String) {
        self.steps.push((step, comment));
    }

    fn program(&mut self, program: &[Stmt]) -> Result<(), PromelaError> {
        for stmt in program {
            match &stmt.kind {
                StmtKind::Access { access, .. } => {
                    let ticks = self.common.ticks(self.amounts, stmt)?;
                    if let Some(ticks) = ticks.filter(|t| t.constant() != Some(0)) {
                        let load = *access == Access::Global;
                        let action = call("segment", &ticks.text, &format!(", {load}"));
                        self.push(Step::Next(action), comment(stmt));
                    }
                }
                StmtKind::Mark if self.common.marks => {
                    self.push(Step::Next("mark[e] = time".into()), comment(stmt));
                }
                StmtKind::Mark => {}
                StmtKind::Until(d) => {
                    let d = self.amounts.value(stmt, d)?;
                    let action = call("wait_past_mark", &d.text, "");
                    self.push(Step::Next(action), comment(stmt));
                }
                StmtKind::Barrier => {
                    self.push(Step::Next("doing[e] = arrived".into()), comment(stmt));
                }
                StmtKind::Repeat { count, body } => self.repeat(stmt, count, body)?,
                StmtKind::If { condition, then, otherwise } => {
                    let sides = self.amounts.sides(stmt, condition)?;
                    self.branch(stmt, &sides, then, otherwise)?;
                }
            }
        }
        Ok(())
    }

    fn repeat(&mut self, stmt: &Stmt, count: &Expr, body: &[Stmt]) -> Result<(), PromelaError> {
        let count = self.amounts.value(stmt, count)?;
        let fix = self.common.facts.fix();
        let width = Width::holding((0, count.range.1.max(0)), &stmt.at, &fix)?;
        if self.counters.len() == self.depth {
            self.counters.push(width);
        }
        self.counters[self.depth] = self.counters[self.depth].max(width);
        self.depth += 1;
        let depth = self.depth;
        let (again, exit) = (self.label(), self.label());
        let counter = if count.range.0 < 0 {
            format!("(({0}) > 0 -> {0} : 0)", count.text)
        } else {
            count.text
        };
        self.push(Step::Loop { depth, counter, body: again, exit }, comment(stmt));
        self.place(again);
        self.program(body)?;
        let counter = format!("k{depth}[e] - 1");
        self.push(Step::Loop { depth, counter, body: again, exit }, String::new());
        self.place(exit);
        self.depth -= 1;
        Ok(())
    }

    fn branch(
        &mut self,
        stmt: &Stmt,
        sides: &Sides,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<(), PromelaError> {
        match sides {
            Sides::One(condition) => match condition.constant() {
                Some(0) => self.program(otherwise),
                Some(_) => self.program(then),
                None => self.choose(stmt, &condition.text, then, otherwise),
            },
            // Seed 001, Section 3: a warp runs both sides, one after the other.
            Sides::Each(first, second) => {
                for (side, program) in [(first, then), (second, otherwise)] {
                    match side.constant() {
                        _ if program.is_empty() => {}
                        Some(0) => {}
                        Some(_) => self.program(program)?,
                        None => self.choose(stmt, &format!("{} == 1", side.text), program, &[])?,
                    }
                }
                Ok(())
            }
        }
    }

    fn choose(
        &mut self,
        stmt: &Stmt,
        condition: &str,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<(), PromelaError> {
        let (first, second, end) = (self.label(), self.label(), self.label());
        self.push(Step::Choose(condition.to_owned(), first, second), comment(stmt));
        self.place(first);
        self.program(then)?;
        if !otherwise.is_empty() {
            self.push(Step::Goto(end), String::new());
        }
        self.place(second);
        self.program(otherwise)?;
        self.place(end);
        Ok(())
    }
}

/// SPIN 6.5.2 takes some conditional expressions apart wrongly when they are arguments of an inline, so these
/// go through a variable.
fn call(inline: &str, argument: &str, more: &str) -> String {
    if argument.contains("->") {
        format!("delay = {argument}; {inline}(delay{more})")
    } else {
        format!("{inline}({argument}{more})")
    }
}
