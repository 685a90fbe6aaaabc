//! What has to hold of a kernel: one obligation for each access, pair and barrier.
//!
//! An obligation is a list of conditions that no values of the variables may fulfil together. Two
//! items have copies of all variables but those that they share.

use std::collections::{BTreeSet, HashMap};

use tickbound_opencl::ast::{AddressSpace, SourcePlace};
use tickbound_opencl::proof::events::{ProofAccess, ProofEvent, ProofEventKind, ProofKernel};
use tickbound_opencl::proof::terms::{MOST, Node, TermId, Terms, VariableKind, type_range};

use crate::answer::SafetyClaim;
use crate::classes::name_of;
use crate::intervals::{Around, Begun, Intervals, Pair, ReachedAccess, accesses, conflict, inside};
use crate::written::{WrittenStep, loads};

/// Something that has to hold.
#[derive(Debug, Clone)]
pub struct SafetyObligation {
    /// What it claims.
    pub claim: SafetyClaim,
    /// The places in the source that it is about, one or two.
    pub at: Vec<SourcePlace>,
    /// The array.
    pub array: Option<usize>,
    /// What holds of a counterexample.
    pub given: Vec<TermId>,
    /// What shows that it is one: all of these hold.
    pub faults: Vec<TermId>,
    /// The bytes that one access or two touch, with their number.
    pub touched: Vec<(TermId, u32)>,
    /// The numbers that are stored.
    pub values: Vec<Option<TermId>>,
    /// The loops around, for each of the items.
    pub loops: Vec<Begun>,
    /// Variables of the first item, each with that of the second.
    pub twins: Vec<(TermId, TermId)>,
    /// Whether a barrier that was not followed may order the accesses.
    pub loose: bool,
    /// Whether the ids of the items, or of their groups, are to differ.
    pub differ: bool,
    /// The ids of the items: those in their group, those of the group.
    pub items: Vec<[Vec<TermId>; 2]>,
    /// What a group does to a local array, for a load that reads what is written.
    pub written: Vec<WrittenStep>,
}

impl SafetyObligation {
    /// All terms of it.
    pub fn roots(&self) -> Vec<TermId> {
        let SafetyObligation { given, faults, touched, values, loops, items, twins, .. } = self;
        let touched = touched.iter().map(|(offset, _)| *offset);
        let loops = loops.iter().flat_map(|l| [l.counter, l.goes_on]);
        let twins = twins.iter().flat_map(|(a, b)| [*a, *b]);
        let items = items.iter().flatten().flatten().copied();
        let values = values.iter().flatten().copied();
        let all = given.iter().chain(faults).copied().chain(touched).chain(values);
        let written = WrittenStep::terms(&self.written);
        all.chain(loops).chain(items).chain(twins).chain(written).collect()
    }

    /// The same with some terms replaced by others.
    #[must_use]
    pub fn replaced(&self, terms: &mut Terms, mut by: HashMap<TermId, TermId>) -> SafetyObligation {
        let mut one = |term: &mut TermId| *term = terms.replaced_with(*term, &mut by);
        let mut new = self.clone();
        new.given.iter_mut().chain(&mut new.faults).for_each(&mut one);
        new.touched.iter_mut().for_each(|(offset, _)| one(offset));
        new.values.iter_mut().flatten().for_each(&mut one);
        for l in &mut new.loops {
            one(&mut l.counter);
            one(&mut l.goes_on);
        }
        for (a, b) in &mut new.twins {
            one(a);
            one(b);
        }
        new.items.iter_mut().flatten().flatten().for_each(&mut one);
        new.written.iter_mut().for_each(|step| step.each(&mut one));
        new
    }

