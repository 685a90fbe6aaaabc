//! Loops that cannot be counted: those whose iterations the problem file gives.
//!
//! With a bound, each of its iterations counts in full: where a branch that cannot be decided
//! leaves the loop and does nothing else, the other side is taken.

use std::collections::BTreeSet;

use super::nodes::mention;
use super::probe::{Probe, Walked};
use super::scan::Loop;
use super::symbolic::Poly;
use super::{Read, Reader, scan};
use crate::ast::VariableId;

impl<'a> Reader<'a> {
    /// A loop whose iterations the problem file gives.
    pub fn bounded_loop(&mut self, l: &Loop<'a>, count: Poly) -> Read<()> {
        self.bounded += 1;
        let result = self.walk_bounded(l, count);
        self.bounded -= 1;
        result
    }

    fn walk_bounded(&mut self, l: &Loop<'a>, count: Poly) -> Read<()> {
        let probe = self.probe(l)?;
        if self.probing == 0 {
            let Walked { nodes, iteration, .. } = self.one_iteration(l, &probe, &count)?;
            if mention(&self.terms, &nodes, iteration) {
                let question = self.iterations_differ(l.at, &nodes, iteration);
                self.ask(question);
            }
            self.close(l, nodes, iteration, count);
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
