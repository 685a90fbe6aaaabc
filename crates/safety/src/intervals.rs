//! Barrier intervals: which accesses may happen between the same two barriers.
//!
//! One walk over the events keeps the accesses that no barrier has ordered yet. A loop with
//! barriers has one counter for all items; what is not ordered at the end of an iteration meets
//! the next one. A loop without barriers lies in one interval, and each item has its
//! iteration.

use std::collections::{BTreeSet, HashMap};

use tickbound_opencl::ast::{AddressSpace, SourcePlace};
use tickbound_opencl::proof::events::{
    AccessMode, Fences, ProofAccess, ProofArray, ProofEvent, ProofEventKind, ProofLoop,
};
use tickbound_opencl::proof::terms::{Node, TermId, Terms, VariableKind};

/// The condition of a loop on its counter, to be checked for all iterations before.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    /// The counter: a variable, or a number over other counters.
    pub counter: TermId,
    /// Whether an iteration is begun and, once begun, goes on to the next.
    pub goes_on: TermId,
}

/// An access as an item does it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReachedAccess {
    /// Where it is in the source.
    pub at: SourcePlace,
    /// What it does.
    pub access: ProofAccess,
    /// It is done if all of these hold.
    pub when: Vec<TermId>,
    /// What holds where it is done.
    pub given: Vec<TermId>,
    /// It is not ordered only if all of these hold.
    pub open: Vec<TermId>,
    /// The loops around.
    pub loops: Vec<Begun>,
    /// Which access of the kernel it is.
    pub number: usize,
    /// A barrier that was not followed may order it: it shows no race.
    pub loose: bool,
}

/// Two accesses that no barrier orders.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The earlier one.
    pub first: ReachedAccess,
    /// The other, or the same.
    pub second: ReachedAccess,
    /// Counters that are the same for both items.
    pub shared: BTreeSet<TermId>,
}

/// What is around an event.
#[derive(Debug, Clone, Default)]
pub struct Around {
    /// Conditions of the loops.
    pub when: Vec<TermId>,
    /// What holds.
    pub given: Vec<TermId>,
    /// The loops.
    pub loops: Vec<Begun>,
}

/// Which walk it is: for local memory, or for global memory.
pub struct Intervals<'k> {
    /// The numbers.
    pub terms: Terms,
    arrays: &'k [ProofArray],
    space: AddressSpace,
    /// Counters of the loops with barriers around.
    shared: BTreeSet<TermId>,
    /// Conditions under which their iterations begin.
    begun: Vec<TermId>,
    /// Whether pairs are wanted, and those found.
    pairing: bool,
    pairs: Vec<Pair>,
    next: usize,
}

/// All accesses, each with its own counters.
pub fn accesses(terms: &mut Terms, events: &[ProofEvent]) -> Vec<ReachedAccess> {
    let mut all = Vec::new();
    gather(terms, events, &Around::default(), &mut all);
    for (number, reached) in all.iter_mut().enumerate() {
        reached.number = number;
    }
    all
}

fn gather(terms: &mut Terms, events: &[ProofEvent], around: &Around, all: &mut Vec<ReachedAccess>) {
    for event in events {
        match &event.kind {
            ProofEventKind::Access(access) => all.push(reached(event, access, around)),
            ProofEventKind::Repeat(l) => {
                let inner = inside(terms, event, l, around);
                gather(terms, &l.body, &inner, all);
            }
            _ => {}
        }
    }
}

/// What is around the events of a loop.
pub fn inside(terms: &mut Terms, event: &ProofEvent, l: &ProofLoop, around: &Around) -> Around {
    let counter = terms.term(Node::Variable(l.counter));
    let goes_on = terms.and(l.enters, l.stays);
    let mut inner = around.clone();
    inner.when.extend(&event.when);
    inner.given.extend(&event.given);
    inner.loops.push(Begun { counter, goes_on });
    inner
}

