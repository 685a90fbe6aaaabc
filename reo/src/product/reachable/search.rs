//! All states: breadth first, many at a time.
//!
//! A block of states that are numbered but have no row yet is worked on in three passes. First the
//! rows are counted, in parallel; so the memory for them is known before it is taken. Then they are
//! written in parallel, each worker into its own piece of the result; numbers of states and
//! conditions that are known already are written at once, the others are noted. Last, one thread goes
//! through the notes in the order of the rows and gives the new ones their numbers. As numbers are
//! given in the order of the rows and rows depend on nothing but their state, neither the threads
//! nor the size of the blocks can be seen in the result.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use super::index::{Budget, Index};
use super::layout::Layout;
use super::plan::Plan;
use super::worker::{KEPT, Listed, Worker};
use super::write::{Notes, Out, Pen};
use crate::automaton::Rows;
use crate::limits::{Limits, Progress, Stopped};

/// Rows that are counted together.
const BLOCK: usize = 1024;
/// Steps that are written together, if more than one row has them.
const BATCH: usize = 1 << 20;
/// Steps, or rows, after which a worker's piece ends: large beside the cost of handing it out.
const PIECE: usize = 1 << 14;
const PIECE_ROWS: usize = 128;
/// Up to so many rows with so many steps are not handed out at all.
const ALONE_ROWS: usize = 32;

/// How large a product is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// States that can be reached.
    pub states: u64,
    /// Steps that leave them; `u128::MAX` stands for that many or more.
    pub transitions: u128,
}

/// The search, and what it has found.
pub(super) struct Search<'a, S> {
    layout: S,
    limits: &'a Limits<'a>,
    budget: Budget<'a>,
    states: Index,
    conditions: Index,
    rows: Rows,
    /// For small blocks, which this thread works on itself.
    worker: Worker<'a, S>,
}

/// What a search has found; the conditions of the rows are numbers of `conditions`.
pub(super) struct Found<'a> {
    pub limits: &'a Limits<'a>,
    pub budget: Budget<'a>,
    pub rows: Rows,
    /// The keys of the conditions, in the order of their numbers.
    pub conditions: Vec<u64>,
}

impl<'a, S: Layout> Search<'a, S> {
    /// A search that knows the initial states.
    pub fn new(plan: &'a Plan, layout: S, limits: &'a Limits<'a>) -> Result<Self, Stopped> {
        let mut budget = Budget::new(limits);
        budget.take("the parts of the product", plan.bytes())?;
        let mut states = Index::new(&plan.states, "the states of the product", &mut budget)?;
        for key in &plan.initial {
            states.number(key, &mut budget)?;
        }
        let what = "the conditions of the product";
        let mut conditions = Index::new(&plan.conditions, what, &mut budget)?;
        // Number 0 is `true`.
        conditions.number(&vec![0; plan.conditions.words], &mut budget)?;
        let rows = Rows { rows: vec![0], ..Rows::default() };
        let worker = Worker::new(plan, layout, limits);
        Ok(Search { layout, limits, budget, states, conditions, rows, worker })
    }

    /// Finds all states and their rows.
    pub fn compose(&mut self) -> Result<(), Stopped> {
        let mut next = 0;
        while next < self.states.len() {
            let block = next..self.states.len().min(next + BLOCK);
            next = block.end;
            let kept = (block.len() * KEPT * 8 * 3) as u128;
            self.budget.take("rows in work", kept)?;
            let block = self.count_rows(block)?;
            let mut from = 0;
            while from < block.counts.len() {
                let to = from + fitting(&block.counts[from..], BATCH, usize::MAX);
                self.write_rows(&block, from..to)?;
                from = to;
                self.tell(self.rows.targets.len() as u64)?;
            }
            self.budget.give(kept);
        }
        Ok(())
    }

