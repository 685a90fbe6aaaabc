//! `tickbound reo compose`.

use std::time::Instant;

use serde_json::{Value, json};
use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::Equivalence;
use tickbound_reo::connector::Connector;
use tickbound_reo::export::{self, ExportSubject, Format};
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::product::dense::{self, CellData, DenseError, Matrix, SparseForm};
use tickbound_reo::product::implicit::Implicit;
use tickbound_reo::product::reachable::compose_shared;
use tickbound_reo::product::stepwise;
use tickbound_reo::symbol::NameId;

use super::load::{self, hidden, notes, parts};
use super::ranks::Ranks;
use super::reached;
use super::shared::{DEFAULT_MEMORY, KindArg, within_line};
use super::stream::{self, StreamArgs, Streamed};
use crate::commands::exit::{CliError, Exit, input};
use crate::commands::output::{Outputs, say_folded, say_json, say_or_save};
use crate::commands::progress::Progress;
use crate::commands::values::{ByteSize, named};
use tickbound_device::{self, Device, DeviceChoice, DeviceChoiceError, Picked};
use tickbound_reo_opencl::{Maker, Multiplier, MultiplierError};

tickbound_input::named! {
    /// How the product is made.
    pub enum Mode {
        /// State by state from the initial states; equivalent states are merged on the way where
        /// names are hidden
        Reachable = "reachable",
        /// Every cell of the Kronecker product of the adjacency matrices
        Dense = "dense",
        /// Not at all: the factors are kept, and the full product's states and transitions counted
        Implicit = "implicit",
    }
}

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// A Treo component
    Treo,
    /// Graphviz
    Dot,
    /// A drawing
    Svg,
    /// Aldebaran, as CADP and mCRL2 read it
    Aut,
    /// JSON
    Json,
    /// An mCRL2 specification
    Mcrl2,
    /// A Promela model
    Promela,
}

/// Arguments of `reo compose`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Connector: a .treo, .cat, .reo, .ea or .json file
    file: String,
    #[command(flatten)]
    choice: load::ConnectorArgs,
    /// How the product is made
    #[arg(long, value_parser = named::<Mode>(), default_value = "reachable")]
    mode: Mode,
    /// Where a dense product is made: cpu, opencl or opencl:N; with --stream also opencl:all
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,
    #[command(flatten)]
    blocks: StreamArgs,
    /// Names to hide, with commas between
    #[arg(long, value_name = "NAMES")]
    hide: Option<String>,
    /// Hide every name that is not in the interface
    #[arg(long)]
    hide_inner: bool,
    /// Make states that do the same one
    #[arg(long, value_enum)]
    minimize: Option<KindArg>,
    /// Most memory for the product
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MEMORY)]
    memory: ByteSize,
    /// Write the automaton
    #[arg(long, value_enum)]
    to: Option<Target>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", requires = "to")]
    output: Option<String>,
    /// Print one JSON object with the sizes
    #[arg(long)]
    json: bool,
}

/// The sizes of a product, with the automaton where there is one.
struct Made {
    automaton: Option<Automaton>,
    states: String,
    transitions: String,
    names: usize,
    device: String,
    /// If it was made in blocks.
    streamed: Option<Streamed>,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let mut ranks = Ranks::start()?;
    let ended = compose(args, &mut ranks);
    ranks.end(ended)
}

fn compose(args: &Args, ranks: &mut Ranks) -> Result<Exit, CliError> {
    let connector = load::connector(&args.file, &args.choice)?;
    if ranks.is_first() {
        notes(&connector);
        let outputs = Outputs::default().file("--output", args.output.as_ref());
        outputs.check(&args.choice.files())?;
    }
    let names = hidden(&connector, args.hide.as_deref(), args.hide_inner)?;
    streamable(args, &names)?;
    let begin = Instant::now();
    let made = within_line("composing", args.memory, |limits, line| match args.mode {
        Mode::Dense if args.blocks.stream => {
            in_blocks(args, &connector, limits, line, ranks).map(Some)
        }
        Mode::Reachable if args.blocks.stream => {
            searched(args, &connector, limits, line, ranks).map(Some)
        }
        Mode::Reachable if args.minimize.is_none() => {
            together(args, &connector, &names, limits, ranks)
        }
        // Small between the steps, or made as a whole: the first rank does it.
        _ if !ranks.is_first() => Ok(None),
        Mode::Reachable => reachable(args, &connector, &names, limits).map(Some),
        Mode::Dense => dense(args, &connector, &names, limits).map(Some),
        Mode::Implicit => implicit(args, &connector, &names, limits).map(Some),
    })?;
    match made.filter(|_| ranks.is_first()) {
        Some(made) => tell(args, &connector, &made, begin),
        None => Ok(Exit::Done),
    }
}

