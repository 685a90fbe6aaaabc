//! Loops: what each iteration does, for a counter of any value.
//!
//! A loop is walked with a placeholder for each variable that it changes. What an iteration makes
//! of them shows which ones grow by a step, are set anew, or follow from the iterations before
//! alone. Then it is walked once more with these as terms over the counter. Conditions of earlier
//! iterations are left out: more may happen in the walk than in the kernel, never less.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::changes::{Change, Changes, Iteration};
use super::value::{Now, Pointee, Worth};
use super::walk::Walk;
use crate::ast::{CExpr, CStmt, SourcePlace, VariableId};
use crate::error::Read;
use crate::proof::events::{ProofEventKind, ProofLoop};
use crate::proof::terms::{FunctionKind, Node, TermId, TermRange, VariableIndex, VariableKind};
use crate::read::{Integer, assigned, assigned_by, escapes, loop_parts};

const MAX_ITERATIONS: i128 = 1 << 62;

#[derive(Clone, Copy)]
struct Parts<'a> {
    at: &'a SourcePlace,
    test: Option<&'a CExpr>,
    step: Option<&'a CExpr>,
    body: &'a [CStmt],
    /// Whether the test comes after the body.
    after: bool,
}

impl<'a> Walk<'a> {
    /// Walks a loop; its initialization has been walked.
    pub fn repeat(&mut self, stmt: &'a CStmt) -> Read<()> {
        let Some((test, step, body, after)) = loop_parts(stmt) else { return Ok(()) };
        let l = Parts { at: &stmt.at, test, step, body, after };
        let mut found = self.changes(&l)?;
        self.bound(&l, &mut found)?;
        let iteration = self.walk_iteration(&l, &found)?;
        self.leave(&l, &found, &iteration)
    }

    /// A part of the walk that only looks: nothing is noted.
    fn looking<T>(&mut self, part: impl FnOnce(&mut Self) -> T) -> T {
        self.probing += 1;
        let result = part(self);
        self.probing -= 1;
        result
    }

    fn step(&mut self, step: &'a CExpr) -> Read<()> {
        let outer = std::mem::replace(&mut self.stepping, true);
        let walked = self.value(step);
        self.stepping = outer;
        walked.map(|_| ())
    }

    /// One iteration, from the state at hand on.
    fn iterate(&mut self, l: &Parts<'a>, before: Option<TermId>) -> Read<Iteration> {
        let no = self.terms.int(0);
        let given = self.given.len();
        self.given.extend(before.filter(|_| !l.after));
        let mut enters = match l.test.filter(|_| !l.after) {
            Some(test) => self.condition(test)?,
            None => self.terms.int(1),
        };
        self.given.truncate(given);
        if l.after {
            self.given.extend(before);
        }
        self.emit(ProofEventKind::Agree(enters), l.at);
        let outside = std::mem::take(&mut self.written);
        let walked = self.under(enters, |w| -> Read<_> {
            w.block(l.body)?;
            let in_body = w.written.clone();
            w.now.continued = no;
            let left = w.terms.or(w.now.broken, w.now.returned);
            let stays = w.terms.not(left);
            let returns = w.now.returned;
            (w.now.broken, w.now.returned) = (no, no);
            let go_on = w.under(stays, |w| -> Read<_> {
                if let Some(step) = l.step {
                    w.step(step)?;
                }
                match l.test.filter(|_| l.after) {
                    Some(test) => w.condition(test),
                    None => Ok(w.terms.int(1)),
                }
            })?;
            let stays = w.terms.and(stays, go_on);
            w.emit(ProofEventKind::Agree(stays), l.at);
            Ok((in_body, stays, left, returns))
        });
        self.written.extend(outside);
        self.given.truncate(given);
        let (in_body, stays, left, returns) = walked?;
        // Another iteration follows only if this one was not left.
        let mut known = HashMap::new();
        self.assume_not(left, &mut known);
        let mut end = self.now.clone();
        for value in end.values.values_mut() {
            *value = self.mapped(value, &mut |w, term| w.terms.replaced(term, &known));
        }
        if l.after {
            enters = self.terms.int(1);
        }
        Ok(Iteration { enters, stays, returns, in_body, end })
    }

