//! The program of an element, or of an item, as places.

use tickbound_model::Stmt;

use crate::promela::amounts::Amounts;
use crate::promela::error::PromelaError;
use crate::promela::facts::Value;
use crate::promela::graph::{self, Graph};
use crate::promela::program::{Branch, Program, Written};

/// The places of a program; the first is 1.
pub(super) struct Nodes<'b, 'f, 'a> {
    amounts: &'b Amounts<'f, 'a>,
    /// A barrier is released some ticks after the last arrival.
    barrier_price: bool,
    /// Something waits for the mark.
    marks: bool,
    graph: Graph,
}

impl<'b, 'f, 'a> Nodes<'b, 'f, 'a> {
    pub fn new(amounts: &'b Amounts<'f, 'a>, barrier_price: bool, marks: bool) -> Self {
        Nodes { amounts, barrier_price, marks, graph: Graph::starting_at(1) }
    }

    /// The places of `program`, and the number of the one after it.
    pub fn write(mut self, program: &[Stmt]) -> Result<(Written, usize), PromelaError> {
        self.program(program)?;
        let end = self.graph.here();
        Ok((self.graph.write(), end))
    }

    /// Does something and moves on.
    fn act(&mut self, stmt: &Stmt, action: String) {
        self.graph.push(stmt, move |place| format!("-> {action}; at[e] = {}", place.next));
    }

    /// Moves on once `time >= wake[e]`.
    fn sleep(&mut self) {
        self.graph.push_more(|place| {
            format!("&& time >= wake[e] -> wake[e] = 0; at[e] = {}", place.next)
        });
    }
}

impl Program for Nodes<'_, '_, '_> {
    fn amounts(&self) -> &Amounts<'_, '_> {
        self.amounts
    }

    fn access(&mut self, stmt: &Stmt) -> Result<(), PromelaError> {
        let ticks = self.amounts.ticks(stmt)?;
        if let Some(ticks) = ticks.filter(|t| t.constant() != Some(0)) {
            self.act(stmt, format!("wake[e] = time + {}", operand(&ticks)));
            self.sleep();
        }
        Ok(())
    }

    fn mark(&mut self, stmt: &Stmt) {
        if self.marks {
            self.act(stmt, "mark[e] = time".into());
        }
    }

    fn until(&mut self, stmt: &Stmt, delay: &Value) {
        let tick = format!("mark[e] + {} + 1", operand(delay));
        // Types are for times, so what lies before time 0 becomes 0.
        let tick = if delay.range.0 < -1 { format!("({tick} > 0 -> {tick} : 0)") } else { tick };
        self.act(stmt, format!("wake[e] = {tick}"));
        self.sleep();
    }

    fn barrier(&mut self, stmt: &Stmt) {
        self.graph.push(stmt, |place| format!("-> at[e] = {}; arrive()", place.next));
        self.graph.push_waiting();
        if self.barrier_price {
            self.sleep();
        }
    }

    fn repeat(&mut self, stmt: &Stmt, count: Value, body: &[Stmt]) -> Result<(), PromelaError> {
        let (most, fix) = (count.range.1.max(0), self.amounts.facts.fix());
        let k = self.graph.counters.enter(most, &stmt.at, &fix)?;
        let text = if count.range.0 < 0 {
            format!("({0} > 0 -> {0} : 0)", operand(&count))
        } else {
            count.text
        };
        self.act(stmt, format!("k{k}[e] = {text}"));
        let (test, exit) = (self.graph.label(), self.graph.label());
        self.graph.place(test);
        self.graph.push_more(move |place| {
            let (here, next, exit) = (place.here, place.next, place.of(exit));
            format!(
                "&& k{k}[e] > 0 -> k{k}[e] = k{k}[e] - 1; at[e] = {next}\n:: at[e] == {here} && \
                 k{k}[e] == 0 -> at[e] = {exit}"
            )
        });
        self.program(body)?;
        self.graph.goto(test);
        self.graph.place(exit);
        self.graph.counters.leave();
        Ok(())
    }

    fn choose(&mut self, branch: Branch<'_>) -> Result<(), PromelaError> {
        graph::choose(self, |nodes| &mut nodes.graph, branch)
    }
}

/// The value as an operand: in parentheses if it is more than a word.
fn operand(value: &Value) -> String {
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
