//! A kernel program as a list of places with what happens at each: the `do` of `go_on`.

use crate::promela::amounts::{Amounts, Sides};
use crate::promela::comment;
use crate::promela::error::PromelaError;
use crate::promela::facts::Value;
use crate::promela::width::Width;
use tickbound_model::{Expr, Stmt, StmtKind};

/// A place that is not known yet.
#[derive(Debug, Clone, Copy)]
struct Label(usize);

/// What happens at a place.
enum Step {
    /// Does something and moves to the next place.
    Next(String),
    /// Once `time >= wake[e]`, moves to the next place.
    Awake,
    /// Moves.
    Goto(Label),
    /// Moves by a condition.
    Choose(String, Label, Label),
    /// Begins an iteration of the loop with this counter, or leaves it.
    Test(usize, Label),
    /// Arrives at the barrier, and waits at the next place.
    Arrive,
    /// Waits for the others; they move it on.
    Waits,
}

/// The places of a program; the first is `first`.
pub(crate) struct Nodes<'b, 'f, 'a> {
    amounts: &'b Amounts<'f, 'a>,
    fix: String,
    /// A barrier is released this many ticks after the last arrival.
    barrier_price: bool,
    marks: bool,
    first: usize,
    steps: Vec<(Step, String)>,
    labels: Vec<usize>,
    depth: usize,
    counters: Vec<Width>,
}

/// What a program has become.
pub(crate) struct Written {
    /// Alternatives of a `do`, without the final `else`.
    pub lines: Vec<String>,
    /// The type of the counter of each depth of loops.
    pub counters: Vec<Width>,
    /// The place after the program.
    pub end: usize,
}

impl<'b, 'f, 'a> Nodes<'b, 'f, 'a> {
    pub fn new(
        amounts: &'b Amounts<'f, 'a>,
        fix: String,
        (barrier_price, marks): (bool, bool),
        first: usize,
    ) -> Self {
        let (steps, labels, counters) = (Vec::new(), Vec::new(), Vec::new());
        Nodes { amounts, fix, barrier_price, marks, first, steps, labels, depth: 0, counters }
    }

    /// The places of `program`.
    ///
    /// # Errors
    /// A number that Promela cannot hold.
    pub fn write(mut self, program: &[Stmt]) -> Result<Written, PromelaError> {
        self.program(program)?;
        let places = self.steps.iter().enumerate();
        let lines = places.filter_map(|(i, (step, comment))| {
            let line = self.line(self.first + i, step)?;
            Some(format!("{line}{comment}"))
        });
        Ok(Written { lines: lines.collect(), end: self.here(), counters: self.counters.clone() })
    }

    fn here(&self) -> usize {
        self.first + self.steps.len()
    }

    fn label(&mut self) -> Label {
        self.labels.push(0);
        Label(self.labels.len() - 1)
    }

    fn place(&mut self, label: Label) {
        self.labels[label.0] = self.here();
    }

    fn push(&mut self, step: Step, comment: String) {
        self.steps.push((step, comment));
    }

    fn line(&self, place: usize, step: &Step) -> Option<String> {
        let to = |label: &Label| self.labels[label.0];
        let next = place + 1;
        Some(match step {
            Step::Next(action) => format!(":: at[e] == {place} -> {action}; at[e] = {next}"),
            Step::Awake => {
                format!(":: at[e] == {place} && time >= wake[e] -> wake[e] = 0; at[e] = {next}")
            }
            Step::Goto(label) => format!(":: at[e] == {place} -> at[e] = {}", to(label)),
            Step::Choose(condition, a, b) => {
                format!(":: at[e] == {place} -> at[e] = ({condition} -> {} : {})", to(a), to(b))
            }
            Step::Test(k, exit) => format!(
                ":: at[e] == {place} && k{k}[e] > 0 -> k{k}[e] = k{k}[e] - 1; at[e] = {next}\n:: at[e] == {place} && k{k}[e] == 0 -> at[e] = {}",
                to(exit)
            ),
            Step::Arrive => format!(":: at[e] == {place} -> at[e] = {next}; arrive()"),
            Step::Waits => return None,
        })
    }

    fn program(&mut self, program: &[Stmt]) -> Result<(), PromelaError> {
        for stmt in program {
            match &stmt.kind {
                StmtKind::Access { .. } => {
                    let ticks = self.amounts.ticks(stmt)?;
                    if let Some(ticks) = ticks.filter(|t| t.constant() != Some(0)) {
                        self.wait(stmt, format!("wake[e] = time + {}", word(&ticks)));
                    }
                }
                StmtKind::Mark if self.marks => {
                    self.push(Step::Next("mark[e] = time".into()), comment(stmt));
                }
                StmtKind::Mark => {}
                StmtKind::Until(d) => {
                    let d = self.amounts.value(stmt, d)?;
                    let tick = format!("mark[e] + {} + 1", word(&d));
                    // Types are for times, so what lies before time 0 becomes 0.
                    let tick =
                        if d.range.0 < -1 { format!("({tick} > 0 -> {tick} : 0)") } else { tick };
                    self.wait(stmt, format!("wake[e] = {tick}"));
                }
                StmtKind::Barrier => {
                    self.push(Step::Arrive, comment(stmt));
                    self.push(Step::Waits, String::new());
                    if self.barrier_price {
                        self.push(Step::Awake, String::new());
                    }
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

    fn wait(&mut self, stmt: &Stmt, until: String) {
        self.push(Step::Next(until), comment(stmt));
        self.push(Step::Awake, String::new());
    }

    fn repeat(&mut self, stmt: &Stmt, count: &Expr, body: &[Stmt]) -> Result<(), PromelaError> {
        let count = self.amounts.value(stmt, count)?;
        let width = Width::holding((0, count.range.1.max(0)), &stmt.at, &self.fix)?;
        if self.counters.len() == self.depth {
            self.counters.push(width);
        }
        self.counters[self.depth] = self.counters[self.depth].max(width);
        self.depth += 1;
        let k = self.depth;
        let text = if count.range.0 < 0 {
            format!("({0} > 0 -> {0} : 0)", word(&count))
        } else {
            count.text.clone()
        };
        self.push(Step::Next(format!("k{k}[e] = {text}")), comment(stmt));
        let (test, exit) = (self.label(), self.label());
        self.place(test);
        self.push(Step::Test(k, exit), String::new());
        self.program(body)?;
        self.push(Step::Goto(test), String::new());
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

/// The value as an operand.
fn word(value: &Value) -> String {
    let word = value.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if word || value.text.starts_with('(') && closes_at_end(&value.text) {
        value.text.clone()
    } else {
        format!("({})", value.text)
    }
}

/// True if the first parenthesis is closed by the last character.
fn closes_at_end(text: &str) -> bool {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1 == text.len();
        }
    }
    false
}
