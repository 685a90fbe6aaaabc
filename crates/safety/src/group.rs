//! Local memory that is read before an item has written it.
//!
//! One group is tried with the numbers of a case: all items do an access before any does the next
//! one, and the bytes that they store are noted. Where accesses do not race and all items reach
//! the barriers, every other order reads the same. A load is proved if its bytes are written
//! for all data: a store under a condition that is not known is left out, and a load under
//! one is judged. A loop whose counter no access depends on has one iteration tried, as none
//! reads less written memory than the first.

use std::collections::HashMap;
use std::rc::Rc;

use tickbound_opencl::proof::bits_of;
use tickbound_opencl::proof::terms::{Node, Product, TermId, Terms, type_range};

use crate::memo::TermMemo;
use crate::options::StopCheck;
use crate::replay::iterate;
use crate::written::WrittenStep;

/// Most terms that are evaluated for a case: about a second.
const MAX_WORK: u64 = 1 << 26;
/// Most bytes of an array.
const MAX_BYTES: i128 = 1 << 20;
/// Most iterations of a number that follows from one to the next.
const MAX_ITERATIONS: i128 = 1 << 12;
/// Most items of a group.
const MAX_ITEMS: i128 = 1 << 12;

/// How a group came out.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupOutcome {
    /// All bytes that the load reads are written.
    Written,
    /// It is not known, for a reason.
    Undecided(String),
    /// An item reads bytes that are not written.
    Unwritten {
        /// The item.
        item: [i128; 3],
        /// The ids of its group that matter.
        group: Vec<(TermId, i128)>,
        /// The bytes: the first one, and how many.
        bytes: (i128, u32),
    },
}

/// What all items of a group access.
struct Spans {
    /// Bytes from the first one to the one behind the last, in order and apart.
    all: Vec<(i128, i128)>,
    /// What is added to all of them in an iteration.
    moved: Vec<(Product, i128)>,
}

/// Notes that bytes are written.
fn fill(written: &mut Vec<bool>, from: usize, end: usize) {
    if written.len() < end {
        written.resize(end, false);
    }
    written[from..end].fill(true);
}

/// Some items of a group, by their places in it.
type Items = Rc<Vec<usize>>;

/// A group whose items do one access after the other.
pub struct GroupRun<'t> {
    terms: &'t Terms,
    memo: &'t mut TermMemo,
    ids: [TermId; 3],
    group: Vec<(TermId, i128)>,
    items: Vec<[i128; 3]>,
    /// Items that differ in some ids, by these.
    different: [Option<Items>; 8],
    spans: HashMap<WrittenStep, Option<Rc<Spans>>>,
    /// The item whose values are computed.
    item: usize,
    written: Vec<bool>,
    /// Whether a store was passed of which it is not known whether it is done, or where.
    doubt: bool,
    work: u64,
    stop: StopCheck<'t>,
}

impl<'t> GroupRun<'t> {
    /// Tries a group whose items have these ids, with the ids of the group that have a number.
    pub fn outcome(
        (terms, memo): (&'t Terms, &'t mut TermMemo),
        steps: &[WrittenStep],
        ids: [TermId; 3],
        group: &[(TermId, i128)],
        stop: StopCheck<'t>,
    ) -> GroupOutcome {
        let sizes = ids.map(|id| terms.range(id).1 + 1);
        let count = sizes.iter().try_fold(1_i128, |all, size| all.checked_mul(*size));
        if count.is_none_or(|count| count > MAX_ITEMS) {
            return GroupOutcome::Undecided("a group has too many items to try all".to_owned());
        }
        let [x, y, z] = sizes;
        let all = (0..z).flat_map(|c| (0..y).flat_map(move |b| (0..x).map(move |a| [a, b, c])));
        memo.restart(terms, &WrittenStep::terms(steps), ids);
        let mut run = GroupRun {
            terms,
            memo,
            ids,
            group: group.to_vec(),
            items: all.collect(),
            different: Default::default(),
            spans: HashMap::new(),
            item: 0,
            written: Vec::new(),
            doubt: false,
            work: 0,
            stop,
        };
        for (id, value) in run.group.clone() {
            run.set(id, Some(value));
        }
        let everyone = Items::new((0..run.items.len()).collect());
        run.steps(steps, &everyone, true).err().unwrap_or(GroupOutcome::Written)
    }

