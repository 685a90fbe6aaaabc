//! Loops: what each iteration does, for a counter of any value.
//!
//! A loop is walked with a placeholder for each variable that it changes. What an iteration makes
//! of them shows which ones grow by a step, which ones are set anew, and which ones follow from the
//! iterations before alone. Then it is walked once more with these as terms over the counter.
//! Conditions of earlier iterations are left out: more may happen in the walk than in the kernel,
//! never less.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::events::{ProofEventKind, ProofLoop};
use super::terms::{FunctionKind, MOST, Node, Term, VariableIndex, VariableKind};
use super::value::{Now, Pointee, PointeeTarget, Worth};
use super::walk::Walk;
use crate::ast::{CExpr, CStmt, CStmtKind, SourcePlace, VariableId};
use crate::error::Read;
use crate::read::{Integer, assigned, assigned_by, escapes};

/// No loop has more iterations.
const MAX_ITERATIONS: i128 = 1 << 62;

/// The parts of a loop.
#[derive(Clone, Copy)]
struct Parts<'a> {
    at: &'a SourcePlace,
    test: Option<&'a CExpr>,
    step: Option<&'a CExpr>,
    body: &'a [CStmt],
    /// Whether the test comes after the body.
    after: bool,
}

/// What an iteration makes of a variable.
#[derive(Debug, Clone, PartialEq)]
enum Change {
    /// It adds this; of a pointer, to its offset.
    Step(Term),
    /// It puts this in, which no iteration changes.
    Set(Term),
    /// A number that follows from the numbers before.
    Follows(Term),
    /// Anything.
    Any,
}

/// What one walk of an iteration has found.
struct Iteration {
    enters: Term,
    stays: Term,
    returns: Term,
    /// Variables that were written before the step.
    in_body: BTreeSet<VariableId>,
    end: Now,
}

/// The changes of a loop.
struct Changes {
    start: Now,
    placeholders: BTreeMap<VariableId, Worth>,
    changes: BTreeMap<VariableId, Change>,
    /// Variables of terms from here on are those of an iteration.
    mark: VariableIndex,
    /// Variables that do not wrap around, as the test ends the loop before.
    bounded: BTreeSet<VariableId>,
}

impl<'a> Walk<'a> {
    /// Walks a loop; its initialization has been walked.
    pub fn repeat(&mut self, stmt: &'a CStmt) -> Read<()> {
        let (test, step, body, after) = match &stmt.kind {
            CStmtKind::For { condition, step, body, .. } => {
                (condition.as_ref(), step.as_ref(), body, false)
            }
            CStmtKind::While(condition, body) => (Some(condition), None, body, false),
            CStmtKind::DoWhile(body, condition) => (Some(condition), None, body, true),
            _ => return Ok(()),
        };
        let l = Parts { at: &stmt.at, test, step, body, after };
        let mut found = self.changes(&l)?;
        let counter = self.terms.variable(VariableKind::Counter, (0, MAX_ITERATIONS));
        self.bound(&l, &mut found, counter)?;
        let iteration = self.walk_iteration(&l, &found, counter)?;
        self.leave(&l, &found, counter, &iteration)
    }

