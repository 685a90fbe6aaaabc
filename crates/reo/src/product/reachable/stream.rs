//! The reachable product that is never whole: its steps in order, some rows at a time.
//!
//! Numbers of states and order of steps are those of [`super::compose`]. Conditions on data are
//! left out of the steps; steps that no data fulfil are not there. States that memory does not hold
//! go to a [`Store`].

use std::ops::Range;

use rayon::prelude::*;

use super::external::{ExternalVisited, Store, StreamError};
use super::finish::Whole;
use super::index::Budget;
use super::layout::{Layout, with_layout};
use super::owners::{Exchange, Owners};
use super::plan::Plan;
use super::search::ProductCount;
use super::supersteps::{StepRows, Supersteps};
use super::together::joined;
use crate::automaton::Automaton;
use crate::limits::ProductLimits;
use crate::product::dense::{CellTally, Checksum, mixed};
use crate::symbol::NameId;

/// A reachable product that is ready to be made, some rows at a time.
#[derive(Debug)]
pub struct StepStream {
    plan: Plan,
}

/// The steps that leave some states with consecutive numbers, in the order of the states.
#[derive(Debug, Clone, Copy)]
pub struct StepBatch<'a> {
    /// The number of the first state.
    pub first: usize,
    /// Where the steps of the first state begin among those of `targets`.
    pub begin: usize,
    /// Where the steps of each state end.
    pub ends: &'a [usize],
    /// The state that each step reaches.
    pub targets: &'a [u32],
    /// The names that fire in each step, one bit each, in the same number of words for each step.
    pub labels: &'a [u64],
}

impl StepStream {
    /// The product of `parts`, which share one table of symbols, not yet made.
    ///
    /// # Errors
    /// The parts do not fit into memory, or [`StreamError::Data`]: whether two steps are alike, or
    /// one is possible at all, is to be seen only when they are whole.
    pub fn new(parts: &[&Automaton], limits: &ProductLimits) -> Result<StepStream, StreamError> {
        let joined = joined(parts);
        let parts: Vec<&Automaton> = joined.iter().map(AsRef::as_ref).collect();
        let plan = Plan::new(&parts, limits)?;
        // Steps can be alike only where data tell others apart.
        if plan.ground || plan.twins {
            return Err(StreamError::Data);
        }
        Ok(StepStream { plan })
    }

    /// Names of the product, sorted; bit i of a label is the i-th.
    pub fn alphabet(&self) -> &[NameId] {
        &self.plan.alphabet
    }

    /// How many states a run may begin in; these are the first ones.
    pub fn initial(&self) -> usize {
        self.plan.initial.len()
    }

    /// Makes the product on the threads of the current rayon pool, and gives its steps to `take`,
    /// in order, on one of them. `limits.memory` counts everything but what `take` keeps.
    ///
    /// # Errors
    /// It was stopped; more memory is needed, for the steps of one state or, without a `store`, for
    /// the states; the store cannot be written or read; or an error of `take`. What was given to
    /// `take` by then is right.
    pub fn run<E: From<StreamError> + Send>(
        &self,
        limits: &ProductLimits,
        store: Option<&dyn Store>,
        mut take: impl FnMut(StepBatch) -> Result<(), E> + Send,
    ) -> Result<ProductCount, E> {
        let mut failed = None;
        let mut take = |first, made: &StepRows| {
            failed = take(StepBatch::of(first, made)).err();
            failed.is_none()
        };
        let (states, transitions) = self.make(limits, store, &mut take)?;
        let count = ProductCount { states, transitions: u128::from(transitions) };
        failed.map_or(Ok(count), Err)
    }

    /// As [`StepStream::run`], by several processes together, each of which calls this with its
    /// `exchange` and has memory for its share of the states. With `first`, the first rank takes
    /// all steps, in order; without it each takes those that it has made, in order. States and
    /// steps have the numbers and the order that one process gives them. Returns the states, and
    /// the steps taken here.
    ///
    /// # Errors
    /// As [`StepStream::run`], or others cannot be reached. A failure in one process is not passed
    /// on: all must be ended.
    pub fn share<E: From<StreamError> + Send>(
        &self,
        limits: &ProductLimits,
        exchange: &mut (dyn Exchange + Send),
        first: bool,
        mut take: impl FnMut(StepBatch) -> Result<(), E> + Send,
    ) -> Result<ProductCount, E> {
        let (mut failed, mut transitions) = (None, 0);
        let mut take = |first, made: &StepRows| {
            transitions += made.targets.len() as u128;
            failed = take(StepBatch::of(first, made)).err();
            failed.is_none()
        };
        let states = share(&self.plan, limits, exchange, first, false, &mut take)?;
        failed.map_or(Ok(ProductCount { states, transitions }), Err)
    }