    /// What is left without the conditions that have no variable in common with the fault, or with
    /// a condition that has. It claims more, for fewer numbers; a counterexample of it is none of
    /// the whole obligation.
    #[must_use]
    pub fn relevant(&self, terms: &Terms) -> SafetyObligation {
        let own = |term: TermId| -> BTreeSet<u32> {
            let decided = |v: &u32| name_of(&terms.variables[*v as usize].kind).is_some();
            terms.variables_in(&[term]).into_iter().filter(|v| !decided(v)).collect()
        };
        let place = usize::from(self.claim == SafetyClaim::RaceOfGroups);
        // Items that differ matter.
        let ids = self.items.iter().filter(|_| self.differ).flat_map(|item| &item[place]);
        let mut reached: BTreeSet<u32> =
            self.faults.iter().chain(ids).flat_map(|c| own(*c)).collect();
        let mut left: Vec<BTreeSet<u32>> = self.given.iter().map(|c| own(*c)).collect();
        let mut kept = vec![false; left.len()];
        while let Some(i) = (0..left.len()).find(|i| !kept[*i] && !left[*i].is_disjoint(&reached)) {
            kept[i] = true;
            reached.append(&mut left[i]);
        }
        let mut new = self.clone();
        if self.claim == SafetyClaim::Written {
            let all = terms.variables_in(&WrittenStep::terms(&self.written));
            let kind = |v: &u32| &terms.variables[*v as usize].kind;
            if !all.iter().any(|v| matches!(kind(v), VariableKind::GroupId(_))) {
                new.items.iter_mut().for_each(|item| item[1].clear());
            }
            return new;
        }
        let mut kept = kept.into_iter();
        new.given.retain(|_| kept.next() == Some(true));
        let is_reached = |term: TermId| !own(term).is_disjoint(&reached);
        new.loops.retain(|l| is_reached(l.counter));
        new.twins.retain(|(a, _)| is_reached(*a));
        new.values.clear();
        for item in &mut new.items {
            item[1 - place].clear();
            if !self.differ {
                item[place].clear();
            }
        }
        new
    }
}

/// Copies of variables for each of two items: the same ones in all obligations.
#[derive(Default)]
struct Pool([HashMap<TermId, TermId>; 2]);

/// All obligations of a kernel, and the terms that they are over. `length` gives the bytes of an
/// array.
pub fn obligations(
    kernel: &ProofKernel,
    lengths: &[Option<TermId>],
) -> (Terms, Vec<SafetyObligation>) {
    let mut terms = kernel.terms.clone().restored();
    let all = accesses(&mut terms, &kernel.events);
    let (mut found, mut pool) = (Vec::new(), Pool::default());
    for reached in &all {
        found.extend(bounds(&mut terms, reached, lengths[reached.access.array]));
    }
    agreements(&mut terms, &mut pool, &kernel.events, &Around::default(), &mut found);
    numbers(&mut terms, &kernel.events, &Around::default(), &mut found);
    found.extend(loads_of_local_memory(&mut terms, kernel));
    for space in [AddressSpace::Local, AddressSpace::Global] {
        let (after, pairs) = Intervals::pairs(terms, &kernel.arrays, &kernel.events, space);
        terms = after;
        for pair in pairs {
            found.push(race(&mut terms, &mut pool, &pair, false));
        }
    }
    let global = |reached: &&ReachedAccess| {
        kernel.arrays[reached.access.array].space == AddressSpace::Global
    };
    let all: Vec<&ReachedAccess> = all.iter().filter(global).collect();
    for (i, first) in all.iter().enumerate() {
        for second in &all[i..] {
            if conflict(&first.access, &second.access) {
                let (first, second) = ((*first).clone(), (*second).clone());
                let pair = Pair { first, second, shared: BTreeSet::new() };
                found.push(race(&mut terms, &mut pool, &pair, true));
            }
        }
    }
    (terms, found)
}

