//! The job: a product in blocks that are counted, checked, summed and written, and not kept.

use tickbound_os::output::Disk;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::check::LtlFormula;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::dense::{
    self, BlockColumns, CellTally, Checksum, DensePlan, DenseStream, MAX_NAMES, Matrix, RowBlock,
    RowsOf,
};
use tickbound_reo::product::halves::Halves;
use tickbound_reo::product::reachable::StepStream;
use tickbound_reo::symbol::NameId;
use tickbound_reo_opencl::{ExploreSizes, Explorer, Maker, MultiplierError, agree, tallied};

use crate::error::{JobResult, StreamJobError};
use crate::files::BlockFiles;
use crate::folder::Dataset;
use crate::manifest::ManifestHead;
use crate::meter::Meter;
use crate::ranks::Ranks;
use crate::request::{Conditions, StreamExtent, StreamJob, Streamed};
use crate::search::{self, PART, STEP_BYTES};
use crate::writer::Writer;

/// Most bytes of cells for one launch on a device: a fraction of a second on two processors.
const MAX_COUNTED: u128 = 2 << 30;

impl StreamJob<'_> {
    /// Bytes that a dense product in blocks of `block` bytes takes: its halves twice, as they are
    /// and over one alphabet, and the blocks. With `keep` they are written.
    pub fn need(block: u64, keep: bool, matrices: &[Matrix], maker: Maker) -> u128 {
        let states = matrices.iter().map(|m| m.states() as u128).fold(1, u128::saturating_mul);
        let slots = matrices.iter().map(|m| m.slots() as u128).fold(1, u128::saturating_mul);
        let row = states.saturating_mul(slots).saturating_mul(8);
        // Of columns, twice as large as cells: one block each that is made, that waits, that is
        // encoded.
        let columns = if keep { 6 } else { 0 };
        let blocks = row.max(block.into()).saturating_mul(columns + maker.blocks() as u128);
        let rows = row.max(1 << 19).saturating_mul(rayon::current_num_threads() as u128);
        let halves = dense::need_of_halves(matrices).saturating_mul(2);
        halves.saturating_add(blocks).saturating_add(rows)
    }

    /// Makes the dense product of `matrices` block by block.
    ///
    /// # Errors
    /// What is wrong with the formulas or the dataset; too little memory; a device failed; the work
    /// was stopped while other ranks need its result.
    pub fn dense(
        &self,
        matrices: &[Matrix],
        maker: Maker,
        ranks: &mut Ranks,
    ) -> JobResult<Streamed> {
        let keep = self.dataset.is_some();
        // Cells that a device only counts are never here.
        let blocks = if keep || !self.invariants.is_empty() { maker } else { Maker::Threads };
        let need = StreamJob::need(self.block, keep, matrices, blocks);
        let smaller = blocks.blocks() > 0 || keep;
        let fix = if smaller { "; --block makes the blocks smaller" } else { "" };
        let fits = self.limits.fits("the dense product in blocks", need);
        fits.map_err(|error| StreamJobError::Refused(format!("{error}{fix}")))?;
        let plan = dense::plan(matrices, self.limits).map_err(MultiplierError::from)?;
        let conditions = self.conditions(&plan.alphabet)?;
        let counts = !keep && conditions.clauses().is_some();
        let block = self.block.max(if counts { counted(&plan, maker) } else { 0 });
        let stream = DenseStream::new(&plan, block);
        let head = |names| ManifestHead::dense(&self.connector.name, names, &stream);
        let dataset = if ranks.rank() == 0 { self.open(&plan.alphabet, head)? } else { None };
        let (tally, done) = self.blocks(&stream, maker, &conditions, dataset, ranks)?;
        let (blocks, states) = (stream.len(), plan.sizes.states());
        let extent = StreamExtent::Blocks { done, blocks, states };
        Ok(streamed(tally, &conditions, true, extent))
    }

    /// Makes the blocks that are missing. What all come to, and how many are there.
    fn blocks(
        &self,
        stream: &DenseStream,
        maker: Maker,
        conditions: &Conditions,
        dataset: Option<Dataset>,
        ranks: &mut Ranks,
    ) -> JobResult<(CellTally, usize)> {
        let (size, missing) = (ranks.size(), missing(stream, dataset.as_ref(), ranks)?);
        let known = dataset.as_ref().map(|dataset| dataset.manifest().tally());
        let (mut tally, mut done) = (known.unwrap_or_default(), stream.len() - missing.len());
        let mut meter = Meter::new(self.observer, Some(stream), tally);
        let files = self.dataset.map(|folder| BlockFiles::new(Disk::real(), folder));
        let mut writer = Writer::new(files, dataset, self.observer, missing.len().div_ceil(size));
        // The ranks take turns.
        let mine: Vec<_> = missing.into_iter().skip(ranks.rank()).step_by(size).collect();
        let made = self.make(stream, maker, mine, conditions, |block, here, columns| {
            writer.write(block, here, columns, ranks)?;
            tally = tally + here;
            done += size.min(stream.len() - done);
            meter.show(done, tally);
            Ok(())
        });
        let stopped = |error: &StreamJobError| size == 1 && error.is_interruption();
        let rest = match &made {
            Err(error) if !stopped(error) => Ok(()),
            _ => writer.rest(ranks),
        };
        match made.and(rest) {
            Ok(()) => {
                tally = ranks.total(tally)?;
                if ranks.rank() == 0 {
                    agree(&maker.name(), stream.plan().checksum(), tally.checksum)?;
                }
                Ok((tally, stream.len()))
            }
            // The count so far is a result, if there are no other ranks.
            Err(error) if stopped(&error) => Ok((tally, done)),
            Err(error) => Err(error),
        }
    }

    /// Makes some blocks, and gives the tally of each and the steps to be written to `take`.
    fn make(
        &self,
        stream: &DenseStream,
        maker: Maker,
        blocks: Vec<RowBlock>,
        conditions: &Conditions,
        mut take: impl FnMut(RowBlock, CellTally, Vec<BlockColumns>) -> JobResult<()> + Send,
    ) -> JobResult<()> {
        let has_columns = self.dataset.is_some();
        let clauses = if has_columns { None } else { conditions.clauses() };
        if let (Maker::Devices(devices), Some(clauses)) = (maker, &clauses) {
            let clauses = conditions.is_some().then_some(&clauses[..]);
            let take = |block, here| take(block, here, Vec::new());
            return tallied(devices, stream, blocks, clauses, self.limits, take);
        }
        let see = |rows: RowsOf| {
            let mut columns = if has_columns { rows.columns() } else { BlockColumns::default() };
            conditions.keep(&mut columns);
            let holds = |label: u64| conditions.hold(label);
            (rows.tally(conditions.is_some().then_some(&holds)), columns)
        };
        maker.run(stream, blocks, self.limits, see, |block, seen| {
            let (tallies, columns): (Vec<_>, Vec<BlockColumns>) = seen.into_iter().unzip();
            take(block, tallies.into_iter().sum(), columns)
        })
    }

    /// Makes the reachable product of the connector's parts.
    ///
    /// # Errors
    /// As [`StreamJob::dense`]; which steps there are depends on data.
    pub fn reachable(&self, ranks: &mut Ranks) -> JobResult<Streamed> {
        let parts: Vec<&Automaton> =
            self.connector.parts.iter().map(|part| &part.automaton).collect();
        let limits = ProductLimits { memory: self.left()?, ..*self.limits };
        let product = StepStream::new(&parts, &limits)?;
        let names = product.alphabet().len();
        if names > MAX_NAMES && (self.dataset.is_some() || !self.invariants.is_empty()) {
            let what = "--dataset and --invariant take at most";
            let connector = &self.connector.name;
            let why = format!("{connector}: {names} names; {what} {MAX_NAMES}");
            return Err(StreamJobError::Refused(why));
        }
        let conditions = self.conditions(product.alphabet())?;
        let steps = self.block.div_ceil(STEP_BYTES).max(1);
        let initial = product.initial() as u32;
        let head = |names| ManifestHead::reachable(&self.connector.name, names, initial, steps);
        let dataset = if ranks.rank() == 0 { self.open(product.alphabet(), head)? } else { None };
        let job = StreamJob { limits: &limits, ..*self };
        let (tally, complete) =
            search::searched(&job, &product, steps, &conditions, dataset, ranks)?;
        Ok(streamed(tally, &conditions, false, StreamExtent::Search { levels: None, complete }))
    }

    /// Counts the reachable product of the connector's parts on a device.
    ///
    /// # Errors
    /// Steps that depend on data, a dataset, more names than a device takes, too little memory; the
    /// device failed.
    pub fn explored(&self, explorer: &Explorer) -> JobResult<Streamed> {
        let refused = |why: String| StreamJobError::Refused(why);
        if self.dataset.is_some() {
            return Err(refused(
                "--dataset is written by the processors; leave --device out".into(),
            ));
        }
        let parts: Vec<&Automaton> =
            self.connector.parts.iter().map(|part| &part.automaton).collect();
        let halves =
            Halves::new(&parts, self.limits).map_err(|error| refused(error.to_string()))?;
        let conditions = self.conditions(&halves.alphabet)?;
        let clauses = conditions.clauses().ok_or_else(|| {
            refused("--invariant has too many names for a device; leave --device out".into())
        })?;
        let clauses = conditions.is_some().then_some(&clauses[..]);
        let found = explorer.explore(&halves, clauses, ExploreSizes::default(), self.limits)?;
        let tally = CellTally {
            states: found.states,
            checksum: Checksum { steps: found.transitions, sum: 0 },
            stuck: found.stuck,
            broken: found.broken,
            ..CellTally::default()
        };
        let (levels, complete) = (Some(found.levels), found.complete);
        Ok(streamed(tally, &conditions, false, StreamExtent::Search { levels, complete }))
    }

    /// Bytes for the search, beside three blocks: one being filled, one waiting, one being encoded.
    fn left(&self) -> JobResult<u64> {
        let blocks = self.block.saturating_mul(3).saturating_add(PART as u64 * STEP_BYTES);
        let needed = if self.dataset.is_some() { blocks } else { 0 };
        let fits = self.limits.fits("three blocks of the dataset", needed.into());
        let fix = "; --block makes them smaller";
        fits.map_err(|error| StreamJobError::Refused(format!("{error}{fix}")))?;
        Ok(self.limits.memory - needed)
    }

    /// The dataset to write to, if there is one; `head` gets the words for the names of `alphabet`.
    fn open(
        &self,
        alphabet: &[NameId],
        head: impl FnOnce(Vec<String>) -> ManifestHead,
    ) -> JobResult<Option<Dataset>> {
        let Some(folder) = self.dataset else { return Ok(None) };
        let word = |name: &NameId| self.connector.symbols.word(name.0).to_owned();
        let go_on = |block: usize| {
            self.observer.say(format!("verifying block {block}"));
            self.limits.go_on().is_ok()
        };
        let filter = self.filter.map(str::to_owned);
        let head = ManifestHead { filter, ..head(alphabet.iter().map(word).collect()) };
        Ok(Some(Dataset::open(Disk::real(), folder, head, &go_on)?))
    }

    fn conditions<'p>(&self, alphabet: &'p [NameId]) -> JobResult<Conditions<'p>> {
        let read = |option, text: &str| {
            LtlFormula::parse(text, alphabet, &self.connector.symbols)
                .map_err(|error| StreamJobError::Refused(format!("{option}: {error}")))
        };
        let invariants = self.invariants.iter().map(|text| read("--invariant", text));
        Ok(Conditions {
            alphabet,
            invariants: invariants.collect::<Result<_, _>>()?,
            filter: self.filter.map(|text| read("--filter", text)).transpose()?,
        })
    }
}

