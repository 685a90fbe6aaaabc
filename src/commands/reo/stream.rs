//! `tickbound reo compose --stream`: a product that is counted, checked, summed and written in
//! blocks, and never whole. Here the dense one, and what is said of both.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tickbound_input::message::grouped;
use tickbound_os::output::Disk;
use tickbound_reo::check::LtlFormula;
use tickbound_reo::connector::Connector;
use tickbound_reo::constraint::DataConstraint;
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::product::dense::{
    self, BlockColumns, CellTally, DenseError, DenseStream, Matrix, RowBlock, RowsOf,
};
use tickbound_reo::symbol::NameId;
use tickbound_reo_mpi::World;
use tickbound_reo_stream::{BlockFiles, BlockRecord, Dataset, DatasetError, ManifestHead};

use super::check::step;
use super::ranks::{self, Ranks};
use crate::commands::exit::{CliError, input};
use crate::commands::progress::Progress;
use crate::commands::stop;
use crate::commands::values::ByteSize;
use tickbound_reo_opencl::{Maker, MultiplierError, agree};

/// Options of a product in blocks.
#[derive(Debug, clap::Args)]
pub(super) struct StreamArgs {
    /// Make a dense or reachable product in blocks that are not kept, whatever its size: count its
    /// steps and the states that are stuck, and sum up a checksum. States for which there is no
    /// memory are kept in TMPDIR
    #[arg(long)]
    pub stream: bool,
    /// With --stream, cells that are made at once; with --dataset, steps of a file
    #[arg(long, value_name = "SIZE", default_value = "64M", requires = "stream")]
    pub block: ByteSize,
    /// With --stream, a condition on the names that fire in a step, such as 'a -> !b': steps that
    /// break it are counted
    #[arg(long, value_name = "FORMULA", requires = "stream")]
    pub invariant: Vec<String>,
    /// With --stream, write all steps into this folder, block by block, as Parquet files; what is
    /// there already is verified and gone on with
    #[arg(long, value_name = "DIR", requires = "stream", conflicts_with = "invariant")]
    pub dataset: Option<String>,
    /// With --dataset, a condition on the names that fire in a step: only steps that fulfil it are
    /// written
    #[arg(long, value_name = "FORMULA", requires = "dataset")]
    pub filter: Option<String>,
}

