//! What one iteration of a loop does to the variables.
//!
//! Each variable that the loop seems to change gets a placeholder, a leaf that represents its value
//! at the start of any iteration. After one iteration has been walked, the difference from the
//! placeholder shows how the variable changes; the condition is known as a function of the
//! placeholders.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;

use super::nodes::Nodes;
use super::scan::Loop;
use super::symbolic::{Atom, AtomKind, Leaf, Poly, WideInterval};
use super::types::Integer;
use super::value::{Pointer, ReadState, ReadValue, Target, VariableIds};
use super::{Read, Reader, scan};
use crate::ast::{Type, VariableId};
use crate::steps::Dependence;

/// How a variable changes in an iteration.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It grows by this, the same in every iteration (bytes for pointers).
    By(Poly),
    /// It is divided by this constant, at least 2, and rounded down or up: what is above 1 becomes
    /// less, and not less than 1.
    Shrinks(i64),
    /// It is multiplied with a constant, at least 2.
    Grows,
    Somehow,
}

/// What was found out about a loop.
#[derive(Debug)]
pub struct Probe {
    /// The state before the loop, unsigned numbers made exact.
    pub start: ReadState,
    /// What happens to the variables that change.
    pub changes: BTreeMap<VariableId, Change>,
    /// The placeholder of each variable.
    pub placeholders: BTreeMap<VariableId, Atom>,
    /// Whole numbers at the end of an iteration, over placeholders, where no data decide them.
    pub ends: BTreeMap<VariableId, Poly>,
    /// Whether a next iteration follows, over placeholders.
    pub condition: Poly,
    /// The first leaf that belongs to the loop.
    pub mark: Leaf,
}

/// Any iteration of a loop, walked.
pub struct Walked {
    pub nodes: Nodes,
    pub iteration: Leaf,
    pub end: ReadState,
}

/// Iterations are taken to be fewer where unsigned counters may wrap around.
const LIKELY: i64 = 1 << 16;

impl<'a> Reader<'a> {
    /// Walks one iteration and looks at what it does.
    pub fn probe(&mut self, l: &Loop<'a>) -> Read<Probe> {
        self.probe_knowing(l, &BTreeSet::new())
    }

    /// The same where signed counters that begin at or above zero and grow are known never to be
    /// below it: they are compared with unsigned numbers as they are. `None` if there are none.
    pub fn probe_signed(&mut self, l: &Loop<'a>, probe: &Probe) -> Read<Option<Probe>> {
        let grows = |(id, change): (&VariableId, &Change)| {
            let from = self.is_signed_from_zero(*id, probe);
            let by = matches!(change, Change::By(step) if self.terms.never_negative(step));
            (from && by).then_some(*id)
        };
        let known: VariableIds = probe.changes.iter().filter_map(grows).collect();
        if known.is_empty() {
            return Ok(None);
        }
        self.state = probe.start.clone();
        self.probe_knowing(l, &known).map(Some)
    }

    /// Whether a signed number begins at or above zero.
    fn is_signed_from_zero(&self, id: VariableId, probe: &Probe) -> bool {
        let signed = self.type_of(id).and_then(Integer::of).is_some_and(|ty| ty.signed);
        signed && probe.start.int(id).is_some_and(|start| self.terms.never_negative(start))
    }

    /// The same where signed counters that the condition asks for begin at or above zero and are
    /// divided: they stay there. `None` if there are none.
    pub fn probe_halved(&mut self, l: &Loop<'a>, probe: &Probe) -> Read<Option<Probe>> {
        let asked = |(id, change): (&VariableId, &Change)| {
            let from = self.is_signed_from_zero(*id, probe);
            let leaf = probe.placeholders.get(id);
            let mentioned = leaf.is_some_and(|atom| self.terms.has(&probe.condition, *atom));
            (from && mentioned && *change == Change::Somehow).then_some(*id)
        };
        let known: VariableIds = probe.changes.iter().filter_map(asked).collect();
        if known.is_empty() {
            return Ok(None);
        }
        self.state = probe.start.clone();
        let found = self.probe_knowing(l, &known)?;
        let shrinks = |id: &VariableId| matches!(found.changes.get(id), Some(Change::Shrinks(_)));
        if known.iter().all(shrinks) {
            return Ok(Some(found));
        }
        self.state = probe.start.clone();
        Ok(None)
    }

    fn probe_knowing(&mut self, l: &Loop<'a>, not_negative: &VariableIds) -> Read<Probe> {
        let mut variables = BTreeSet::new();
        scan::assigned(l.body, &mut variables);
        l.expressions().for_each(|e| scan::assigned_by(e, &mut variables));
        let mut start = self.exact_state(&variables);
        loop {
            let mark = self.terms.next_leaf();
            let placeholders = self.place_holders(&start, &variables, not_negative);
            let head = self.state.clone();
            let condition = self.look(l)?;
            let after = std::mem::replace(&mut self.state, start.clone());
            if self.missed((&head, &after), mark, &mut variables, &mut start) {
                continue;
            }
            let changes = self.changes(&variables, &head, &after, mark);
            let ends = self.ends(&placeholders, &changes, &after, mark);
            return Ok(Probe { start, changes, placeholders, ends, condition, mark });
        }
    }

    /// The state with exact numbers in these variables.
    fn exact_state(&mut self, variables: &VariableIds) -> ReadState {
        for id in variables {
            if let Some(ReadValue::Int(poly)) = self.state.values.get(id).cloned()
                && let Some(integer) = self.type_of(*id).and_then(Integer::of)
            {
                let exact = integer.exact(&mut self.terms, &poly);
                self.state.values.insert(*id, ReadValue::Int(exact));
            }
        }
        self.state.clone()
    }

