//! One thread's work on rows: counting them, writing them.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::layout::Layout;
use super::plan::Plan;
use super::row::Row;
use super::walk::Visit;
use super::write::{Combiner, Pen, Write};
use crate::limits::{Limited, ProductLimits};

/// Most steps of groups that are listed; of one group with more they are found while they are
/// written. In words of vectors, for all groups of a row.
const LIST: usize = 1 << 16;
/// Most words of the groups' steps of one row that are kept from when it is counted until it is
/// written; beyond that they are found a second time.
pub(super) const KEPT: usize = 256;

/// The steps of groups of parts.
#[derive(Default)]
pub(super) struct Lists {
    pub words: Vec<u64>,
    /// Where each group's vectors are in `words`, "no step" first. The last are the silent steps.
    pub groups: Vec<Range<usize>>,
}

/// What is kept of some rows: for each where in `lists.groups` it is, if it is not too long.
#[derive(Default)]
pub(super) struct Listed {
    pub lists: Lists,
    pub rows: Vec<Option<Range<usize>>>,
}

pub(super) struct Worker<'a, S> {
    pub plan: &'a Plan,
    pub layout: S,
    pub limits: &'a ProductLimits<'a>,
    row: Row<'a, S>,
    lists: Lists,
    combiner: Combiner<S>,
}

impl<'a, S: Layout> Worker<'a, S> {
    pub fn new(plan: &'a Plan, layout: S, limits: &'a ProductLimits<'a>) -> Self {
        Worker {
            plan,
            layout,
            limits,
            row: Row::new(plan, layout, limits),
            lists: Lists::default(),
            combiner: Combiner::new(layout),
        }
    }

    /// How many steps leave each of some states. `total` is added up for all rows; beyond `most`
    /// the answer is only that there are more. Up to `kept` words of a row are kept.
    pub fn count(
        &mut self,
        keys: &[u64],
        kept: usize,
        most: u64,
        total: &AtomicU64,
    ) -> Limited<(Vec<u128>, Listed)> {
        let words = self.layout.state();
        let (mut counts, mut listed) = (Vec::with_capacity(keys.len() / words), Listed::default());
        for key in keys.chunks_exact(words) {
            if total.load(Ordering::Relaxed) > most {
                counts.push(u128::from(most) + 1);
                continue;
            }
            self.row.prepare(key);
            let count = self.count_row(kept, most, &mut listed)?;
            // A total that would overflow has long been too large.
            let add = u64::try_from(count).unwrap_or(u64::MAX).min(most.saturating_add(1));
            let sum = |total: u64| Some(total.saturating_add(add));
            _ = total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
            counts.push(count);
        }
        Ok((counts, listed))
    }

    fn count_row(&mut self, kept: usize, most: u64, listed: &mut Listed) -> Limited<u128> {
        let lists = &mut listed.lists;
        let (words, groups) = (lists.words.len(), lists.groups.len());
        let (all, mut product) = (self.layout.all(), 1_u128);
        let large = self.list(kept, lists)?;
        for list in &lists.groups[groups..lists.groups.len() - 1] {
            product = product.saturating_mul((list.len() / all) as u128);
        }
        let silent = (lists.groups.last().map_or(0, Range::len) / all) as u128;
        if large.is_empty() {
            listed.rows.push(Some(groups..lists.groups.len()));
            return Ok(product - 1 + silent);
        }
        lists.words.truncate(words);
        lists.groups.truncate(groups);
        listed.rows.push(None);
        for group in large {
            let mut tally = Tally { many: 0, most };
            self.row.walk(group, &mut tally)?;
            product = product.saturating_mul(u128::from(tally.many));
        }
        Ok((product - 1).saturating_add(silent))
    }

    /// Lists the steps of the groups of the row in work, and the silent ones; returns the groups
    /// after which there would be more than that many words.
    fn list(&mut self, most: usize, lists: &mut Lists) -> Limited<Vec<usize>> {
        let (layout, plan, start) = (self.layout, self.plan, lists.words.len());
        let mut large = Vec::new();
        for group in 0..self.row.groups() {
            let from = lists.words.len();
            let mut list = List { layout, plan, most: start + most, into: &mut lists.words };
            if self.row.walk(group, &mut list)? {
                lists.groups.push(from..lists.words.len());
            } else {
                lists.words.truncate(from);
                large.push(group);
            }
        }
        let from = lists.words.len();
        self.row.silent().for_each(|step| lists.words.extend_from_slice(step));
        lists.groups.push(from..lists.words.len());
        Ok(large)
    }

    /// Writes the row of a state, from what was kept of it if anything was.
    pub fn write(
        &mut self,
        key: &[u64],
        kept: Option<(&[u64], &[Range<usize>])>,
        pen: &mut Pen<'_, S>,
    ) -> Limited<()> {
        self.limits.go_on()?;
        if let Some((words, groups)) = kept {
            return self.combine(key, words, groups, None, pen);
        }
        self.row.prepare(key);
        let mut lists = std::mem::take(&mut self.lists);
        lists.words.clear();
        lists.groups.clear();
        // One group may be too large to be listed; of two, at least one is.
        let mut large = self.list(LIST, &mut lists)?.into_iter();
        let first = large.next();
        for group in large {
            let from = lists.words.len();
            let (layout, plan, into) = (self.layout, self.plan, &mut lists.words);
            self.row.walk(group, &mut List { layout, plan, most: usize::MAX, into })?;
            let silent = lists.groups.len() - 1;
            lists.groups.insert(silent, from..lists.words.len());
        }
        self.combine(key, &lists.words, &lists.groups, first, pen)?;
        self.lists = lists;
        Ok(())
    }

    /// Writes all combinations of the steps of listed groups, and of one that is not listed.
    fn combine(
        &mut self,
        key: &[u64],
        words: &[u64],
        groups: &[Range<usize>],
        large: Option<usize>,
        pen: &mut Pen<'_, S>,
    ) -> Limited<()> {
        let Some((silent, groups)) = groups.split_last() else { return Ok(()) };
        self.combiner.begin(key, words, groups);
        let (plan, limits, skip) = (self.plan, self.limits, self.layout.all());
        // The first combination of all is to do nothing.
        let combiner = &mut self.combiner;
        let mut write = Write { combiner, lists: words, plan, limits, pen, skip };
        match large {
            Some(group) => _ = self.row.walk(group, &mut write)?,
            None => write.combine(&[], &[])?,
        }
        pen.write(&self.combiner.base, &words[silent.clone()]);
        Ok(())
    }
}

struct Tally {
    many: u64,
    most: u64,
}

impl Visit for Tally {
    #[inline]
    fn visit(&mut self, _: &[u64], nothing: bool, options: &[u32]) -> Limited<bool> {
        self.many += options.len() as u64 + u64::from(nothing);
        Ok(self.many <= self.most)
    }
}

/// Lists vectors, up to a length.
struct List<'b, S> {
    layout: S,
    plan: &'b Plan,
    most: usize,
    into: &'b mut Vec<u64>,
}

impl<S: Layout> Visit for List<'_, S> {
    #[inline]
    fn visit(&mut self, sum: &[u64], nothing: bool, options: &[u32]) -> Limited<bool> {
        let all = self.layout.all();
        let sum = &sum[..all];
        if nothing {
            self.into.extend((0..all).map(|w| sum[w]));
        }
        for option in options {
            let vector = &self.plan.vector_of(self.layout, *option)[..all];
            self.into.extend((0..all).map(|w| sum[w].wrapping_add(vector[w])));
        }
        Ok(self.into.len() <= self.most)
    }
}