/// Why a product was not made, or not written.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error(transparent)]
    Engine(#[from] MultiplierError),
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    #[error("the exchange between ranks: {0}")]
    Exchange(#[from] std::io::Error),
}

/// What came of a product in blocks.
pub(super) struct Streamed {
    /// Of the blocks that were made, or were there.
    pub tally: CellTally,
    /// How many names the product has.
    pub names: usize,
    /// Whether each state's idle loop is among the steps.
    pub idle: bool,
    pub extent: Extent,
    /// The names that fire in the first step that breaks a condition.
    pub broken: Option<String>,
    /// Whether there was a condition.
    pub asked: bool,
}

/// How much of a product was made.
pub(super) enum Extent {
    /// All of a product of which that was not known before, or not.
    Search { complete: bool },
    /// Of blocks and states that are known before.
    Blocks { done: usize, blocks: usize, states: usize },
}

/// Makes the product of `matrices` block by block.
pub(super) fn run(
    args: &StreamArgs,
    connector: &Connector,
    matrices: &[Matrix],
    maker: Maker<'_>,
    limits: &ProductLimits<'_>,
    line: &Progress,
    ranks: &mut Ranks,
) -> Result<Streamed, CliError> {
    let fits = limits.fits("the dense product in blocks", need(args, matrices, maker));
    let blocks = maker.blocks() > 0 || args.dataset.is_some();
    let smaller = if blocks { "; --block makes the blocks smaller" } else { "" };
    fits.map_err(|e| input(format!("{e}{smaller}")))?;
    let plan = dense::plan(matrices, limits).map_err(input)?;
    let conditions = conditions(args, connector, plan.alphabet())?;
    let holds = |label: u64| holds(&conditions, plan.alphabet(), label);
    let asked = !conditions.is_empty();
    let filter = filter(args, connector, plan.alphabet())?;
    let stream = DenseStream::new(&plan, args.block.0);
    let head = |names| ManifestHead::dense(&connector.name, names, &stream);
    let (rank, size) = (ranks.rank(), ranks.size());
    let mut dataset =
        if rank == 0 { open(args, connector, plan.alphabet(), head, line)? } else { None };
    let has = |number| dataset.as_ref().is_some_and(|dataset| dataset.has(number));
    let there = (0..stream.len()).filter(|number| has(*number)).map(|number| number as u64);
    let there = ranks.told_by_first(there.collect())?;
    let is_missing = |block: &RowBlock| there.binary_search(&(block.number as u64)).is_err();
    let missing = stream.blocks().filter(is_missing);
    // The ranks take turns.
    let mine: Vec<RowBlock> = missing.skip(rank).step_by(size).collect();
    let rounds = (stream.len() - there.len()).div_ceil(size);
    let mut tally = dataset.as_ref().map(|dataset| dataset.manifest().tally()).unwrap_or_default();
    let mut done = there.len();
    let mut meter = Meter::new(line, &stream, tally);
    let keep = args.dataset.is_some();
    let see = |rows: RowsOf| {
        let mut columns = if keep { rows.columns() } else { BlockColumns::default() };
        if let Some(filter) = &filter {
            columns.keep(filter);
        }
        (rows.tally(asked.then_some(&holds)), columns)
    };
    let files =
        args.dataset.as_ref().map(|folder| BlockFiles::new(Disk::real(), Path::new(folder)));
    let world = ranks.world();
    let mut writer = Writer { files, whole: None, dataset: &mut dataset, world, rounds };
    let made = maker.run(&stream, mine, limits, see, |block, seen| {
        let (tallies, columns): (Vec<CellTally>, Vec<BlockColumns>) = seen.into_iter().unzip();
        let here = tallies.into_iter().sum();
        writer.write(block, here, columns)?;
        tally = tally + here;
        done += size.min(stream.len() - done);
        meter.show(done, tally);
        Ok(())
    });
    let stopped = |error: &StreamError| size == 1 && was_interrupted(error);
    let rest = match &made {
        Err(error) if !stopped(error) => Ok(()),
        _ => writer.rest(),
    };
    match made.and(rest) {
        Ok(()) => {
            tally = ranks.total(tally)?;
            if ranks.is_first() {
                agree(&maker.name(), plan.checksum(), tally.checksum).map_err(input)?;
            }
            done = stream.len();
        }
        // What is counted by then is worth saying, if nobody else counts.
        Err(error) if stopped(&error) => {}
        Err(error) => return Err(input(error)),
    }
    let broken = tally.first_broken.map(|(_, _, label)| names(connector, plan.alphabet(), label));
    Ok(Streamed {
        tally,
        names: plan.alphabet().len(),
        idle: true,
        extent: Extent::Blocks { done, blocks: stream.len(), states: plan.sizes().states() },
        broken,
        asked,
    })
}

fn was_interrupted(error: &StreamError) -> bool {
    let StreamError::Engine(MultiplierError::Dense(DenseError::Stopped(why))) = error else {
        return false;
    };
    matches!(why, Stopped::Interrupted)
}

/// Where blocks go, if a dataset was asked for: each rank writes its own, and the first one enters
/// them.
struct Writer<'a> {
    /// Dropped, and so waited for, before `whole`.
    files: Option<BlockFiles>,
    /// While a file is written.
    whole: Option<stop::Writing>,
    dataset: &'a mut Option<Dataset>,
    world: Option<&'a mut World>,
    /// So often the ranks tell each other of blocks still.
    rounds: usize,
}

