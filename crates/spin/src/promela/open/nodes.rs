//! A warp's program as places.

use tickbound_model::{AccessKind, Stmt, StmtKind};

use super::common::Common;
use crate::promela::amounts::Amounts;
use crate::promela::error::PromelaError;
use crate::promela::facts::Value;
use crate::promela::graph::{self, Graph, Label, Place};
use crate::promela::program::{Branch, Program, Written, call};

/// The places of a program; the first is 0.
pub(super) struct Nodes<'b, 'f, 'a> {
    amounts: &'b Amounts<'f, 'a>,
    common: &'b Common<'f, 'a>,
    graph: Graph,
}

impl<'b, 'f, 'a> Nodes<'b, 'f, 'a> {
    pub fn new(amounts: &'b Amounts<'f, 'a>, common: &'b Common<'f, 'a>) -> Self {
        Nodes { amounts, common, graph: Graph::default() }
    }

    /// The places of `program`.
    pub fn write(mut self, program: &[Stmt]) -> Result<Written, PromelaError> {
        self.program(program)?;
        Ok(self.graph.write())
    }

    /// Moves to the next place, and does something there.
    fn act(&mut self, stmt: &Stmt, action: String) {
        self.graph.push(stmt, move |place| format!("-> at[e] = {}; {action}", place.next));
    }
}

impl Program for Nodes<'_, '_, '_> {
    fn amounts(&self) -> &Amounts<'_, '_> {
        self.amounts
    }

    fn access(&mut self, stmt: &Stmt) -> Result<(), PromelaError> {
        let ticks = self.amounts.ticks(stmt)?;
        if let Some(ticks) = ticks.filter(|t| t.constant() != Some(0)) {
            let load = matches!(stmt.kind, StmtKind::Access { access: AccessKind::Global, .. });
            self.act(stmt, call("segment", &ticks.text, &format!(", {load}")));
        }
        Ok(())
    }

    fn mark(&mut self, stmt: &Stmt) {
        if self.common.marks {
            self.act(stmt, "mark[e] = time".into());
        }
    }

    fn until(&mut self, stmt: &Stmt, delay: &Value) {
        self.act(stmt, call("wait_past_mark", &delay.text, ""));
    }

    fn barrier(&mut self, stmt: &Stmt) {
        self.act(stmt, "doing[e] = arrived".into());
    }

    fn repeat(&mut self, stmt: &Stmt, count: Value, body: &[Stmt]) -> Result<(), PromelaError> {
        let (most, fix) = (count.range.1.max(0), self.common.facts.fix());
        let k = self.graph.counters.enter(most, &stmt.at, &fix)?;
        let (again, exit) = (self.graph.label(), self.graph.label());
        let counter = if count.range.0 < 0 {
            format!("(({0}) > 0 -> {0} : 0)", count.text)
        } else {
            count.text
        };
        self.graph.push(stmt, test(k, counter, again, exit));
        self.graph.place(again);
        self.program(body)?;
        self.graph.push_more(test(k, format!("k{k}[e] - 1"), again, exit));
        self.graph.place(exit);
        self.graph.counters.leave();
        Ok(())
    }

    fn choose(&mut self, branch: Branch<'_>) -> Result<(), PromelaError> {
        graph::choose(self, |nodes| &mut nodes.graph, branch)
    }
}

/// Sets the counter of depth `k`, and begins an iteration if one is left.
fn test(k: usize, counter: String, again: Label, exit: Label) -> impl Fn(&Place<'_>) -> String {
    move |place| {
        let (again, exit) = (place.of(again), place.of(exit));
        format!("-> k{k}[e] = {counter}; at[e] = (k{k}[e] > 0 -> {again} : {exit})")
    }
}
