//! Loops that cannot be counted: those whose rounds the problem file gives, and refusals.
//!
//! With a bound, each of its rounds counts in full: where a branch that cannot be decided leaves
//! the loop and does nothing else, the other side is taken.

use std::collections::BTreeSet;

use super::loops::Loop;
use super::nodes::{Node, first_mention, mention};
use super::probe::Probe;
use super::symbolic::{Interval, Leaf, Terms};
use super::unroll::MOST_ROUNDS;
use super::{Read, Reader, scan};
use crate::ast::{At, VariableId};
use crate::error::ReadError;
use crate::steps::Dependence;

impl<'a> Reader<'a> {
    /// A loop whose rounds the problem file gives.
    pub fn bounded_loop(&mut self, l: &Loop<'a>, range: Interval) -> Read<()> {
        self.bounded += 1;
        let result = self.walk_bounded(l, range);
        self.bounded -= 1;
        result
    }

    fn walk_bounded(&mut self, l: &Loop<'a>, range: Interval) -> Read<()> {
        let probe = self.probe(l)?;
        let name = format!("$line_{}", l.at.line);
        let count = self.terms.name(&name, range, Dependence::Uniform, Vec::new());
        if self.probing == 0 {
            let (nodes, round) = self.one_round(l, &probe, &count)?;
            if mention(&self.terms, &nodes, round) {
                return Err(rounds_differ(&self.terms, l.at, &nodes, round));
            }
            self.close(l, nodes, round, count);
        }
        self.blur(l, probe)
    }

    /// The state after a loop of which is only known what it may have changed.
    pub fn blur(&mut self, l: &Loop<'a>, probe: Probe) -> Read<()> {
        let mut variables: BTreeSet<VariableId> = probe.changes.keys().copied().collect();
        scan::assigned(l.body, &mut variables);
        l.expressions().for_each(|e| scan::assigned_by(e, &mut variables));
        self.state = probe.start;
        for id in variables {
            if let Some(value) = self.state.values.get(&id).cloned() {
                let value = self.blurred(id, &value);
                self.state.values.insert(id, value);
            }
        }
        self.last_test(l)
    }
}

/// The rounds of a loop are not known.
pub fn unbounded(at: &At) -> ReadError {
    let fix = format!("add \"line {}\": BOUND to kernel.bounds in the problem file", at.line);
    ReadError::at(at, "the loop's bound depends on data", fix)
}

/// The rounds of a loop differ, and there may be too many of them.
pub fn rounds_differ(terms: &Terms, at: &At, nodes: &[Node], round: Leaf) -> ReadError {
    let (inner, branch) = first_mention(terms, nodes, round).unwrap_or((at, false));
    let line = inner.line;
    let fix = if branch {
        format!("add \"line {line}\": \"then\", \"else\" or \"both\" to kernel.branches")
    } else {
        format!("add \"line {line}\": BOUND to kernel.bounds in the problem file")
    };
    let what = format!(
        "line {line} depends on the round of this loop, which may have more than {MOST_ROUNDS} of them"
    );
    ReadError::at(at, what, fix)
}
