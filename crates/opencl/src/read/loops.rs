//! Loops.

use std::collections::HashMap;

use super::formulas::{FormulaId, Guard};
use super::nodes::{NodeKind, Nodes, has_barrier, matter, mention};
use super::numbering::set_iterations;
use super::probe::{Change, Probe, Walked};
use super::questions::MAX_ITERATIONS;
use super::scan::{Exits, Loop};
use super::strides::usual_truth;
use super::symbolic::{Atom, AtomKind, Leaf, Poly, WideInterval};
use super::types::Integer;
use super::value::{ReadState, ReadValue};
use super::{Read, Reader, range_of, scan};
use crate::ast::{CStmt, VariableId};
use crate::error::ReadError;
use crate::steps::{Assumed, Dependence};

/// How many iterations a loop may have whose number is unknown.
const ANY_NUMBER: WideInterval = WideInterval { least: 0, greatest: 1 << 20 };

/// Most conditions on the item that a number of iterations is split by.
const MAX_CHOICES: u32 = 2;

impl<'a> Reader<'a> {
    /// Walks a loop; its initialization has been walked.
    pub fn repeat(&mut self, stmt: &'a CStmt) -> Read<()> {
        let Some(l) = Loop::of(stmt) else { return Ok(()) };
        let (before, facts, iterations) =
            (self.state.clone(), self.terms.facts(), self.iterations.len());
        let asked = self.questions.len();
        let result = self.read_loop(&l);
        match result {
            Err(ReadError::Unbounded { at, key, on_data }) if at == *l.at => {
                // Its body is walked once more.
                self.questions.truncate(asked);
                let most = self.most_iterations(&l, &key).unwrap_or_else(|| {
                    let name = format!("$asked_{}", self.questions.len());
                    self.ask(ReadError::Unbounded { at, key, on_data });
                    self.terms.uniform(&name, ANY_NUMBER)
                });
                self.state = before;
                self.terms.forget(facts);
                self.iterations.truncate(iterations);
                self.bounded_loop(&l, most)
            }
            result => result,
        }
    }

    /// How often a loop runs that cannot be read: as in the problem file, or once if it is one
    /// that tries again until an atomic operation succeeds.
    fn most_iterations(&mut self, l: &Loop<'a>, key: &str) -> Option<Poly> {
        if let Some((name, bound)) = self.given_bound(l) {
            return Some(self.terms.uniform(&name, range_of(bound)));
        }
        if !l.tries_again() {
            return None;
        }
        self.assume(Assumed::Once { at: l.at.clone(), key: key.to_owned() });
        Some(Poly::int(1))
    }

    /// A loop whose iterations can be counted.
    fn read_loop(&mut self, l: &Loop<'a>) -> Read<()> {
        if scan::breaks(l.body) || scan::returns(l.body) {
            if self.probing > 0 {
                let any = self.terms.unknown(Dependence::Data);
                return self.bounded_loop(l, any);
            }
            let exits = Exits::of(l).filter(|_| !l.after);
            return self.loop_with_exits(l, exits.ok_or_else(|| self.unbounded(l, false))?);
        }
        let (probe, count) = self.counted(l)?;
        let Some(count) = count else {
            if self.probing > 0 {
                return self.blur(l, probe);
            }
            if self.goes_on(&probe) {
                return Err(self.unbounded(l, self.terms.on_data(&probe.condition)));
            }
            self.state = probe.start.clone();
            return self.unroll(l, None, &probe);
        };
        match count.constant() {
            // Only the test is walked.
            Some(count) if count <= 0 => return self.test(l).map(drop),
            Some(1) if self.probing == 0 => {
                self.state = probe.start.clone();
                return self.unroll(l, Some(&count), &probe);
            }
            _ => {}
        }
        if self.probing > 0 {
            return self.leave_loop(l, &probe, &count, None);
        }
        self.repeat_counted(l, &probe, &count)
    }