impl Writer<'_> {
    fn write(
        &mut self,
        block: RowBlock,
        tally: CellTally,
        columns: Vec<BlockColumns>,
    ) -> Result<(), StreamError> {
        let Some(files) = &mut self.files else { return Ok(()) };
        let whole = stop::writing();
        let before = files.write(block, tally, columns)?;
        if before.is_some() {
            self.enter(before)?;
        }
        self.whole = Some(whole);
        Ok(())
    }

    /// Enters the last block, and hears of the blocks of those who have more of them.
    fn rest(&mut self) -> Result<(), StreamError> {
        let Some(files) = &mut self.files else { return Ok(()) };
        if let Some(last) = files.rest()? {
            self.enter(Some(last))?;
        }
        while self.world.is_some() && self.rounds > 0 {
            self.enter(None)?;
        }
        self.whole = None;
        Ok(())
    }

    fn enter(&mut self, record: Option<BlockRecord>) -> Result<(), StreamError> {
        self.rounds -= 1;
        let all = match &mut self.world {
            Some(world) => ranks::records(world, record.as_ref())?,
            None => record.into_iter().collect(),
        };
        if let Some(dataset) = &mut self.dataset {
            all.into_iter().try_for_each(|record| dataset.enter(record))?;
        }
        Ok(())
    }
}

/// The dataset to write to, if one was asked for; `head` gets the words for the names of
/// `alphabet`.
pub(super) fn open(
    args: &StreamArgs,
    connector: &Connector,
    alphabet: &[NameId],
    head: impl FnOnce(Vec<String>) -> ManifestHead,
    line: &Progress,
) -> Result<Option<Dataset>, CliError> {
    let Some(folder) = &args.dataset else { return Ok(None) };
    let names = alphabet.iter().map(|name| connector.symbols.word(name.0).to_owned()).collect();
    let go_on = |block: usize| {
        line.say(format!("verifying block {block}"));
        !stop::is_due()
    };
    let head = ManifestHead { filter: args.filter.clone(), ..head(names) };
    Dataset::open(Disk::real(), Path::new(folder), head, &go_on).map(Some).map_err(input)
}

/// Bytes that a product in blocks takes: its halves twice, as they are and over one alphabet, and
/// the blocks.
pub(super) fn need(args: &StreamArgs, matrices: &[Matrix], maker: Maker<'_>) -> u128 {
    let states = matrices.iter().map(|m| m.states() as u128).fold(1, u128::saturating_mul);
    let slots = matrices.iter().map(|m| m.slots() as u128).fold(1, u128::saturating_mul);
    let row = states.saturating_mul(slots).saturating_mul(8);
    // Of columns, which are twice as large as cells, one block that is made, one that waits and one
    // that is encoded.
    let columns = if args.dataset.is_some() { 6 } else { 0 };
    let blocks = row.max(args.block.0.into()).saturating_mul(columns + maker.blocks() as u128);
    let rows = row.max(1 << 19).saturating_mul(rayon::current_num_threads() as u128);
    dense::need_of_halves(matrices).saturating_mul(2).saturating_add(blocks).saturating_add(rows)
}

/// The conditions that were asked for.
pub(super) fn conditions(
    args: &StreamArgs,
    connector: &Connector,
    alphabet: &[NameId],
) -> Result<Vec<LtlFormula>, CliError> {
    let read = |text: &String| {
        LtlFormula::parse(text, alphabet, &connector.symbols)
            .map_err(|e| input(format!("--invariant: {e}")))
    };
    args.invariant.iter().map(read).collect()
}

/// Which labels are written, if not all.
pub(super) fn filter(
    args: &StreamArgs,
    connector: &Connector,
    alphabet: &[NameId],
) -> Result<Option<impl Fn(u64) -> bool + Sync + use<>>, CliError> {
    let Some(text) = &args.filter else { return Ok(None) };
    let formula = LtlFormula::parse(text, alphabet, &connector.symbols)
        .map_err(|e| input(format!("--filter: {e}")))?;
    let alphabet = alphabet.to_vec();
    Ok(Some(move |label| holds(std::slice::from_ref(&formula), &alphabet, label)))
}

/// Whether a label keeps all conditions.
pub(super) fn holds(conditions: &[LtlFormula], alphabet: &[NameId], label: u64) -> bool {
    let fires = |name| alphabet.binary_search(&name).is_ok_and(|bit| label >> bit & 1 == 1);
    conditions.iter().all(|condition| condition.holds(&fires))
}

/// The names of a label, as text.
pub(super) fn names(connector: &Connector, alphabet: &[NameId], label: u64) -> String {
    let fires = alphabet.iter().enumerate().filter(|(bit, _)| label >> bit & 1 == 1);
    let fires: Vec<NameId> = fires.map(|(_, name)| *name).collect();
    step(connector, &fires, &DataConstraint::default())
}

