//! The dense product block by block, made by this machine's threads or by an OpenCL device.
//!
//! [`Maker::run`] is the way of a block from who makes it to who consumes it. Its rows are first seen some at
//! a time and in parallel ([`RowsOf`]), then what was kept of them is taken block by block and in order, on a
//! thread of its own, while the next block is made.

use std::sync::{Mutex, PoisonError};

use tickbound_reo::limits::Limits;
use tickbound_reo::product::dense::{Block, DenseError, RowsOf, Stream, in_turn};

use super::multiplier::{Multiplier, MultiplierError};

/// Who makes the blocks.
#[derive(Debug, Clone, Copy)]
pub enum Maker<'a> {
    /// This machine's threads.
    Threads,
    /// A device; threads see what it has made.
    Device(&'a Multiplier),
}

impl Maker<'_> {
    /// How it is called where results are shown.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Maker::Threads => "cpu",
            Maker::Device(engine) => &engine.device().name,
        }
    }

    /// Makes `blocks`, and gives what `see` keeps of the rows of each, in their order, to `take`: block by block in
    /// the order of `blocks`. A device's blocks are made in two buffers of [`Stream::words`] words.
    ///
    /// # Errors
    /// The device failed, there is too little memory, it was stopped, or what `take` says. All
    /// blocks before that were taken.
    pub fn run<T: Send, E: Send + From<MultiplierError>>(
        self,
        stream: &Stream,
        blocks: impl IntoIterator<Item = Block>,
        limits: &Limits,
        see: impl Fn(RowsOf) -> T + Sync,
        mut take: impl FnMut(Block, Vec<T>) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let dense = |e: DenseError| E::from(e.into());
        let engine = match self {
            Maker::Threads => {
                return in_turn(
                    blocks,
                    |block| stream.each(block, limits, &see).map_err(dense),
                    take,
                );
            }
            Maker::Device(engine) => engine,
        };
        let rows = engine.rows(stream.plan(), stream.words())?;
        // Buffers that were seen, to be filled again: fresh memory costs more than the product.
        let seen = Mutex::new(Vec::new());
        let pool = || seen.lock().unwrap_or_else(PoisonError::into_inner);
        let make = |block: Block| {
            let mut cells: Vec<u64> = pool().pop().unwrap_or_default();
            cells.resize(block.rows * stream.plan().shape().row(), 0);
            rows.fill(block.first, &mut cells, limits)?;
            Ok(cells)
        };
        in_turn(blocks, make, |block, cells| {
            let kept = stream.pieces(block, &cells, limits, &see).map_err(dense)?;
            pool().push(cells);
            take(block, kept)
        })
    }
}