fn reached(event: &ProofEvent, access: &ProofAccess, around: &Around) -> ReachedAccess {
    ReachedAccess {
        at: event.at.clone(),
        access: access.clone(),
        when: around.when.iter().chain(&event.when).copied().collect(),
        given: around.given.iter().chain(&event.given).copied().collect(),
        open: Vec::new(),
        loops: around.loops.clone(),
        number: 0,
        loose: false,
    }
}

/// Whether there is a barrier among the events that orders this memory, or a wait.
fn orders(events: &[ProofEvent], space: AddressSpace) -> bool {
    events.iter().any(|event| match &event.kind {
        ProofEventKind::Barrier(fences) => fenced(*fences, space),
        ProofEventKind::Wait(_) => true,
        ProofEventKind::Repeat(l) => orders(&l.body, space),
        _ => false,
    })
}

fn fenced(fences: Fences, space: AddressSpace) -> bool {
    if space == AddressSpace::Local { fences.local } else { fences.global }
}

impl<'k> Intervals<'k> {
    /// The pairs of accesses in one memory that no barrier orders, at least one of them a store.
    pub fn pairs(
        terms: Terms,
        arrays: &'k [ProofArray],
        events: &[ProofEvent],
        space: AddressSpace,
    ) -> (Terms, Vec<Pair>) {
        let mut walk = Intervals {
            terms,
            arrays,
            space,
            shared: BTreeSet::new(),
            begun: Vec::new(),
            pairing: true,
            pairs: Vec::new(),
            next: 0,
        };
        walk.walk(events, &Around::default(), Vec::new());
        (walk.terms, walk.pairs)
    }

    /// Walks events with the accesses that are not ordered yet; gives those at the end.
    fn walk(
        &mut self,
        events: &[ProofEvent],
        around: &Around,
        mut open: Vec<ReachedAccess>,
    ) -> Vec<ReachedAccess> {
        for event in events {
            match &event.kind {
                ProofEventKind::Access(access) if self.counts(access) => {
                    let mut new = reached(event, access, around);
                    new.number = self.next;
                    self.next += 1;
                    open.push(new.clone());
                    for old in open.iter().filter(|_| self.pairing) {
                        if conflict(&old.access, access) && !(old == &new && access.copy.is_some())
                        {
                            let (first, second) = (old.clone(), new.clone());
                            let shared = self.shared.clone();
                            self.pairs.push(Pair { first, second, shared });
                        }
                    }
                }
                ProofEventKind::Barrier(fences) if fenced(*fences, self.space) => {
                    self.close(event, &mut open);
                }
                ProofEventKind::Wait(events) => self.finish(event, events, &mut open),
                ProofEventKind::Repeat(l) if orders(&l.body, self.space) => {
                    let inner = inside(&mut self.terms, event, l, around);
                    open = self.repeat(event, l, &inner, open);
                }
                ProofEventKind::Repeat(l) => {
                    let inner = inside(&mut self.terms, event, l, around);
                    open = self.walk(&l.body, &inner, open);
                }
                _ => {}
            }
        }
        open
    }

    fn counts(&self, access: &ProofAccess) -> bool {
        self.arrays.get(access.array).is_some_and(|array| array.space == self.space)
    }

    /// The conditions of an event in an iteration that has begun.
    fn further(&self, event: &ProofEvent) -> Vec<TermId> {
        event.when.iter().filter(|c| !self.begun.contains(c)).copied().collect()
    }

    /// What a barrier orders is open no more, where the barrier is reached.
    fn close(&mut self, event: &ProofEvent, open: &mut Vec<ReachedAccess>) {
        let further = self.further(event);
        if further.is_empty() {
            open.retain(|old| old.access.copy.is_some());
            return;
        }
        let mut reached = self.terms.int(1);
        for condition in further {
            reached = self.terms.and(reached, condition);
        }
        let passed = self.terms.not(reached);
        for old in open.iter_mut().filter(|old| old.access.copy.is_none()) {
            old.open.push(passed);
        }
    }