/// Writes what was asked for, and says what was made.
fn tell(args: &Args, connector: &Connector, made: &Made, begin: Instant) -> Result<Exit, CliError> {
    let seconds = begin.elapsed().as_secs_f64();
    if let (Some(target), Some(automaton)) = (args.to, &made.automaton) {
        write(args, connector, automaton, target)?;
    }
    let exit = Exit::found(made.streamed.as_ref().is_none_or(Streamed::is_good));
    if args.json {
        return say_json(&sizes(args, made, seconds)).map(|()| exit);
    }
    let line = format!(
        "{}: {} states, {} transitions over {} names, from {} in {seconds:.3} s ({}, {})\n",
        connector.name,
        made.states,
        made.transitions,
        made.names,
        match connector.parts.len() {
            1 => "1 part".to_owned(),
            n => format!("{n} parts"),
        },
        args.mode,
        made.device,
    );
    let line = line + &made.streamed.as_ref().map(Streamed::text).unwrap_or_default();
    // What was asked for goes to standard output, the line beside it elsewhere.
    if args.to.is_some() && args.output.is_none() {
        eprintln!("tickbound: {}", line.trim_end());
    } else {
        say_folded(&line)?;
    }
    Ok(exit)
}

/// Refuses to make in blocks what is not only counted, checked or summed.
fn streamable(args: &Args, names: &[NameId]) -> Result<(), CliError> {
    if !args.blocks.stream {
        return Ok(());
    }
    if args.mode == Mode::Implicit {
        return Err(input("--mode implicit makes no product; leave --stream out"));
    }
    if !names.is_empty() || args.minimize.is_some() || args.to.is_some() {
        return Err(input(
            "--stream keeps no product; for --hide, --minimize and --to leave it out",
        ));
    }
    Ok(())
}

fn sizes(args: &Args, made: &Made, seconds: f64) -> Value {
    // Counts beyond 64 bits stay text: a JSON number would lose digits in most readers.
    let number = |text: &str| text.parse::<u64>().map_or_else(|_| json!(text), |n| json!(n));
    let mut object = json!({
        "states": number(&made.states),
        "transitions": number(&made.transitions),
        "names": made.names,
        "seconds": seconds,
        "mode": args.mode,
        "device": made.device,
    });
    if let (Some(streamed), Some(object)) = (&made.streamed, object.as_object_mut()) {
        streamed.add_to(object);
    }
    object
}

fn made(automaton: Automaton, device: &str) -> Made {
    Made {
        states: automaton.states().to_string(),
        transitions: automaton.transitions().to_string(),
        names: automaton.alphabet().len(),
        device: device.to_owned(),
        streamed: None,
        automaton: Some(automaton),
    }
}

fn reachable(
    args: &Args,
    connector: &Connector,
    names: &[NameId],
    limits: &ProductLimits<'_>,
) -> Result<Made, CliError> {
    on_processors(args)?;
    Ok(made(composed(args, &parts(connector), names, limits)?, "cpu"))
}

/// The reachable product by all ranks, whole on the first one, where names are hidden; as
/// [`reachable`] without others.
fn together(
    args: &Args,
    connector: &Connector,
    names: &[NameId],
    limits: &ProductLimits<'_>,
    ranks: &mut Ranks,
) -> Result<Option<Made>, CliError> {
    let device = ranks.name("cpu");
    let Some(world) = ranks.world() else {
        return reachable(args, connector, names, limits).map(Some);
    };
    on_processors(args)?;
    let whole = compose_shared(&parts(connector), limits, world).map_err(input)?;
    let hidden = |whole| stepwise::hidden(whole, names, limits).map_err(input);
    Ok(whole.map(hidden).transpose()?.map(|automaton| made(automaton, &device)))
}

fn on_processors(args: &Args) -> Result<(), CliError> {
    if args.device == DeviceChoice::Cpu {
        return Ok(());
    }
    Err(input("--device is for --mode dense; the reachable product runs on the processors"))
}

/// The reachable product in blocks.
fn searched(
    args: &Args,
    connector: &Connector,
    limits: &ProductLimits<'_>,
    line: &Progress,
    ranks: &mut Ranks,
) -> Result<Made, CliError> {
    on_processors(args)?;
    let streamed = reached::run(&args.blocks, connector, limits, line, ranks)?;
    Ok(not_kept(streamed, ranks.name("cpu")))
}

fn not_kept(streamed: Streamed, device: String) -> Made {
    Made {
        automaton: None,
        states: streamed.tally.states.to_string(),
        transitions: streamed.transitions().to_string(),
        names: streamed.names,
        device,
        streamed: Some(streamed),
    }
}

/// The reachable product, hidden and minimised as asked.
fn composed(
    args: &Args,
    parts: &[&Automaton],
    names: &[NameId],
    limits: &ProductLimits<'_>,
) -> Result<Automaton, CliError> {
    let minimise = args.minimize.map(Equivalence::from);
    let options = stepwise::StepwiseOptions { hidden: names.to_vec(), minimise };
    let plain = names.is_empty() && minimise.is_none() && args.to.is_none();
    let made = stepwise::compose(parts, &options, limits).map_err(|stopped| match stopped {
        Stopped::Memory { .. } if plain => {
            input(format!("{stopped}; --stream counts, checks and writes it in blocks"))
        }
        stopped => input(stopped),
    });
    Ok(made?.automaton)
}

