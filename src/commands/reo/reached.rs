//! `tickbound reo compose --stream`: the reachable product, counted, checked, summed and written
//! while it is made.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tickbound_input::message::grouped;
use tickbound_reo::connector::Connector;
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::product::dense::{BlockColumns, CellTally, MAX_NAMES, RowBlock};
use tickbound_reo::product::reachable::{Keeps, StepBatch, StepStream, StreamError};
use tickbound_reo_stream::{Dataset, DatasetError, ManifestHead};

use super::load::parts;
use super::ranks::Ranks;
use super::store::Files;
use super::stream::{self, Extent, StreamArgs, Streamed};
use crate::commands::exit::{CliError, input};
use crate::commands::progress::Progress;
use crate::commands::stop;

/// Bytes of a step in a file.
const STEP_BYTES: u64 = 16;
/// Steps of the parts in which a block is handed on, whatever the product's pieces were: files
/// depend on it.
const PART: usize = 1 << 20;

/// Why a product was not made, or not written.
#[derive(Debug, thiserror::Error)]
enum ReachedError {
    #[error(transparent)]
    Engine(#[from] StreamError),
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The writer has ended, and says itself why.
    #[error("the writer has stopped")]
    Writer,
}

/// Makes the product of the connector's parts, and keeps none of it.
pub(super) fn run(
    args: &StreamArgs,
    connector: &Connector,
    limits: &ProductLimits<'_>,
    line: &Progress,
    ranks: &mut Ranks,
) -> Result<Streamed, CliError> {
    let parts = parts(connector);
    if ranks.is_first() && parts.iter().any(|part| !part.is_plain()) {
        eprintln!(
            "tickbound: --stream leaves data constraints out of the steps; steps that no data \
             fulfil are left out"
        );
    }
    let limits = ProductLimits { memory: left(args, limits)?, ..*limits };
    let product = StepStream::new(&parts, &limits).map_err(input)?;
    let names = product.alphabet().len();
    if names > MAX_NAMES && (args.dataset.is_some() || !args.invariant.is_empty()) {
        return Err(input(format!(
            "{}: {names} names; --dataset and --invariant take at most {MAX_NAMES}",
            connector.name
        )));
    }
    let conditions = stream::conditions(args, connector, product.alphabet())?;
    let holds = |label: &[u64]| stream::holds(&conditions, product.alphabet(), label[0]);
    let asked = !conditions.is_empty();
    let condition: Option<&Keeps<'_>> = if asked { Some(&holds) } else { None };
    let filter = stream::filter(args, connector, product.alphabet())?;
    let block_steps = args.block.0.div_ceil(STEP_BYTES).max(1);
    let initial = product.initial() as u32;
    let head = |names| ManifestHead::reachable(&connector.name, names, initial, block_steps);
    let first = ranks.is_first();
    let dataset =
        if first { stream::open(args, connector, product.alphabet(), head, line)? } else { None };
    let mut tally = CellTally::default();
    let mut meter = Meter::new(line);
    let files = Files::default();
    let (size, world) = (ranks.size(), ranks.world());
    let send = |sender: &SyncSender<Full>, (block, tally, mut columns): Full| {
        if let Some(filter) = &filter {
            columns.iter_mut().for_each(|part| part.keep(filter));
        }
        sender.send((block, tally, columns)).map_err(|_| ReachedError::Writer)
    };
    let made = written(dataset, |sender| {
        let mut cutter = Cutter::new(block_steps);
        let take = |steps: StepBatch<'_>| {
            tally = tally
                + match sender {
                    None => steps.tally(condition),
                    Some(sender) => cutter.add(steps, |block| send(sender, block))?,
                };
            meter.show(tally);
            Ok::<(), ReachedError>(())
        };
        match world {
            // Files are written by the first rank, which takes all steps for that.
            Some(world) => product.share(&limits, world, args.dataset.is_some(), take)?,
            None => product.run(&limits, Some(&files), take)?,
        };
        match sender {
            Some(sender) => cutter.last(|block| send(sender, block)),
            None => Ok(()),
        }
    });
    let complete = match made {
        Ok(()) => {
            tally = ranks.total(tally)?;
            true
        }
        // What is counted by then is worth saying, if nobody else counts.
        Err(ReachedError::Engine(StreamError::Stopped(Stopped::Interrupted))) if size == 1 => false,
        Err(error) => return Err(input(error)),
    };
    let broken = tally.first_broken;
    let broken = broken.map(|(_, _, label)| stream::names(connector, product.alphabet(), label));
    Ok(Streamed { tally, names, idle: false, extent: Extent::Search { complete }, broken, asked })
}

/// Bytes that the search may take beside what a dataset needs: a block that is filled, one that
/// waits and one that is encoded.
fn left(args: &StreamArgs, limits: &ProductLimits<'_>) -> Result<u64, CliError> {
    if args.dataset.is_none() {
        return Ok(limits.memory);
    }
    let blocks = args.block.0.saturating_mul(3).saturating_add(PART as u64 * STEP_BYTES);
    let left = limits.memory.checked_sub(blocks);
    let refused = || {
        let needed = u128::from(blocks);
        let what = "three blocks of the dataset";
        input(format!(
            "{}; --block makes them smaller",
            Stopped::Memory { what, needed, limit: limits.memory }
        ))
    };
    left.ok_or_else(refused)
}

/// A block of steps, with what they come to.
type Full = (RowBlock, CellTally, Vec<BlockColumns>);

/// Runs `make` on this thread while another writes the blocks that it sends to the dataset, if
/// there is one.
fn written(
    dataset: Option<Dataset>,
    make: impl FnOnce(Option<&SyncSender<Full>>) -> Result<(), ReachedError>,
) -> Result<(), ReachedError> {
    let Some(mut dataset) = dataset else { return make(None) };
    thread::scope(|scope| {
        let (sender, blocks) = sync_channel::<Full>(0);
        let writer = scope.spawn(move || {
            let (mut files, mut last) = (dataset.files(), None);
            for (block, tally, columns) in blocks {
                if dataset.has(block.number) {
                    // What is there was made by a run before this one.
                    dataset.agree(block, &tally)?;
                    continue;
                }
                let whole = stop::writing();
                let before = files.write(block, tally, columns)?;
                before.map_or(Ok(()), |record| dataset.enter(record))?;
                last = Some(whole);
            }
            files.rest()?.map_or(Ok(()), |record| dataset.enter(record))?;
            drop(last);
            Ok::<Dataset, DatasetError>(dataset)
        });
        let made = make(Some(&sender));
        drop(sender);
        let mut dataset = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        made?;
        Ok(dataset.finish()?)
    })
}

/// Cuts a product into blocks of whole states, by the number of steps: so that the blocks do not
/// depend on the pieces in which the product is made.
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
        steps: StepBatch<'_>,
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
    fn keep(&mut self, steps: StepBatch<'_>) {
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

/// How far a search is, and how fast.
struct Meter<'a> {
    line: &'a Progress,
    began: Instant,
    shown: Instant,
}

impl<'a> Meter<'a> {
    fn new(line: &'a Progress) -> Meter<'a> {
        let now = Instant::now();
        Meter { line, began: now, shown: now }
    }

    fn show(&mut self, tally: CellTally) {
        if self.shown.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.shown = Instant::now();
        let rate = tally.checksum.steps as f64 / self.began.elapsed().as_secs_f64() / 1e6;
        self.line.say(format!(
            "{} states, {} transitions, {rate:.0} million a second",
            grouped(tally.states),
            grouped(tally.checksum.steps)
        ));
    }
}
