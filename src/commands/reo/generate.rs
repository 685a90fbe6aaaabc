//! `tickbound reo generate`.

use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::Equivalence;
use tickbound_reo::export::ExportSubject;
use tickbound_reo::generate::{self, Language};
use tickbound_reo::hide::close;
use tickbound_reo::limits::Stopped;
use tickbound_reo::product::{regions, stepwise};

use super::load::{self, hidden, notes, parts};
use super::shared::{DEFAULT_MEMORY, within};
use crate::commands::exit::{CliError, Exit, input};
use crate::commands::output::{Outputs, say_or_save};
use crate::commands::values::{ByteSize, named};

/// Arguments of `reo generate`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Connector: a .treo, .cat, .reo, .ea, .aut or .json file. The environment puts data at names
    /// of its interface to which no part writes, and takes them at the others
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
    let parts = parts(&connector);
    let automata = within("composing", args.memory, |limits| {
        let region = |places: Vec<usize>| {
            let parts: Vec<&Automaton> = places.iter().map(|at| parts[*at]).collect();
            let minimise = Some(Equivalence::Weak);
            let options = stepwise::StepwiseOptions { hidden: hidden.clone(), minimise };
            let composed = stepwise::compose(&parts, &options, limits)?;
            // A program takes steps when something waits at its ports: what is silent goes before
            // them.
            close(&composed.automaton, limits)
        };
        let all = regions(&parts).into_iter().map(region).collect::<Result<Vec<_>, _>>();
        let mut all = all.map_err(words)?;
        // A region without ports needs no program.
        all.retain(|automaton| !automaton.alphabet().is_empty());
        Ok(all)
    })?;
    let inputs = connector.inputs();
    let subject = |automaton| ExportSubject {
        name: &connector.name,
        automaton,
        symbols: &connector.symbols,
        inputs: &inputs,
        interface: &connector.interface,
    };
    let subjects: Vec<ExportSubject> = automata.iter().map(subject).collect();
    let text = generate::generate(&subjects, args.to)
        .map_err(|error| input(format!("{}: {error}", args.file)))?;
    say_or_save(args.output.as_deref(), &text).map(|()| Exit::Done)
}