/// An access lies in its array.
fn bounds(
    terms: &mut Terms,
    reached: &ReachedAccess,
    length: Option<TermId>,
) -> Option<SafetyObligation> {
    let access = &reached.access;
    let length = length?;
    let end = terms.shifted(access.offset, access.bytes.into());
    let (before, behind) = (terms.negative(access.offset), terms.less(length, end));
    let outside = terms.or(before, behind);
    let items = vec![ids(terms, &HashMap::new())];
    Some(SafetyObligation {
        claim: SafetyClaim::Bounds,
        at: vec![reached.at.clone()],
        array: Some(access.array),
        given: reached.when.iter().chain(&reached.given).copied().collect(),
        faults: vec![outside],
        touched: vec![(access.offset, access.bytes)],
        values: Vec::new(),
        loops: reached.loops.clone(),
        twins: Vec::new(),
        differ: false,
        loose: false,
        items,
        written: Vec::new(),
    })
}

/// Each load of local memory reads what an item has written.
fn loads_of_local_memory(terms: &mut Terms, kernel: &ProofKernel) -> Vec<SafetyObligation> {
    let items = vec![ids(terms, &HashMap::new())];
    let mut all = Vec::new();
    for (array, declared) in kernel.arrays.iter().enumerate() {
        if declared.space != AddressSpace::Local {
            continue;
        }
        for (at, written) in loads(terms, &kernel.events, array) {
            all.push(SafetyObligation {
                claim: SafetyClaim::Written,
                at: vec![at],
                array: Some(array),
                given: Vec::new(),
                faults: Vec::new(),
                touched: Vec::new(),
                values: Vec::new(),
                loops: Vec::new(),
                twins: Vec::new(),
                loose: false,
                differ: false,
                items: items.clone(),
                written,
            });
        }
    }
    all
}

/// The ids of an item.
fn ids(terms: &mut Terms, copies: &HashMap<TermId, TermId>) -> [Vec<TermId>; 2] {
    [VariableKind::LocalId, VariableKind::GroupId].map(|kind| {
        let own = (0..3).map(|d| {
            let id = terms.named(kind(d), (0, MOST));
            copies.get(&id).copied().unwrap_or(id)
        });
        own.collect()
    })
}

impl Pool {
    /// Copies for one item of the variables in some terms that items do not share.
    fn copies(
        &mut self,
        terms: &mut Terms,
        place: usize,
        some: &[TermId],
        (shared, groups): (&BTreeSet<TermId>, bool),
    ) -> HashMap<TermId, TermId> {
        let mut copies = HashMap::new();
        for index in terms.variables_in(some) {
            let variable = terms.term(Node::Variable(index));
            let known = terms.variables[index as usize].clone();
            let own = match known.kind {
                VariableKind::LocalId(_) | VariableKind::Unknown => true,
                VariableKind::GroupId(_) => groups,
                VariableKind::Counter => !shared.contains(&variable),
                _ => false,
            };
            if own {
                let pool = &mut self.0[place];
                let copy = pool.entry(variable);
                let copy = copy.or_insert_with(|| terms.variable(known.kind, known.range));
                copies.insert(variable, *copy);
            }
        }
        copies
    }
}

fn replaced(terms: &mut Terms, copies: &HashMap<TermId, TermId>, some: &[TermId]) -> Vec<TermId> {
    let mut done = copies.clone();
    some.iter().map(|term| terms.replaced_with(*term, &mut done)).collect()
}

/// What one of two items does, over its own copies of variables.
struct Side {
    given: Vec<TermId>,
    access: ProofAccess,
    loops: Vec<Begun>,
    ids: [Vec<TermId>; 2],
}

