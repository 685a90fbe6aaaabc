//! The steps of one group of a row, found depth first.

use std::ops::Range;

use super::allowed::{Guard, allows};
use super::layout::Layout;
use super::row::{Act, Active, Path, Rest, Row, each};
use crate::limits::Stopped;

/// What is left when everything that has to be done is done.
enum Settled {
    /// Some part does not agree.
    Not,
    /// Nothing.
    Whole,
    /// A stage that has a choice.
    Open(usize, Rest),
}

/// What is done with the steps of a group.
pub(super) trait Visit {
    /// Steps that have `sum` in common: with `nothing` the sum itself, and the sum with each of
    /// `options`. The very first sum, of a group's first call, is to do nothing at all. Returns
    /// whether to go on.
    fn visit(&mut self, sum: &[u64], nothing: bool, options: &[u32]) -> Result<bool, Stopped>;
}

/// So many stages of a search between two looks at the stop flag, less one.
const POLL: usize = (1 << 16) - 1;

impl<S: Layout> Row<'_, S> {
    /// Finds all steps of a group, and to do nothing first of all. Returns whether it came to the
    /// end, and not to a visitor that did not go on.
    pub fn walk(&mut self, group: usize, visitor: &mut impl Visit) -> Result<bool, Stopped> {
        let acts: Range<usize> = self.groups[group]..self.groups[group + 1];
        let (all, words, deep) = (self.layout.all(), self.layout.label(), acts.len());
        let mut path = std::mem::take(&mut self.path);
        // Each depth is written before it is read, but for the vector and the names to begin with.
        if path.at.len() < deep {
            path.at.resize(deep, 0);
            path.sums.resize((deep + 1) * all, 0);
            path.fired.resize((deep + 1) * words, 0);
            path.rest.resize(deep, Rest::default());
        }
        let sets = self.sets;
        if path.awake.len() < (deep + 1) * sets {
            path.awake.resize((deep + 1) * sets, 0);
        }
        path.sums[..all].fill(0);
        path.fired[..words].fill(0);
        path.awake[..sets].copy_from_slice(&self.free[group * sets..][..sets]);
        let mut guard = std::mem::take(&mut self.guard);
        let done = self.search(acts, &mut path, &mut guard, visitor);
        self.path = path;
        self.guard = guard;
        done
    }

    fn search(
        &self,
        acts: Range<usize>,
        path: &mut Path,
        guard: &mut Guard,
        visitor: &mut impl Visit,
    ) -> Result<bool, Stopped> {
        let (all, last) = (self.layout.all(), acts.len() - 1);
        let acts = &self.acts[acts];
        let (plan, layout) = (self.plan, self.layout);
        let guarded = !plan.guards.is_empty();
        let (mut depth, mut next) = (0, 0);
        for iteration in 1_usize.. {
            if iteration & POLL == 0 {
                self.limits.go_on()?;
            }
            let found = self.settle(acts, next, path, depth);
            let sum = &path.sums[depth * all..][..all];
            match found {
                Settled::Not => {}
                _ if guarded && !allows(plan, layout, sum) => {}
                Settled::Whole => {
                    if !visitor.visit(sum, true, &[])? {
                        return Ok(false);
                    }
                }
                Settled::Open(at, rest) if at == last => {
                    if !self.visit_last(sum, rest, guard, visitor)? {
                        return Ok(false);
                    }
                }
                Settled::Open(at, rest) => {
                    path.at[depth] = at;
                    path.rest[depth] = rest;
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
        rest: Rest,
        guard: &mut Guard,
        visitor: &mut impl Visit,
    ) -> Result<bool, Stopped> {
        let mut options = &self.live[rest.live.0..rest.live.1];
        if !self.plan.guards.is_empty() {
            options = guard.among(self.plan, self.layout, sum, options);
        }
        let some = rest.nothing || !options.is_empty();
        Ok(!some || visitor.visit(sum, rest.nothing, options)?)
    }

    /// Takes what the stages from `from` on have to do, up to one that has a choice.
    #[inline]
    fn settle(&self, acts: &[Act], mut from: usize, path: &mut Path, depth: usize) -> Settled {
        let (all, words, sets) = (self.layout.all(), self.layout.label(), self.sets);
        let sum = &mut path.sums[depth * all..][..all];
        let fired = &mut path.fired[depth * words..][..words];
        let awake = &mut path.awake[depth * sets..][..sets];
        while let Some(at) = stage(acts, awake, from) {
            let rest = self.choices(acts[at], fired);
            match (rest.nothing, rest.live.1 - rest.live.0) {
                (true, 0) => {}
                (false, 1) => {
                    let option = self.live[rest.live.0] as usize;
                    let vector = &self.plan.vectors[option * all..][..all];
                    (0..all).for_each(|w| sum[w] = sum[w].wrapping_add(vector[w]));
                    self.fire(option, fired, awake);
                }
                (false, 0) => return Settled::Not,
                _ => return Settled::Open(at, rest),
            }
            from = at + 1;
        }
        Settled::Whole
    }

    /// Lets the names of an option fire.
    #[inline]
    fn fire(&self, option: usize, fired: &mut [u64], awake: &mut [u64]) {
        let (words, sets) = (self.layout.label(), self.sets);
        let label = &self.plan.labels[option * words..][..words];
        for word in 0..words {
            each(label[word] & !fired[word], |name| {
                let woken = &self.wakes[(word * 64 + name) * sets..][..sets];
                awake.iter_mut().zip(woken).for_each(|(a, w)| *a |= w);
            });
            fired[word] |= label[word];
        }
    }

    /// What a stage may choose when the names `fired` fire.
    #[inline]
    fn choices(&self, act: Act, fired: &[u64]) -> Rest {
        let words = self.layout.label();
        let Active { part, live: (from, to), .. } = self.active[act.active];
        let shared = &self.plan.decided[part * words..][..words];
        let label = |option: &u32| &self.plan.labels[*option as usize * words..][..words];
        let compare = |option: &u32| {
            let both = label(option).iter().zip(fired).zip(shared);
            both.map(|((l, f), s)| (l & s).cmp(&(f & s))).find(|c| c.is_ne())
        };
        let nothing = fired.iter().zip(shared).all(|(f, s)| f & s == 0);
        // Options lie in the order of the shared names that they fire.
        let options = &self.live[from..to];
        let (low, high) = if options.len() == 1 {
            let same = compare(&options[0]).is_none();
            (0, usize::from(same))
        } else {
            let low = options.partition_point(|o| compare(o).is_some_and(|c| c.is_lt()));
            let same = options[low..].partition_point(|o| compare(o).is_none());
            (low, low + same)
        };
        if act.only_ask {
            return Rest { nothing: nothing || low < high, live: (to, to) };
        }
        Rest { nothing, live: (from + low, from + high) }
    }

    /// Takes the next choice at a depth, if there is one.
    #[inline]
    fn descend(&self, path: &mut Path, depth: usize) -> bool {
        let (all, words, sets) = (self.layout.all(), self.layout.label(), self.sets);
        let rest = &mut path.rest[depth];
        if !rest.nothing && rest.live.0 == rest.live.1 {
            return false;
        }
        let (sums, next) = path.sums[depth * all..][..2 * all].split_at_mut(all);
        let (fired, then) = path.fired[depth * words..][..2 * words].split_at_mut(words);
        let (awake, woken) = path.awake[depth * sets..][..2 * sets].split_at_mut(sets);
        (0..words).for_each(|w| then[w] = fired[w]);
        (0..sets).for_each(|w| woken[w] = awake[w]);
        if rest.nothing {
            rest.nothing = false;
            (0..all).for_each(|w| next[w] = sums[w]);
            return true;
        }
        let option = self.live[rest.live.0] as usize;
        rest.live.0 += 1;
        let vector = &self.plan.vectors[option * all..][..all];
        (0..all).for_each(|w| next[w] = sums[w].wrapping_add(vector[w]));
        self.fire(option, then, woken);
        true
    }
}

/// The first stage from `from` on that may do anything but nothing: its part may act by itself, or
/// one of its decided names fires.
#[inline]
fn stage(acts: &[Act], awake: &[u64], from: usize) -> Option<usize> {
    let at = first(awake, from)?;
    // A question to the part that chooses next is answered by its choice.
    let answered = |later: &usize| acts[*later].active == acts[at].active;
    let choice = if acts[at].only_ask { first(awake, at + 1).filter(answered) } else { None };
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
