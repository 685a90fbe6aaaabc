//! `tickbound reo compose`.

use std::time::Instant;

use serde_json::{Value, json};
use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::Kind;
use tickbound_reo::connector::Connector;
use tickbound_reo::export::{self, Format, Subject};
use tickbound_reo::limits::Limits;
use tickbound_reo::product::dense::{self, Data, Form, Matrix};
use tickbound_reo::product::implicit::Implicit;
use tickbound_reo::product::stepwise;
use tickbound_reo::symbol::Name;

use super::load::{self, hidden, notes, parts};
use super::shared::{DEFAULT_MEMORY, KindArg, within};
use crate::cli::exit::{CliError, Exit, input};
use crate::cli::output::{Outputs, say, say_json, say_or_save};
use crate::cli::values::{Size, named};
use crate::device::{self, DeviceChoice, Picked};
use crate::reo::Multiplier;

tickbound_model::named! {
    /// How the product is made.
    pub enum Mode {
        /// State by state from the initial states; equivalent states are merged on the way where names are hidden
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
    /// Connector: a .treo, .cat or .json file
    file: String,
    #[command(flatten)]
    choice: load::ConnectorArgs,
    /// How the product is made
    #[arg(long, value_parser = named::<Mode>(), default_value = "reachable")]
    mode: Mode,
    /// Where a dense product is made: cpu, opencl or opencl:N
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,
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
    memory: Size,
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
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let connector = load::connector(&args.file, &args.choice)?;
    notes(&connector);
    let outputs = Outputs::default().file("--output", args.output.as_ref());
    outputs.check(&args.choice.files())?;
    let names = hidden(&connector, args.hide.as_deref(), args.hide_inner)?;
    let begin = Instant::now();
    let made = within("composing", args.memory, |limits| match args.mode {
        Mode::Reachable => reachable(args, &connector, &names, limits),
        Mode::Dense => dense(args, &connector, &names, limits),
        Mode::Implicit => implicit(args, &connector, &names, limits),
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    if let (Some(target), Some(automaton)) = (args.to, &made.automaton) {
        write(args, &connector, automaton, target)?;
    }
    if args.json {
        return say_json(&sizes(args, &made, seconds)).map(|()| Exit::Done);
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
    // What was asked for goes to standard output, the line beside it elsewhere.
    if args.to.is_some() && args.output.is_none() {
        eprintln!("tickbound: {}", line.trim_end());
    } else {
        say(&line)?;
    }
    Ok(Exit::Done)
}

fn sizes(args: &Args, made: &Made, seconds: f64) -> Value {
    // Counts beyond 64 bits stay text: a JSON number would lose digits in most readers.
    let number = |text: &str| text.parse::<u64>().map_or_else(|_| json!(text), |n| json!(n));
    json!({
        "states": number(&made.states),
        "transitions": number(&made.transitions),
        "names": made.names,
        "seconds": seconds,
        "mode": args.mode,
        "device": made.device,
    })
}

fn made(automaton: Automaton, device: &str) -> Made {
    Made {
        states: automaton.states().to_string(),
        transitions: automaton.transitions().to_string(),
        names: automaton.alphabet().len(),
        device: device.to_owned(),
        automaton: Some(automaton),
    }
}

fn reachable(
    args: &Args,
    connector: &Connector,
    names: &[Name],
    limits: &Limits<'_>,
) -> Result<Made, CliError> {
    if args.device != DeviceChoice::Cpu {
        return Err(input(
            "--device is for --mode dense; the reachable product runs on the processors",
        ));
    }
    Ok(made(composed(args, &parts(connector), names, limits)?, "cpu"))
}

/// The reachable product, hidden and minimised as asked.
fn composed(
    args: &Args,
    parts: &[&Automaton],
    names: &[Name],
    limits: &Limits<'_>,
) -> Result<Automaton, CliError> {
    let minimise = args.minimize.map(Kind::from);
    let options = stepwise::Options { hidden: names.to_vec(), minimise };
    Ok(stepwise::compose(parts, &options, limits).map_err(input)?.automaton)
}

fn dense(
    args: &Args,
    connector: &Connector,
    names: &[Name],
    limits: &Limits<'_>,
) -> Result<Made, CliError> {
    let data = connector.parts.iter().any(|part| !part.automaton.is_plain());
    if data {
        eprintln!("tickbound: a dense product has no data constraints; they are left out");
    }
    let matrix = |part: &&Automaton| Matrix::new(part, Data::Ignore, limits).map_err(input);
    let matrices = parts(connector).iter().map(matrix).collect::<Result<Vec<_>, _>>()?;
    let (whole, device) = on_device(args.device, &matrices, limits)?;
    if names.is_empty() && args.minimize.is_none() {
        return Ok(made(whole, &device));
    }
    let small = composed(args, &[&whole], names, limits)?;
    Ok(made(small, &device))
}

/// The dense product, and where it was made.
fn on_device(
    choice: DeviceChoice,
    matrices: &[Matrix],
    limits: &Limits<'_>,
) -> Result<(Automaton, String), CliError> {
    let listing = if choice == DeviceChoice::Cpu { None } else { Some(device::list()) };
    let picked = match &listing {
        None => Picked::Cpu,
        Some(listing) => listing.pick(choice).map_err(input)?,
    };
    match picked {
        Picked::Device(device) => {
            let engine = Multiplier::new(device).map_err(input)?;
            let product = engine.fold(matrices, limits).map_err(input)?;
            let whole = product.to_automaton(limits).map_err(input)?;
            return Ok((whole.without_idle(), device.name.clone()));
        }
        Picked::Absent(why) => eprintln!("tickbound: {why}; using the CPU"),
        Picked::Cpu => {}
    }
    let whole = dense::compose(matrices, Form::Standard, limits).map_err(input)?;
    Ok((whole, "cpu".into()))
}

fn implicit(
    args: &Args,
    connector: &Connector,
    names: &[Name],
    limits: &Limits<'_>,
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
    })
}

fn write(
    args: &Args,
    connector: &Connector,
    automaton: &Automaton,
    target: Target,
) -> Result<(), CliError> {
    let inputs = connector.inputs();
    let subject = Subject {
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