    /// Copies whose event is waited for are open no more.
    fn finish(&mut self, event: &ProofEvent, events: &[TermId], open: &mut Vec<ReachedAccess>) {
        let mut reached = self.terms.int(1);
        for condition in self.further(event) {
            reached = self.terms.and(reached, condition);
        }
        for old in open.iter_mut() {
            let Some(own) = old.access.copy else { continue };
            for waited in events {
                let same = self.terms.equal(own, *waited);
                let done = self.terms.and(reached, same);
                old.open.push(self.terms.not(done));
            }
        }
        open.retain(|old| !old.open.iter().any(|c| self.terms.constant(*c) == Some(0)));
    }

    /// A loop with barriers: what is open at the end of an iteration meets the next one.
    fn repeat(
        &mut self,
        event: &ProofEvent,
        l: &ProofLoop,
        inner: &Around,
        open: Vec<ReachedAccess>,
    ) -> Vec<ReachedAccess> {
        let counter = self.terms.term(Node::Variable(l.counter));
        self.shared.insert(counter);
        self.begun.push(l.enters);
        let passes = !self.clears(&l.body);
        let (outside, next) = (std::mem::replace(&mut self.pairing, false), self.next);
        let fresh = self.walk(&l.body, inner, Vec::new());
        self.pairing = outside;
        self.next = next;
        let entry = self.entry(counter, passes, &open, &fresh);
        self.walk(&l.body, inner, entry);
        self.begun.pop();
        self.shared.remove(&counter);
        let mut left = Vec::new();
        for mut old in open {
            old.loose |= passes;
            if !passes {
                let none = self.terms.int(0);
                let entered = self.terms.replaced(l.enters, &HashMap::from([(counter, none)]));
                let entered = event.when.iter().fold(entered, |all, c| self.terms.and(all, *c));
                let skipped = self.terms.not(entered);
                old.open.push(skipped);
            }
            left.push(old);
        }
        left.extend(self.behind(l, inner, passes, &fresh));
        left
    }

    /// What iterations of a loop leave open behind it.
    fn behind(
        &mut self,
        l: &ProofLoop,
        inner: &Around,
        passes: bool,
        fresh: &[ReachedAccess],
    ) -> Vec<ReachedAccess> {
        let counter = self.terms.term(Node::Variable(l.counter));
        let mut left = Vec::new();
        // The test that fails is not followed by the barriers of an iteration.
        let agree = |event: &ProofEvent| matches!(event.kind, ProofEventKind::Agree(_));
        let tests = l.body.iter().position(agree).unwrap_or(l.body.len());
        let mut last = Vec::new();
        gather(&mut self.terms, &l.body[..tests], inner, &mut last);
        last.retain(|reached| self.counts(&reached.access));
        let known = self.is_known(&[l.enters, l.stays]);
        for (i, new) in fresh.iter().chain(&last).enumerate() {
            let range = self.terms.range(counter);
            let last = self.terms.variable(VariableKind::Counter, range);
            let mut moved = self.at_iteration(new, counter, last);
            moved.loose |= passes || !known || i >= fresh.len();
            if known && i < fresh.len() {
                // No further iteration is begun.
                let then = self.terms.shifted(last, 1);
                let next = self.terms.replaced(l.enters, &HashMap::from([(counter, then)]));
                let stays = self.terms.replaced(l.stays, &HashMap::from([(counter, last)]));
                let goes_on = self.terms.and(next, stays);
                moved.open.push(self.terms.not(goes_on));
            }
            left.push(moved);
        }
        left
    }

    /// Whether terms have no part that data decide, which differs between iterations.
    fn is_known(&self, terms: &[TermId]) -> bool {
        let unknown = |v: &u32| self.terms.variables[*v as usize].kind == VariableKind::Unknown;
        !self.terms.variables_in(terms).iter().any(unknown)
    }

