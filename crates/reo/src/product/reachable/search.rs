//! All states: breadth first, many at a time.
//!
//! A block of states that are numbered but have no row yet is worked on in three passes. First the
//! rows are counted, in parallel; so the memory for them is known before it is taken. Then they are
//! written in parallel, each worker into its own piece of the result; numbers of states and
//! conditions that are known already are written at once, the others are noted. Last, one thread
//! goes through the notes in the order of the rows and gives the new ones their numbers. As numbers
//! are given in the order of the rows and rows depend on nothing but their state, neither the
//! threads nor the size of the blocks can be seen in the result.

use std::ops::Range;

use super::crew::{Counted, Crew, PIECE_ROWS, extend, fitting, pieces_of};
use super::index::{Budget, Index};
use super::layout::Layout;
use super::plan::Plan;
use super::worker::KEPT;
use super::write::{Conditions, Notes, Out};
use crate::automaton::AutomatonRows;
use crate::limits::{ProductLimits, ProductProgress, Stopped};

/// Rows that are counted together.
const BLOCK: usize = 1024;
/// Steps that are written together, if more than one row has them.
const BATCH: usize = 1 << 20;
/// How large a product is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProductCount {
    /// States that can be reached.
    pub states: u64,
    /// Steps that leave them; `u128::MAX` stands for that many or more.
    pub transitions: u128,
}

/// The search, and what it has found.
pub(super) struct Search<'a, S> {
    layout: S,
    limits: &'a ProductLimits<'a>,
    budget: Budget<'a>,
    states: Index,
    conditions: Index,
    rows: AutomatonRows,
    crew: Crew<'a, S>,
}

/// What a search has found; the conditions of the rows are numbers of `conditions`.
pub(super) struct Found<'a> {
    pub limits: &'a ProductLimits<'a>,
    pub budget: Budget<'a>,
    pub rows: AutomatonRows,
    /// The keys of the conditions, in the order of their numbers.
    pub conditions: Vec<u64>,
}

impl<'a, S: Layout> Search<'a, S> {
    /// A search that knows the initial states.
    pub fn new(plan: &'a Plan, layout: S, limits: &'a ProductLimits<'a>) -> Result<Self, Stopped> {
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
        let rows = AutomatonRows { rows: vec![0], ..AutomatonRows::default() };
        let crew = Crew::new(plan, layout, limits);
        Ok(Search { layout, limits, budget, states, conditions, rows, crew })
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
    pub fn count(&mut self) -> Result<ProductCount, Stopped> {
        let (mut next, mut transitions) = (0, 0_u128);
        while next < self.states.len() {
            let block = next..self.states.len().min(next + BLOCK);
            next = block.end;
            let pieces: Vec<Range<usize>> = pieces_of(block, PIECE_ROWS);
            let states = &self.states;
            let found = self.crew.each(pieces, |worker, piece| worker.reach(piece, states));
            for found in found {
                let (steps, new) = found?;
                transitions = transitions.saturating_add(steps);
                for key in new.keys.chunks_exact(self.layout.state()) {
                    self.states.number(key, &mut self.budget)?;
                }
            }
            self.tell(u64::try_from(transitions).unwrap_or(u64::MAX))?;
        }
        Ok(ProductCount { states: self.states.len() as u64, transitions })
    }

    fn tell(&self, transitions: u64) -> Result<(), Stopped> {
        self.limits.go_on()?;
        let states = self.states.len() as u64;
        (self.limits.progress)(ProductProgress { blocks: None, states, transitions });
        Ok(())
    }

    /// Bytes of one step in the result.
    fn step_bytes(&self) -> usize {
        let condition = if self.layout.condition() > 0 { 4 } else { 0 };
        4 + 8 * self.layout.label() + condition
    }

    /// How many steps each of some rows has, if there is memory for them.
    fn count_rows(&mut self, range: Range<usize>) -> Result<Counted, Stopped> {
        let (step, rows) = (self.step_bytes() as u128, range.len());
        let most = u64::try_from(self.budget.left() / step).unwrap_or(u64::MAX);
        let block = self.crew.count(self.states.keys(range).to_vec(), KEPT, most)?;
        // More than `most` in all is seen by every order of the workers, if not by the same one; so
        // the answer tells no more than that, but for a row that was alone.
        let known = if rows == 1 { block.counts[0] } else { u128::from(most) + 1 };
        if block.counts.iter().fold(0, |sum: u128, c| sum.saturating_add(*c)) > u128::from(most) {
            let bytes = self.budget.used().saturating_add(known.saturating_mul(step));
            self.limits.fits("the steps of the product", bytes)?;
        }
        Ok(block)
    }

    /// Writes some of the rows of a block.
    fn write_rows(&mut self, block: &Counted, range: Range<usize>) -> Result<(), Stopped> {
        let counts = &block.counts[range.clone()];
        let (total, before) = (counts.iter().sum::<u128>() as usize, self.rows.targets.len());
        let notes = total as u128 * note_bytes(self.layout);
        self.budget.take("the new states of the product", notes)?;
        self.make_room(counts, total)?;
        let (states, conditions) = (&self.states, &self.conditions);
        let (AutomatonRows { targets, labels, conditions: numbers, .. }, layout) =
            (&mut self.rows, self.layout);
        let out = Out {
            targets: &mut targets[before..],
            labels: &mut labels[before * layout.label()..],
            conditions: if layout.condition() > 0 {
                Conditions::Numbers(&mut numbers[before..])
            } else {
                Conditions::Left
            },
        };
        let written = self.crew.write(block, range, states, conditions, out)?;
        let mut at = before;
        for piece in written {
            self.enter(at, &piece.notes)?;
            at += piece.steps;
        }
        self.budget.give(notes);
        Ok(())
    }

    /// Takes the memory for more rows, and enters where they end.
    fn make_room(&mut self, counts: &[u128], total: usize) -> Result<(), Stopped> {
        let (what, words) = ("the steps of the product", self.layout.label());
        let AutomatonRows { rows, targets, labels, conditions } = &mut self.rows;
        self.budget.room("the rows of the product", rows, counts.len())?;
        self.budget.room(what, targets, total)?;
        self.budget.room(what, labels, total * words)?;
        let mut end = targets.len();
        rows.extend(counts.iter().map(|count| {
            end += *count as usize;
            end
        }));
        extend(targets, total);
        extend(labels, total * words);
        if self.layout.condition() > 0 {
            self.budget.room(what, conditions, total)?;
            extend(conditions, total);
        }
        Ok(())
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

/// Bytes for each step that may be needed to note what is new; a vector may have twice the
/// room that it uses.
pub(super) fn note_bytes(layout: impl Layout) -> u128 {
    let note = |words: usize| if words > 0 { 2 * 8 * (1 + words) } else { 0 };
    (note(layout.state()) + note(layout.condition())) as u128
}
