//! A product that is never whole: its rows in blocks of bounded size.
//!
//! The content of a [`RowBlock`] follows from its range of rows, and numbers are those of the whole
//! product: blocks may be made in any order, of any size, by threads, devices or machines, and sums
//! over them ([`super::CellTally`]) are the same. The rows of a block are passed in parts to a
//! function that keeps what it wants ([`RowsOf`]): as threads make them, while they are in the
//! processor's cache ([`DenseStream::each`]), or from a device's memory ([`DenseStream::pieces`]).
//! [`in_turn`] makes one block while the one before is consumed.

use std::sync::mpsc::sync_channel;
use std::thread;

use rayon::prelude::*;

use super::cells::{self, Factors};
use super::matrix::{DenseError, DenseResult, EMPTY, zeroed};
use super::plan::DensePlan;
use super::sizes::Sizes;
use crate::limits::ProductLimits;

/// Words that are made and seen at once, unless a row is longer: 512 KiB, which caches hold.
const PIECE: usize = 1 << 16;

/// Rows of a product that are made together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowBlock {
    /// Its number, counted from 0 in the order of the rows.
    pub number: usize,
    /// Its first row.
    pub first: usize,
    /// How many rows it has, at least 1.
    pub rows: usize,
}

/// A product that is ready to be made block by block.
#[derive(Debug)]
pub struct DenseStream<'p> {
    plan: &'p DensePlan,
    factors: Factors<'p>,
    /// Rows of each block but the last.
    rows: usize,
}

impl<'p> DenseStream<'p> {
    /// The product in blocks of `bytes` bytes of cells or a little less, but at least one row.
    pub fn new(plan: &'p DensePlan, bytes: u64) -> DenseStream<'p> {
        let words = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
        let rows = (words / plan.sizes.row().max(1)).clamp(1, plan.sizes.states().max(1));
        let factors = Factors::new(plan.sizes, plan.mask, &plan.left, &plan.right);
        DenseStream { plan, factors, rows }
    }

    /// The product.
    pub fn plan(&self) -> &'p DensePlan {
        self.plan
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.plan.sizes.states().div_ceil(self.rows)
    }

    /// Whether there is none, as the product has no state.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Words of each block's cells; the last may have fewer.
    pub fn words(&self) -> usize {
        self.rows * self.plan.sizes.row()
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = RowBlock> + use<> {
        let (states, rows) = (self.plan.sizes.states(), self.rows);
        (0..states).step_by(rows).enumerate().map(move |(number, first)| RowBlock {
            number,
            first,
            rows: rows.min(states - first),
        })
    }

    /// Makes a block by this machine's threads and gives what `see` keeps of its rows, in their
    /// order.
    ///
    /// # Errors
    /// The system has no memory for some rows, or it was stopped.
    pub fn each<T: Send>(
        &self,
        block: RowBlock,
        limits: &ProductLimits,
        see: impl Fn(RowsOf) -> T + Sync,
    ) -> DenseResult<Vec<T>> {
        let (row, at_once) = (self.plan.sizes.row(), self.piece());
        let pieces = (0..block.rows.div_ceil(at_once)).into_par_iter();
        let room = || zeroed("some rows of the dense product", at_once * row);
        let made = pieces.map_init(room, |room, piece| {
            limits.go_on()?;
            let first = piece * at_once;
            let rows = at_once.min(block.rows - first);
            let room = room.as_mut().map_err(|e| e.clone())?;
            let cells = &mut room[..rows * row];
            cells::rows(&self.factors, block.first + first, cells);
            Ok(see(RowsOf { sizes: self.plan.sizes, first: block.first + first, cells }))
        });
        made.collect()
    }

    /// What `see` keeps of the rows of a block that was made elsewhere, in their order.
    ///
    /// # Errors
    /// `cells` are not as many as the block has, or it was stopped.
    pub fn pieces<T: Send>(
        &self,
        block: RowBlock,
        cells: &[u64],
        limits: &ProductLimits,
        see: impl Fn(RowsOf) -> T + Sync,
    ) -> DenseResult<Vec<T>> {
        let (row, at_once) = (self.plan.sizes.row(), self.piece());
        if cells.len() != block.rows * row {
            return Err(DenseError::Cells { found: cells.len(), needed: block.rows * row });
        }
        let pieces = cells.par_chunks(at_once * row).enumerate();
        let seen = pieces.map(|(piece, cells)| {
            limits.go_on()?;
            let first = block.first + piece * at_once;
            Ok(see(RowsOf { sizes: self.plan.sizes, first, cells }))
        });
        seen.collect()
    }

    /// Rows that are made and seen at once.
    fn piece(&self) -> usize {
        (PIECE / self.plan.sizes.row().max(1)).clamp(1, self.rows)
    }
}

/// Some rows of a product.
#[derive(Debug, Clone, Copy)]
pub struct RowsOf<'a> {
    pub(super) sizes: Sizes,
    pub(super) first: usize,
    pub(super) cells: &'a [u64],
}

/// Steps in the order of their places in the matrix, a column for each of their properties.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockColumns {
    /// The states that they leave.
    pub from: Vec<u32>,
    /// The states that they reach.
    pub to: Vec<u32>,
    /// The names that fire, as bits over the product's alphabet.
    pub labels: Vec<u64>,
}

impl RowsOf<'_> {
    /// The steps of these rows, idle loops among them.
    pub fn columns(&self) -> BlockColumns {
        let steps = self.cells.iter().filter(|label| **label != EMPTY).count();
        let mut columns = BlockColumns {
            from: Vec::with_capacity(steps),
            to: Vec::with_capacity(steps),
            labels: Vec::with_capacity(steps),
        };
        let slots = self.sizes.slots();
        for (from, cells) in (self.first..).zip(self.cells.chunks_exact(self.sizes.row().max(1))) {
            for (to, cell) in cells.chunks_exact(slots).enumerate() {
                for label in cell.iter().filter(|label| **label != EMPTY) {
                    columns.to.push(to as u32);
                    columns.labels.push(*label);
                }
            }
            columns.from.resize(columns.to.len(), from as u32);
        }
        columns
    }
}

/// Runs `make` on this thread for one block after another, and `take` on another thread for what
/// was made, in the same order: while one is taken the next is made, and no more than these two are
/// there.
///
/// # Errors
/// The first that either gives. What was made before an error of `make` is still taken.
pub fn in_turn<T: Send, E: Send>(
    blocks: impl IntoIterator<Item = RowBlock>,
    mut make: impl FnMut(RowBlock) -> Result<T, E>,
    mut take: impl FnMut(RowBlock, T) -> Result<(), E> + Send,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(0);
        let taker = scope.spawn(move || {
            // The channel ends when all is made, or nothing more can be.
            receiver.into_iter().try_for_each(|(block, made)| take(block, made))
        });
        let made = blocks.into_iter().try_for_each(|block| {
            let one = make(block).map_err(Some)?;
            // The receiver ends where `take` fails, and returns that error.
            sender.send((block, one)).map_err(|_| None)
        });
        drop(sender);
        let taken = taker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        taken.and(made.or_else(|error| error.map_or(Ok(()), Err)))
    })
}