    /// Not generic, so that the search is compiled here, and as this crate is.
    fn make(
        &self,
        limits: &ProductLimits,
        store: Option<&dyn Store>,
        take: &mut (dyn FnMut(usize, &StepRows) -> bool + Send),
    ) -> Result<(u64, u64), StreamError> {
        let plan = &self.plan;
        with_layout!(plan, layout => {
            let visited = ExternalVisited::new(layout.state(), store);
            let supersteps = Supersteps::new(plan, layout, limits, false, &plan.initial, visited)?;
            supersteps.run(&mut |_: &mut ExternalVisited<'_>, handed| {
                Ok(handed.is_none_or(|(first, made)| take(first, made)))
            })
        })
    }
}

/// A condition on the names that fire in a step, as the words of its label.
pub type Keeps<'a> = dyn Fn(&[u64]) -> bool + Sync + 'a;

/// Rows that a thread sums up at once.
const ROWS: usize = 256;

impl<'a> StepBatch<'a> {
    fn of(first: usize, made: &'a StepRows) -> Self {
        let StepRows { ends, targets, labels, .. } = made;
        StepBatch { first, begin: 0, ends, targets, labels }
    }
}

impl StepBatch<'_> {
    /// The steps of some of these states alone, counted from the first of them.
    pub fn part(&self, states: Range<usize>) -> Self {
        let before = states.start.checked_sub(1).map_or(self.begin, |before| self.ends[before]);
        let first = self.first + states.start;
        StepBatch { first, begin: before, ends: &self.ends[states], ..*self }
    }

    /// The states with where their steps are.
    pub fn rows(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let begins = std::iter::once(self.begin).chain(self.ends.iter().copied());
        let ranges = begins.zip(self.ends).map(|(begin, end)| begin..*end);
        (self.first..).zip(ranges)
    }

    /// The tally of these steps, on all threads; that of the whole does not depend on the parts.
    ///
    /// The digest is the sum of [`mixed`] over the steps, with number p 2^32 + q for a step from
    /// state p to state q, and its label; with a label of several words what comes of one is the
    /// number for the next. The sum is that of (label + 1) times (p 2^32 + k + 1) for the k-th step
    /// of a row, counted from 0, so that it depends on the order; a label of several words is taken
    /// as the number of which they are the digits, the last the lowest, at a base of 2^61 - 1. All
    /// modulo 2^64. Steps that break `condition` are counted; the first of them is given with the
    /// first word of its label.
    pub fn tally(&self, condition: Option<&Keeps>) -> CellTally {
        let pieces = (0..self.ends.len()).into_par_iter().step_by(ROWS);
        let piece = |from: usize| {
            let rows = self.part(from..self.ends.len().min(from + ROWS));
            let row = |(from, steps)| self.tally_row(from as u64, steps, condition);
            rows.rows().map(row).sum::<CellTally>()
        };
        pieces.map(piece).sum()
    }

    fn tally_row(&self, from: u64, steps: Range<usize>, condition: Option<&Keeps>) -> CellTally {
        let words = self.labels.len() / self.targets.len().max(1);
        let stuck = steps.is_empty();
        let mut all = CellTally {
            states: 1,
            checksum: Checksum { steps: steps.len() as u64, sum: 0 },
            stuck: u64::from(stuck),
            first_stuck: stuck.then_some(from as u32),
            ..CellTally::default()
        };
        for (place, at) in (1_u64..).zip(steps) {
            let (to, label) = (self.targets[at], &self.labels[at * words..][..words]);
            let cell = from << 32 | u64::from(to);
            let (digest, number) = match label {
                [label] => (mixed(cell, *label), *label),
                label => wide(cell, label),
            };
            all.digest = all.digest.wrapping_add(digest);
            let part = number.wrapping_add(1).wrapping_mul((from << 32).wrapping_add(place));
            all.checksum.sum = all.checksum.sum.wrapping_add(part);
            if condition.is_some_and(|condition| !condition(label)) {
                all.broken += 1;
                let step = (from as u32, to, label[0]);
                all.first_broken = Some(all.first_broken.map_or(step, |first| first.min(step)));
            }
        }
        all
    }
}

/// The digest of a label of several words in a place, and the number that it is.
fn wide(cell: u64, label: &[u64]) -> (u64, u64) {
    let digest = label.iter().fold(cell, |cell, word| mixed(cell, *word));
    let digits = label.iter();
    let number = digits.fold(0_u64, |n, word| n.wrapping_mul((1 << 61) - 1).wrapping_add(*word));
    (digest, number)
}

/// The rank that holds what is whole.
const FIRST: usize = 0;

