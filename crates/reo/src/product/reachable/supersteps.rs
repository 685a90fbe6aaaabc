//! The states of a product and their steps in supersteps, without keeping the steps.
//!
//! A superstep takes as many states as have steps for which there is room. Targets are first
//! numbered by a table of recently seen states; the [`StateStore`] resolves those that the table
//! does not know, all at once and in the order found. The table is emptied when full, so the
//! numbers do not depend on its size.

use std::ops::Range;

use rayon::prelude::*;

use super::external::{self, StateStore, StreamError, UNKNOWN};
use super::index::{Budget, Index};
use super::layout::Layout;
use super::plan::Plan;
use super::worker::KEPT;
use super::worker_pool::{Counted, WorkerPool, ends, extend, fitting};
use super::write::{Conditions, Out, note_bytes};
use crate::limits::{ProductLimits, Stopped};

/// Most rows that are worked on together.
const ROWS: usize = 1 << 10;
/// Rows to begin with, when nothing is known of how long they are.
const INITIAL_ROWS: usize = 64;
/// Words for what is kept of rows from when they are counted until they are written.
const KEPT_WORDS: usize = KEPT << 10;
/// Most steps that are made together.
const STEPS: usize = 1 << 22;

/// How memory is shared out.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// Steps that are made together.
    steps: usize,
    /// States that the table has room for, and the bytes that it may take.
    states: usize,
    table: u64,
    /// Words of what is kept of rows.
    kept: usize,
}

impl Room {
    /// In eighths: one for what is kept of rows, three for steps, three for states.
    fn new(layout: impl Layout, memory: u128, keys: bool) -> Room {
        let eighth = usize::try_from(memory / 8).unwrap_or(usize::MAX / 8);
        let kept = (eighth / (3 * 8)).min(KEPT_WORDS);
        let words = layout.state();
        // A hash table has up to four places for each entry, and half as much again while it grows;
        // what it grows to is not known, so keys may have half as much room again as they need.
        let each = 4 * 8 + 2 * 8 + 12 * words + 4 + external::bytes_each(words);
        // A table with a place for each key that there can be takes up to a quarter.
        let states = (3 * eighth).saturating_sub(external::BYTES) / 4 * 3 / each;
        let steps = (3 * eighth / step_bytes(layout, keys)).min(STEPS).min(states / 2);
        let table = (3 * eighth - (3 * eighth).min(states * external::bytes_each(words))) as u64;
        Room { steps, states, table, kept }
    }
}

/// Bytes of one step while it is made, with what may be noted of it.
fn step_bytes(layout: impl Layout, keys: bool) -> usize {
    let condition = if keys { 8 * layout.condition() } else { 0 };
    4 + 8 * layout.label() + condition + note_bytes(layout) as usize
}

#[derive(Debug, Clone, Default)]
pub(super) struct StepRows {
    pub ends: Vec<usize>,
    pub targets: Vec<u32>,
    pub labels: Vec<u64>,
    /// Conditions as they are packed, if they are requested.
    pub conditions: Vec<u64>,
}

/// The steps of some states, with the number of the first; or that a superstep is over.
pub(super) type Handed<'m> = Option<(usize, &'m StepRows)>;

/// Takes what is handed on, and returns whether to go on.
pub(super) type Take<'t, F> =
    dyn FnMut(&mut F, Handed<'_>) -> Result<bool, StreamError> + Send + 't;

pub(super) struct Supersteps<'a, S, F> {
    pool: WorkerPool<'a, S>,
    limits: &'a ProductLimits<'a>,
    room: Room,
    /// The states that memory knows, numbered by itself.
    near: Index,
    table: Budget<'a>,
    numbers: Vec<u32>,
    /// Knows none: conditions are not numbered here.
    conditions: Index,
    /// Whether conditions are requested.
    keys: bool,
    store: F,
    made: StepRows,
    rows: u64,
    steps: u64,
}

impl<'a, S: Layout, F: StateStore> Supersteps<'a, S, F> {
    /// Begins with the states `initial`, which get the first numbers; `keys` requests conditions.
    pub fn new(
        plan: &'a Plan,
        layout: S,
        limits: &'a ProductLimits<'a>,
        keys: bool,
        initial: &[Vec<u64>],
        store: F,
    ) -> Result<Self, StreamError> {
        limits.fits("the parts of the product", plan.bytes())?;
        let keys = keys && layout.condition() > 0;
        let room = Room::new(layout, u128::from(limits.memory) - plan.bytes(), keys);
        let mut table = Budget::within(limits, room.table);
        let mut supersteps = Supersteps {
            pool: WorkerPool::new(plan, layout, limits),
            limits,
            room,
            near: Index::new(&plan.states, "the states of the product", &mut table)?,
            conditions: Index::new(&plan.conditions, "no condition", &mut Budget::new(limits))?,
            table,
            numbers: Vec::new(),
            keys,
            store,
            made: StepRows::default(),
            rows: 0,
            steps: 0,
        };
        for key in initial {
            supersteps.near.number(key, &mut supersteps.table)?;
        }
        supersteps.resolve()?;
        Ok(supersteps)
    }