    /// Gives a value to a counter, or to an id of the group.
    fn set(&mut self, variable: TermId, value: Option<i128>) {
        if let Some(fixed) = self.memo.fixed.get_mut(variable.0 as usize) {
            *fixed = value;
            self.memo.now += 1;
            self.memo.iterated = self.memo.now;
        }
    }

    fn become_item(&mut self, item: usize) {
        self.item = item;
        self.memo.now += 1;
    }

    /// The value of a term; `None` if data, other groups or an unknown iteration decide it.
    fn value(&mut self, term: TermId) -> Option<i128> {
        if let Node::Int(value) = self.terms.node(term) {
            return Some(*value);
        }
        let place = term.0 as usize;
        let depends = self.memo.depends[place];
        let of_item = depends.ids != [false; 3];
        if of_item && !depends.counters {
            let known = self.memo.by_item.get(&term).and_then(|all| all[self.item]);
            return known.unwrap_or_else(|| {
                let (count, value) = (self.items.len(), self.computed(term));
                let all = self.memo.by_item.entry(term).or_insert_with(|| vec![None; count]);
                all[self.item] = Some(value);
                value
            });
        }
        let since = if of_item { self.memo.now } else { self.memo.iterated };
        let (then, known) = self.memo.known[place];
        if then >= since {
            return known;
        }
        let value = self.computed(term);
        self.memo.known[place] = (self.memo.now, value);
        value
    }

