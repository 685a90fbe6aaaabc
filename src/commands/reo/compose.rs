//! `tickbound reo compose`.

use std::time::Instant;

use serde_json::{Value, json};
use tickbound_reo::connector::Connector;
use tickbound_reo::export::{self, ExportSubject, Format};
use tickbound_reo::symbol::NameId;
use tickbound_reo_stream::Streamed;

use super::compose_args::{Args, Mode};
use super::load::{self, hidden, notes};
use super::product::{Made, Work};
use super::ranks::Ranks;
use super::shared::within_line;
use super::stream::{self, Line};
use crate::commands::exit::{CliError, Exit, input};
use crate::commands::output::{Outputs, say_folded, say_json, say_or_save};

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
        outputs.check(&args.choice.files_and(None))?;
    }
    let names = hidden(&connector, args.hide.as_deref(), args.hide_inner)?;
    streamable(args, &names)?;
    if args.network {
        if args.to != Some(Format::Mcrl2) || args.mode != Mode::Reachable {
            return Err(input("--network makes no product; use it with --to mcrl2 alone"));
        }
        let text = export::mcrl2_network(&connector, &names).map_err(input)?;
        let saved =
            if ranks.is_first() { say_or_save(args.output.as_deref(), &text) } else { Ok(()) };
        return saved.map(|()| Exit::Done);
    }
    let begin = Instant::now();
    let made = within_line("composing", args.memory, |limits, line| {
        let (connector, names, line) = (&connector, &names[..], Line(line));
        Work { args, connector, names, limits, line }.product(ranks)
    })?;
    match made.filter(|_| ranks.is_first()) {
        Some(made) => tell(args, &connector, &made, begin),
        None => Ok(Exit::Done),
    }
}

/// Writes what was requested, and reports what was made.
fn tell(args: &Args, connector: &Connector, made: &Made, begin: Instant) -> Result<Exit, CliError> {
    let seconds = begin.elapsed().as_secs_f64();
    if let (Some(format), Some(automaton)) = (args.to, &made.automaton) {
        let inputs = connector.inputs();
        let subject = ExportSubject {
            name: &connector.name,
            automaton,
            symbols: &connector.symbols,
            inputs: &inputs,
            interface: &connector.interface,
        };
        let text = export::write(subject, format).map_err(input)?;
        say_or_save(args.output.as_deref(), &text)?;
    }
    let exit = Exit::found(made.streamed.as_ref().is_none_or(Streamed::is_good));
    if args.json {
        return say_json(&sizes(args, connector, made, seconds)).map(|()| exit);
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
    let streamed = made.streamed.as_ref();
    let line = line + &streamed.map(|s| stream::text(s, connector)).unwrap_or_default();
    // What was requested goes to standard output, the line beside it elsewhere.
    if args.to.is_some() && args.output.is_none() {
        note!("tickbound: {}", line.trim_end());
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

fn sizes(args: &Args, connector: &Connector, made: &Made, seconds: f64) -> Value {
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
        stream::add_to(object, streamed, connector);
    }
    object
}
