//! What an iteration of a loop changes, and what its variables hold after many.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::value::{Now, Pointee, PointeeTarget, Worth};
use super::walk::Walk;
use crate::ast::VariableId;
use crate::proof::terms::{FunctionKind, MOST, Node, TermId, VariableIndex, VariableKind};

/// What an iteration makes of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// It adds this; of a pointer, to its offset.
    Step(TermId),
    /// It puts this in, which no iteration changes.
    Set(TermId),
    /// A number that follows from the numbers before.
    Follows(TermId),
    /// Anything.
    Any,
}

/// What one walk of an iteration has found.
pub(super) struct Iteration {
    pub enters: TermId,
    pub stays: TermId,
    pub returns: TermId,
    /// Variables that were written before the step.
    pub in_body: BTreeSet<VariableId>,
    pub end: Now,
}

/// A variable that a loop changes.
pub(super) struct Changed {
    /// What it holds before the loop.
    pub first: Worth,
    pub placeholder: Worth,
    pub change: Change,
    /// It does not wrap around, as the test ends the loop before.
    pub bounded: bool,
}

impl Changed {
    /// The numbers that it is at the beginning of any iteration and before the loop.
    pub fn numbers(&self) -> Option<(TermId, TermId)> {
        self.placeholder.number().zip(self.first.number())
    }
}

pub(super) struct Changes {
    pub start: Now,
    pub changed: BTreeMap<VariableId, Changed>,
    /// Variables of terms from here on are those of an iteration.
    pub mark: VariableIndex,
    /// The iteration.
    pub counter: TermId,
}

impl<'a> Walk<'a> {
    /// Adds what pointers point to in a later iteration; whether that is more than before.
    pub fn grown(
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

    pub fn placeholder(&mut self, id: VariableId, value: &Worth) -> Worth {
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

    /// What is added to a number, if nothing else is done to it.
    fn step_of(&mut self, after: TermId, before: TermId) -> Option<TermId> {
        let inner = match *self.terms.node(after) {
            Node::Wrap(_, _, inner) => inner,
            _ => after,
        };
        let (one, step) = self.terms.linear(inner, before)?;
        (self.terms.constant(one) == Some(1)).then_some(step)
    }

    /// How an iteration changes the variables that have placeholders.
    pub fn classified(
        &mut self,
        start: &Now,
        placeholders: BTreeMap<VariableId, Worth>,
        walked: &Iteration,
        mark: VariableIndex,
    ) -> BTreeMap<VariableId, Changed> {
        // What stays the same is what it was at first.
        let mut same = HashMap::new();
        let mut ends = BTreeMap::new();
        for (id, placeholder) in &placeholders {
            let end = walked.end.values.get(id).and_then(Worth::number);
            let (Some(before), Some(after)) = (placeholder.number(), end) else { continue };
            ends.insert(*id, (before, after));
            if let (true, Some(first)) =
                (before == after, start.values.get(id).and_then(Worth::number))
            {
                same.insert(before, first);
            }
        }
        let mut changed = BTreeMap::new();
        for (id, placeholder) in placeholders {
            let change = match ends.get(&id) {
                Some((before, after)) => self.change(*before, *after, &same, mark),
                None => Change::Any,
            };
            let first = start.values.get(&id).cloned().unwrap_or(Worth::Other);
            changed.insert(id, Changed { first, placeholder, change, bounded: false });
        }
        self.settle(&mut changed, mark);
        changed
    }

    /// What an iteration makes of a number; `same` has those that stay what they were at first.
    fn change(
        &mut self,
        before: TermId,
        after: TermId,
        same: &HashMap<TermId, TermId>,
        mark: VariableIndex,
    ) -> Change {
        let after = self.terms.replaced(after, same);
        match self.step_of(after, before) {
            _ if before == after => Change::Step(self.terms.int(0)),
            Some(step) if self.is_free(&[step], mark) => Change::Step(step),
            _ if self.is_free(&[after], mark) => Change::Set(after),
            _ => Change::Follows(after),
        }
    }

    /// Whether a variable has one value in all iterations of a loop that was begun at `mark`.
    pub fn is_outer(&self, variable: VariableIndex, mark: VariableIndex) -> bool {
        let kind = &self.terms.variables[variable as usize].kind;
        variable < mark || !matches!(kind, VariableKind::Counter | VariableKind::Unknown)
    }

    /// Whether terms have one value in all iterations.
    pub fn is_free(&self, terms: &[TermId], mark: VariableIndex) -> bool {
        self.terms.variables_in(terms).iter().all(|v| self.is_outer(*v, mark))
    }

    /// Numbers that follow from others that follow from nothing known may be anything.
    fn settle(&self, changed: &mut BTreeMap<VariableId, Changed>, mark: VariableIndex) {
        loop {
            let known = changed.values().filter(|one| one.change != Change::Any);
            let known: Vec<TermId> = known.filter_map(|one| one.placeholder.number()).collect();
            let known = self.terms.variables_in(&known);
            let lost = changed.values_mut().find(|one| match one.change {
                Change::Follows(after) => {
                    let variables = self.terms.variables_in(&[after]);
                    !variables.iter().all(|v| self.is_outer(*v, mark) || known.contains(v))
                }
                _ => false,
            });
            match lost {
                Some(one) => one.change = Change::Any,
                None => return,
            }
        }
    }

    /// A number that follows from iteration to iteration.
    pub fn following(&mut self, found: &Changes, id: VariableId, counter: TermId) -> TermId {
        let mut all = Vec::new();
        for (id, one) in &found.changed {
            let Some((before, first)) = one.numbers() else { continue };
            let after = match &one.change {
                Change::Step(step) => {
                    let moved = self.terms.add(before, *step);
                    self.in_type(*id, moved)
                }
                Change::Set(after) | Change::Follows(after) => *after,
                Change::Any => continue,
            };
            let Node::Variable(before) = *self.terms.node(before) else { continue };
            all.push((*id, before, first, after));
        }
        let place = all.iter().position(|(other, ..)| *other == id).unwrap_or(0);
        let start: Vec<(VariableIndex, TermId)> = all.iter().map(|(_, b, f, _)| (*b, *f)).collect();
        let next: Vec<TermId> = all.iter().map(|(.., after)| *after).collect();
        let firsts: Vec<TermId> = start.iter().map(|(_, first)| *first).collect();
        let both: Vec<TermId> = firsts.iter().chain(&next).copied().collect();
        let own: BTreeSet<VariableIndex> = start.iter().map(|(before, _)| *before).collect();
        let mut leaves = self.terms.variables_in(&both);
        leaves.retain(|leaf| !own.contains(leaf));
        let range = self.range_following(&start[place], next[place]);
        let arguments: Vec<TermId> = std::iter::once(counter)
            .chain(leaves.iter().map(|leaf| self.terms.term(Node::Variable(*leaf))))
            .collect();
        let kind = FunctionKind::Iterated { start, next, place, leaves };
        let known = self.terms.functions.iter().position(|f| f.kind == kind);
        let function = known.map(|f| f as u32);
        let function = function.unwrap_or_else(|| self.terms.function(kind, range));
        self.terms.term(Node::Apply(function, arguments))
    }

    /// The values of a number that becomes less by division, or stays in a range.
    fn range_following(&mut self, start: &(VariableIndex, TermId), next: TermId) -> (i128, i128) {
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
}