    /// Notes that a condition does not hold.
    fn assume_not(&mut self, condition: TermId, known: &mut HashMap<TermId, TermId>) {
        if let Node::Or(a, b) = *self.terms.node(condition) {
            self.assume_not(a, known);
            self.assume_not(b, known);
        }
        if self.terms.constant(condition).is_none() {
            let (no, yes) = (self.terms.int(0), self.terms.int(1));
            known.insert(condition, no);
            if let Node::Not(opposite) = *self.terms.node(condition) {
                known.insert(opposite, yes);
            }
        }
    }

    fn mapped(&mut self, value: &Worth, by: &mut dyn FnMut(&mut Self, TermId) -> TermId) -> Worth {
        match value {
            Worth::Int(term) => Worth::Int(by(self, *term)),
            Worth::Pointer(all) => {
                let one = |p: &Pointee| Pointee {
                    when: by(self, p.when),
                    offset: by(self, p.offset),
                    ..p.clone()
                };
                Worth::Pointer(Rc::new(all.iter().map(one).collect()))
            }
            value => value.clone(),
        }
    }

    fn changes(&mut self, l: &Parts<'a>) -> Read<Changes> {
        let start = self.now.clone();
        let mut names = BTreeSet::new();
        assigned(l.body, &mut names);
        l.test.into_iter().chain(l.step).for_each(|e| assigned_by(e, &mut names));
        names.retain(|id| start.values.contains_key(id));
        let mut values: BTreeMap<VariableId, Worth> = start.values.clone();
        loop {
            let mark = self.terms.variables.len() as VariableIndex;
            let mut placeholders = BTreeMap::new();
            for id in &names {
                let value = values.get(id).cloned().unwrap_or(Worth::Other);
                placeholders.insert(*id, self.placeholder(*id, &value));
            }
            self.now = start.clone();
            self.now.values.extend(placeholders.clone());
            let outside = std::mem::take(&mut self.written);
            let walked = self.looking(|w| w.iterate(l, None));
            let written = std::mem::replace(&mut self.written, outside);
            self.written.extend(&written);
            let walked = walked?;
            let more: Vec<VariableId> = written
                .into_iter()
                .filter(|id| start.values.contains_key(id) && !names.contains(id))
                .collect();
            let grown = self.grown(&placeholders, &walked.end, &mut values);
            if more.is_empty() && !grown {
                let changed = self.classified(&start, placeholders, &walked, mark);
                let counter = self.terms.variable(VariableKind::Counter, (0, MAX_ITERATIONS));
                return Ok(Changes { start, changed, mark, counter });
            }
            names.extend(more);
        }
    }

    /// The state at the beginning of an iteration.
    fn state_at(&mut self, found: &Changes, counter: TermId) -> Now {
        let mut now = found.start.clone();
        for (id, one) in &found.changed {
            let value = match (one.first.number(), &one.change) {
                (Some(first), Change::Step(step)) => {
                    let distance = self.terms.mul(*step, counter);
                    let moved = self.terms.add(first, distance);
                    Some(if one.bounded { moved } else { self.in_type(*id, moved) })
                }
                (Some(first), Change::Set(after)) => {
                    let begins = self.terms.zero(counter);
                    Some(self.terms.choice(begins, first, *after))
                }
                (Some(_), Change::Follows(_)) => Some(self.following(found, *id, counter)),
                _ => None,
            };
            let value = match (value, &one.placeholder) {
                (Some(offset), Worth::Pointer(all)) => {
                    let all = all.iter().map(|p| Pointee { offset, ..p.clone() });
                    Worth::Pointer(Rc::new(all.collect()))
                }
                (Some(number), _) => Worth::Int(number),
                (None, placeholder) => self.placeholder(*id, placeholder),
            };
            now.values.insert(*id, value);
        }
        now
    }

