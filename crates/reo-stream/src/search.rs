//! The reachable product: made by a search, and cut into blocks that do not depend on its pieces.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use tickbound_os::process::Scratch;
use tickbound_reo::product::dense::{BlockColumns, CellTally, RowBlock};
use tickbound_reo::product::reachable::{Keeps, StepBatch, StepStream, Store, Stored};

use crate::error::{JobResult, StreamJobError};
use crate::folder::Dataset;
use crate::meter::{Meter, StreamObserver};
use crate::ranks::Ranks;
use crate::request::{Conditions, StreamJob};
use crate::writer::Writer;

pub(crate) const STEP_BYTES: u64 = 16;
/// Steps of the parts in which a block is handed on; files depend on it.
pub(crate) const PART: usize = 1 << 20;

/// A block of steps, with what they come to.
type Full = (RowBlock, CellTally, Vec<BlockColumns>);

/// Makes a product in blocks of `block_steps` steps. What it comes to, and whether it is all.
pub(crate) fn searched(
    job: &StreamJob,
    product: &StepStream,
    block_steps: u64,
    conditions: &Conditions,
    dataset: Option<Dataset>,
    ranks: &mut Ranks,
) -> JobResult<(CellTally, bool)> {
    let holds = |label: &[u64]| conditions.hold(label[0]);
    let condition: Option<&Keeps<'_>> = if conditions.is_some() { Some(&holds) } else { None };
    let mut tally = CellTally::default();
    let mut meter = Meter::new(job.observer, None, tally);
    let send = |sender: &SyncSender<Full>, (block, tally, mut columns): Full| {
        columns.iter_mut().for_each(|part| conditions.keep(part));
        sender.send((block, tally, columns)).map_err(|_| StreamJobError::Writer)
    };
    let made = written(dataset, job.observer, |sender| {
        let mut cutter = Cutter::new(block_steps);
        let take = |steps: StepBatch<'_>| {
            tally = tally
                + match sender {
                    None => steps.tally(condition),
                    Some(sender) => cutter.add(steps, |block| send(sender, block))?,
                };
            meter.show(0, tally);
            Ok::<(), StreamJobError>(())
        };
        match &mut ranks.0 {
            // Files are written by the first rank, which takes all steps for that.
            Some(others) => {
                product.share(job.limits, &mut **others, job.dataset.is_some(), take)?
            }
            None => product.run(job.limits, Some(&Temporary::default()), take)?,
        };
        sender.map_or(Ok(()), |sender| cutter.last(|block| send(sender, block)))
    });
    match made {
        Ok(()) => Ok((ranks.total(tally)?, true)),
        // The count so far is a result, if there are no other ranks.
        Err(error) if ranks.size() == 1 && error.is_interruption() => Ok((tally, false)),
        Err(error) => Err(error),
    }
}

/// Runs `make` here while another thread writes the blocks that it sends to the dataset, if any.
fn written(
    dataset: Option<Dataset>,
    observer: &dyn StreamObserver,
    make: impl FnOnce(Option<&SyncSender<Full>>) -> JobResult<()>,
) -> JobResult<()> {
    let Some(dataset) = dataset else { return make(None) };
    thread::scope(|scope| {
        let (sender, blocks) = sync_channel::<Full>(0);
        let writer = scope.spawn(move || {
            let (files, mut alone) = (Some(dataset.files()), Ranks(None));
            let mut writer = Writer::new(files, Some(dataset), observer, 0);
            for (block, tally, columns) in blocks {
                match writer.dataset.as_ref().filter(|dataset| dataset.has(block.number)) {
                    // What is there was made by a run before this one.
                    Some(dataset) => dataset.agree(block, &tally)?,
                    None => writer.write(block, tally, columns, &mut alone)?,
                }
            }
            writer.rest(&mut alone)?;
            Ok::<_, StreamJobError>(writer.dataset)
        });
        let made = make(Some(&sender));
        drop(sender);
        let dataset = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        made?;
        dataset.map_or(Ok(()), |mut dataset| Ok(dataset.finish()?))
    })
}

/// Nameless files in a locked temporary folder, made with the first of them and removed with the
/// process or by the next start; a closed file takes no room.
#[derive(Default)]
struct Temporary(Mutex<Option<Scratch>>);

impl Store for Temporary {
    fn create(&self) -> io::Result<Box<dyn Stored>> {
        let mut folder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = match &mut *folder {
            Some(folder) => folder,
            none => none.insert(Scratch::new("product")?),
        };
        Ok(Box::new(tempfile::tempfile_in(folder.path())?))
    }
}

/// Cuts a product into blocks of whole states by the number of steps, however it was made.
struct Cutter {
    steps: u64,
    block: RowBlock,
    tally: CellTally,
    columns: Vec<BlockColumns>,
}

impl Cutter {
    fn new(steps: u64) -> Cutter {
        let block = RowBlock { number: 0, first: 0, rows: 0 };
        Cutter { steps, block, tally: CellTally::default(), columns: Vec::new() }
    }

    /// Adds steps, and hands on each block that is full. What the steps come to.
    fn add<E>(
        &mut self,
        steps: StepBatch,
        mut full: impl FnMut(Full) -> Result<(), E>,
    ) -> Result<CellTally, E> {
        let (mut all, mut from, states) = (CellTally::default(), 0, steps.ends.len());
        while from < states {
            let room = self.steps.saturating_sub(self.tally.checksum.steps);
            let begin = from.checked_sub(1).map_or(steps.begin, |before| steps.ends[before]);
            // Up to the state that fills the block.
            let whole = steps.ends[from..].partition_point(|end| ((end - begin) as u64) < room);
            let to = states.min(from + whole + 1);
            let part = steps.part(from..to);
            let tally = part.tally(None);
            self.keep(part);
            self.block.rows += to - from;
            self.tally = self.tally + tally;
            all = all + tally;
            if self.tally.checksum.steps >= self.steps {
                self.hand_on(&mut full)?;
            }
            from = to;
        }
        Ok(all)
    }

    /// Hands on what is left.
    fn last<E>(&mut self, mut full: impl FnMut(Full) -> Result<(), E>) -> Result<(), E> {
        if self.block.rows > 0 { self.hand_on(&mut full) } else { Ok(()) }
    }

    fn hand_on<E>(&mut self, full: &mut impl FnMut(Full) -> Result<(), E>) -> Result<(), E> {
        let RowBlock { number, first, rows } = self.block;
        let next = RowBlock { number: number + 1, first: first + rows, rows: 0 };
        let block = std::mem::replace(&mut self.block, next);
        full((block, std::mem::take(&mut self.tally), std::mem::take(&mut self.columns)))
    }

    /// Keeps steps as columns, in parts of equal length.
    fn keep(&mut self, steps: StepBatch) {
        for (from, mut range) in steps.rows() {
            while !range.is_empty() {
                if self.columns.last().is_none_or(|part| part.labels.len() == PART) {
                    self.columns.push(BlockColumns::default());
                }
                let Some(part) = self.columns.last_mut() else { return };
                let end = range.end.min(range.start + PART - part.labels.len());
                part.to.extend_from_slice(&steps.targets[range.start..end]);
                part.labels.extend_from_slice(&steps.labels[range.start..end]);
                part.from.resize(part.labels.len(), from as u32);
                range.start = end;
            }
        }
    }
}
