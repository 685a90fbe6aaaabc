//! All states in memory: breadth first, in blocks.
//!
//! A block of states without rows takes three passes: rows are counted in parallel, so that their
//! memory is known before it is taken; they are written in parallel, each worker into its part of
//! the result, with notes of states and conditions without numbers; one thread numbers these in the
//! order of the rows. So neither threads nor block sizes show in the result.

use std::ops::Range;

use super::finish::Whole;
use super::index::{Budget, Index};
use super::layout::Layout;
use super::plan::Plan;
use super::worker::KEPT;
use super::worker_pool::{Counted, WorkerPool, ends, extend, fitting};
use super::write::{Conditions, Notes, Out, note_bytes};
use crate::automaton::AutomatonRows;
use crate::limits::{Limited, ProductLimits};

/// Rows that are counted together.
const BLOCK: usize = 1024;
/// Steps that are written together, if more than one row has them.
const BATCH: usize = 1 << 20;

/// How large a product is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProductCount {
    /// States that can be reached.
    pub states: u64,
    /// Steps that leave them; `u128::MAX` means that many or more.
    pub transitions: u128,
}

pub(super) struct Search<'a, S> {
    layout: S,
    states: Index,
    whole: Whole<'a>,
    pool: WorkerPool<'a, S>,
}

impl<'a, S: Layout> Search<'a, S> {
    /// A search that knows the initial states.
    pub fn new(plan: &'a Plan, layout: S, limits: &'a ProductLimits<'a>) -> Limited<Self> {
        let mut budget = Budget::new(limits);
        budget.take("the parts of the product", plan.bytes())?;
        let mut states = Index::new(&plan.states, "the states of the product", &mut budget)?;
        for key in &plan.initial {
            states.number(key, &mut budget)?;
        }
        let whole = Whole::new(plan, limits, budget)?;
        Ok(Search { layout, states, whole, pool: WorkerPool::new(plan, layout, limits) })
    }

    pub fn compose(&mut self) -> Limited<()> {
        let mut next = 0;
        while next < self.states.len() {
            let block = next..self.states.len().min(next + BLOCK);
            next = block.end;
            let kept = (block.len() * KEPT * 8 * 3) as u128;
            self.whole.budget.take("rows in work", kept)?;
            let block = self.count_rows(block)?;
            let mut from = 0;
            while from < block.counts.len() {
                let to = from + fitting(&block.counts[from..], BATCH, usize::MAX);
                self.write_rows(&block, from..to)?;
                from = to;
                let (states, steps) = (self.states.len(), self.whole.rows.targets.len());
                self.whole.limits.go_on_from(None, states as u64, steps as u64)?;
            }
            self.whole.budget.give(kept);
        }
        Ok(())
    }

    pub fn done(self) -> Whole<'a> {
        let Search { states, mut whole, .. } = self;
        whole.budget.give(states.bytes());
        whole.rows.targets.shrink_to_fit();
        whole.rows.labels.shrink_to_fit();
        whole.rows.conditions.shrink_to_fit();
        whole
    }

    fn step_bytes(&self) -> usize {
        let condition = if self.layout.condition() > 0 { 4 } else { 0 };
        4 + 8 * self.layout.label() + condition
    }

    /// How many steps each of some rows has, if there is memory for them.
    fn count_rows(&mut self, range: Range<usize>) -> Limited<Counted> {
        let (step, rows) = (self.step_bytes() as u128, range.len());
        let most = u64::try_from(self.whole.budget.left() / step).unwrap_or(u64::MAX);
        let block = self.pool.count(self.states.keys(range).to_vec(), KEPT, most)?;
        // More than `most` in all is seen by every order of the workers, if not by the same one; so
        // the answer means no more than that, but for a row that was alone.
        let known = if rows == 1 { block.counts[0] } else { u128::from(most) + 1 };
        if block.counts.iter().fold(0, |sum: u128, c| sum.saturating_add(*c)) > u128::from(most) {
            let bytes = self.whole.budget.used().saturating_add(known.saturating_mul(step));
            self.whole.limits.fits("the steps of the product", bytes)?;
        }
        Ok(block)
    }

    fn write_rows(&mut self, block: &Counted, range: Range<usize>) -> Limited<()> {
        let counts = &block.counts[range.clone()];
        let (total, before) = (counts.iter().sum::<u128>() as usize, self.whole.rows.targets.len());
        let notes = total as u128 * note_bytes(self.layout);
        self.whole.budget.take("the new states of the product", notes)?;
        self.make_room(counts, total)?;
        let (states, conditions) = (&self.states, &self.whole.conditions);
        let (AutomatonRows { targets, labels, conditions: numbers, .. }, layout) =
            (&mut self.whole.rows, self.layout);
        let out = Out {
            targets: &mut targets[before..],
            labels: &mut labels[before * layout.label()..],
            conditions: if layout.condition() > 0 {
                Conditions::Numbers(&mut numbers[before..])
            } else {
                Conditions::Left
            },
        };
        let written = self.pool.write(block, range, states, conditions, out)?;
        let mut at = before;
        for (steps, notes) in written {
            self.enter(at, &notes)?;
            at += steps;
        }
        self.whole.budget.give(notes);
        Ok(())
    }

    /// Takes the memory for more rows, and enters where they end.
    fn make_room(&mut self, counts: &[u128], total: usize) -> Limited<()> {
        self.whole.room(ends(counts), total, self.layout)?;
        let AutomatonRows { targets, labels, conditions, .. } = &mut self.whole.rows;
        extend(targets, total);
        extend(labels, total * self.layout.label());
        extend(conditions, if self.layout.condition() > 0 { total } else { 0 });
        Ok(())
    }

    /// Gives numbers to what a piece that begins at `at` found new, and enters them.
    fn enter(&mut self, at: usize, notes: &Notes) -> Limited<()> {
        let states = notes.states.keys.chunks_exact(self.layout.state());
        for (place, key) in notes.states.places.iter().zip(states) {
            self.whole.rows.targets[at + place] =
                self.states.number(key, &mut self.whole.budget)?;
        }
        let conditions = notes.conditions.keys.chunks_exact(self.layout.condition().max(1));
        for (place, key) in notes.conditions.places.iter().zip(conditions) {
            self.whole.rows.conditions[at + place] =
                self.whole.conditions.number(key, &mut self.whole.budget)?;
        }
        Ok(())
    }
}