    fn computed(&mut self, term: TermId) -> Option<i128> {
        self.work += 1;
        let terms = self.terms;
        match terms.node(term) {
            Node::Int(value) => Some(*value),
            Node::Variable(_) => match self.ids.iter().position(|id| *id == term) {
                Some(d) => Some(self.items[self.item][d]),
                None => self.memo.fixed[term.0 as usize],
            },
            Node::Sum(sum) => self.sum(sum),
            Node::Quotient(a, b) => self.value(*a)?.checked_div(self.value(*b)?),
            Node::Remainder(a, b) => self.value(*a)?.checked_rem(self.value(*b)?),
            Node::Least(a, b) => Some(self.value(*a)?.min(self.value(*b)?)),
            Node::Negative(a) => Some(i128::from(self.value(*a)? < 0)),
            Node::Zero(a) | Node::Not(a) => Some(i128::from(self.value(*a)? == 0)),
            Node::And(a, b) => match (self.value(*a), self.value(*b)) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (a, b) => a.and(b).map(|_| 1),
            },
            Node::Or(a, b) => match (self.value(*a), self.value(*b)) {
                (Some(0), other) | (other, Some(0)) => other.map(|other| i128::from(other != 0)),
                (a, b) => a.or(b).map(|_| 1),
            },
            Node::Choice(c, a, b) => {
                let side = if self.value(*c)? != 0 { *a } else { *b };
                self.value(side)
            }
            Node::Wrap(bits, signed, a) => {
                let low = type_range(*bits, *signed).0;
                Some((self.value(*a)? - low).rem_euclid(1 << bits) + low)
            }
            Node::Bits(op, a, b) => bits_of(*op, self.value(*a)?, self.value(*b)?),
            Node::Apply(function, parts) => {
                let parts =
                    parts.iter().map(|part| self.value(*part)).collect::<Option<Vec<_>>>()?;
                self.work += parts.first().map_or(0, |count| count.unsigned_abs() as u64);
                iterate(terms, *function, &parts, MAX_ITERATIONS)?.last().copied()
            }
        }
    }

    /// Whether all of some conditions hold.
    fn all(&mut self, conditions: &[TermId]) -> Option<bool> {
        let mut known = Some(true);
        for condition in conditions {
            match self.value(*condition) {
                Some(0) => return Some(false),
                Some(_) => {}
                None => known = None,
            }
        }
        known
    }

    /// Does some steps with the items that are there; `certain` if they are there for all data.
    fn steps(
        &mut self,
        steps: &[WrittenStep],
        there: &Items,
        certain: bool,
    ) -> Result<(), GroupOutcome> {
        for step in steps {
            match step {
                WrittenStep::Access { when, offset, bytes, store } => {
                    if !(certain && self.at_once(there, step)) {
                        let some = self.different(there, when, *offset);
                        for item in some.iter().copied() {
                            self.become_item(item);
                            let done = self.all(when);
                            if done == Some(false) {
                                continue;
                            }
                            let certain = certain && done.is_some();
                            let from = self.value(*offset);
                            self.access(item, from, (*bytes, *store), certain)?;
                        }
                    }
                    self.checked()?;
                }
                WrittenStep::Repeat { .. } => self.repeat(step, there, certain)?,
            }
        }
        Ok(())
    }

    /// Does an access of all items at once, if its address is the sum of a number that depends on
    /// the item and one that depends on the iterations. `false` if it is not, or a byte is not
    /// written.
    fn at_once(&mut self, there: &Items, step: &WrittenStep) -> bool {
        let WrittenStep::Access { offset, store, .. } = step else { return false };
        if there.len() < self.items.len() {
            return false;
        }
        let known = self.spans.get(step).cloned();
        let spans = known.unwrap_or_else(|| {
            let spans = self.spans_of(there, step).map(Rc::new);
            self.spans.insert(step.clone(), spans.clone());
            spans
        });
        let Some(spans) = spans else { return false };
        let Some(moved) = self.sum(&spans.moved) else { return false };
        let (low, high) = match self.terms.node(*offset) {
            Node::Wrap(bits, signed, _) => type_range(*bits, *signed),
            _ => (0, MAX_BYTES),
        };
        let (low, high) = (low.max(0), high.min(MAX_BYTES));
        let mut all = spans.all.iter().map(|(from, end)| (from + moved, end + moved));
        if !all.clone().all(|(from, end)| low <= from && end < high) {
            return false;
        }
        self.work += spans.all.len() as u64;
        if *store {
            all.for_each(|(from, end)| fill(&mut self.written, from as usize, end as usize));
            return true;
        }
        let written = &self.written;
        all.all(|(from, end)| {
            let bytes = written.get(from as usize..end as usize);
            bytes.is_some_and(|bytes| bytes.iter().all(|byte| *byte))
        })
    }

    /// What all items access where the iterations add nothing, and what they add.
    fn spans_of(&mut self, there: &Items, step: &WrittenStep) -> Option<Spans> {
        let WrittenStep::Access { when, offset, bytes, .. } = step else { return None };
        let sum = match *self.terms.node(*offset) {
            Node::Wrap(_, _, inner) => self.terms.sum_of(inner),
            _ => self.terms.sum_of(*offset),
        };
        let depends = |run: &GroupRun<'_>, some: &[TermId]| {
            let counters = some.iter().any(|term| run.memo.depends[term.0 as usize].counters);
            (run.mattering(some) != [false; 3], counters)
        };
        if depends(self, when).1 || sum.keys().any(|product| depends(self, product) == (true, true))
        {
            return None;
        }
        let (own, moved): (Vec<_>, Vec<_>) =
            sum.into_iter().partition(|(product, _)| depends(self, product).0);
        let mut all = Vec::new();
        for item in self.different(there, when, *offset).iter().copied() {
            self.become_item(item);
            if self.all(when)? {
                let from = self.sum(&own)?;
                all.push((from, from + i128::from(*bytes)));
            }
        }
        all.sort_unstable();
        all.dedup_by(|next, last| {
            let meets = next.0 <= last.1;
            last.1 = if meets { last.1.max(next.1) } else { last.1 };
            meets
        });
        Some(Spans { all, moved })
    }

    /// The value of a sum of products.
    fn sum(&mut self, sum: &[(Product, i128)]) -> Option<i128> {
        sum.iter().try_fold(0_i128, |all, (product, factor)| {
            let whole = product
                .iter()
                .try_fold(*factor, |whole, part| whole.checked_mul(self.value(*part)?));
            all.checked_add(whole?)
        })
    }

    /// Items that differ in the ids that an access depends on.
    fn different(&mut self, there: &Items, when: &[TermId], offset: TermId) -> Items {
        if there.len() < self.items.len() {
            return there.clone();
        }
        let (mut matter, own) = (self.mattering(when), self.mattering(&[offset]));
        (0..3).for_each(|d| matter[d] |= own[d]);
        let place = (0..3).map(|d| usize::from(matter[d]) << d).sum::<usize>();
        let items = &self.items;
        let first = |item: &usize| (0..3).all(|d| matter[d] || items[*item][d] == 0);
        let all = || Items::new((0..items.len()).filter(first).collect());
        self.different[place].get_or_insert_with(all).clone()
    }

    /// Which ids some terms depend on.
    fn mattering(&self, some: &[TermId]) -> [bool; 3] {
        some.iter().fold([false; 3], |all, term| {
            let own = self.memo.depends[term.0 as usize].ids;
            std::array::from_fn(|d| all[d] || own[d])
        })
    }

    fn checked(&self) -> Result<(), GroupOutcome> {
        if (self.stop)() {
            return Err(GroupOutcome::Undecided("it was stopped".to_owned()));
        }
        if self.work > MAX_WORK || self.memo.now > u32::MAX / 2 {
            let reason = "a group does too much to local memory to try all of it";
            return Err(GroupOutcome::Undecided(reason.to_owned()));
        }
        Ok(())
    }

    fn access(
        &mut self,
        item: usize,
        from: Option<i128>,
        (bytes, store): (u32, bool),
        certain: bool,
    ) -> Result<(), GroupOutcome> {
        let from = from.filter(|from| (0..MAX_BYTES - i128::from(bytes)).contains(from));
        if store {
            match from {
                Some(from) if certain => {
                    fill(&mut self.written, from as usize, from as usize + bytes as usize);
                }
                _ => self.doubt = true,
            }
            return Ok(());
        }
        let is_written = |byte: usize| self.written.get(byte) == Some(&true);
        match from {
            Some(from) if (0..bytes as usize).all(|i| is_written(from as usize + i)) => Ok(()),
            Some(from) if certain && !self.doubt => {
                let (item, group) = (self.items[item], self.group.clone());
                Err(GroupOutcome::Unwritten { item, group, bytes: (from, bytes) })
            }
            _ => {
                let reason = "data, other groups or earlier iterations decide what is written";
                Err(GroupOutcome::Undecided(reason.to_owned()))
            }
        }
    }

    fn repeat(
        &mut self,
        step: &WrittenStep,
        there: &Items,
        certain: bool,
    ) -> Result<(), GroupOutcome> {
        let WrittenStep::Repeat { when, counter, enters, stays, body } = step else {
            return Ok(());
        };
        let once = !self.terms.inside(&WrittenStep::terms(body)).contains(counter);
        let mut certain = certain;
        let mut there = there.clone();
        let mut conditions = when.clone();
        conditions.push(*enters);
        for iteration in 0.. {
            self.set(*counter, Some(iteration));
            let kept = self.kept(&there, &conditions);
            match kept {
                Some(kept) => there = kept,
                None => {
                    // Which iterations there are is not known: any may be.
                    self.set(*counter, if once { Some(iteration) } else { None });
                    certain = false;
                    self.doubt = true;
                    self.steps(body, &there, certain)?;
                    break;
                }
            }
            if there.is_empty() {
                break;
            }
            self.steps(body, &there, certain)?;
            self.checked()?;
            if once {
                break;
            }
            conditions = vec![*stays];
            self.set(*counter, Some(iteration));
            match self.kept(&there, &conditions) {
                Some(kept) => there = kept,
                None => certain = false,
            }
            conditions = vec![*enters];
        }
        self.set(*counter, None);
        Ok(())
    }

    /// The items for which conditions hold; `None` if that is not known.
    fn kept(&mut self, there: &Items, conditions: &[TermId]) -> Option<Items> {
        if self.mattering(conditions) == [false; 3] {
            return self
                .all(conditions)
                .map(|all| if all { there.clone() } else { Items::default() });
        }
        let mut kept = Vec::new();
        for item in there.iter() {
            self.become_item(*item);
            if self.all(conditions)? {
                kept.push(*item);
            }
        }
        Some(Items::new(kept))
    }
}