fn side(
    terms: &mut Terms,
    (pool, place): (&mut Pool, usize),
    reached: &ReachedAccess,
    (shared, groups): (&BTreeSet<TermId>, bool),
) -> Side {
    let mut some: Vec<TermId> = reached.when.clone();
    some.extend(reached.given.iter().chain(&reached.open));
    let conditions = some.len();
    some.push(reached.access.offset);
    some.extend(reached.access.value);
    some.extend(reached.loops.iter().flat_map(|l| [l.counter, l.goes_on]));
    let own = ids(terms, &HashMap::new()).concat();
    let every = [some.as_slice(), &own].concat();
    let copies = pool.copies(terms, place, &every, (shared, groups));
    let copied = replaced(terms, &copies, &some);
    let value = reached.access.value.map(|_| copied[conditions + 1]);
    let loops = &copied[conditions + 1 + usize::from(value.is_some())..];
    let access = ProofAccess { offset: copied[conditions], value, ..reached.access.clone() };
    Side {
        given: copied[..conditions].to_vec(),
        access,
        loops: loops.chunks(2).map(|l| Begun { counter: l[0], goes_on: l[1] }).collect(),
        ids: ids(terms, &copies),
    }
}

/// Two accesses of different items, or of different groups, do not meet.
fn race(terms: &mut Terms, pool: &mut Pool, pair: &Pair, groups: bool) -> SafetyObligation {
    let a = side(terms, (pool, 0), &pair.first, (&pair.shared, groups));
    let b = side(terms, (pool, 1), &pair.second, (&pair.shared, groups));
    let place = usize::from(groups);
    let mut differ = terms.int(0);
    for (x, y) in a.ids[place].iter().zip(&b.ids[place]) {
        let same = terms.equal(*x, *y);
        let other = terms.not(same);
        differ = terms.or(differ, other);
    }
    // A copy runs beside all items.
    let copies = [&a, &b].iter().any(|side| side.access.copy.is_some());
    if copies && !groups {
        differ = terms.int(1);
    }
    let (i, j) = (a.access.offset, b.access.offset);
    let faults = match (a.access.bytes, b.access.bytes) {
        (m, n) if m == n && m == 1 => vec![terms.equal(i, j)],
        (m, n) => {
            let (end_i, end_j) = (terms.shifted(i, m.into()), terms.shifted(j, n.into()));
            vec![terms.less(i, end_j), terms.less(j, end_i)]
        }
    };
    let twin = |(variable, copy): (&TermId, &TermId)| Some((*copy, *pool.0[1].get(variable)?));
    let twins = pool.0[0].iter().filter_map(twin).collect();
    SafetyObligation {
        claim: if groups { SafetyClaim::RaceOfGroups } else { SafetyClaim::Race },
        at: vec![pair.first.at.clone(), pair.second.at.clone()],
        array: Some(a.access.array),
        given: a.given.iter().chain(&b.given).copied().chain([differ]).collect(),
        faults,
        touched: vec![(i, a.access.bytes), (j, b.access.bytes)],
        values: vec![a.access.value, b.access.value],
        loops: a.loops.into_iter().chain(b.loops).collect(),
        twins,
        differ: groups || !copies,
        loose: !groups && (pair.first.loose || pair.second.loose),
        items: vec![a.ids, b.ids],
        written: Vec::new(),
    }
}

/// Whether there is a barrier among the events.
fn synchronizes(events: &[ProofEvent]) -> bool {
    events.iter().any(|event| match &event.kind {
        ProofEventKind::Barrier(_) => true,
        ProofEventKind::Repeat(l) => synchronizes(&l.body),
        _ => false,
    })
}

/// All items of a group reach a barrier, or none does, and all agree on whether a loop with
/// barriers goes on.
fn agreements(
    terms: &mut Terms,
    pool: &mut Pool,
    events: &[ProofEvent],
    around: &Around,
    found: &mut Vec<SafetyObligation>,
) {
    for event in events {
        let (what, facts): (TermId, Vec<TermId>) = match &event.kind {
            ProofEventKind::Repeat(l) => {
                let inner = inside(terms, event, l, around);
                let mut body = Vec::new();
                if synchronizes(&l.body) {
                    agreements(terms, pool, &l.body, &inner, &mut body);
                }
                found.extend(body);
                continue;
            }
            ProofEventKind::Barrier(_) => {
                let all = around.when.iter().chain(&event.when);
                (all.fold(terms.int(1), |all, c| terms.and(all, *c)), Vec::new())
            }
            // Both items have to be there.
            ProofEventKind::Agree(what) => {
                (*what, around.when.iter().chain(&event.when).copied().collect())
            }
            _ => continue,
        };
        if terms.constant(what).is_none() {
            let given: Vec<TermId> = around.given.iter().chain(&event.given).copied().collect();
            found.push(agreement((terms, pool), event, around, what, (&facts, &given)));
        }
    }
}