/// Bytes of the cells that devices count, without memory here: some blocks for each device.
fn counted(plan: &DensePlan, maker: Maker) -> u64 {
    let Maker::Devices(devices) = maker else { return 0 };
    let each = plan.sizes.words() * 8 / (8 * devices.len().max(1) as u128);
    each.min(MAX_COUNTED) as u64
}

/// The blocks of a product that the first rank's dataset does not have.
fn missing(
    stream: &DenseStream,
    dataset: Option<&Dataset>,
    ranks: &mut Ranks,
) -> JobResult<Vec<RowBlock>> {
    let has = |number: &usize| dataset.is_some_and(|dataset| dataset.has(*number));
    let there = (0..stream.len()).filter(has).map(|number| number as u64);
    let there = ranks.told_by_first(there.collect())?;
    let is_missing = |block: &RowBlock| there.binary_search(&(block.number as u64)).is_err();
    Ok(stream.blocks().filter(is_missing).collect())
}

fn streamed(
    tally: CellTally,
    conditions: &Conditions,
    idle: bool,
    extent: StreamExtent,
) -> Streamed {
    let alphabet = conditions.alphabet;
    let fires = |label: u64| {
        let fires = alphabet.iter().enumerate().filter(|(bit, _)| label >> bit & 1 == 1);
        fires.map(|(_, name)| *name).collect()
    };
    let broken = tally.first_broken.map(|(_, _, label)| fires(label));
    let (names, conditional) = (alphabet.len(), conditions.is_some());
    Streamed { tally, names, idle, extent, broken, conditional }
}