    /// One iteration, from the state at hand on.
    fn iterate(&mut self, l: &Parts<'a>, before: Option<Term>) -> Read<Iteration> {
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
        let walked = self.under(enters, |w| {
            w.block(l.body)?;
            let in_body = w.written.clone();
            w.now.continued = no;
            let left = w.terms.or(w.now.broken, w.now.returned);
            let stays = w.terms.not(left);
            let returns = w.now.returned;
            (w.now.broken, w.now.returned) = (no, no);
            let go_on = w.under(stays, |w| {
                if let Some(step) = l.step {
                    w.value(step)?;
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
    fn assume_not(&mut self, condition: Term, known: &mut HashMap<Term, Term>) {
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

    /// A value with its terms replaced.
    fn mapped(&mut self, value: &Worth, by: &mut dyn FnMut(&mut Self, Term) -> Term) -> Worth {
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

    /// What the iterations of a loop change.
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
            self.probing += 1;
            let walked = self.iterate(l, None);
            self.probing -= 1;
            let written = std::mem::replace(&mut self.written, outside);
            self.written.extend(&written);
            let walked = walked?;
            let more: Vec<VariableId> = written
                .into_iter()
                .filter(|id| start.values.contains_key(id) && !names.contains(id))
                .collect();
            let grown = self.grown(&placeholders, &walked.end, &mut values);
            if more.is_empty() && !grown {
                let changes = self.classified(&start, &placeholders, &walked, mark);
                let bounded = BTreeSet::new();
                return Ok(Changes { start, placeholders, changes, mark, bounded });
            }
            names.extend(more);
        }
    }

    /// Adds what pointers point to in a later iteration; whether that is more than before.
    fn grown(
        &mut self,
        placeholders: &BTreeMap<VariableId, Worth>,
        end: &Now,
        values: &mut BTreeMap<VariableId, Worth>,
    ) -> bool {
        let mut grown = false;
        for (id, placeholder) in placeholders {
            let after = end.values.get(id);
            let same_kind = match (placeholder, after) {
                (Worth::Pointer(a), Some(Worth::Pointer(b))) => {
                    let known: Vec<PointeeTarget> = a.iter().map(|p| p.target).collect();
                    let more = b.iter().filter(|p| !known.contains(&p.target));
                    let all: Vec<Pointee> = a.iter().chain(more).cloned().collect();
                    let more = all.len() > a.len();
                    grown |= more;
                    if more {
                        values.insert(*id, Worth::Pointer(Rc::new(all)));
                    }
                    true
                }
                (Worth::Int(_), Some(Worth::Int(_))) | (Worth::Other, _) => true,
                _ => false,
            };
            if !same_kind {
                values.insert(*id, Worth::Other);
                grown = true;
            }
        }
        grown
    }

    fn placeholder(&mut self, id: VariableId, value: &Worth) -> Worth {
        match value {
            Worth::Int(_) => match self.variables.get(&id).map(|v| &v.ty) {
                Some(ty) => self.unknown(ty),
                None => Worth::Other,
            },
            Worth::Pointer(all) => {
                let alone = all.len() == 1;
                let one = |p: &Pointee| Pointee {
                    when: if alone { p.when } else { self.terms.unknown((0, 1)) },
                    offset: self.terms.unknown((-MOST, MOST)),
                    ..p.clone()
                };
                Worth::Pointer(Rc::new(all.iter().map(one).collect()))
            }
            _ => Worth::Other,
        }
    }

    /// The number that a value is, or the offset of a pointer to one place.
    fn number(value: &Worth) -> Option<Term> {
        match value {
            Worth::Int(term) => Some(*term),
            Worth::Pointer(all) if all.len() == 1 => Some(all[0].offset),
            _ => None,
        }
    }

    fn classified(
        &mut self,
        start: &Now,
        placeholders: &BTreeMap<VariableId, Worth>,
        walked: &Iteration,
        mark: VariableIndex,
    ) -> BTreeMap<VariableId, Change> {
        // What stays the same is what it was at first.
        let mut same = HashMap::new();
        let mut ends = BTreeMap::new();
        for (id, placeholder) in placeholders {
            let end = walked.end.values.get(id);
            let numbers = (Self::number(placeholder), end.and_then(Self::number));
            let (Some(before), Some(after)) = numbers else { continue };
            ends.insert(*id, (before, after));
            if let (true, Some(first)) = (before == after, start.values.get(id).and_then(Self::number)) {
                same.insert(before, first);
            }
        }
        let mut changes = BTreeMap::new();
        for id in placeholders.keys() {
            let Some((before, after)) = ends.get(id).copied() else {
                changes.insert(*id, Change::Any);
                continue;
            };
            let after = self.terms.replaced(after, &same);
            let inner = match *self.terms.node(after) {
                Node::Wrap(_, _, inner) => inner,
                _ => after,
            };
            let step = match self.terms.linear(inner, before) {
                Some((one, step)) if self.terms.constant(one) == Some(1) => Some(step),
                _ => None,
            };
            let no = self.terms.int(0);
            let free = |w: &Self, t: Term| w.is_free(&[t], mark);
            changes.insert(*id, match step {
                _ if before == after => Change::Step(no),
                Some(step) if free(self, step) => Change::Step(step),
                _ if free(self, after) => Change::Set(after),
                _ => Change::Follows(after),
            });
        }
        self.settle(&mut changes, &ends, mark);
        changes
    }

    /// Whether a variable has one value in all iterations of a loop that was begun at `mark`.
    fn is_outer(&self, variable: VariableIndex, mark: VariableIndex) -> bool {
        let kind = &self.terms.variables[variable as usize].kind;
        variable < mark || !matches!(kind, VariableKind::Counter | VariableKind::Unknown)
    }

    /// Whether terms have one value in all iterations.
    fn is_free(&self, terms: &[Term], mark: VariableIndex) -> bool {
        self.terms.variables_in(terms).iter().all(|v| self.is_outer(*v, mark))
    }

    /// Numbers that follow from others that follow from nothing known may be anything.
    fn settle(
        &mut self,
        changes: &mut BTreeMap<VariableId, Change>,
        ends: &BTreeMap<VariableId, (Term, Term)>,
        mark: VariableIndex,
    ) {
        loop {
            let known: BTreeSet<Term> = changes
                .iter()
                .filter(|(_, change)| **change != Change::Any)
                .filter_map(|(id, _)| ends.get(id).map(|(before, _)| *before))
                .collect();
            let known: BTreeSet<VariableIndex> = {
                let known: Vec<Term> = known.into_iter().collect();
                self.terms.variables_in(&known).into_iter().collect()
            };
            let lost = changes.iter().find(|(_, change)| match change {
                Change::Follows(after) => {
                    let variables = self.terms.variables_in(&[*after]);
                    !variables.iter().all(|v| self.is_outer(*v, mark) || known.contains(v))
                }
                _ => false,
            });
            match lost.map(|(id, _)| *id) {
                Some(id) => changes.insert(id, Change::Any),
                None => return,
            };
        }
    }

    /// The state at the beginning of an iteration.
    fn state_at(&mut self, found: &Changes, counter: Term) -> Now {
        let mut now = found.start.clone();
        for (id, change) in &found.changes {
            let placeholder = found.placeholders.get(id).cloned().unwrap_or(Worth::Other);
            let first = found.start.values.get(id).cloned().unwrap_or(Worth::Other);
            let value = match (Self::number(&first), change) {
                (Some(first), Change::Step(step)) => {
                    let distance = self.terms.mul(*step, counter);
                    let moved = self.terms.add(first, distance);
                    Some(self.in_type(*id, moved, found.bounded.contains(id)))
                }
                (Some(first), Change::Set(after)) => {
                    let begins = self.terms.zero(counter);
                    Some(self.terms.choice(begins, first, *after))
                }
                (Some(_), Change::Follows(_)) => Some(self.following(found, *id, counter)),
                _ => None,
            };
            let value = match value {
                Some(value) => self.mapped_number(&placeholder, value),
                None => self.placeholder(*id, &placeholder),
            };
            now.values.insert(*id, value);
        }
        now
    }

    fn mapped_number(&mut self, like: &Worth, number: Term) -> Worth {
        match like {
            Worth::Pointer(all) => {
                let all = all.iter().map(|p| Pointee { offset: number, ..p.clone() });
                Worth::Pointer(Rc::new(all.collect()))
            }
            _ => Worth::Int(number),
        }
    }

    /// A number as the type of a variable holds it.
    fn in_type(&mut self, id: VariableId, number: Term, bounded: bool) -> Term {
        match self.variables.get(&id).and_then(|v| Integer::of(&v.ty)) {
            Some(integer) if !bounded => self.computed(number, integer),
            _ => number,
        }
    }

    /// A number that follows from iteration to iteration.
    fn following(&mut self, found: &Changes, id: VariableId, counter: Term) -> Term {
        let mut all = Vec::new();
        for (id, change) in &found.changes {
            let (Some(before), Some(first)) = (
                found.placeholders.get(id).and_then(Self::number),
                found.start.values.get(id).and_then(Self::number),
            ) else {
                continue;
            };
            let after = match change {
                Change::Step(step) => {
                    let moved = self.terms.add(before, *step);
                    self.in_type(*id, moved, false)
                }
                Change::Set(after) | Change::Follows(after) => *after,
                Change::Any => continue,
            };
            let Node::Variable(before) = *self.terms.node(before) else { continue };
            all.push((*id, before, first, after));
        }
        let place = all.iter().position(|(other, ..)| *other == id).unwrap_or(0);
        let start: Vec<(VariableIndex, Term)> = all.iter().map(|(_, b, f, _)| (*b, *f)).collect();
        let next: Vec<Term> = all.iter().map(|(.., after)| *after).collect();
        let firsts: Vec<Term> = start.iter().map(|(_, first)| *first).collect();
        let both: Vec<Term> = firsts.iter().chain(&next).copied().collect();
        let own: BTreeSet<VariableIndex> = start.iter().map(|(before, _)| *before).collect();
        let mut leaves = self.terms.variables_in(&both);
        leaves.retain(|leaf| !own.contains(leaf));
        let range = self.range_following(&start[place], next[place]);
        let arguments: Vec<Term> = std::iter::once(counter)
            .chain(leaves.iter().map(|leaf| self.terms.term(Node::Variable(*leaf))))
            .collect();
        let kind = FunctionKind::Iterated { start, next, place, leaves };
        let known = self.terms.functions.iter().position(|f| f.kind == kind);
        let function = known.map(|f| f as u32);
        let function = function.unwrap_or_else(|| self.terms.function(kind, range));
        self.terms.term(Node::Apply(function, arguments))
    }

    /// The values of a number that becomes less by division, or stays in a range.
    fn range_following(&mut self, start: &(VariableIndex, Term), next: Term) -> (i128, i128) {
        let before = self.terms.term(Node::Variable(start.0));
        let (lo, hi) = self.terms.range(start.1);
        if let Node::Quotient(a, b) = *self.terms.node(next)
            && a == before
            && self.terms.range(b).0 >= 1
            && lo >= 0
        {
            return (0, hi);
        }
        let (low, high) = self.terms.range(next);
        (lo.min(low), hi.max(high))
    }

    /// Finds variables of unsigned types that the test keeps from wrapping around.
    fn bound(&mut self, l: &Parts<'a>, found: &mut Changes, counter: Term) -> Read<()> {
        let Some(test) = l.test.filter(|_| !l.after) else { return Ok(()) };
        found.bounded = found.changes.keys().copied().collect();
        self.now = self.state_at(found, counter);
        self.probing += 1;
        let condition = self.condition(test);
        self.probing -= 1;
        let condition = condition?;
        let mut kept = BTreeSet::new();
        for (id, change) in &found.changes {
            let integer = self.variables.get(id).and_then(|v| Integer::of(&v.ty));
            let (Change::Step(step), Some(integer)) = (change, integer) else { continue };
            let step = self.terms.constant(*step);
            let value = self.now.values.get(id).and_then(Self::number);
            if let (Some(step), Some(value)) = (step, value)
                && self.is_bounded(condition, (value, step), counter, integer)
            {
                kept.insert(*id);
            }
        }
        found.bounded = kept;
        Ok(())
    }

    /// Whether a value that passes the test is at least a step away from the end of its type.
    fn is_bounded(
        &mut self,
        condition: Term,
        (value, step): (Term, i128),
        counter: Term,
        integer: Integer,
    ) -> bool {
        let (low, high) = super::terms::type_range(integer.bits, integer.signed);
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
    fn walk_iteration(
        &mut self,
        l: &Parts<'a>,
        found: &Changes,
        counter: Term,
    ) -> Read<Iteration> {
        self.now = self.state_at(found, counter);
        let outer = (
            std::mem::take(&mut self.path),
            std::mem::take(&mut self.given),
            std::mem::take(&mut self.events),
        );
        let before = self.begun(l, counter)?;
        self.facts_of(found, counter);
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

    /// What holds of an iteration as the one before went on, if that can be said.
    fn begun(&mut self, l: &Parts<'a>, counter: Term) -> Read<Option<Term>> {
        let now = self.now.clone();
        let mark = self.terms.variables.len() as VariableIndex;
        self.probing += 1;
        let walked = if l.after {
            self.iterate(l, None).map(|iteration| Some(iteration.stays))
        } else {
            l.test.map(|test| self.condition(test)).transpose()
        };
        self.probing -= 1;
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
    fn facts_of(&mut self, found: &Changes, counter: Term) {
        for (id, change) in &found.changes {
            let Change::Follows(after) = change else { continue };
            let numbers = (
                found.placeholders.get(id).and_then(Self::number),
                found.start.values.get(id).and_then(Self::number),
            );
            let (Some(before), Some(first)) = numbers else { continue };
            if let Node::Quotient(a, b) = *self.terms.node(*after)
                && a == before
                && self.terms.range(b).0 >= 1
                && self.terms.range(first).0 >= 0
            {
                let value = self.following(found, *id, counter);
                let beyond = self.terms.less(first, value);
                let within = self.terms.not(beyond);
                self.given.push(within);
            }
        }
    }

    /// The state after a loop.
    fn leave(
        &mut self,
        l: &Parts<'a>,
        found: &Changes,
        counter: Term,
        iteration: &Iteration,
    ) -> Read<()> {
        let exits = match l.after {
            true => escapes(l.body),
            false => self.terms.constant(iteration.stays) != Some(1),
        };
        let last = self.iterations(l, found, counter, iteration, exits);
        self.now = self.state_at(found, last);
        if exits {
            for id in found.changes.keys().filter(|id| iteration.in_body.contains(id)) {
                let placeholder = found.placeholders.get(id).cloned().unwrap_or(Worth::Other);
                let value = self.placeholder(*id, &placeholder);
                self.now.values.insert(*id, value);
            }
        }
        if let (Some(test), false) = (l.test, l.after) {
            self.probing += 1;
            let condition = self.condition(test);
            self.probing -= 1;
            let condition = condition?;
            if !exits {
                let ends = self.terms.not(condition);
                self.given.push(ends);
            }
        }
        if self.terms.constant(iteration.returns) != Some(0) {
            self.now.returned = self.decided(found, counter, iteration, (0, 1));
            let function = self.calls.last().and_then(|n| self.unit.functions.get(*n));
            if let Some(function) = function {
                self.now.result = Some(self.unknown(&function.result));
            }
        }
        Ok(())
    }

    /// A value that the numbers at the beginning of a loop decide; any if data do.
    fn decided(
        &mut self,
        found: &Changes,
        counter: Term,
        iteration: &Iteration,
        range: (i128, i128),
    ) -> Term {
        let mut leaves = self.terms.variables_in(&[iteration.enters, iteration.stays]);
        let own = match *self.terms.node(counter) {
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

    /// How many iterations a loop has.
    fn iterations(
        &mut self,
        l: &Parts<'a>,
        found: &Changes,
        counter: Term,
        iteration: &Iteration,
        exits: bool,
    ) -> Term {
        let test = if l.after { iteration.stays } else { iteration.enters };
        if !exits && let Node::Negative(inner) = *self.terms.node(test)
            && let Some((factor, rest)) = self.terms.linear(inner, counter)
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
        self.decided(found, counter, iteration, (least, MAX_ITERATIONS))
    }
}
