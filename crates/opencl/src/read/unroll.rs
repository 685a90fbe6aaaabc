//! Loops whose iterations differ: one iteration after the other.

use super::nodes::{KernelNode, NodeKind};
use super::probe::{Change, Probe};
use super::questions::{MOST_ITERATIONS, too_many_iterations};
use super::scan::Loop;
use super::symbolic::{AtomKind, Poly};
use super::value::{ReadState, ReadValue};
use super::{Read, Reader};
use crate::ast::VariableId;

/// An iteration that was walked.
struct Iteration {
    /// Whether it takes place, given that all before it do.
    guard: Poly,
    /// The state if it does not.
    left: ReadState,
    /// The steps of its test.
    test: Vec<KernelNode>,
    /// What it does.
    body: Vec<KernelNode>,
}

impl<'a> Reader<'a> {
    /// Walks a loop's iterations from the state at hand. Without a count each iteration asks the
    /// condition.
    pub fn unroll(
        &mut self,
        l: &Loop<'a>,
        count: Option<&Poly>,
        probe: Option<&Probe>,
    ) -> Read<()> {
        let facts = self.terms.facts();
        let halved = probe
            .filter(|_| count.is_none() && !l.after)
            .and_then(|probe| self.halved_to_one(probe));
        let result = self.iterations_of(l, count, halved);
        self.terms.forget(facts);
        let (iterations, last) = result?;
        let end = std::mem::take(&mut self.state);
        self.state = iterations.iter().rev().fold(end, |after, iteration| {
            ReadState::merge(&mut self.terms, &iteration.guard, &after, &iteration.left)
        });
        let flat = count.is_some()
            || halved.is_some()
            || probe.is_some_and(|probe| self.stays_false(probe));
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
    ) -> Read<(Vec<Iteration>, Vec<KernelNode>)> {
        let mut iterations = Vec::new();
        let mut pending = Poly::int(1);
        for k in 0..=MOST_ITERATIONS {
            let (condition, test) =
                if l.after { (pending.clone(), Vec::new()) } else { self.capture(|r| r.test(l))? };
            let halved = halved.and_then(|id| self.state.values.get(&id).cloned());
            let condition = match halved {
                Some(ReadValue::Int(number)) => self.terms.less(&Poly::int(1), &number),
                _ => condition,
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
            let (next, body) = self.capture(|r| {
                r.run(l.body, None)?;
                if l.after { r.test(l) } else { r.advance(l).map(|()| Poly::int(1)) }
            })?;
            pending = next;
            iterations.push(Iteration { guard, left, test, body });
        }
        Err(if count.is_some() { too_many_iterations(l.at) } else { self.unbounded(l, false) })
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
        let above = match probe.start.values.get(id) {
            Some(ReadValue::Int(start)) => self.terms.interval(start).least >= 1,
            _ => false,
        };
        (halves && above).then_some(*id)
    }

    /// Whether the condition, once it does not hold, would not hold later either.
    fn stays_false(&self, probe: &Probe) -> bool {
        let negated = Poly::int(1).sub(&probe.condition);
        let zero = negated.as_ref().and_then(|n| self.terms.kind_of(n));
        probe.placeholders.iter().any(|(id, atom)| {
            let only = |poly: &Poly| {
                poly.linear_in(*atom).is_some_and(|(factor, rest)| {
                    factor.constant().is_some() && !self.terms.mentions_since(&rest, probe.mark)
                })
            };
            let sign = |poly: &Poly| poly.linear_in(*atom).map(|(factor, _)| factor);
            let change = probe.changes.get(id).filter(|_| {
                matches!(probe.start.values.get(id),
                    Some(ReadValue::Int(start)) if self.terms.never_negative(start))
            });
            match (self.terms.kind_of(&probe.condition), zero, change) {
                (Some(AtomKind::Negative(p)), _, Some(Change::Shrinks(_))) => {
                    only(p) && sign(p).and_then(|s| s.constant()).is_some_and(|s| s < 0)
                }
                (Some(AtomKind::Negative(p)), _, Some(Change::Grows)) => {
                    only(p) && sign(p).and_then(|s| s.constant()).is_some_and(|s| s > 0)
                }
                (_, Some(AtomKind::Zero(p)), Some(Change::Shrinks(_))) => {
                    p.as_atom() == Some(*atom)
                }
                _ => false,
            }
        })
    }
}

/// Iterations one after the other, each with its own condition. A test that is not the first one
/// belongs to the iteration before it.
fn in_turn(l: &Loop<'_>, iterations: Vec<Iteration>, last: Vec<KernelNode>) -> Vec<KernelNode> {
    let (mut nodes, mut guards) = (Vec::new(), Vec::new());
    let mut tests: Vec<Vec<KernelNode>> = Vec::new();
    for iteration in iterations {
        tests.push(iteration.test);
        guards.push((iteration.guard, iteration.body));
    }
    tests.push(last);
    let mut tests = tests.into_iter();
    nodes.extend(tests.next().unwrap_or_default());
    for ((guard, mut body), test) in guards.into_iter().zip(tests) {
        body.extend(test);
        nodes.extend(guarded(l, guard, body));
    }
    nodes
}

/// Iterations one inside the other.
fn inside(l: &Loop<'_>, iterations: Vec<Iteration>, last: Vec<KernelNode>) -> Vec<KernelNode> {
    iterations.into_iter().rev().fold(last, |rest, iteration| {
        let mut body = iteration.body;
        body.extend(rest);
        let mut nodes = iteration.test;
        nodes.extend(guarded(l, iteration.guard, body));
        nodes
    })
}

/// Steps of an iteration that takes place under a condition.
pub fn guarded(l: &Loop<'_>, condition: Poly, body: Vec<KernelNode>) -> Vec<KernelNode> {
    if condition.constant().is_some() || body.is_empty() {
        return body;
    }
    let kind = NodeKind::If { condition, then: body, otherwise: Vec::new() };
    vec![KernelNode { kind, at: l.at.clone() }]
}
