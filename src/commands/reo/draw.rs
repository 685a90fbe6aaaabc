//! `tickbound reo draw`.

use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::Equivalence;
use tickbound_reo::connector::Connector;
use tickbound_reo::draw::{self, Frame, GraphPicture};
use tickbound_reo::export::{self, ExportSubject};
use tickbound_reo::limits::Stopped;
use tickbound_reo::product::stepwise;

use super::load::{self, notes, parts};
use super::run::steps_of;
use super::shared::{DEFAULT_MEMORY, within};
use crate::commands::exit::{CliError, Exit, input};
use crate::commands::output::{Outputs, say, say_or_save};
use crate::commands::values::ByteSize;
use tickbound_report::html::{ConnectorDrawing, ConnectorPage, Lit};

/// Steps of a run that a drawing shows below each other; a page has them all.
const MAX_ROWS: usize = 40;

/// Arguments of `reo draw`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Connector: a .treo, .cat, .reo, .ea, .aut or .json file
    file: String,
    #[command(flatten)]
    choice: load::ConnectorArgs,
    /// Light the steps of a saved run, such as `2 {a = 1, b = 1}` or `{a = 1}`
    #[arg(long, value_name = "FILE")]
    steps: Option<String>,
    /// Draw the circuit alone, without the automaton
    #[arg(long)]
    circuit: bool,
    /// Draw each component of a Treo file that is made of others as a box with its ports
    #[arg(long)]
    fold: bool,
    /// Draw what is wider than this in several rows, and the automaton below the circuit
    #[arg(long, value_name = "PX", value_parser = clap::value_parser!(u32).range(100..))]
    width: Option<u32>,
    /// Most memory for the automaton
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MEMORY)]
    memory: ByteSize,
    /// Write a page with zoom, search and the steps one by one
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Write the drawing (SVG) to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let read = load::connector(&args.file, &args.choice)?;
    notes(&read);
    let connector = if args.fold { draw::folded(&read) } else { read };
    let outputs = Outputs::default().file("--output", args.output.as_ref());
    outputs
        .file("--html", args.html.as_ref())
        .check(&args.choice.files_and(args.steps.as_deref()))?;
    let circuit = draw::circuit(&connector, args.width.map(f64::from)).map_err(input)?;
    let automaton = if args.circuit { None } else { small(args, &connector)? };
    let beside = automaton.as_ref().and_then(|automaton| drawn(args, &connector, automaton));
    let shown = automaton.as_ref().filter(|_| beside.is_some());
    let frames = match &args.steps {
        Some(path) => draw::frames(&connector, shown, &steps_of(&connector, path)?.taken()),
        None => Vec::new(),
    };
    if let Some(path) = &args.html {
        page(&connector, &circuit, beside.as_ref(), &frames).write(path).map_err(input)?;
        if args.output.is_none() {
            return say(&format!("{path} written\n")).map(|()| Exit::Done);
        }
    }
    let text = svg(&connector, &circuit, beside.as_ref(), &frames, args.width);
    say_or_save(args.output.as_deref(), &text).map(|()| Exit::Done)
}

/// The automaton, hidden and minimised; none if it needs more memory than allowed.
fn small(args: &Args, connector: &Connector) -> Result<Option<Automaton>, CliError> {
    within("composing", args.memory, |limits| {
        let options = stepwise::StepwiseOptions {
            hidden: connector.inner(),
            minimise: Some(Equivalence::Weak),
        };
        match stepwise::compose(&parts(connector), &options, limits) {
            Ok(composed) => Ok(Some(composed.automaton)),
            Err(stopped @ Stopped::Memory { .. }) => {
                note!("tickbound: without the automaton: {stopped}");
                Ok(None)
            }
            Err(stopped) => Err(input(stopped)),
        }
    })
}

/// Its picture, unless it would not be readable.
fn drawn(args: &Args, connector: &Connector, automaton: &Automaton) -> Option<GraphPicture> {
    let subject = ExportSubject {
        name: &connector.name,
        automaton,
        symbols: &connector.symbols,
        inputs: &[],
        interface: &connector.interface,
    };
    match export::picture(subject, args.width.map(f64::from)) {
        Ok(picture) => Some(picture),
        Err(error) => {
            note!("tickbound: without the automaton: {error}");
            None
        }
    }
}

fn svg(
    connector: &Connector,
    circuit: &GraphPicture,
    beside: Option<&GraphPicture>,
    frames: &[Frame],
    width: Option<u32>,
) -> String {
    let wide =
        |b: &&GraphPicture| width.is_some_and(|most| circuit.width + b.width > f64::from(most));
    let stacked = beside.filter(wide).map(|beside| draw::stacked(circuit, beside));
    let pictures: Vec<&GraphPicture> = match &stacked {
        Some(both) => vec![both],
        None => [circuit].into_iter().chain(beside).collect(),
    };
    if frames.len() > MAX_ROWS {
        note!(
            "tickbound: the first {MAX_ROWS} of {} steps are drawn; --html shows all",
            frames.len() - 1
        );
    }
    let rows: Vec<(Vec<&GraphPicture>, Option<&Frame>)> = match frames {
        [] => vec![(pictures, None)],
        some => some.iter().take(MAX_ROWS + 1).map(|f| (pictures.clone(), Some(f))).collect(),
    };
    draw::svg(&connector.name, &rows)
}

fn page(
    connector: &Connector,
    circuit: &GraphPicture,
    beside: Option<&GraphPicture>,
    frames: &[Frame],
) -> ConnectorPage {
    let drawn = |heading: &str, picture: &GraphPicture| ConnectorDrawing {
        heading: heading.to_owned(),
        width: picture.width.ceil() as u32,
        height: picture.height.ceil() as u32,
        markup: draw::content(picture, None),
    };
    let lit = |frame: &Frame| Lit {
        caption: frame.caption.clone(),
        on: frame.on.iter().cloned().collect(),
    };
    let automaton = beside.map(|picture| drawn("What it does, names inside hidden", picture));
    ConnectorPage {
        title: connector.name.clone(),
        about: format!(
            "{} parts, {} names at its border",
            connector.parts.len(),
            connector.interface.len()
        ),
        pictures: [drawn("Circuit", circuit)].into_iter().chain(automaton).collect(),
        frames: frames.iter().map(lit).collect(),
    }
}
