//! Rows of relations as trees of clauses, one variable after another.

use std::sync::Arc;

use tickbound_elimination::{Least, Relation, VariableScope, Weight};
use z3::Solver;
use z3::ast::Bool;

/// Costs by key, and what the keys are of.
pub(super) type Costs<'r> = (&'r VariableScope, Vec<(u128, i64)>);

/// The relations' rows, with relations over the same parameters added up; `None` at a stop.
pub(super) fn merged<'r>(
    costs: &'r [Arc<Relation>],
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Costs<'r>>> {
    let mut all: Vec<Vec<&Relation>> = Vec::new();
    for relation in costs {
        match all.iter_mut().find(|known| known[0].scope() == relation.scope()) {
            Some(known) => known.push(relation),
            None => all.push(vec![relation]),
        }
    }
    let variables = costs.iter().filter_map(|r| r.scope().variables().last()).max();
    let mut indices = vec![0; variables.map_or(0, |v| v + 1)];
    let mut sums = Vec::new();
    for same in all {
        let scope = same[0].scope();
        let mut rows = Vec::new();
        for (key, _) in same[0].rows() {
            scope.unpack(key, &mut indices);
            let sum =
                same.iter().try_fold(Least(0), |sum, r| Some(sum.times(&Least(*r.at(&indices)?))));
            rows.extend(sum.map(|sum| (key, sum.0)));
            if stop() {
                return None;
            }
        }
        sums.push((scope, rows));
    }
    Some(sums)
}

/// How rows are walked as a tree: the last variable decides first, as in the order of the keys.
pub(super) struct Rows<'r> {
    pub scope: &'r VariableScope,
    pub chosen: &'r [Vec<Bool>],
    pub stop: &'r dyn Fn() -> bool,
}

/// Rows that agree on some of the last variables.
pub(super) struct Node<'r, W> {
    pub rows: &'r [(u128, W)],
    /// One of these holds, or the rows agree with what is chosen.
    pub unless: &'r [Bool],
    /// The variable that decides next, and its values.
    pub next: Option<(usize, &'r [u32])>,
}

impl<W> Node<'_, W> {
    /// Asserts what follows if the rows agree with what is chosen.
    pub fn imply(&self, then: &Bool, solver: &Solver) {
        let clause: Vec<Bool> = self.unless.iter().chain([then]).cloned().collect();
        solver.assert(Bool::or(&clause));
    }
}

impl Rows<'_> {
    /// Visits the nodes from the root on, below those where `visit` returns true; `None` at a stop.
    pub fn walk<W>(
        &self,
        mut rows: Vec<(u128, W)>,
        visit: &mut dyn FnMut(Node<'_, W>) -> bool,
    ) -> Option<()> {
        rows.sort_unstable_by_key(|(key, _)| *key);
        self.node(&rows, &mut Vec::new(), visit)
    }

    fn node<W>(
        &self,
        rows: &[(u128, W)],
        unless: &mut Vec<Bool>,
        visit: &mut dyn FnMut(Node<'_, W>) -> bool,
    ) -> Option<()> {
        if (self.stop)() {
            return None;
        }
        let variables = self.scope.variables();
        let next = variables.len().checked_sub(unless.len() + 1).map(|i| variables[i]);
        let Some(variable) = next else {
            visit(Node { rows, unless, next: None });
            return Some(());
        };
        let mut indices = vec![0; self.chosen.len()];
        let mut value = |row: &(u128, W)| {
            self.scope.unpack(row.0, &mut indices);
            indices[variable]
        };
        let parts: Vec<&[(u128, W)]> = rows.chunk_by(|a, b| value(a) == value(b)).collect();
        let values: Vec<u32> = parts.iter().map(|part| value(&part[0])).collect();
        if visit(Node { rows, unless, next: Some((variable, &values)) }) {
            for (part, value) in parts.into_iter().zip(values) {
                unless.push(self.chosen[variable][value as usize].not());
                self.node(part, unless, visit)?;
                unless.pop();
            }
        }
        Some(())
    }
}