impl Streamed {
    /// Whether every block was made.
    pub fn is_complete(&self) -> bool {
        match self.extent {
            Extent::Search { complete } => complete,
            Extent::Blocks { done, blocks, .. } => done == blocks,
        }
    }

    /// Whether nothing was found that should not be.
    pub fn is_good(&self) -> bool {
        self.is_complete() && self.tally.broken == 0
    }

    /// Transitions without idle loops, of which each state has one.
    pub fn transitions(&self) -> u64 {
        self.tally.checksum.steps - if self.idle { self.tally.states } else { 0 }
    }

    /// Besides the sizes, line by line.
    pub fn text(&self) -> String {
        let tally = &self.tally;
        let mut text = String::from("  ");
        if self.idle {
            text += &format!("with idle loops {} transitions, ", tally.checksum.steps);
        }
        text += &format!("checksum {:016x}\n", tally.digest);
        if let Some(first) = tally.first_stuck {
            text += &format!("  {} states are stuck, the first is {first}\n", tally.stuck);
        }
        match (tally.first_broken, &self.broken) {
            (Some((from, to, _)), Some(names)) => {
                text += &format!(
                    "  {} steps break the invariant, the first goes from state {from} to {to}: \
                     {names}\n",
                    tally.broken
                );
            }
            _ if self.asked => text += "  every step keeps the invariant\n",
            _ => {}
        }
        match self.extent {
            _ if self.is_complete() => {}
            Extent::Search { .. } => {
                text +=
                    &format!("  stopped after {} states: this is of these alone\n", tally.states);
            }
            Extent::Blocks { done, blocks, states } => {
                text += &format!(
                    "  stopped after {done} of {blocks} blocks, {} of {states} states: this is of \
                     these alone\n",
                    tally.states
                );
            }
        }
        text
    }

    /// The same as members of an object.
    pub fn add_to(&self, object: &mut Map<String, Value>) {
        let tally = &self.tally;
        if self.idle {
            object.insert("algebraic_transitions".into(), json!(tally.checksum.steps));
        }
        object.insert("checksum".into(), json!(format!("{:016x}", tally.digest)));
        object.insert("stuck".into(), json!(tally.stuck));
        object.insert("first_stuck".into(), json!(tally.first_stuck));
        if self.asked {
            let first = tally.first_broken.zip(self.broken.as_ref());
            let first = first
                .map(|((from, to, _), names)| json!({ "from": from, "to": to, "names": names }));
            object.insert("broken".into(), json!(tally.broken));
            object.insert("first_broken".into(), json!(first));
        }
        if let Extent::Blocks { done, blocks, .. } = self.extent {
            object.insert("blocks".into(), json!(blocks));
            object.insert("blocks_done".into(), json!(done));
        } else {
            object.insert("complete".into(), json!(self.is_complete()));
        }
    }
}

/// How far a stream is, how fast, and for how long still.
struct Meter<'a> {
    line: &'a Progress,
    began: Instant,
    shown: Instant,
    blocks: usize,
    states: u64,
    /// What was there before.
    before: CellTally,
}

impl<'a> Meter<'a> {
    fn new(line: &'a Progress, stream: &DenseStream, before: CellTally) -> Meter<'a> {
        let now = Instant::now();
        let states = stream.plan().sizes().states() as u64;
        Meter { line, began: now, shown: now, blocks: stream.len(), states, before }
    }

    fn show(&mut self, done: usize, tally: CellTally) {
        if self.shown.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.shown = Instant::now();
        let seconds = self.began.elapsed().as_secs_f64();
        let made = (tally.states - self.before.states).max(1) as f64;
        let left = seconds * (self.states - tally.states) as f64 / made;
        let steps = (tally.checksum.steps - self.before.checksum.steps) as f64;
        self.line.say(format!(
            "{done} of {} blocks, {} transitions, {:.0} million a second, {left:.0} s left",
            self.blocks,
            grouped(tally.checksum.steps),
            steps / seconds / 1e6,
        ));
    }
}
