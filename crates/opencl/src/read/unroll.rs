//! Loops whose iterations differ: one iteration after the other.

use super::formulas::Guard;
use super::nodes::{KernelNode, NodeKind, Nodes};
use super::probe::{Change, Probe};
use super::questions::MAX_ITERATIONS;
use super::scan::Loop;
use super::symbolic::{AtomKind, Poly};
use super::value::ReadState;
use super::{Read, Reader};
use crate::ast::VariableId;
use crate::error::ReadError;

struct Iteration {
    /// Whether it takes place, given that all before it do.
    guard: Poly,
    /// The state if it does not.
    left: ReadState,
    test: Nodes,
    body: Nodes,
}

impl<'a> Reader<'a> {
    /// Walks a loop's iterations from here. Without a count each asks the condition.
    pub fn unroll(&mut self, l: &Loop<'a>, count: Option<&Poly>, probe: &Probe) -> Read<()> {
        let facts = self.terms.facts();
        let conditional = count.is_none() && !l.after;
        let halved = if conditional { self.halved_to_one(probe) } else { None };
        let result = self.iterations_of(l, count, halved);
        self.terms.forget(facts);
        let (iterations, last) = result?;
        let end = std::mem::take(&mut self.state);
        self.state = iterations.iter().rev().fold(end, |after, iteration| {
            match iteration.guard.constant() {
                Some(1..) => after,
                _ => ReadState::merge(&mut self.terms, &iteration.guard, &after, &iteration.left),
            }
        });
        let flat = count.is_some() || halved.is_some() || self.stays_false(probe);
        let nodes = if flat { in_turn(l, iterations, last) } else { inside(l, iterations, last) };
        self.append(nodes);
        Ok(())
    }

    /// All iterations that may take place, and the steps of the last test.
    fn iterations_of(
        &mut self,
        l: &Loop<'a>,
        count: Option<&Poly>,
        halved: Option<VariableId>,
    ) -> Read<(Vec<Iteration>, Nodes)> {
        let mut iterations = Vec::new();
        let mut pending = Poly::int(1);
        for k in 0..=MAX_ITERATIONS {
            let (condition, test) =
                if l.after { (pending.clone(), Vec::new()) } else { self.capture(|r| r.test(l))? };
            let condition = match halved.and_then(|id| self.state.int(id)) {
                Some(number) => self.terms.less(&Poly::int(1), number),
                None => condition,
            };
            let guard = match count {
                Some(count) => self.terms.less(&Poly::int(k), count),
                None => condition.clone(),
            };
            if guard.constant() == Some(0) {
                return Ok((iterations, test));
            }
            if !self.says_iterations(&guard) {
                return Err(self.unbounded(l, self.terms.on_data(&guard)));
            }
            let left = self.state.clone();
            self.terms.assume(&guard);
            self.terms.assume(&condition);
            let walk = |r: &mut Self| {
                r.run(l.body, None)?;
                if l.after { r.test(l) } else { r.advance(l).map(|()| Poly::int(1)) }
            };
            self.forks += 1;
            let side = (Guard::Side(guard.clone()), self.forks);
            let (next, body) = self.behind(side, |r| r.capture(walk)).1?;
            pending = next;
            iterations.push(Iteration { guard, left, test, body });
        }
        let many = format!(
            "the loop's iterations differ, and there may be more than {MAX_ITERATIONS} of them"
        );
        Err(match count {
            Some(_) => ReadError::at(l.at, many, "bound its parameters"),
            None => self.unbounded(l, false),
        })
    }

    /// The counter of `while (n != 1) { n /= 2; ... }` that begins at or above 1: it never comes
    /// below, so that the loop goes on as long as it is greater.
    fn halved_to_one(&self, probe: &Probe) -> Option<VariableId> {
        let zero = Poly::int(1).sub(&probe.condition);
        let Some(AtomKind::Zero(p)) = zero.as_ref().and_then(|n| self.terms.kind_of(n)) else {
            return None;
        };
        let found = probe.placeholders.iter().find(|(_, atom)| {
            let less = Poly::atom(**atom).sub(&Poly::int(1));
            less.as_ref() == Some(p) || less.and_then(|less| less.scale(-1)).as_ref() == Some(p)
        });
        let (id, _) = found?;
        let halves = probe.changes.get(id) == Some(&Change::Shrinks(2));
        let start = probe.start.int(*id)?;
        (halves && self.terms.interval(start).least >= 1).then_some(*id)
    }

    /// Whether the condition, once it does not hold, would not hold later either.
    fn stays_false(&self, probe: &Probe) -> bool {
        let negated = Poly::int(1).sub(&probe.condition);
        let zero = negated.as_ref().and_then(|n| self.terms.kind_of(n));
        probe.placeholders.iter().any(|(id, atom)| {
            let factor = |poly: &Poly| {
                let (factor, rest) = poly.linear_in(*atom)?;
                factor.constant().filter(|_| !self.terms.mentions_since(&rest, probe.mark))
            };
            let start = probe.start.int(*id).filter(|start| self.terms.never_negative(start));
            let change = start.and_then(|_| probe.changes.get(id));
            match (self.terms.kind_of(&probe.condition), zero, change) {
                (Some(AtomKind::Negative(p)), _, Some(Change::Shrinks(_))) => {
                    factor(p).is_some_and(|factor| factor < 0)
                }
                (Some(AtomKind::Negative(p)), _, Some(Change::Grows)) => {
                    factor(p).is_some_and(|factor| factor > 0)
                }
                (_, Some(AtomKind::Zero(p)), Some(Change::Shrinks(_))) => {
                    p.as_atom() == Some(*atom)
                }
                _ => false,
            }
        })
    }
}

/// Iterations in sequence, each with its own condition; a later test belongs to the one before.
fn in_turn(l: &Loop<'_>, iterations: Vec<Iteration>, last: Nodes) -> Nodes {
    let split = |iteration: Iteration| ((iteration.guard, iteration.body), iteration.test);
    let (guards, tests): (Vec<_>, Vec<_>) = iterations.into_iter().map(split).unzip();
    let mut tests = tests.into_iter().chain([last]);
    let mut nodes = tests.next().unwrap_or_default();
    for ((guard, mut body), test) in guards.into_iter().zip(tests) {
        body.extend(test);
        nodes.extend(guarded(l, guard, body));
    }
    nodes
}

/// Iterations one inside the other.
fn inside(l: &Loop<'_>, iterations: Vec<Iteration>, last: Nodes) -> Nodes {
    iterations.into_iter().rev().fold(last, |rest, iteration| {
        let mut body = iteration.body;
        body.extend(rest);
        let mut nodes = iteration.test;
        nodes.extend(guarded(l, iteration.guard, body));
        nodes
    })
}

/// Steps of an iteration that takes place under a condition.
pub fn guarded(l: &Loop<'_>, condition: Poly, body: Nodes) -> Nodes {
    if condition.constant().is_some() || body.is_empty() {
        return body;
    }
    let kind = NodeKind::If { condition, then: body, otherwise: Vec::new() };
    vec![KernelNode { kind, at: l.at.clone() }]
}