/// Two items of a group do not differ in a number; `facts` hold for both, `given` for the one for
/// which it is greater.
fn agreement(
    (terms, pool): (&mut Terms, &mut Pool),
    event: &ProofEvent,
    around: &Around,
    what: TermId,
    (facts, given): (&[TermId], &[TermId]),
) -> SafetyObligation {
    let shared: BTreeSet<TermId> = around.loops.iter().map(|l| l.counter).collect();
    let loops: Vec<TermId> = around.loops.iter().flat_map(|l| [l.counter, l.goes_on]).collect();
    let own = ids(terms, &HashMap::new()).concat();
    let all = [&[what], facts, given, &loops, &own].concat();
    let mut sides = Vec::new();
    for place in 0..2 {
        let copies = pool.copies(terms, place, &all, (&shared, false));
        let copied = replaced(terms, &copies, &all);
        sides.push((copied, ids(terms, &copies)));
    }
    let (a, b) = (&sides[0].0, &sides[1].0);
    let holds = facts.len() + 1;
    let mut assumed: Vec<TermId> = a[1..holds + given.len()].to_vec();
    assumed.extend(&b[1..holds]);
    if !facts.is_empty() {
        assumed.extend(&b[holds..holds + given.len()]);
    }
    let differs = terms.less(b[0], a[0]);
    let begun = |side: &[TermId]| -> Vec<Begun> {
        let loops = &side[holds + given.len()..holds + given.len() + loops.len()];
        loops.chunks(2).map(|l| Begun { counter: l[0], goes_on: l[1] }).collect()
    };
    SafetyObligation {
        claim: SafetyClaim::Divergence,
        at: vec![event.at.clone()],
        array: None,
        given: assumed,
        faults: vec![differs],
        touched: Vec::new(),
        values: Vec::new(),
        loops: begun(a),
        twins: Vec::new(),
        differ: false,
        loose: false,
        items: sides.iter().map(|side| side.1.clone()).collect(),
        written: Vec::new(),
    }
}

/// No number is divided by 0, and signed numbers fit their types.
fn numbers(
    terms: &mut Terms,
    events: &[ProofEvent],
    around: &Around,
    found: &mut Vec<SafetyObligation>,
) {
    for event in events {
        let (claim, fault) = match &event.kind {
            ProofEventKind::Repeat(l) => {
                let inner = inside(terms, event, l, around);
                numbers(terms, &l.body, &inner, found);
                continue;
            }
            ProofEventKind::Divide(by) => (SafetyClaim::Division, terms.zero(*by)),
            ProofEventKind::Signed(number, bits) => {
                let (low, high) = type_range(*bits, true);
                let (low, high) = (terms.int(low), terms.int(high));
                let (below, above) = (terms.less(*number, low), terms.less(high, *number));
                (SafetyClaim::Overflow, terms.or(below, above))
            }
            _ => continue,
        };
        if terms.constant(fault) == Some(0) {
            continue;
        }
        let reached = around.when.iter().chain(&event.when);
        let given = around.given.iter().chain(&event.given);
        found.push(SafetyObligation {
            claim,
            at: vec![event.at.clone()],
            array: None,
            given: reached.chain(given).copied().collect(),
            faults: vec![fault],
            touched: Vec::new(),
            values: Vec::new(),
            loops: around.loops.clone(),
            twins: Vec::new(),
            differ: false,
            loose: false,
            items: vec![ids(terms, &HashMap::new())],
            written: Vec::new(),
        });
    }
}