    /// A loop whose number of iterations is known; one is walked if all are alike.
    fn repeat_counted(&mut self, l: &Loop<'a>, probe: &Probe, count: &Poly) -> Read<()> {
        // A bound that is given holds also where the iterations of a loop around would have to
        // differ.
        let given = self.given_bound(l).is_some();
        if !self.says_iterations(count) || given && !self.terms.sayable(count) {
            return Err(self.unbounded(l, self.terms.on_data(count)));
        }
        let asked = self.questions.len();
        let few = self.terms.interval(count).greatest <= MAX_ITERATIONS.into();
        let walked = match self.one_iteration(l, probe, count) {
            Err(ReadError::Unsided { .. }) if few && std::mem::take(&mut self.needs_counters) => {
                self.questions.truncate(asked);
                return self.one_by_one(l, probe, count);
            }
            walked => walked?,
        };
        let Walked { nodes, iteration, end } = walked;
        if mention(&self.terms, &nodes, iteration) {
            if let Some(nodes) = self.split(l, &nodes, iteration, count) {
                self.append(nodes);
                return self.leave_loop(l, probe, count, Some((iteration, &end)));
            }
            if few {
                return self.one_by_one(l, probe, count);
            }
            let question = self.iterations_differ(l.at, &nodes, iteration);
            self.ask(question);
        }
        self.close(l, nodes, iteration, count.clone());
        self.leave_loop(l, probe, count, Some((iteration, &end)))
    }

    /// Walks all iterations of a loop, each with the values that its counters have in it.
    fn one_by_one(&mut self, l: &Loop<'a>, probe: &Probe, count: &Poly) -> Read<()> {
        self.state = probe.start.clone();
        self.unroll(l, Some(count), probe)?;
        // What counters are worth.
        let end = self.state_at(probe, count);
        for (id, change) in &probe.changes {
            if let (Change::By(_), Some(value)) = (change, end.values.get(id)) {
                self.state.values.insert(*id, value.clone());
            }
        }
        Ok(())
    }

    /// Whether there may be more iterations than are walked, by counters that grow as they did in
    /// the first one: walking would take their number to the power of the loops inside.
    fn goes_on(&mut self, probe: &Probe) -> bool {
        let known = |id: &VariableId| match (probe.changes.get(id), probe.start.int(*id)?) {
            (Some(Change::By(step)), start) => Some((start, Some(step))),
            (None, start) => Some((start, None)),
            _ => None,
        };
        let numbers = probe.placeholders.iter().filter_map(|(id, atom)| {
            let (start, step) = known(id)?;
            let ty = Integer::of(self.type_of(*id)?)?;
            Some((*atom, start, step, ty))
        });
        let numbers: Vec<_> = numbers.collect();
        for k in 0..=MAX_ITERATIONS {
            let mut then = HashMap::new();
            for (atom, start, step, ty) in &numbers {
                let moved = match step {
                    Some(step) => {
                        let distance = self.terms.mul(step, &Poly::int(k));
                        let moved = self.terms.add(start, &distance);
                        ty.exact(&mut self.terms, &moved)
                    }
                    None => (*start).clone(),
                };
                then.insert(*atom, moved);
            }
            let condition = self.terms.substitute(&probe.condition, &then);
            // One that depends on something else is seen in the iterations.
            if condition.constant() == Some(0) || self.terms.mentions_since(&condition, probe.mark)
            {
                return false;
            }
        }
        true
    }

    /// What an iteration does, and how many there are, if that is known.
    pub fn counted(&mut self, l: &Loop<'a>) -> Read<(Probe, Option<Poly>)> {
        let probe = self.probe(l)?;
        let count = self.count(l, &probe);
        if count.is_none() {
            for knowing_more in [Reader::probe_signed, Reader::probe_halved] {
                if let Some(probe) = knowing_more(self, l, &probe)? {
                    let count = self.count(l, &probe);
                    return Ok((probe, count));
                }
            }
        }
        Ok((probe, count))
    }

    pub fn test(&mut self, l: &Loop<'a>) -> Read<Poly> {
        self.index(|r| {
            let mut condition = match l.test {
                Some(test) => r.condition(test)?,
                None => Poly::int(1),
            };
            for e in &l.breaks {
                let (go_on, _) = r.fork(
                    &condition.clone(),
                    (l.at, e),
                    |r| {
                        let stop = r.condition(e)?;
                        Ok(r.terms.not(&stop))
                    },
                    |_| Ok(Poly::int(0)),
                )?;
                if let Some(go_on) = go_on {
                    condition = r.terms.and(&condition, &go_on);
                }
            }
            Ok(condition)
        })
    }

    pub fn advance(&mut self, l: &Loop<'a>) -> Read<()> {
        match l.step {
            Some(step) => self.index(|r| r.value(step)).map(drop),
            None => Ok(()),
        }
    }