    /// A number as the type of a variable holds it.
    pub fn in_type(&mut self, id: VariableId, number: TermId) -> TermId {
        match self.variables.get(&id).and_then(|v| Integer::of(&v.ty)) {
            Some(integer) => self.computed(number, integer),
            None => number,
        }
    }

    /// Finds variables of unsigned types that the test keeps from wrapping around.
    fn bound(&mut self, l: &Parts<'a>, found: &mut Changes) -> Read<()> {
        let Some(test) = l.test.filter(|_| !l.after) else { return Ok(()) };
        found.changed.values_mut().for_each(|one| one.bounded = true);
        let counter = found.counter;
        self.now = self.state_at(found, counter);
        let condition = self.looking(|w| w.condition(test))?;
        for (id, one) in &mut found.changed {
            let integer = self.variables.get(id).and_then(|v| Integer::of(&v.ty));
            let value = self.now.values.get(id).and_then(Worth::number);
            let step = match one.change {
                Change::Step(step) => self.terms.constant(step),
                _ => None,
            };
            one.bounded = match (integer, value.zip(step)) {
                (Some(integer), Some(value)) => self.is_bounded(condition, value, counter, integer),
                _ => false,
            };
        }
        Ok(())
    }

    /// Whether a value that passes the test is at least a step away from the end of its type.
    fn is_bounded(
        &mut self,
        condition: TermId,
        (value, step): (TermId, i128),
        counter: TermId,
        integer: Integer,
    ) -> bool {
        let (low, high) = crate::proof::terms::type_range(integer.bits, integer.signed);
        match *self.terms.node(condition) {
            Node::And(a, b) => {
                self.is_bounded(a, (value, step), counter, integer)
                    || self.is_bounded(b, (value, step), counter, integer)
            }
            Node::Negative(inner) => {
                let sign = step.signum();
                // The test is `sign * value < limit`.
                let limit = self.terms.plus(inner, -sign, value);
                if step == 0 || self.terms.inside(&[limit]).contains(&counter) {
                    return false;
                }
                let (least, _) = self.terms.range(limit);
                match sign {
                    1 => -least - 1 + step <= high,
                    _ => least + 1 + step >= low,
                }
            }
            _ => false,
        }
    }

    /// Walks the iteration of a counter and adds the loop.
    fn walk_iteration(&mut self, l: &Parts<'a>, found: &Changes) -> Read<Iteration> {
        let counter = found.counter;
        self.now = self.state_at(found, counter);
        let outer = (
            std::mem::take(&mut self.path),
            std::mem::take(&mut self.given),
            std::mem::take(&mut self.events),
        );
        let before = self.begun(l, counter)?;
        self.facts_of(found);
        self.counters.push(counter);
        let walked = self.iterate(l, before);
        self.counters.pop();
        let body = std::mem::replace(&mut self.events, outer.2);
        (self.path, self.given) = (outer.0, outer.1);
        let iteration = walked?;
        if let Node::Variable(counter) = *self.terms.node(counter)
            && body.iter().any(|event| !matches!(event.kind, ProofEventKind::Agree(_)))
        {
            let (enters, stays) = (iteration.enters, iteration.stays);
            self.emit(ProofEventKind::Repeat(ProofLoop { counter, enters, stays, body }), l.at);
        }
        Ok(iteration)
    }

    /// What holds of an iteration as the one before went on, if that is known.
    fn begun(&mut self, l: &Parts<'a>, counter: TermId) -> Read<Option<TermId>> {
        let now = self.now.clone();
        let mark = self.terms.variables.len() as VariableIndex;
        let walked = self.looking(|w| match l.after {
            true => w.iterate(l, None).map(|iteration| Some(iteration.stays)),
            false => l.test.map(|test| w.condition(test)).transpose(),
        });
        self.now = now;
        let Some(condition) = walked? else { return Ok(None) };
        if !self.is_free(&[condition], mark) {
            return Ok(None);
        }
        let previous = self.terms.shifted(counter, -1);
        let condition = self.terms.replaced(condition, &HashMap::from([(counter, previous)]));
        let first = self.terms.zero(counter);
        Ok(Some(self.terms.or(first, condition)))
    }

