//! A product as sparse rows, without its matrix.
//!
//! From the factors in two passes, one that counts and one that fills; or from rows of cells that a
//! device makes.

use rayon::prelude::*;

use super::checksum::Checksum;
use super::matrix::{DenseError, DenseResult, EMPTY, STEP_BYTES, assemble, sparse_rows};
use super::plan::DensePlan;
use super::sizes::Sizes;
use super::stream::RowsOf;
use crate::automaton::{Automaton, AutomatonRows};
use crate::limits::{Limited, ProductLimits};

/// With idle loops or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SparseForm {
    /// Each state has a loop in which no name fires.
    Algebraic,
    /// No state has.
    Standard,
}

/// The steps of each state of a factor: target and label.
struct Sparse {
    ends: Vec<usize>,
    steps: Vec<(u32, u64)>,
}

impl Sparse {
    fn new(cells: &[u64], states: usize, slots: usize) -> Sparse {
        let (mut ends, mut steps) = (vec![0], Vec::new());
        for row in cells.chunks_exact((states * slots).max(1)) {
            let here = row.iter().enumerate().filter(|(_, label)| **label != EMPTY);
            steps.extend(here.map(|(at, label)| ((at / slots) as u32, *label)));
            ends.push(steps.len());
        }
        Sparse { ends, steps }
    }

    fn row(&self, state: usize) -> &[(u32, u64)] {
        &self.steps[self.ends[state]..self.ends[state + 1]]
    }
}

/// A product whose rows can be listed.
struct Lister {
    left: Sparse,
    right: Sparse,
    right_states: usize,
    mask: u64,
    form: SparseForm,
}

impl Lister {
    /// The steps of state `row`: label and target.
    fn steps(&self, row: usize) -> impl Iterator<Item = (u64, u32)> {
        let m = self.right_states;
        let right = self.right.row(row % m);
        let joint = self.left.row(row / m).iter().flat_map(move |(p, a)| {
            let agree = right.iter().filter(move |(_, b)| (a ^ b) & self.mask == 0);
            agree.map(move |(q, b)| (a | b, p * m as u32 + q))
        });
        // Without names nothing but idling is left.
        joint.filter(|(label, _)| self.form == SparseForm::Algebraic || *label != 0)
    }
}

/// States that a thread lists before it looks whether to stop.
const BLOCK: usize = 256;

impl DensePlan {
    /// How many transitions the product has, with idle loops, in closed form: no cell is made.
    pub fn transitions(&self, form: SparseForm) -> u64 {
        let idle = if form == SparseForm::Standard { self.sizes.states() as u64 } else { 0 };
        self.checksum().steps.saturating_sub(idle)
    }

    /// The product as sparse rows, by threads; steps in the order of their labels and targets.
    pub fn automaton(&self, form: SparseForm, limits: &ProductLimits) -> DenseResult<Automaton> {
        let states = self.sizes.states();
        let mut rows = self.room(form, limits)?;
        let Sizes { left_states, left_slots, right_states, right_slots } = self.sizes;
        let left = Sparse::new(&self.left, left_states, left_slots);
        let right = Sparse::new(&self.right, right_states, right_slots);
        let lister = Lister { left, right, right_states, mask: self.mask, form };
        rows.rows = count(&lister, states, limits)?;
        let steps = rows.rows.last().copied().unwrap_or(0);
        rows.targets.resize(steps, 0);
        rows.labels.resize(steps, 0);
        list(&lister, &mut rows, limits)?;
        Ok(assemble(&self.alphabet, &self.initial, rows))
    }
}

impl DensePlan {
    /// Sparse rows with room for all of the product, to which [`AutomatonRows::append`] adds.
    pub fn room(&self, form: SparseForm, limits: &ProductLimits) -> DenseResult<AutomatonRows> {
        let (states, steps) = (self.sizes.states(), self.transitions(form));
        let bytes = u128::from(steps) * STEP_BYTES + 8 * (states as u128 + 1);
        limits.fits("the sparse rows", bytes)?;
        let full = |_| DenseError::Allocation("the sparse rows", bytes);
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        let mut rows = AutomatonRows { rows: vec![0], ..AutomatonRows::default() };
        rows.rows.try_reserve_exact(states).map_err(full)?;
        rows.targets.try_reserve_exact(steps).map_err(full)?;
        rows.labels.try_reserve_exact(steps).map_err(full)?;
        Ok(rows)
    }

    /// The automaton of all rows of the product.
    ///
    /// # Errors
    /// The rows are not as many.
    pub fn assembled(&self, rows: AutomatonRows) -> DenseResult<Automaton> {
        let (found, needed) = (rows.rows.len().saturating_sub(1), self.sizes.states());
        if found != needed {
            return Err(DenseError::Cells { found, needed });
        }
        Ok(assemble(&self.alphabet, &self.initial, rows))
    }
}

impl RowsOf<'_> {
    /// These rows without empty slots, the steps of each by their labels and targets.
    pub fn sparse(&self, form: SparseForm) -> AutomatonRows {
        let is_kept = |label| form == SparseForm::Algebraic || label != 0;
        sparse_rows(self.cells, self.sizes.row().max(1), self.sizes.slots(), is_kept)
    }

    /// What [`DensePlan::checksum`] is the sum of, over these rows.
    pub fn checksum(&self) -> Checksum {
        Checksum::of(self.cells, (self.first * self.sizes.row()) as u64)
    }
}

/// Where each state's steps begin, and where the last one's end.
fn count(lister: &Lister, states: usize, limits: &ProductLimits) -> Limited<Vec<usize>> {
    let mut ends = vec![0; states + 1];
    ends[1..].par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, counts)| {
        limits.go_on()?;
        for (row, count) in (block * BLOCK..).zip(counts) {
            *count = lister.steps(row).count();
        }
        Ok(())
    })?;
    let mut end = 0;
    for count in &mut ends {
        end += *count;
        *count = end;
    }
    Ok(ends)
}

/// One block of states, with the part of the result that is theirs.
struct Block<'a> {
    first: usize,
    ends: &'a [usize],
    targets: &'a mut [u32],
    labels: &'a mut [u64],
}

fn list(lister: &Lister, rows: &mut AutomatonRows, limits: &ProductLimits) -> Limited<()> {
    let (mut targets, mut labels) = (rows.targets.as_mut_slice(), rows.labels.as_mut_slice());
    let mut blocks = Vec::new();
    let states = rows.rows.len() - 1;
    for first in (0..states).step_by(BLOCK) {
        let ends = &rows.rows[first..=states.min(first + BLOCK)];
        let steps = ends[ends.len() - 1] - ends[0];
        let (here, after) = targets.split_at_mut(steps);
        let (labels_here, labels_after) = labels.split_at_mut(steps);
        blocks.push(Block { first, ends, targets: here, labels: labels_here });
        (targets, labels) = (after, labels_after);
    }
    blocks.into_par_iter().try_for_each(|block| {
        limits.go_on()?;
        let mut row = Vec::new();
        for (state, ends) in (block.first..).zip(block.ends.windows(2)) {
            row.clear();
            row.extend(lister.steps(state));
            row.sort_unstable();
            let at = ends[0] - block.ends[0];
            for (step, (label, to)) in (at..).zip(&row) {
                block.labels[step] = *label;
                block.targets[step] = *to;
            }
        }
        Ok(())
    })
}
