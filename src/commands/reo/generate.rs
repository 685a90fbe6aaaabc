//! `tickbound reo generate`.

use tickbound_reo::bisimulation::Equivalence;
use tickbound_reo::export::ExportSubject;
use tickbound_reo::generate::{self, Language};
use tickbound_reo::hide::close;
use tickbound_reo::limits::Stopped;
use tickbound_reo::product::stepwise;

use super::load::{self, hidden, notes, parts};
use super::shared::{DEFAULT_MEMORY, within};
use crate::commands::exit::{CliError, Exit, input};
use crate::commands::output::{Outputs, say_or_save};
use crate::commands::values::{ByteSize, named};

/// Arguments of `reo generate`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Connector: a .treo, .cat, .reo, .ea or .json file. The environment puts data at names of its
    /// interface to which no part writes, and takes them at the others
    file: String,
    #[command(flatten)]
    choice: load::ConnectorArgs,
    /// The language of the program
    #[arg(long, value_parser = named::<Language>())]
    to: Language,
    /// Names of the interface to hide as well, with commas between; those inside always are
    #[arg(long, value_name = "NAMES")]
    hide: Option<String>,
    /// Most memory for the product
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MEMORY)]
    memory: ByteSize,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let connector = load::connector(&args.file, &args.choice)?;
    notes(&connector);
    let outputs = Outputs::default().file("--output", args.output.as_ref());
    outputs.check(&args.choice.files_and(None))?;
    let hidden = hidden(&connector, args.hide.as_deref(), true)?;
    let words = |stopped: Stopped| input(stopped.text(&connector.symbols));
    let automaton = within("composing", args.memory, |limits| {
        let options = stepwise::StepwiseOptions { hidden, minimise: Some(Equivalence::Weak) };
        let composed = stepwise::compose(&parts(&connector), &options, limits).map_err(words)?;
        // A program takes steps when something waits at its ports: what is silent goes before them.
        close(&composed.automaton, limits).map_err(words)
    })?;
    let inputs = connector.inputs();
    let subject = ExportSubject {
        name: &connector.name,
        automaton: &automaton,
        symbols: &connector.symbols,
        inputs: &inputs,
        interface: &connector.interface,
    };
    let text = generate::generate(subject, args.to)
        .map_err(|error| input(format!("{}: {error}", args.file)))?;
    say_or_save(args.output.as_deref(), &text).map(|()| Exit::Done)
}
