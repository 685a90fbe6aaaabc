//! Rows counted and written by all threads, with the same result at any number of them.
//!
//! Input are keys of states; output are the vectors of their steps, with numbers of the states and
//! conditions that an index knows, and notes of the others in the order of the rows.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use super::index::Index;
use super::layout::Layout;
use super::plan::Plan;
use super::worker::{Listed, Worker};
use super::write::{Notes, Out, Pen};
use crate::limits::{Limited, ProductLimits};

/// Steps, or rows, after which a worker's piece ends: large beside the cost of handing it out.
pub(super) const PIECE: usize = 1 << 14;
pub(super) const PIECE_ROWS: usize = 128;
/// Up to that many rows with few steps are not handed out at all.
const ALONE_ROWS: usize = 32;

pub(super) struct WorkerPool<'a, S> {
    pub layout: S,
    /// For small blocks, which this thread works on itself.
    pub worker: Worker<'a, S>,
}

pub(super) struct Counted {
    pub keys: Vec<u64>,
    /// How many steps each has; `u128::MAX` means that many or more.
    pub counts: Vec<u128>,
    /// What was found when they were counted, `size` rows in each piece but the last.
    pieces: Vec<Listed>,
    size: usize,
}

impl Counted {
    /// What was kept of a row: the steps of its groups.
    fn row(&self, row: usize) -> Option<(&[u64], &[Range<usize>])> {
        let piece = &self.pieces[row / self.size];
        let groups = piece.rows[row % self.size].clone()?;
        Some((&piece.lists.words, &piece.lists.groups[groups]))
    }
}

/// What a worker has written: how many steps, and what it found new.
pub(super) type Written = (usize, Notes);

impl<'a, S: Layout> WorkerPool<'a, S> {
    pub fn new(plan: &'a Plan, layout: S, limits: &'a ProductLimits<'a>) -> Self {
        WorkerPool { layout, worker: Worker::new(plan, layout, limits) }
    }

    /// Counts the steps of each of the states with these keys. Of a row at most `kept` words are
    /// kept until it is written. Beyond `most` in all the answer is only that there are more.
    pub fn count(&mut self, keys: Vec<u64>, kept: usize, most: u64) -> Limited<Counted> {
        let (words, total) = (self.layout.state(), AtomicU64::new(0));
        let rows = keys.len() / words;
        let size = if rows > ALONE_ROWS { PIECE_ROWS.min(rows.div_ceil(4)) } else { rows };
        let (all, those) = (&total, &keys);
        let counted = self.each(pieces_of(0..rows, size), |worker, piece| {
            worker.count(&those[piece.start * words..piece.end * words], kept, most, all)
        });
        let counted: Vec<_> = counted.into_iter().collect::<Limited<_>>()?;
        let (counts, pieces): (Vec<_>, _) = counted.into_iter().unzip();
        Ok(Counted { keys, counts: counts.concat(), pieces, size })
    }

    /// Writes the rows `range` of a block to `out`, which has a place for each step.
    pub fn write(
        &mut self,
        block: &Counted,
        range: Range<usize>,
        states: &Index,
        conditions: &Index,
        mut out: Out,
    ) -> Limited<Vec<Written>> {
        let (layout, words) = (self.layout, self.layout.state());
        let hand_out = |(rows, steps)| (rows, steps, out.split(steps, layout));
        let work: Vec<_> = cut(block, range).into_iter().map(hand_out).collect();
        let written = self.each(work, |worker, (rows, steps, out)| {
            let mut pen = Pen { layout, states, conditions, out, at: 0, notes: Notes::default() };
            for row in rows {
                worker.write(&block.keys[row * words..][..words], block.row(row), &mut pen)?;
            }
            Ok((steps, pen.notes))
        });
        written.into_iter().collect()
    }

    /// Does `work` on each item, in parallel if there are several; results are in order.
    pub fn each<T: Send, R: Send>(
        &mut self,
        items: Vec<T>,
        work: impl Fn(&mut Worker<'a, S>, T) -> R + Sync,
    ) -> Vec<R> {
        let worker = &mut self.worker;
        if items.len() <= 1 {
            return items.into_iter().map(|item| work(worker, item)).collect();
        }
        let (plan, layout, limits) = (worker.plan, worker.layout, worker.limits);
        let new = || Worker::new(plan, layout, limits);
        items.into_par_iter().map_init(new, |worker, item| work(worker, item)).collect()
    }
}

/// Cuts rows into pieces for the workers: which rows, and how many steps they have.
fn cut(block: &Counted, range: Range<usize>) -> Vec<(Range<usize>, usize)> {
    let counts = &block.counts[range.clone()];
    let alone = counts.len() <= ALONE_ROWS && counts.iter().sum::<u128>() <= PIECE as u128;
    let mut pieces = Vec::new();
    let mut from = 0;
    while from < counts.len() {
        let rest = &counts[from..];
        let many = if alone { rest.len() } else { fitting(rest, PIECE, PIECE_ROWS) };
        let steps = rest[..many].iter().sum::<u128>() as usize;
        pieces.push((range.start + from..range.start + from + many, steps));
        from += many;
    }
    pieces
}

/// How many of the first rows have at most that many steps, or one if it alone has more.
pub(super) fn fitting(counts: &[u128], steps: usize, rows: usize) -> usize {
    let mut sum = 0_u128;
    let fits = |count: &&u128| {
        sum = sum.saturating_add(**count);
        sum <= steps as u128
    };
    counts.iter().take(rows).take_while(fits).count().max(1)
}

pub(super) fn pieces_of(range: Range<usize>, size: usize) -> Vec<Range<usize>> {
    let end = range.end;
    range.step_by(size.max(1)).map(|from| from..end.min(from + size)).collect()
}

/// Where each row's steps end, if the first one's begin at 0.
pub(super) fn ends(counts: &[u128]) -> impl ExactSizeIterator<Item = usize> {
    let mut end = 0;
    counts.iter().map(move |count| {
        end += *count as usize;
        end
    })
}

/// Adds zeros, in parallel if there are many: touching fresh memory is most of the cost.
pub(super) fn extend<T: Copy + Default + Send + Sync>(vec: &mut Vec<T>, many: usize) {
    if many <= PIECE {
        vec.resize(vec.len() + many, T::default());
    } else {
        vec.par_extend(rayon::iter::repeat_n(T::default(), many));
    }
}