    /// Adds bounds of numbers that become less from iteration to iteration.
    fn facts_of(&mut self, found: &Changes) {
        for (id, one) in &found.changed {
            let (Change::Follows(after), Some((before, first))) = (&one.change, one.numbers())
            else {
                continue;
            };
            if let Node::Quotient(a, b) = *self.terms.node(*after)
                && a == before
                && self.terms.range(b).0 >= 1
                && self.terms.range(first).0 >= 0
            {
                let value = self.following(found, *id, found.counter);
                let beyond = self.terms.less(first, value);
                let within = self.terms.not(beyond);
                self.given.push(within);
            }
        }
    }

    /// The state after a loop.
    fn leave(&mut self, l: &Parts<'a>, found: &Changes, iteration: &Iteration) -> Read<()> {
        let exits = match l.after {
            true => escapes(l.body),
            false => self.terms.constant(iteration.stays) != Some(1),
        };
        let last = self.iterations(l, found, iteration, exits);
        self.now = self.state_at(found, last);
        if exits {
            for (id, one) in found.changed.iter().filter(|(id, _)| iteration.in_body.contains(id)) {
                let value = self.placeholder(*id, &one.placeholder);
                self.now.values.insert(*id, value);
            }
        }
        if let (Some(test), false) = (l.test, l.after) {
            let condition = self.looking(|w| w.condition(test))?;
            if !exits {
                let ends = self.terms.not(condition);
                self.given.push(ends);
            }
        }
        if self.terms.constant(iteration.returns) != Some(0) {
            let decide = [iteration.enters, iteration.stays, iteration.returns];
            self.now.returned = self.decided(found, &decide, (0, 1));
            let function = self.calls.last().and_then(|n| self.unit.functions.get(*n));
            if let Some(function) = function {
                self.now.result = Some(self.unknown(&function.result));
            }
        }
        Ok(())
    }

    /// A value that the numbers at the beginning of a loop decide; any if data do.
    fn decided(&mut self, found: &Changes, decide: &[TermId], range: TermRange) -> TermId {
        let mut leaves = self.terms.variables_in(decide);
        let own = match *self.terms.node(found.counter) {
            Node::Variable(own) => Some(own),
            _ => None,
        };
        leaves.retain(|leaf| Some(*leaf) != own);
        if leaves.iter().any(|leaf| !self.is_outer(*leaf, found.mark)) {
            return self.terms.unknown(range);
        }
        let arguments = leaves.iter().map(|leaf| self.terms.term(Node::Variable(*leaf))).collect();
        let function = self.terms.function(FunctionKind::Some, range);
        self.terms.term(Node::Apply(function, arguments))
    }

    fn iterations(
        &mut self,
        l: &Parts<'a>,
        found: &Changes,
        iteration: &Iteration,
        exits: bool,
    ) -> TermId {
        let test = if l.after { iteration.stays } else { iteration.enters };
        if !exits
            && let Node::Negative(inner) = *self.terms.node(test)
            && let Some((factor, rest)) = self.terms.linear(inner, found.counter)
            && self.terms.range(factor).0 >= 1
            && self.is_free(&[factor, rest], found.mark)
        {
            // rest + factor * counter < 0
            let needed = self.terms.sub(factor, rest);
            let needed = self.terms.shifted(needed, -1);
            let zero = self.terms.int(0);
            let needed = self.terms.greatest(needed, zero);
            let count = self.terms.quotient(needed, factor);
            return self.terms.shifted(count, i128::from(l.after));
        }
        // A `break` may end the first one.
        let least = i128::from(l.after && !exits);
        let decide = [iteration.enters, iteration.stays];
        self.decided(found, &decide, (least, MAX_ITERATIONS))
    }
}