    /// Hands out what was found.
    pub fn done(self) -> Found<'a> {
        let Search { limits, mut budget, states, conditions, mut rows, .. } = self;
        budget.give(states.bytes());
        drop(states);
        rows.targets.shrink_to_fit();
        rows.labels.shrink_to_fit();
        rows.conditions.shrink_to_fit();
        Found { limits, budget, rows, conditions: conditions.into_keys() }
    }

    /// Finds all states and counts their steps.
    pub fn count(&mut self) -> Result<Count, Stopped> {
        let (mut next, mut transitions) = (0, 0_u128);
        while next < self.states.len() {
            let block = next..self.states.len().min(next + BLOCK);
            next = block.end;
            let pieces: Vec<Range<usize>> = pieces_of(block, PIECE_ROWS);
            let states = &self.states;
            let found = each(pieces, &mut self.worker, |worker, piece| worker.reach(piece, states));
            for found in found {
                let (steps, new) = found?;
                transitions = transitions.saturating_add(steps);
                for key in new.keys.chunks_exact(self.layout.state()) {
                    self.states.number(key, &mut self.budget)?;
                }
            }
            self.tell(u64::try_from(transitions).unwrap_or(u64::MAX))?;
        }
        Ok(Count { states: self.states.len() as u64, transitions })
    }

    fn tell(&self, transitions: u64) -> Result<(), Stopped> {
        self.limits.go_on()?;
        let states = self.states.len() as u64;
        (self.limits.progress)(Progress { blocks: None, states, transitions });
        Ok(())
    }

    /// Bytes of one step in the result.
    fn step_bytes(&self) -> usize {
        let condition = if self.layout.condition() > 0 { 4 } else { 0 };
        4 + 8 * self.layout.label() + condition
    }

    /// How many steps each of some rows has, if there is memory for them.
    fn count_rows(&mut self, range: Range<usize>) -> Result<Block, Stopped> {
        let step = self.step_bytes() as u128;
        let most = u64::try_from(self.budget.left() / step).unwrap_or(u64::MAX);
        let (first, rows, total) = (range.start, range.len(), AtomicU64::new(0));
        let size = if rows > ALONE_ROWS { PIECE_ROWS.min(rows.div_ceil(4)) } else { rows };
        let (states, all) = (&self.states, &total);
        let counted = each(pieces_of(range, size), &mut self.worker, |worker, piece| {
            worker.count(piece, states, most, all)
        });
        let mut counts = Vec::with_capacity(rows);
        let mut pieces = Vec::with_capacity(counted.len());
        for piece in counted {
            let (some, listed) = piece?;
            counts.extend(some);
            pieces.push(listed);
        }
        // More than `most` in all is seen by every order of the workers, if not by the same one; so
        // the answer tells no more than that, but for a row that was alone.
        let known = if rows == 1 { counts[0] } else { u128::from(most) + 1 };
        if counts.iter().fold(0, |sum: u128, c| sum.saturating_add(*c)) > u128::from(most) {
            let bytes = self.budget.used().saturating_add(known.saturating_mul(step));
            self.limits.fits("the steps of the product", bytes)?;
        }
        let counts = counts.into_iter().map(|count| count as usize).collect();
        Ok(Block { first, counts, pieces, size })
    }

    /// Writes some of the rows of a block.
    fn write_rows(&mut self, block: &Block, range: Range<usize>) -> Result<(), Stopped> {
        let counts = &block.counts[range.clone()];
        let (total, before) = (counts.iter().sum::<usize>(), self.rows.targets.len());
        let notes = total as u128 * self.note_bytes();
        self.budget.take("the new states of the product", notes)?;
        self.make_room(counts, total)?;
        let pieces = self.cut(range.start, counts, before);
        let (states, conditions) = (&self.states, &self.conditions);
        let (Rows { targets, labels, conditions: numbers, .. }, layout) =
            (&mut self.rows, self.layout);
        let mut out = Out {
            targets: &mut targets[before..],
            labels: &mut labels[before * layout.label()..],
            conditions: if layout.condition() > 0 { &mut numbers[before..] } else { &mut [] },
        };
        let hand_out = |piece: &Piece| (piece.rows.clone(), out.split(piece.steps, layout));
        let work: Vec<_> = pieces.iter().map(hand_out).collect();
        let written = each(work, &mut self.worker, |worker, (piece, out)| {
            let mut pen = Pen { layout, states, conditions, out, at: 0, notes: Notes::default() };
            for row in piece {
                worker.write(states.key(block.first + row), block.row(row), &mut pen)?;
            }
            Ok(pen.notes)
        });
        let mut at = before;
        for (piece, notes) in pieces.iter().zip(written) {
            self.enter(at, &notes?)?;
            at += piece.steps;
        }
        self.budget.give(notes);
        Ok(())
    }

    /// Bytes for each step that may be needed to note what is new; a vector may have twice the
    /// room that it uses.
    fn note_bytes(&self) -> u128 {
        let note = |words: usize| if words > 0 { 2 * 8 * (1 + words) } else { 0 };
        (note(self.layout.state()) + note(self.layout.condition())) as u128
    }

    /// Takes the memory for more rows.
    fn make_room(&mut self, counts: &[usize], total: usize) -> Result<(), Stopped> {
        let (what, words) = ("the steps of the product", self.layout.label());
        let Rows { rows, targets, labels, conditions } = &mut self.rows;
        self.budget.room("the rows of the product", rows, counts.len())?;
        self.budget.room(what, targets, total)?;
        self.budget.room(what, labels, total * words)?;
        extend(targets, total);
        extend(labels, total * words);
        if self.layout.condition() > 0 {
            self.budget.room(what, conditions, total)?;
            extend(conditions, total);
        }
        Ok(())
    }

    /// Cuts rows into pieces for the workers, and enters where the rows end.
    fn cut(&mut self, first: usize, counts: &[usize], mut end: usize) -> Vec<Piece> {
        for count in counts {
            end += count;
            self.rows.rows.push(end);
        }
        let total: usize = counts.iter().sum();
        let alone = counts.len() <= ALONE_ROWS && total <= PIECE;
        let mut pieces = Vec::new();
        let mut from = 0;
        while from < counts.len() {
            let rest = &counts[from..];
            let many = if alone { rest.len() } else { fitting(rest, PIECE, PIECE_ROWS) };
            let steps = rest[..many].iter().sum();
            pieces.push(Piece { rows: first + from..first + from + many, steps });
            from += many;
        }
        pieces
    }

    /// Gives numbers to what a piece that begins at `at` found new, and enters them.
    fn enter(&mut self, at: usize, notes: &Notes) -> Result<(), Stopped> {
        let states = notes.states.keys.chunks_exact(self.layout.state());
        for (place, key) in notes.states.places.iter().zip(states) {
            self.rows.targets[at + place] = self.states.number(key, &mut self.budget)?;
        }
        let conditions = notes.conditions.keys.chunks_exact(self.layout.condition().max(1));
        for (place, key) in notes.conditions.places.iter().zip(conditions) {
            self.rows.conditions[at + place] = self.conditions.number(key, &mut self.budget)?;
        }
        Ok(())
    }
}