    /// Walks the body for any iteration.
    pub fn one_iteration(&mut self, l: &Loop<'a>, probe: &Probe, count: &Poly) -> Read<Walked> {
        let last = self.terms.sub(count, &Poly::int(1));
        let greatest = self.terms.interval(&last).greatest.max(0);
        let range = WideInterval::new(0, greatest);
        let likely = WideInterval::new(0, greatest.min(1 << 16));
        let first = self.terms.next_leaf();
        let iteration = self.terms.counter(range, likely, vec![last]);
        self.state = self.state_at(probe, &iteration);
        self.carry(probe, first);
        let facts = self.terms.facts();
        self.iterations.push(first);
        let walk = |r: &mut Self| {
            if !l.after {
                let condition = r.test(l)?;
                r.terms.assume(&condition);
            }
            r.run(l.body, None)?;
            if l.after { r.test(l).map(drop) } else { r.advance(l) }
        };
        let (_, result) = self.behind((Guard::Loop(first), 0), |r| r.capture(walk));
        self.iterations.pop();
        self.terms.forget(facts);
        self.end_iteration(probe, first);
        Ok(Walked { nodes: result?.1, iteration: first, end: self.state.clone() })
    }

    /// The state at the beginning of an iteration.
    fn state_at(&mut self, probe: &Probe, iteration: &Poly) -> ReadState {
        let mut state = probe.start.clone();
        for (id, change) in &probe.changes {
            let Some(value) = probe.start.values.get(id) else { continue };
            let value = match (change, value.number()) {
                (Change::By(step), Some(start)) => {
                    let distance = self.terms.mul(step, iteration);
                    value.with_number(self.terms.add(start, &distance))
                }
                _ => match self.blurred(*id, value) {
                    // A loop around sees that it is another one, also where neither is known.
                    ReadValue::Other(depends, _) if self.probing > 0 => {
                        ReadValue::Other(depends, FormulaId::CHANGED)
                    }
                    value => value,
                },
            };
            state.values.insert(*id, value);
        }
        state
    }

    /// A value of the same kind of which nothing is known.
    pub fn blurred(&mut self, id: VariableId, value: &ReadValue) -> ReadValue {
        match (value, self.type_of(id)) {
            (ReadValue::Pointer(_), _) => value.with_number(self.terms.unknown(Dependence::Data)),
            (_, Some(ty)) => self.unknown(ty, Dependence::Data),
            (_, None) => ReadValue::other(Dependence::Data),
        }
    }

    /// Makes a `Repeat` of a body.
    pub fn close(&mut self, l: &Loop<'a>, mut body: Nodes, iteration: Leaf, count: Poly) {
        if body.is_empty() {
            return;
        }
        set_iterations(&self.formulas, &mut self.terms, &mut body, iteration);
        let choices = if has_barrier(&body) { 0 } else { MAX_CHOICES };
        self.emit_repeat(l, body, count, choices);
    }

    /// A `Repeat`; a branch of two where a condition on the item chooses the number of iterations.
    fn emit_repeat(&mut self, l: &Loop<'a>, body: Nodes, count: Poly, choices: u32) {
        let found = (choices > 0).then(|| self.item_choice(&count)).flatten();
        let Some((part, condition, [then, otherwise])) = found else {
            if count.constant() != Some(0) {
                self.emit(NodeKind::Repeat { count, whole: None, body }, l.at);
            }
            return;
        };
        let side = |r: &mut Self, value: Poly| {
            let count = r.terms.substitute(&count, &HashMap::from([(part, value)]));
            let before = std::mem::take(&mut r.nodes);
            r.emit_repeat(l, body.clone(), count, choices - 1);
            std::mem::replace(&mut r.nodes, before)
        };
        let (then, otherwise) = (side(self, then), side(self, otherwise));
        self.emit_if(&condition, then, otherwise, l.at);
    }

    /// A part of a number of iterations that a condition on the item chooses: the part, the
    /// condition, and its two values, unless they are one apart, or the condition holds at a border
    /// only.
    fn item_choice(&mut self, count: &Poly) -> Option<(Atom, Poly, [Poly; 2])> {
        for atom in count.atoms() {
            let found = match self.terms.kind(atom).clone() {
                AtomKind::Choice(condition, a, b) => Some((atom, condition, [a, b])),
                AtomKind::Negative(_)
                | AtomKind::Zero(_)
                | AtomKind::And(..)
                | AtomKind::Or(..) => Some((atom, Poly::atom(atom), [1, 0].map(Poly::int))),
                AtomKind::Min(a, b) | AtomKind::Max(a, b) => {
                    self.item_choice(&a).or_else(|| self.item_choice(&b))
                }
                _ => None,
            };
            let Some((part, condition, values)) = found else { continue };
            if self.terms.depends(&condition) == Dependence::Uniform {
                continue;
            }
            let [a, b] = values
                .clone()
                .map(|value| self.terms.substitute(count, &HashMap::from([(part, value)])));
            let apart = a.sub(&b).and_then(|difference| difference.constant());
            let guard = [&a, &b].iter().any(|n| n.constant() == Some(0));
            let mut border = || {
                self.terms.launch.is_empty() || usual_truth(&mut self.terms, &condition).is_some()
            };
            if apart.is_none_or(|n| n.abs() > 1) && (guard || !border()) {
                return Some((part, condition, values));
            }
        }
        None
    }