    /// Makes all states and their steps, and gives them to `take` as long as it returns true. How
    /// many states there are, and how many steps were made here; 0 of both if it returned false.
    pub fn run(mut self, take: &mut Take<'_, F>) -> Result<(u64, u64), StreamError> {
        while let Some(offer) = self.store.next(self.rows_wanted())? {
            let rows = offer.keys.len() / self.pool.layout.state();
            let block = self.count(offer.keys, rows)?;
            let fitting = if rows == 0 { 0 } else { fitting(&block.counts, self.room.steps, rows) };
            let rows = self.store.take(fitting, rows);
            let batches = self.batches(&block, rows)?;
            self.make_room(&block.counts[..rows])?;
            for batch in &batches {
                self.find(&block, batch.clone())?;
            }
            self.resolve()?;
            let again = batches.len() > 1;
            for batch in batches {
                let first = offer.first + batch.start;
                if again {
                    self.find(&block, batch)?;
                }
                self.name();
                self.limits.go_on_from(None, self.store.states() as u64, self.steps)?;
                if !take(&mut self.store, Some((first, &self.made)))? {
                    return Ok((0, 0));
                }
            }
            if !take(&mut self.store, None)? {
                return Ok((0, 0));
            }
        }
        Ok((self.store.states() as u64, self.steps))
    }

    fn count(&mut self, keys: Vec<u64>, rows: usize) -> Result<Counted, StreamError> {
        let kept = (self.room.kept / rows.max(1)).min(KEPT);
        let most = (self.room.steps as u64).saturating_mul(rows as u64);
        Ok(self.pool.count(keys, kept, most)?)
    }

    /// As many rows as may have the steps for which there is room, judged by those before.
    fn rows_wanted(&self) -> usize {
        if self.rows == 0 {
            return INITIAL_ROWS;
        }
        let mean = (self.steps / self.rows).max(1) as usize;
        (self.room.steps / mean).clamp(1, ROWS)
    }

    /// Parts of the rows that fit into memory in turn.
    fn batches(&self, block: &Counted, rows: usize) -> Result<Vec<Range<usize>>, StreamError> {
        let counts = &block.counts[..rows];
        let mut batches = Vec::new();
        let mut from = 0;
        while from < rows {
            let to = from + fitting(&counts[from..], self.room.steps, rows);
            if counts[from] > self.room.steps as u128 {
                let bytes = step_bytes(self.pool.layout, self.keys) as u128 * 8 / 3;
                let needed =
                    counts[from].saturating_mul(bytes).max(u128::from(self.limits.memory) + 1);
                self.limits.fits("the steps of one state of the product", needed)?;
            }
            batches.push(from..to);
            from = to;
        }
        Ok(batches)
    }

    /// Empties the table if it may not have room for what these rows lead to.
    fn make_room(&mut self, counts: &[u128]) -> Result<(), StreamError> {
        let steps = counts.iter().sum::<u128>();
        if self.near.len() as u128 + steps > self.room.states as u128 {
            let needed = u128::from(self.limits.memory) + 1;
            let limit = self.limits.memory;
            let full = Stopped::Memory { what: "the states of the product", needed, limit };
            self.store.forget(full)?;
            self.near.clear();
            self.numbers.clear();
        }
        Ok(())
    }

    /// Writes the steps of some rows, with memory's own numbers of the states that they lead to.
    fn find(&mut self, block: &Counted, rows: Range<usize>) -> Result<(), StreamError> {
        let (made, layout) = (&mut self.made, self.pool.layout);
        made.ends.clear();
        made.ends.extend(ends(&block.counts[rows.clone()]));
        let end = made.ends.last().copied().unwrap_or(0);
        renew(&mut made.targets, end);
        renew(&mut made.labels, end * layout.label());
        let width = if self.keys { layout.condition() } else { 0 };
        renew(&mut made.conditions, end * width);
        let out = Out {
            targets: &mut made.targets,
            labels: &mut made.labels,
            conditions: if width > 0 {
                Conditions::Keys(&mut made.conditions)
            } else {
                Conditions::Left
            },
        };
        let written = self.pool.write(block, rows, &self.near, &self.conditions, out)?;
        let mut at = 0;
        for (steps, notes) in written {
            let new = notes.states;
            let keys = new.keys.chunks_exact(layout.state());
            for (place, key) in new.places.into_iter().zip(keys) {
                made.targets[at + place] = self.near.number(key, &mut self.table)?;
            }
            at += steps;
        }
        Ok(())
    }

    /// Asks for the numbers of the states that are new to memory.
    fn resolve(&mut self) -> Result<(), StreamError> {
        let (before, after) = (self.numbers.len(), self.near.len());
        self.numbers.resize(after, UNKNOWN);
        self.store.resolve(self.near.keys(before..after), &mut self.numbers[before..])
    }

    /// Puts the numbers of states in the place of memory's own.
    fn name(&mut self) {
        self.rows += self.made.ends.len() as u64;
        self.steps += self.made.targets.len() as u64;
        if !self.store.is_whole() {
            let numbers = &self.numbers;
            self.made.targets.par_iter_mut().for_each(|at| *at = numbers[*at as usize]);
        }
    }
}

/// Makes that many zeros of what is there.
fn renew<T: Copy + Default + Send + Sync>(vec: &mut Vec<T>, many: usize) {
    if vec.len() >= many {
        // All of it is written anew.
        vec.truncate(many);
    } else {
        let more = many - vec.len();
        extend(vec, more);
    }
}
