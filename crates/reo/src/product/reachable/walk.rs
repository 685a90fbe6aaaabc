//! The steps of one group of a row, found depth first.

use std::ops::Range;

use super::allowed::{Guard, allows};
use super::layout::Layout;
use super::row::{Active, Path, Pending, Row, Stage};
use crate::label::ones;
use crate::limits::Limited;

enum Propagated {
    Conflict,
    /// All stages agree without a choice.
    Solved,
    /// A stage has a choice.
    Choice(usize, Pending),
}

/// What is done with the steps of a group.
pub(super) trait Visit {
    /// Steps that have `sum` in common: the sum itself with `nothing`, and with each of `options`.
    /// The first sum of a group's first call is to do nothing. Returns whether to go on.
    fn visit(&mut self, sum: &[u64], nothing: bool, options: &[u32]) -> Limited<bool>;
}

/// Stages of a search between two looks at the stop flag, less one.
const POLL: usize = (1 << 16) - 1;

impl<S: Layout> Row<'_, S> {
    /// Finds all steps of a group, to do nothing first; false if the visitor did not go on.
    pub fn walk(&mut self, group: usize, visitor: &mut impl Visit) -> Limited<bool> {
        let stages: Range<usize> = self.groups[group]..self.groups[group + 1];
        let (all, words, deep) = (self.layout.all(), self.layout.label(), stages.len());
        let mut path = std::mem::take(&mut self.path);
        // Each depth is written before it is read, but for the vector and the names to begin with.
        if path.at.len() < deep {
            path.at.resize(deep, 0);
            path.sums.resize((deep + 1) * all, 0);
            path.fired.resize((deep + 1) * words, 0);
            path.pending.resize(deep, Pending::default());
        }
        let sets = self.sets;
        if path.dirty.len() < (deep + 1) * sets {
            path.dirty.resize((deep + 1) * sets, 0);
        }
        path.sums[..all].fill(0);
        path.fired[..words].fill(0);
        path.dirty[..sets].copy_from_slice(&self.free[group * sets..][..sets]);
        let mut guard = std::mem::take(&mut self.guard);
        let done = self.search(stages, &mut path, &mut guard, visitor);
        self.path = path;
        self.guard = guard;
        done
    }

    fn search(
        &self,
        stages: Range<usize>,
        path: &mut Path,
        guard: &mut Guard,
        visitor: &mut impl Visit,
    ) -> Limited<bool> {
        let (all, last) = (self.layout.all(), stages.len() - 1);
        let stages = &self.stages[stages];
        let (plan, layout) = (self.plan, self.layout);
        let guarded = !plan.guards.is_empty();
        let (mut depth, mut next) = (0, 0);
        for iteration in 1_usize.. {
            if iteration & POLL == 0 {
                self.limits.go_on()?;
            }
            let found = self.propagate(stages, next, path, depth);
            let sum = &path.sums[depth * all..][..all];
            match found {
                Propagated::Conflict => {}
                _ if guarded && !allows(plan, layout, sum) => {}
                Propagated::Solved => {
                    if !visitor.visit(sum, true, &[])? {
                        return Ok(false);
                    }
                }
                Propagated::Choice(at, pending) if at == last => {
                    if !self.visit_last(sum, pending, guard, visitor)? {
                        return Ok(false);
                    }
                }
                Propagated::Choice(at, pending) => {
                    path.at[depth] = at;
                    path.pending[depth] = pending;
                    depth += 1;
                }
            }
            while depth > 0 && !self.descend(path, depth - 1) {
                depth -= 1;
            }
            if depth == 0 {
                break;
            }
            next = path.at[depth - 1] + 1;
        }
        Ok(true)
    }

    /// Visits the choices of the last stage. Returns whether to go on.
    #[inline]
    fn visit_last(
        &self,
        sum: &[u64],
        pending: Pending,
        guard: &mut Guard,
        visitor: &mut impl Visit,
    ) -> Limited<bool> {
        let mut options = &self.candidates[pending.candidates.0..pending.candidates.1];
        if !self.plan.guards.is_empty() {
            options = guard.among(self.plan, self.layout, sum, options);
        }
        let some = pending.nothing || !options.is_empty();
        Ok(!some || visitor.visit(sum, pending.nothing, options)?)
    }

    /// Visits the dirty stages from `from` on, up to one that has a choice.
    #[inline]
    fn propagate(
        &self,
        stages: &[Stage],
        mut from: usize,
        path: &mut Path,
        depth: usize,
    ) -> Propagated {
        let (all, words, sets) = (self.layout.all(), self.layout.label(), self.sets);
        let sum = &mut path.sums[depth * all..][..all];
        let fired = &mut path.fired[depth * words..][..words];
        let dirty = &mut path.dirty[depth * sets..][..sets];
        while let Some(at) = stage(stages, dirty, from) {
            let pending = self.choices(stages[at], fired);
            match (pending.nothing, pending.candidates.1 - pending.candidates.0) {
                (true, 0) => {}
                (false, 1) => {
                    let option = self.candidates[pending.candidates.0] as usize;
                    let vector = &self.plan.vectors[option * all..][..all];
                    (0..all).for_each(|w| sum[w] = sum[w].wrapping_add(vector[w]));
                    self.fire(option, fired, dirty);
                }
                (false, 0) => return Propagated::Conflict,
                _ => return Propagated::Choice(at, pending),
            }
            from = at + 1;
        }
        Propagated::Solved
    }

    /// Lets the names of an option fire.
    #[inline]
    fn fire(&self, option: usize, fired: &mut [u64], dirty: &mut [u64]) {
        let (words, sets) = (self.layout.label(), self.sets);
        let label = &self.plan.labels[option * words..][..words];
        for word in 0..words {
            for name in ones(label[word] & !fired[word]) {
                let woken = &self.watch_lists[(word * 64 + name) * sets..][..sets];
                dirty.iter_mut().zip(woken).for_each(|(a, w)| *a |= w);
            }
            fired[word] |= label[word];
        }
    }

    /// What a stage may choose when the names `fired` fire.
    #[inline]
    fn choices(&self, stage: Stage, fired: &[u64]) -> Pending {
        let words = self.layout.label();
        let Active { part, candidates: (from, to), .. } = self.active[stage.active];
        let shared = &self.plan.decided[part * words..][..words];
        let label = |option: &u32| &self.plan.labels[*option as usize * words..][..words];
        let compare = |option: &u32| {
            let both = label(option).iter().zip(fired).zip(shared);
            both.map(|((l, f), s)| (l & s).cmp(&(f & s))).find(|c| c.is_ne())
        };
        let nothing = fired.iter().zip(shared).all(|(f, s)| f & s == 0);
        // Options lie in the order of the shared names that they fire.
        let options = &self.candidates[from..to];
        let (low, high) = if options.len() == 1 {
            let same = compare(&options[0]).is_none();
            (0, usize::from(same))
        } else {
            let low = options.partition_point(|o| compare(o).is_some_and(|c| c.is_lt()));
            let same = options[low..].partition_point(|o| compare(o).is_none());
            (low, low + same)
        };
        if stage.only_ask {
            return Pending { nothing: nothing || low < high, candidates: (to, to) };
        }
        Pending { nothing, candidates: (from + low, from + high) }
    }

    /// Takes the next choice at a depth, if there is one.
    #[inline]
    fn descend(&self, path: &mut Path, depth: usize) -> bool {
        let (all, words, sets) = (self.layout.all(), self.layout.label(), self.sets);
        let pending = &mut path.pending[depth];
        if !pending.nothing && pending.candidates.0 == pending.candidates.1 {
            return false;
        }
        let (sums, next) = path.sums[depth * all..][..2 * all].split_at_mut(all);
        let (fired, then) = path.fired[depth * words..][..2 * words].split_at_mut(words);
        let (dirty, woken) = path.dirty[depth * sets..][..2 * sets].split_at_mut(sets);
        (0..words).for_each(|w| then[w] = fired[w]);
        (0..sets).for_each(|w| woken[w] = dirty[w]);
        if pending.nothing {
            pending.nothing = false;
            (0..all).for_each(|w| next[w] = sums[w]);
            return true;
        }
        let option = self.candidates[pending.candidates.0] as usize;
        pending.candidates.0 += 1;
        let vector = &self.plan.vectors[option * all..][..all];
        (0..all).for_each(|w| next[w] = sums[w].wrapping_add(vector[w]));
        self.fire(option, then, woken);
        true
    }
}

/// The first dirty stage from `from` on: its part may act alone, or a decided name of it fires.
#[inline]
fn stage(stages: &[Stage], dirty: &[u64], from: usize) -> Option<usize> {
    let at = first(dirty, from)?;
    // A question to the part that chooses next is answered by its choice.
    let answered = |later: &usize| stages[*later].active == stages[at].active;
    let choice = if stages[at].only_ask { first(dirty, at + 1).filter(answered) } else { None };
    choice.or(Some(at))
}

/// The first of a set from `from` on.
#[inline]
fn first(set: &[u64], from: usize) -> Option<usize> {
    let word = from / 64;
    let here = set.get(word)? & (u64::MAX << (from % 64));
    if here != 0 {
        return Some(word * 64 + here.trailing_zeros() as usize);
    }
    let later = (word + 1..set.len()).find(|word| set[*word] != 0)?;
    Some(later * 64 + set[later].trailing_zeros() as usize)
}