    /// The state after a loop with `count` iterations, of which the end of any may be known; the
    /// test that fails is walked for its effects.
    fn leave_loop(
        &mut self,
        l: &Loop<'a>,
        probe: &Probe,
        count: &Poly,
        any: Option<(Leaf, &ReadState)>,
    ) -> Read<()> {
        self.after_iterations(probe, count, any);
        self.last_test(l)
    }

    /// The state after `count` iterations.
    pub fn after_iterations(
        &mut self,
        probe: &Probe,
        count: &Poly,
        any: Option<(Leaf, &ReadState)>,
    ) {
        self.state = self.state_at(probe, count);
        if let Some((iteration, end)) = any {
            self.last_values(probe, iteration, end, count);
            self.after_loop(probe, iteration);
        }
        let few = count.constant().filter(|count| (1..=MAX_ITERATIONS).contains(count));
        if let (Some(count), false) = (few, probe.ends.is_empty()) {
            self.computed_values(probe, count);
        }
    }

    /// Whole numbers that change otherwise than by a step, such as `n *= 2`, by each iteration.
    fn computed_values(&mut self, probe: &Probe, count: i64) {
        let start = |(id, atom): (&VariableId, &Atom)| Some((*atom, probe.start.int(*id)?.clone()));
        let mut now: HashMap<Atom, Poly> = probe.placeholders.iter().filter_map(start).collect();
        for _ in 0..count {
            let mut next = HashMap::new();
            for (id, atom) in &probe.placeholders {
                let Some(value) = now.get(atom) else { continue };
                let value = match (probe.changes.get(id), probe.ends.get(id)) {
                    (None, _) => value.clone(),
                    (Some(Change::By(step)), _) => self.terms.add(value, step),
                    (Some(_), Some(end)) => self.terms.substitute(end, &now),
                    (Some(_), None) => continue,
                };
                let Some(ty) = self.type_of(*id).and_then(Integer::of) else { continue };
                let value = ty.exact(&mut self.terms, &value);
                if !self.terms.mentions_since(&value, probe.mark) {
                    next.insert(*atom, value);
                }
            }
            now = next;
        }
        for id in probe.ends.keys() {
            if let Some(value) = probe.placeholders.get(id).and_then(|atom| now.get(atom)) {
                self.state.values.insert(*id, ReadValue::Int(value.clone()));
            }
        }
    }

    /// Variables that each iteration sets anew hold after the loop what the last one put into them.
    fn last_values(&mut self, probe: &Probe, iteration: Leaf, end: &ReadState, count: &Poly) {
        let Some(atom) = self.terms.atom_of(iteration) else { return };
        let last = self.terms.sub(count, &Poly::int(1));
        let by = HashMap::from([(atom, last)]);
        let entered = self.terms.less(&Poly::int(0), count);
        for (id, change) in &probe.changes {
            let (Change::Somehow, Some(value), Some(before)) =
                (change, end.int(*id), probe.start.values.get(id))
            else {
                continue;
            };
            let own = |leaf: &Leaf| *leaf >= probe.mark && *leaf != iteration;
            if self.terms.leaves(value).iter().any(own) {
                continue;
            }
            let value = ReadValue::Int(self.terms.substitute(value, &by));
            let value = ReadValue::choice(&mut self.terms, &entered, &value, before);
            self.state.values.insert(*id, value);
        }
    }

    /// The test that fails, for its effects.
    pub fn last_test(&mut self, l: &Loop<'a>) -> Read<()> {
        if l.after {
            return Ok(());
        }
        let ((), nodes) = self.capture(|r| r.test(l).map(drop))?;
        if matter(&nodes) {
            self.append(nodes);
        }
        Ok(())
    }
}