    fn place_holders(
        &mut self,
        start: &ReadState,
        variables: &VariableIds,
        not_negative: &VariableIds,
    ) -> BTreeMap<VariableId, Atom> {
        let mut found = BTreeMap::new();
        self.state = start.clone();
        for id in variables.iter().filter(|id| !self.is_same_array(**id)).collect_vec() {
            let Some(value) = start.values.get(id) else { continue };
            let ty = self.type_of(*id).and_then(Integer::of);
            let mut range = ty.map_or(WideInterval::ALL, Integer::range);
            if not_negative.contains(id) {
                range = range.meet(WideInterval::new(0, i64::MAX));
            }
            let likely = range.meet(WideInterval::new(-LIKELY, LIKELY));
            let mut leaf = || {
                let leaf = self.terms.counter(range, likely, Vec::new());
                found.extend(leaf.as_atom().map(|atom| (*id, atom)));
                leaf
            };
            let value = match value.number() {
                Some(_) => value.with_number(leaf()),
                None => ReadValue::other(Dependence::Data),
            };
            self.state.values.insert(*id, value);
        }
        found
    }

    /// Walks an iteration; nothing remains but the state and the condition for the next one.
    fn look(&mut self, l: &Loop<'a>) -> Read<Poly> {
        let facts = self.terms.facts();
        self.probing += 1;
        let result = self.capture(|r| {
            if l.after {
                r.run(l.body, None)?;
                return r.test(l);
            }
            let condition = r.test(l)?;
            r.terms.assume(&condition);
            r.run(l.body, None)?;
            r.advance(l)?;
            Ok(r.with_exits(l, condition))
        });
        self.probing -= 1;
        self.terms.forget(facts);
        Ok(result?.0)
    }

    /// Whether the iteration changed what has no placeholder, or where pointers point to.
    fn missed(
        &mut self,
        (head, after): (&ReadState, &ReadState),
        mark: Leaf,
        variables: &mut VariableIds,
        start: &mut ReadState,
    ) -> bool {
        let filled = self.filled(head, after, mark).values;
        let mut more = !filled.is_empty();
        start.values.extend(filled);
        for (id, before) in &head.values {
            let Some(now) = after.values.get(id) else { continue };
            if now == before {
                continue;
            }
            more |= variables.insert(*id) | self.mix_array(*id);
            if let (ReadValue::Pointer(p), ReadValue::Pointer(q)) = (before, now)
                && p.target != q.target
            {
                let both = Target::either(&p.target, &q.target);
                more = true;
                let value = match (both, start.values.get(id)) {
                    (Some(target), Some(ReadValue::Pointer(s))) if target != s.target => {
                        let offset = self.terms.unknown(Dependence::Data);
                        ReadValue::Pointer(Pointer { target, offset })
                    }
                    _ => ReadValue::other(Dependence::Data),
                };
                start.values.insert(*id, value);
            }
        }
        more
    }

    /// The whole numbers that do not grow by the same in every iteration and that only placeholders
    /// decide, at the end of one.
    fn ends(
        &self,
        placeholders: &BTreeMap<VariableId, Atom>,
        changes: &BTreeMap<VariableId, Change>,
        after: &ReadState,
        mark: Leaf,
    ) -> BTreeMap<VariableId, Poly> {
        let own = |leaf: &Leaf| {
            let atom = self.terms.atom_of(*leaf);
            *leaf < mark || placeholders.values().any(|placeholder| Some(*placeholder) == atom)
        };
        let end = |(id, change): (&VariableId, &Change)| {
            let end = after.int(*id)?;
            let stepped = !matches!(change, Change::By(_)) && placeholders.contains_key(id);
            (stepped && self.terms.leaves(end).iter().all(own)).then(|| (*id, end.clone()))
        };
        changes.iter().filter_map(end).collect()
    }

    fn changes(
        &self,
        variables: &VariableIds,
        head: &ReadState,
        after: &ReadState,
        mark: Leaf,
    ) -> BTreeMap<VariableId, Change> {
        let known = variables.iter().filter_map(|id| Some((*id, head.values.get(id)?)));
        known
            .filter_map(|(id, before)| {
                let change = match after.values.get(&id) {
                    Some(now) if now == before => match before {
                        ReadValue::Scaled(..) | ReadValue::Other(..) => Change::Somehow,
                        _ => return None,
                    },
                    Some(now) => self.change(before, now, mark, self.type_of(id)),
                    None => Change::Somehow,
                };
                Some((id, change))
            })
            .collect()
    }

    fn change(&self, before: &ReadValue, now: &ReadValue, mark: Leaf, ty: Option<&Type>) -> Change {
        let (a, b) = match (before, now) {
            (ReadValue::Int(a), ReadValue::Int(b)) => (a, b),
            (ReadValue::Pointer(p), ReadValue::Pointer(q)) if p.target == q.target => {
                (&p.offset, &q.offset)
            }
            _ => return Change::Somehow,
        };
        match b.sub(a) {
            Some(step) if !self.terms.mentions_since(&step, mark) => return Change::By(step),
            _ => {}
        }
        if ty.and_then(Integer::of).is_none() {
            return Change::Somehow;
        }
        if let Some(AtomKind::Quotient(x, by)) = self.terms.kind_of(b)
            && let Some(by) = by.constant().filter(|by| *by >= 2)
            && x.sub(a).and_then(|more| more.constant()).is_some_and(|m| m == 0 || m == by - 1)
        {
            return Change::Shrinks(by);
        }
        match (b.as_term(), a.as_atom()) {
            (Some((monomial, factor)), Some(atom))
                if factor >= 2 && monomial.as_slice() == [atom] =>
            {
                Change::Grows
            }
            _ => Change::Somehow,
        }
    }
}
