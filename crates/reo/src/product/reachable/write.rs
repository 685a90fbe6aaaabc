//! From the steps of groups to the rows of the result.
//!
//! A [`Combiner`] makes the Cartesian product of the groups, a [`Pen`] writes it: labels as they
//! are, numbers of states and conditions where they are known, and notes of what is new.

use std::ops::Range;

use super::index::{Index, Table};
use super::layout::{Layout, add};
use super::plan::Plan;
use super::walk::Visit;
use crate::limits::{Limited, ProductLimits};

/// Most steps of the block of combinations that is made once for a row: fits in a near cache.
const COMBINED: usize = 1 << 11;

/// Bytes for each step to note what is new; a vector may have twice the room that it uses.
pub(super) fn note_bytes(layout: impl Layout) -> u128 {
    let note = |words: usize| if words > 0 { 2 * 8 * (1 + words) } else { 0 };
    (note(layout.state()) + note(layout.condition())) as u128
}

/// Where a piece of the result goes.
pub(super) struct Out<'b> {
    pub targets: &'b mut [u32],
    pub labels: &'b mut [u64],
    pub conditions: Conditions<'b>,
}

/// Where the conditions of a piece go.
pub(super) enum Conditions<'b> {
    /// Nowhere: there are none, or they are not needed.
    Left,
    Numbers(&'b mut [u32]),
    /// As they are packed, word by word.
    Keys(&'b mut [u64]),
}

impl<'b> Out<'b> {
    /// Takes the place of that many steps off the front.
    pub fn split(&mut self, steps: usize, layout: impl Layout) -> Out<'b> {
        Out {
            targets: front(&mut self.targets, steps),
            labels: front(&mut self.labels, steps * layout.label()),
            conditions: match &mut self.conditions {
                Conditions::Left => Conditions::Left,
                Conditions::Numbers(all) => Conditions::Numbers(front(all, steps)),
                Conditions::Keys(all) => Conditions::Keys(front(all, steps * layout.condition())),
            },
        }
    }
}

fn front<'b, T>(slice: &mut &'b mut [T], many: usize) -> &'b mut [T] {
    let (front, rest) = std::mem::take(slice).split_at_mut(many);
    *slice = rest;
    front
}

/// What a piece found that has no number yet: where, counted from the start of the piece, and what.
#[derive(Default)]
pub(super) struct New {
    pub places: Vec<usize>,
    pub keys: Vec<u64>,
}

#[derive(Default)]
pub(super) struct Notes {
    pub states: New,
    pub conditions: New,
}

/// All combinations of the steps of groups: a block of those of the first groups, which is made
/// once for a row, and the other groups, which take turns.
pub(super) struct Combiner<S> {
    layout: S,
    /// The state itself, as a vector.
    pub base: Vec<u64>,
    /// The state, and those who take turns.
    with: Vec<u64>,
    block: Vec<u64>,
    turns: Vec<Turn>,
}

/// A group outside the block: where its steps are, and at which it is.
struct Turn {
    steps: Range<usize>,
    at: usize,
}

impl<S: Layout> Combiner<S> {
    pub fn new(layout: S) -> Self {
        let (base, with, block, turns) = Default::default();
        Combiner { layout, base, with, block, turns }
    }

    pub fn begin(&mut self, key: &[u64], lists: &[u64], ranges: &[Range<usize>]) {
        let all = self.layout.all();
        self.base.clear();
        self.base.resize(all, 0);
        self.base[self.layout.label()..][..key.len()].copy_from_slice(key);
        self.block.clear();
        self.block.resize(all, 0);
        self.turns.clear();
        for steps in ranges {
            let many = steps.len() / all;
            let fits = self.block.len() == all || self.block.len() * many <= COMBINED * all;
            if self.turns.is_empty() && fits {
                self.times(&lists[steps.clone()]);
            } else {
                self.turns.push(Turn { steps: steps.clone(), at: steps.start });
            }
        }
    }

    /// The block with each of the steps of one more group; the first is "no step".
    fn times(&mut self, list: &[u64]) {
        let (all, before) = (self.layout.all(), self.block.len());
        if before == all {
            // Nothing but "no step" so far.
            self.block.extend_from_slice(&list[all..]);
            return;
        }
        self.block.reserve(before * (list.len() / all - 1));
        for step in list.chunks_exact(all).skip(1) {
            let from = self.block.len();
            self.block.extend_from_within(..before);
            self.block[from..].chunks_exact_mut(all).for_each(|sum| add(sum, step));
        }
    }
}

