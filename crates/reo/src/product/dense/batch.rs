//! Many small products in one call, into one buffer.

use rayon::prelude::*;

use super::alphabet::Union;
use super::cells::{self, Factors};
use super::checksum::{self, Checksum};
use super::matrix::{DenseError, DenseResult, EMPTY, Matrix, zeroed};
use super::sizes::{Sizes, initial};
use crate::limits::{ProductLimits, ProductProgress};
use crate::symbol::NameId;

/// Products that a thread makes before it looks whether to stop.
const BLOCK: usize = 32;

/// One product of a batch. Offsets are in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchPart {
    /// The sizes.
    pub sizes: Sizes,
    /// Bits on which two labels must agree.
    pub mask: u64,
    /// Where its left factor begins in [`BatchPlan::left`].
    pub left: usize,
    /// Where its right factor begins in [`BatchPlan::right`].
    pub right: usize,
    /// Where its cells begin.
    pub cells: usize,
}

impl BatchPart {
    /// Words of its cells.
    pub fn words(&self) -> usize {
        self.sizes.row() * self.sizes.states()
    }
}

/// Many products that are ready to be made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchPlan {
    /// The products, in the order of the pairs; their cells follow each other without gaps.
    pub parts: Vec<BatchPart>,
    names: Vec<(Vec<NameId>, Vec<u32>)>,
    /// The left factors' cells, each over its product's alphabet.
    pub left: Vec<u64>,
    /// The right factors' cells, each over its product's alphabet.
    pub right: Vec<u64>,
    /// Words of all products.
    pub words: usize,
}

impl BatchPlan {
    /// The products of all pairs, not yet made.
    ///
    /// # Errors
    /// Of the first pair that has too many names or states, or more memory than allowed.
    pub fn new(pairs: &[(&Matrix, &Matrix)], limits: &ProductLimits) -> DenseResult<BatchPlan> {
        let words = |(a, b): &(&Matrix, &Matrix)| Sizes::of(a, b).words();
        let total = pairs.iter().map(words).fold(0, u128::saturating_add);
        let inputs: u128 = pairs.iter().map(|(a, b)| (a.cells.len() + b.cells.len()) as u128).sum();
        limits.fits("a batch of dense products", total.saturating_add(inputs).saturating_mul(8))?;
        let mut plan = BatchPlan::default();
        let mut last: Option<(&(&Matrix, &Matrix), Union)> = None;
        for pair in pairs {
            let (left, right) = *pair;
            let alike = |(a, b): &(&Matrix, &Matrix)| {
                a.alphabet == left.alphabet && b.alphabet == right.alphabet
            };
            let union = match last.take() {
                Some((before, union)) if alike(before) => union,
                _ => Union::new(&left.alphabet, &right.alphabet)?,
            };
            plan.push(left, right, &union)?;
            last = Some((pair, union));
        }
        Ok(plan)
    }

    fn push(&mut self, left: &Matrix, right: &Matrix, union: &Union) -> DenseResult<()> {
        let part = BatchPart {
            sizes: Sizes::of(left, right),
            mask: union.common | EMPTY,
            left: self.left.len(),
            right: self.right.len(),
            cells: self.words,
        };
        self.names.push((union.alphabet.clone(), initial(left, right)?));
        union.left.extend(&left.cells, &mut self.left);
        union.right.extend(&right.cells, &mut self.right);
        self.words += part.words();
        self.parts.push(part);
        Ok(())
    }

    /// All products, made by this machine's threads.
    pub fn run(self, limits: &ProductLimits) -> DenseResult<Batch> {
        let mut cells = zeroed("a batch of dense products", self.words)?;
        self.fill(&mut cells, limits)?;
        self.batch(cells)
    }

    /// Fills the cells of all products.
    ///
    /// # Errors
    /// `cells` has another length than [`BatchPlan::words`], or it was stopped: then some cells are
    /// made and others are not.
    pub fn fill(&self, cells: &mut [u64], limits: &ProductLimits) -> DenseResult<()> {
        if cells.len() != self.words {
            return Err(DenseError::Cells { found: cells.len(), needed: self.words });
        }
        let mut rest = cells;
        let mut blocks = Vec::with_capacity(self.parts.len().div_ceil(BLOCK));
        for parts in self.parts.chunks(BLOCK) {
            let (here, after) = rest.split_at_mut(parts.iter().map(BatchPart::words).sum());
            blocks.push((parts, here));
            rest = after;
        }
        blocks.into_par_iter().try_for_each(|(parts, mut out)| {
            limits.go_on()?;
            for part in parts {
                let (here, after) = out.split_at_mut(part.words());
                if !here.is_empty() {
                    let (left, right) = self.factors(part);
                    cells::rows(&Factors::new(part.sizes, part.mask, left, right), 0, here);
                }
                out = after;
            }
            (limits.progress)(ProductProgress::default());
            Ok(())
        })
    }

    fn factors(&self, part: &BatchPart) -> (&[u64], &[u64]) {
        let sizes = part.sizes;
        let left = sizes.left_states * sizes.left_states * sizes.left_slots;
        let right = sizes.right_states * sizes.right_states * sizes.right_slots;
        (&self.left[part.left..][..left], &self.right[part.right..][..right])
    }

    /// The checksum that the cells of each product must have, its first slot counted as 0.
    pub fn checksum(&self, part: &BatchPart) -> Checksum {
        let (left, right) = self.factors(part);
        checksum::of_product(part.sizes, part.mask, left, right)
    }

    /// The batch whose cells were made elsewhere.
    pub fn batch(self, cells: Vec<u64>) -> DenseResult<Batch> {
        if cells.len() != self.words {
            return Err(DenseError::Cells { found: cells.len(), needed: self.words });
        }
        Ok(Batch { parts: self.parts, names: self.names, cells })
    }
}

/// Many products in one buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    parts: Vec<BatchPart>,
    names: Vec<(Vec<NameId>, Vec<u32>)>,
    cells: Vec<u64>,
}

impl Batch {
    /// The cells of all products, one after another.
    pub fn cells(&self) -> &[u64] {
        &self.cells
    }

    /// Product `number`, counted from 0, as a separate matrix; none if there are not as many.
    pub fn matrix(&self, number: usize) -> Option<Matrix> {
        let part = self.parts.get(number)?;
        let (alphabet, initial) = &self.names[number];
        let cells = self.cells[part.cells..][..part.words()].to_vec();
        Some(part.sizes.matrix(alphabet, initial, cells))
    }
}

/// The products of all pairs, in one call.
pub fn batch(pairs: &[(&Matrix, &Matrix)], limits: &ProductLimits) -> DenseResult<Batch> {
    BatchPlan::new(pairs, limits)?.run(limits)
}
