//! One product, made ready: both factors over one alphabet.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::alphabet::Union;
use super::cells::{self, Factors};
use super::matrix::{DenseError, DenseResult, EMPTY, Matrix, zeroed};
use super::sizes::{Sizes, initial};
use crate::limits::{ProductLimits, ProductProgress};
use crate::symbol::NameId;

/// Words that a thread fills before it looks whether to stop: 512 KiB.
const BLOCK: usize = 1 << 16;

/// A product that is ready to be made, by any engine that fills its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DensePlan {
    /// Names of the product, sorted; bit i of a label is the i-th.
    pub alphabet: Vec<NameId>,
    /// States that a run may begin in, sorted.
    pub initial: Vec<u32>,
    /// The sizes.
    pub sizes: Sizes,
    /// Bits on which two labels must agree: the names of both factors, and the bit of [`EMPTY`].
    pub mask: u64,
    /// The left factor's cells over the product's alphabet.
    pub left: Vec<u64>,
    /// The right factor's cells over the product's alphabet.
    pub right: Vec<u64>,
}

impl DensePlan {
    /// The product of two matrices, not yet made.
    ///
    /// # Errors
    /// More than [`super::MAX_NAMES`] names together, or more states than can be numbered.
    pub fn new(left: &Matrix, right: &Matrix) -> DenseResult<DensePlan> {
        let union = Union::new(&left.alphabet, &right.alphabet)?;
        let mut plan = DensePlan {
            initial: initial(left, right)?,
            sizes: Sizes::of(left, right),
            mask: union.common | EMPTY,
            left: Vec::with_capacity(left.cells.len()),
            right: Vec::with_capacity(right.cells.len()),
            alphabet: Vec::new(),
        };
        union.left.extend(&left.cells, &mut plan.left);
        union.right.extend(&right.cells, &mut plan.right);
        plan.alphabet = union.alphabet;
        Ok(plan)
    }

    /// The product, made by this machine's threads.
    pub fn run(&self, limits: &ProductLimits) -> DenseResult<Matrix> {
        let mut cells = self.allocate(limits)?;
        self.fill(&mut cells, limits)?;
        self.matrix(cells)
    }

    /// Memory for the product, zero.
    pub fn allocate(&self, limits: &ProductLimits) -> DenseResult<Vec<u64>> {
        let words = self.sizes.words();
        let bytes = words.saturating_mul(8);
        limits.fits("the dense product", bytes)?;
        let what = "the dense product";
        let len = usize::try_from(words).map_err(|_| DenseError::Allocation(what, bytes))?;
        zeroed(what, len)
    }

    /// Fills the product's cells; progress counts rows as states.
    ///
    /// # Errors
    /// `cells` has another length than the product, or it was stopped: then some cells are made
    /// and others are not.
    pub fn fill(&self, cells: &mut [u64], limits: &ProductLimits) -> DenseResult<()> {
        self.sizes.check(cells)?;
        if cells.is_empty() {
            return Ok(());
        }
        let factors = Factors::new(self.sizes, self.mask, &self.left, &self.right);
        if cells.len() <= BLOCK {
            // Handing it to another thread would cost more than a small product does.
            limits.go_on()?;
            cells::rows(&factors, 0, cells);
            return Ok(());
        }
        let rows = (BLOCK / self.sizes.row()).max(1);
        let done = AtomicU64::new(0);
        let blocks = cells.par_chunks_mut(rows * self.sizes.row()).enumerate();
        blocks.try_for_each(|(block, out)| {
            limits.go_on()?;
            cells::rows(&factors, block * rows, out);
            let more = (out.len() / self.sizes.row()) as u64;
            let states = done.fetch_add(more, Ordering::Relaxed) + more;
            (limits.progress)(ProductProgress { states, ..ProductProgress::default() });
            Ok(())
        })
    }

    /// The matrix whose cells were made elsewhere.
    pub fn matrix(&self, cells: Vec<u64>) -> DenseResult<Matrix> {
        self.sizes.check(&cells)?;
        Ok(self.sizes.matrix(&self.alphabet, &self.initial, cells))
    }
}

/// The product of two matrices.
pub fn product(left: &Matrix, right: &Matrix, limits: &ProductLimits) -> DenseResult<Matrix> {
    DensePlan::new(left, right)?.run(limits)
}