/// The product of `parts` as [`super::compose`] gives it, made by several processes together, each
/// of which calls this; the first rank gets it. Half of the memory of each is for the search, and
/// the other half of the first one's for the result.
///
/// # Errors
/// It was stopped, there is too little memory, or others cannot be reached. What fails in one
/// process the others do not hear: all must be ended.
pub fn compose_shared(
    parts: &[&Automaton],
    limits: &ProductLimits,
    exchange: &mut (dyn Exchange + Send),
) -> Result<Option<Automaton>, StreamError> {
    let joined = joined(parts);
    let parts = &joined.iter().map(AsRef::as_ref).collect::<Vec<&Automaton>>()[..];
    let plan = Plan::new(parts, limits)?;
    let half = ProductLimits { memory: limits.memory / 2, ..*limits };
    let mut whole = Whole::new(&plan, &half, Budget::new(&half))?;
    let mut failed = None;
    let is_first = exchange.rank() == FIRST;
    share(&plan, &half, exchange, true, true, &mut |_, made| {
        failed = whole.add(made, plan.layout).err();
        failed.is_none()
    })?;
    failed.map_or(Ok(()), Err)?;
    Ok(is_first.then(|| whole.automaton(&plan, parts)).transpose()?)
}

/// The sum of what each rank has counted; the first rank gets it.
pub fn total(
    exchange: &mut dyn Exchange,
    tally: CellTally,
) -> Result<Option<CellTally>, StreamError> {
    let mut words = vec![Vec::new(); exchange.size()];
    words[FIRST] = tally.to_words().to_vec();
    let all = exchange.all_to_all(words).map_err(StreamError::Exchange)?;
    let all = all.iter().filter_map(|words| words.first_chunk::<11>());
    let sum = all.map(|words| CellTally::from_words(*words)).sum();
    Ok((exchange.rank() == FIRST).then_some(sum))
}

/// Makes a product with others while `take` returns true: on the first rank all steps with `first`,
/// else each its share; with packed conditions if `keys`. The number of states.
pub(super) fn share(
    plan: &Plan,
    limits: &ProductLimits,
    exchange: &mut (dyn Exchange + Send),
    first: bool,
    keys: bool,
    take: &mut (dyn FnMut(usize, &StepRows) -> bool + Send),
) -> Result<u64, StreamError> {
    with_layout!(plan, layout => {
        // One half for the states that this rank owns, the other for the steps in work.
        let half = ProductLimits { memory: limits.memory / 2, ..*limits };
        let (rank, size) = (exchange.rank(), exchange.size());
        let owners = Owners::new(&plan.states, &half, exchange)?;
        let initial = if rank == FIRST { &plan.initial[..] } else { &[] };
        let supersteps = Supersteps::new(plan, layout, &half, keys, initial, owners)?;
        let (states, _) = supersteps.run(&mut |owners: &mut Owners<'_, '_>, handed| {
            let own = !first || rank == FIRST;
            let exchange = owners.exchange();
            let fail = StreamError::Exchange;
            match handed {
                Some((begin, made)) if own => Ok(take(begin, made)),
                Some((begin, made)) => {
                    exchange.send(FIRST, &pack(begin, made)).map_err(fail)?;
                    Ok(true)
                }
                // Nothing more of this rank.
                None if !own => exchange.send(FIRST, &[]).map_err(fail).map(|()| true),
                None if !first => Ok(true),
                None => {
                    let mut go_on = true;
                    for rank in (0..size).filter(|rank| *rank != FIRST) {
                        while go_on {
                            let words = exchange.receive(rank).map_err(fail)?;
                            let Some((begin, made)) = unpack(&words) else { break };
                            go_on = take(begin, &made);
                        }
                    }
                    Ok(go_on)
                }
            }
        })?;
        Ok(states)
    })
}

/// Steps as words: the number of the first state, how many states, steps, words of all labels and
/// of all conditions, then where rows end, targets two by two, labels, conditions.
fn pack(first: usize, made: &StepRows) -> Vec<u64> {
    let StepRows { ends, targets, labels, conditions } = made;
    let sizes = [first, ends.len(), targets.len(), labels.len(), conditions.len()];
    let mut words = Vec::with_capacity(5 + ends.len() + targets.len().div_ceil(2) + labels.len());
    words.extend(sizes.map(|size| size as u64));
    words.extend(ends.iter().map(|end| *end as u64));
    let two = |two: &[u32]| u64::from(two[0]) | u64::from(*two.get(1).unwrap_or(&0)) << 32;
    words.extend(targets.chunks(2).map(two));
    words.extend_from_slice(labels);
    words.extend_from_slice(conditions);
    words
}

/// The steps of words; none of no words.
fn unpack(words: &[u64]) -> Option<(usize, StepRows)> {
    let (sizes, rest) = words.split_first_chunk::<5>()?;
    let [first, rows, steps, labels, conditions] = sizes.map(|size| size as usize);
    let (ends, rest) = rest.split_at_checked(rows)?;
    let (targets, rest) = rest.split_at_checked(steps.div_ceil(2))?;
    let (labels, conditions) = rest.split_at_checked(labels).filter(|r| r.1.len() == conditions)?;
    let mut targets: Vec<u32> =
        targets.iter().flat_map(|two| [*two as u32, (two >> 32) as u32]).collect();
    targets.truncate(steps);
    let ends = ends.iter().map(|end| *end as usize).collect();
    Some((
        first,
        StepRows { ends, targets, labels: labels.to_vec(), conditions: conditions.to_vec() },
    ))
}
