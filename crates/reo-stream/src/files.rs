//! The files of blocks, written one behind the other.

use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use tickbound_os::output::{Disk, Draft};
use tickbound_reo::product::dense::{BlockColumns, CellTally, RowBlock};

use crate::error::{DatasetError, DatasetResult};
use crate::file;
use crate::format::name;
use crate::manifest::BlockRecord;

/// Writes files of blocks into the folder of a dataset, which this or another process has locked;
/// one is brought to the disk while the next is encoded. A block belongs to the dataset once
/// [`Dataset::enter`](crate::Dataset::enter) has its record. Dropping this finishes the last file.
#[derive(Debug)]
pub struct BlockFiles {
    disk: Disk,
    folder: PathBuf,
    last: Option<JoinHandle<DatasetResult<BlockRecord>>>,
}

impl BlockFiles {
    /// Files in `folder`.
    pub fn new(disk: Disk, folder: &Path) -> BlockFiles {
        BlockFiles { disk, folder: folder.to_owned(), last: None }
    }

    /// Begins to write a block: its steps in parts, in order, or those that fulfil the filter, and
    /// the tally of all its steps. Gives the record of the block before, once its file is there.
    ///
    /// # Errors
    /// The block before cannot be written; then there is no such file, or what was there before.
    pub fn write(
        &mut self,
        block: RowBlock,
        tally: CellTally,
        steps: Vec<BlockColumns>,
    ) -> DatasetResult<Option<BlockRecord>> {
        let (disk, folder) = (self.disk, self.folder.clone());
        let this = thread::spawn(move || one(disk, &folder, block, &tally, steps));
        self.last.replace(this).map(end).transpose()
    }

    /// Waits for the last block.
    pub fn rest(&mut self) -> DatasetResult<Option<BlockRecord>> {
        self.last.take().map(end).transpose()
    }
}

impl Drop for BlockFiles {
    fn drop(&mut self) {
        if let Some(last) = self.last.take() {
            // Who drops this with a block in work has another error to tell.
            let _ = last.join();
        }
    }
}

fn end(thread: JoinHandle<DatasetResult<BlockRecord>>) -> DatasetResult<BlockRecord> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn one(
    disk: Disk,
    folder: &Path,
    block: RowBlock,
    tally: &CellTally,
    steps: Vec<BlockColumns>,
) -> DatasetResult<BlockRecord> {
    let name = name(block.number);
    let path = folder.join(&name);
    let fail = DatasetError::file(&path);
    let mut draft = Draft::beside(disk, &path).map_err(&fail)?;
    let rows = steps.iter().map(|part| part.labels.len() as u64).sum();
    let written = file::write(&mut draft, &steps).map_err(&fail)?;
    // Its memory is another block's while the disk is waited for.
    drop(steps);
    draft.keep().map_err(&fail)?;
    Ok(BlockRecord::new(block, name, tally, rows, written))
}