/// Adds zeros, in parallel if there are many: most of the cost is the system's, for memory that is
/// touched for the first time.
fn extend<T: Copy + Default + Send + Sync>(vec: &mut Vec<T>, many: usize) {
    if many <= PIECE {
        vec.resize(vec.len() + many, T::default());
    } else {
        vec.par_extend(rayon::iter::repeat_n(T::default(), many));
    }
}

/// Rows that have been counted.
struct Block {
    /// The state of the first.
    first: usize,
    counts: Vec<usize>,
    /// What was found when they were counted, so many rows in each piece but the last.
    pieces: Vec<Listed>,
    size: usize,
}

impl Block {
    /// What was kept of a row: the steps of its groups.
    fn row(&self, row: usize) -> Option<(&[u64], &[Range<usize>])> {
        let piece = &self.pieces[row / self.size];
        let groups = piece.rows[row % self.size].clone()?;
        Some((&piece.lists.words, &piece.lists.groups[groups]))
    }
}

/// Rows that one worker writes, counted from the first of the block.
struct Piece {
    rows: Range<usize>,
    steps: usize,
}

/// How many of the first rows have at most so many steps, or one if it alone has more.
fn fitting(counts: &[usize], steps: usize, rows: usize) -> usize {
    let mut sum = 0;
    let fits = |count: &&usize| {
        sum += **count;
        sum <= steps
    };
    counts.iter().take(rows).take_while(fits).count().max(1)
}

fn pieces_of(range: Range<usize>, size: usize) -> Vec<Range<usize>> {
    let end = range.end;
    range.step_by(size.max(1)).map(|from| from..end.min(from + size)).collect()
}

/// Does `work` on each item, in parallel if there are several; results are in the order of items.
fn each<'a, S: Layout, T: Send, R: Send>(
    items: Vec<T>,
    worker: &mut Worker<'a, S>,
    work: impl Fn(&mut Worker<'a, S>, T) -> R + Sync,
) -> Vec<R> {
    if items.len() <= 1 {
        return items.into_iter().map(|item| work(worker, item)).collect();
    }
    let (plan, layout, limits) = (worker.plan, worker.layout, worker.limits);
    let new = || Worker::new(plan, layout, limits);
    items.into_par_iter().map_init(new, |worker, item| work(worker, item)).collect()
}
