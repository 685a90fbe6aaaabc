//! The way of blocks into a dataset.

use std::any::Any;

use tickbound_reo::product::dense::{BlockColumns, CellTally, RowBlock};

use crate::error::JobResult;
use crate::files::BlockFiles;
use crate::folder::Dataset;
use crate::manifest::BlockRecord;
use crate::meter::StreamObserver;
use crate::ranks::Ranks;

/// Writes blocks, if there is a dataset: each rank its own, and the first one enters them.
pub(crate) struct Writer<'a> {
    /// Dropped, and so waited for, before `whole`.
    files: Option<BlockFiles>,
    /// While a file is written.
    whole: Option<Box<dyn Any + Send>>,
    pub(crate) dataset: Option<Dataset>,
    observer: &'a dyn StreamObserver,
    /// So often the ranks tell each other of blocks still.
    rounds: usize,
}

impl<'a> Writer<'a> {
    pub fn new(
        files: Option<BlockFiles>,
        dataset: Option<Dataset>,
        observer: &'a dyn StreamObserver,
        rounds: usize,
    ) -> Writer<'a> {
        Writer { files, whole: None, dataset, observer, rounds }
    }

    pub fn write(
        &mut self,
        block: RowBlock,
        tally: CellTally,
        columns: Vec<BlockColumns>,
        ranks: &mut Ranks,
    ) -> JobResult<()> {
        let Some(files) = &mut self.files else { return Ok(()) };
        let whole = self.observer.writing();
        let before = files.write(block, tally, columns)?;
        if before.is_some() {
            self.enter(before, ranks)?;
        }
        self.whole = Some(whole);
        Ok(())
    }

    /// Enters the last block, and the blocks of ranks that have more of them.
    pub fn rest(&mut self, ranks: &mut Ranks) -> JobResult<()> {
        let Some(files) = &mut self.files else { return Ok(()) };
        if let Some(last) = files.rest()? {
            self.enter(Some(last), ranks)?;
        }
        while ranks.size() > 1 && self.rounds > 0 {
            self.enter(None, ranks)?;
        }
        self.whole = None;
        Ok(())
    }

    fn enter(&mut self, record: Option<BlockRecord>, ranks: &mut Ranks) -> JobResult<()> {
        self.rounds = self.rounds.saturating_sub(1);
        let all = ranks.records(record)?;
        if let Some(dataset) = &mut self.dataset {
            all.into_iter().try_for_each(|record| dataset.enter(record))?;
        }
        Ok(())
    }
}