    /// What is open as an iteration begins: what was before the loop, and what iterations before
    /// have left.
    fn entry(
        &mut self,
        counter: TermId,
        passes: bool,
        open: &[ReachedAccess],
        fresh: &[ReachedAccess],
    ) -> Vec<ReachedAccess> {
        let first = self.terms.zero(counter);
        let mut entry = open.to_vec();
        for old in &mut entry {
            match passes {
                true => old.loose = true,
                false => old.open.push(first),
            }
        }
        for new in fresh {
            let earlier = match passes {
                true => self.terms.variable(VariableKind::Counter, self.terms.range(counter)),
                false => self.terms.shifted(counter, -1),
            };
            let mut moved = self.at_iteration(new, counter, earlier);
            let later = self.terms.less(earlier, counter);
            let begun = self.terms.negative(earlier);
            let begun = self.terms.not(begun);
            moved.open.extend([later, begun]);
            moved.loose |= passes;
            entry.push(moved);
        }
        entry
    }

    /// Whether an iteration certainly orders what was open before it.
    fn clears(&mut self, events: &[ProofEvent]) -> bool {
        let space = self.space;
        let plain = |event: &ProofEvent| match event.kind {
            ProofEventKind::Barrier(fences) => fenced(fences, space),
            _ => false,
        };
        !has_copies(events)
            && events.iter().any(|event| match &event.kind {
                _ if !self.further(event).is_empty() => false,
                ProofEventKind::Repeat(l) => self.clears_at_once(l),
                _ => plain(event),
            })
    }

    /// Whether a loop certainly has an iteration, which orders what was open before it.
    fn clears_at_once(&mut self, l: &ProofLoop) -> bool {
        let counter = self.terms.term(Node::Variable(l.counter));
        let first = self.terms.int(0);
        let enters = self.terms.replaced(l.enters, &HashMap::from([(counter, first)]));
        if self.terms.constant(enters).is_none_or(|value| value == 0) {
            return false;
        }
        self.begun.push(l.enters);
        let clears = self.clears(&l.body);
        self.begun.pop();
        clears
    }

    /// An access in another iteration.
    fn at_iteration(
        &mut self,
        old: &ReachedAccess,
        counter: TermId,
        then: TermId,
    ) -> ReachedAccess {
        let mut by = HashMap::from([(counter, then)]);
        let mut all = |terms: &mut Terms, list: &[TermId]| -> Vec<TermId> {
            list.iter().map(|term| terms.replaced_with(*term, &mut by)).collect()
        };
        let (when, given) = (all(&mut self.terms, &old.when), all(&mut self.terms, &old.given));
        let open = all(&mut self.terms, &old.open);
        let access = ProofAccess {
            offset: all(&mut self.terms, &[old.access.offset])[0],
            value: old.access.value.map(|value| all(&mut self.terms, &[value])[0]),
            copy: old.access.copy.map(|event| all(&mut self.terms, &[event])[0]),
            ..old.access.clone()
        };
        let loops = old.loops.iter().map(|l| Begun {
            counter: all(&mut self.terms, &[l.counter])[0],
            goes_on: all(&mut self.terms, &[l.goes_on])[0],
        });
        ReachedAccess { loops: loops.collect(), when, given, open, access, ..old.clone() }
    }
}

fn has_copies(events: &[ProofEvent]) -> bool {
    events.iter().any(|event| match &event.kind {
        ProofEventKind::Access(access) => access.copy.is_some(),
        ProofEventKind::Repeat(l) => has_copies(&l.body),
        _ => false,
    })
}

/// Whether two accesses of one place are a race.
pub fn conflict(a: &ProofAccess, b: &ProofAccess) -> bool {
    a.array == b.array
        && (a.mode != AccessMode::Load || b.mode != AccessMode::Load)
        && (a.mode != AccessMode::Atomic || b.mode != AccessMode::Atomic)
}