/// The matrices of a connector's parts.
fn matrices(connector: &Connector, limits: &ProductLimits<'_>) -> Result<Vec<Matrix>, CliError> {
    let data = connector.parts.iter().any(|part| !part.automaton.is_plain());
    if data {
        eprintln!("tickbound: a dense product has no data constraints; they are left out");
    }
    let matrix = |part: &&Automaton| Matrix::new(part, CellData::Ignore, limits).map_err(input);
    parts(connector).iter().map(matrix).collect()
}

fn dense(
    args: &Args,
    connector: &Connector,
    names: &[NameId],
    limits: &ProductLimits<'_>,
) -> Result<Made, CliError> {
    let matrices = matrices(connector, limits)?;
    let refused = |error| too_large(args, &matrices, error);
    let (whole, device) = match engine(args.device)? {
        Some(engine) => {
            let product = engine.fold(&matrices, limits).map_err(refused)?;
            let whole = product.to_automaton(limits).map_err(|e| refused(e.into()))?;
            (whole.without_idle(), engine.device().name.clone())
        }
        None => {
            let whole = dense::compose(&matrices, SparseForm::Standard, limits);
            (whole.map_err(|e| refused(e.into()))?, "cpu".into())
        }
    };
    if names.is_empty() && args.minimize.is_none() {
        return Ok(made(whole, &device));
    }
    let small = composed(args, &[&whole], names, limits)?;
    Ok(made(small, &device))
}

/// What is said of a product that cannot be whole: also that it could be made in blocks, if so.
fn too_large(args: &Args, matrices: &[Matrix], error: MultiplierError) -> CliError {
    let memory =
        matches!(error, MultiplierError::Dense(DenseError::Stopped(Stopped::Memory { .. })));
    if memory && stream::need(&args.blocks, matrices, Maker::Threads) <= args.memory.0.into() {
        return input(format!("{error}; --stream counts, checks and writes it in blocks"));
    }
    input(error)
}

/// The product in blocks.
fn in_blocks(
    args: &Args,
    connector: &Connector,
    limits: &ProductLimits<'_>,
    line: &Progress,
    ranks: &mut Ranks,
) -> Result<Made, CliError> {
    let matrices = matrices(connector, limits)?;
    let devices = devices(args.device)?;
    let maker = if devices.is_empty() { Maker::Threads } else { Maker::Devices(&devices) };
    let streamed = stream::run(&args.blocks, connector, &matrices, maker, limits, line, ranks)?;
    Ok(not_kept(streamed, ranks.name(&maker.name())))
}

/// The devices that were chosen; none if it is the processors, also as there is no other.
fn devices(choice: DeviceChoice) -> Result<Vec<Device>, CliError> {
    if choice == DeviceChoice::Cpu {
        return Ok(Vec::new());
    }
    let listing = tickbound_device::list();
    if choice == DeviceChoice::All && !listing.devices.is_empty() {
        return Ok(listing.devices);
    }
    // Of none at all the best is absent.
    let choice = if choice == DeviceChoice::All { DeviceChoice::OpenCl } else { choice };
    match listing.pick(choice).map_err(input)? {
        Picked::Device(device) => Ok(vec![device.clone()]),
        Picked::Absent(why) => {
            eprintln!("tickbound: {why}; using the CPU");
            Ok(Vec::new())
        }
        Picked::Cpu => Ok(Vec::new()),
    }
}

/// The device that was chosen for a whole product.
fn engine(choice: DeviceChoice) -> Result<Option<Multiplier>, CliError> {
    if choice == DeviceChoice::All {
        return Err(input(DeviceChoiceError::Several));
    }
    devices(choice)?.first().map(|device| Multiplier::new(device).map_err(input)).transpose()
}

fn implicit(
    args: &Args,
    connector: &Connector,
    names: &[NameId],
    limits: &ProductLimits<'_>,
) -> Result<Made, CliError> {
    if !names.is_empty() || args.minimize.is_some() || args.to.is_some() {
        return Err(input(
            "--mode implicit only counts; for --hide, --minimize and --to use --mode reachable",
        ));
    }
    let factors = connector.parts.iter().map(|part| part.automaton.clone()).collect();
    let product = Implicit::new(factors);
    Ok(Made {
        automaton: None,
        states: product.states().to_string(),
        transitions: product.transitions(limits).map_err(input)?.to_string(),
        names: product.alphabet().len(),
        device: "cpu".into(),
        streamed: None,
    })
}

fn write(
    args: &Args,
    connector: &Connector,
    automaton: &Automaton,
    target: Target,
) -> Result<(), CliError> {
    let inputs = connector.inputs();
    let subject = ExportSubject {
        name: &connector.name,
        automaton,
        symbols: &connector.symbols,
        inputs: &inputs,
        interface: &connector.interface,
    };
    let format = match target {
        Target::Treo => Format::Treo,
        Target::Dot => Format::Dot,
        Target::Svg => Format::Svg,
        Target::Aut => Format::Aut,
        Target::Json => Format::Json,
        Target::Mcrl2 => Format::Mcrl2,
        Target::Promela => Format::Promela,
    };
    let text = export::write(subject, format).map_err(input)?;
    say_or_save(args.output.as_deref(), &text)
}