/// The next combination of those who take turns; false after the last, all at their start.
fn turn(turns: &mut [Turn], all: usize) -> bool {
    for turn in turns {
        turn.at += all;
        if turn.at < turn.steps.end {
            return true;
        }
        turn.at = turn.steps.start;
    }
    false
}

/// Writes all combinations, for each step of a group that was too large to be listed.
pub(super) struct Write<'b, 'c, S> {
    pub combiner: &'b mut Combiner<S>,
    pub lists: &'b [u64],
    pub plan: &'b Plan,
    pub limits: &'b ProductLimits<'b>,
    pub pen: &'b mut Pen<'c, S>,
    /// Words of the block not to be written the next time.
    pub skip: usize,
}

impl<S: Layout> Write<'_, '_, S> {
    pub fn combine(&mut self, sum: &[u64], more: &[u64]) -> Limited<()> {
        let Combiner { layout, base, with, block, turns } = &mut *self.combiner;
        loop {
            with.clone_from(base);
            add(with, sum);
            add(with, more);
            for turn in turns.iter() {
                add(with, &self.lists[turn.at..][..layout.all()]);
            }
            self.pen.write(with, &block[std::mem::take(&mut self.skip)..]);
            if !turn(turns, layout.all()) {
                return Ok(());
            }
            self.limits.go_on()?;
        }
    }
}

impl<S: Layout> Visit for Write<'_, '_, S> {
    fn visit(&mut self, sum: &[u64], nothing: bool, options: &[u32]) -> Limited<bool> {
        if nothing {
            self.combine(sum, &[])?;
        }
        for option in options {
            self.combine(sum, self.plan.vector_of(self.combiner.layout, *option))?;
        }
        Ok(true)
    }
}

/// Writes steps into a piece of the result.
pub(super) struct Pen<'b, S> {
    pub layout: S,
    pub states: &'b Index,
    pub conditions: &'b Index,
    pub out: Out<'b>,
    pub at: usize,
    pub notes: Notes,
}

impl<S: Layout> Pen<'_, S> {
    /// Steps whose vectors are those of `block`, each plus `base`.
    #[inline]
    pub fn write(&mut self, base: &[u64], block: &[u64]) {
        let (layout, at) = (self.layout, self.at);
        let (words, all) = (layout.label(), layout.all());
        let many = block.len() / all;
        self.at += many;
        let labels = self.out.labels[at * words..][..many * words].chunks_exact_mut(words);
        for (label, step) in labels.zip(block.chunks_exact(all)) {
            (0..words).for_each(|w| label[w] = base[w].wrapping_add(step[w]));
        }
        let state = Column { from: words, words: layout.state(), all, base, block };
        state.write(self.states, &mut self.out.targets[at..][..many], at, &mut self.notes.states);
        let (from, width) = (words + layout.state(), layout.condition());
        let condition = Column { from, words: width, all, base, block };
        match &mut self.out.conditions {
            Conditions::Left => {}
            Conditions::Numbers(out) => {
                let out = &mut out[at..][..many];
                condition.write(self.conditions, out, at, &mut self.notes.conditions);
            }
            Conditions::Keys(out) => {
                let keys = out[at * width..][..many * width].chunks_exact_mut(width);
                for (key, step) in keys.zip(block.chunks_exact(all)) {
                    key.copy_from_slice(&base[from..][..width]);
                    add(key, &step[from..][..width]);
                }
            }
        }
    }
}

/// The words `from..from + words` of some vectors.
struct Column<'b> {
    from: usize,
    words: usize,
    all: usize,
    base: &'b [u64],
    block: &'b [u64],
}

impl Column<'_> {
    /// Writes the numbers of the keys in this column; notes those that have none, from place `at`.
    #[inline(always)]
    fn write(&self, index: &Index, out: &mut [u32], at: usize, new: &mut New) {
        let steps = self.block.chunks_exact(self.all);
        let base = &self.base[self.from..][..self.words];
        if let Table::Direct(numbers) = &index.table {
            for (place, (out, step)) in out.iter_mut().zip(steps).enumerate() {
                let key = base[0].wrapping_add(step[self.from]);
                let found = numbers[key as usize];
                *out = found.wrapping_sub(1);
                if found == 0 {
                    new.places.push(at + place);
                    new.keys.push(key);
                }
            }
            return;
        }
        for (place, (out, step)) in out.iter_mut().zip(steps).enumerate() {
            let from = new.keys.len();
            new.keys.extend_from_slice(base);
            add(&mut new.keys[from..], &step[self.from..][..self.words]);
            let found = index.find(&new.keys[from..]);
            *out = found.wrapping_sub(1);
            if found == 0 {
                new.places.push(at + place);
            } else {
                new.keys.truncate(from);
            }
        }
    }
}
