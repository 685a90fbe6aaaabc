//! `tickbound reo run`.

use std::io::{IsTerminal, stdin};

use serde_json::{Map, Value, json};
use tickbound_reo::connector::Connector;
use tickbound_reo::run::{Player, Random, Wanted};
use tickbound_reo::syntax::Source;

use super::lines::{Lines, Next};
use super::load::{self, notes};
use crate::commands::exit::{CliError, Exit, input};
use crate::commands::output::{Outputs, save, say, say_folded, say_json};
use crate::commands::stop::{self, Memory};

/// Arguments of `reo run`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Connector: a .treo, .cat, .reo, .ea, .aut or .json file
    file: String,
    #[command(flatten)]
    choice: load::ConnectorArgs,
    /// Take the steps of a saved run, such as `2 {a = 1, b = 1}` or `{a = 1}`
    #[arg(long, value_name = "FILE")]
    steps: Option<String>,
    /// Take so many steps at random, behind those of --steps
    #[arg(long, value_name = "N")]
    random: Option<usize>,
    /// Which random steps are taken
    #[arg(long, value_name = "S", default_value_t = 0, requires = "random")]
    seed: u64,
    /// Save the run, for --steps
    #[arg(long, value_name = "FILE")]
    save: Option<String>,
    #[command(flatten)]
    memory: Memory,
    /// Print one JSON object with the steps and the cells
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    args.memory.watched();
    let connector = load::connector(&args.file, &args.choice)?;
    notes(&connector);
    let outputs = Outputs::default().file("--save", args.save.as_ref());
    outputs.check(&args.choice.files_and(args.steps.as_deref()))?;
    let mut player = match &args.steps {
        Some(path) => steps_of(&connector, path)?,
        None => Player::new(&connector).map_err(input)?,
    };
    let mut random = Random::new(args.seed);
    let strayed =
        (0..args.random.unwrap_or(0)).all(|_| !stop::is_due() && player.stray(&mut random));
    let played = if args.steps.is_none() && args.random.is_none() {
        play(&mut player, args)
    } else {
        Ok(strayed)
    };
    // Also what was done before a line that is wrong.
    if let Some(path) = &args.save {
        save(path, &saved(&player))?;
    }
    let cut = if played? { None } else { stop::reason() };
    if let Some(why) = &cut {
        let kept = args.save.as_ref().map(|path| format!("; the run so far is in {path}"));
        let kept = kept.unwrap_or_default();
        error!("tickbound: {why}; stopped after {} steps{kept}", player.lines().len());
        // What follows can take too long if the run is long, and is no loss.
        stop::on_forced_end(|| {});
    }
    if args.json {
        say_json(&answer(&mut player))?;
    } else if args.steps.is_some() || args.random.is_some() {
        say_folded(&format!("{}{}", saved(&player), where_it_stands(&player)))?;
        if !strayed && cut.is_none() {
            say("no step is possible\n")?;
        }
    }
    Ok(if cut.is_some() { Exit::Nothing } else { Exit::Done })
}

/// The run that a file has saved.
pub(super) fn steps_of(connector: &Connector, path: &str) -> Result<Player, CliError> {
    let mut player = Player::new(connector).map_err(input)?;
    let text = tickbound_input::text(path)
        .map_err(|error| input(format!("{path}: {error}; give a file with steps")))?;
    for wanted in Wanted::all(&Source::new(path, &text)).map_err(input)? {
        player.follow(&wanted).map_err(input)?;
    }
    Ok(player)
}

fn saved(player: &Player) -> String {
    player.lines().iter().flat_map(|line| [line, "\n"]).collect()
}

/// Cells, and what is known of functions and predicates, a line each where there are some.
fn where_it_stands(player: &Player) -> String {
    let cells: Vec<String> =
        player.cells().iter().map(|(cell, held)| format!("${cell} = {held}")).collect();
    let mut out = String::new();
    for (what, all) in [("cells", cells), ("known", player.facts())] {
        if !all.is_empty() {
            out += &format!("{what}: {}\n", all.join(", "));
        }
    }
    out
}

fn answer(player: &mut Player) -> Value {
    let cells: Map<String, Value> =
        player.cells().into_iter().map(|(cell, held)| (cell, json!(held))).collect();
    let stuck = player.choices().0.is_empty();
    json!({ "steps": player.lines(), "cells": cells, "known": player.facts(), "stuck": stuck })
}

const HELP: &str = "\
  NUMBER      take a step; `NUMBER {a = 1, b}` gives data,
              `{a = 1, b}` tells it by its names
  u           undo the last step
  r           take a step at random
  l           list the run so far
  s FILE      save the run
  q           quit
";

/// Asks for steps until the input ends; false if the command had to end before.
fn play(player: &mut Player, args: &Args) -> Result<bool, CliError> {
    let quiet = args.json;
    let prompt = stdin().is_terminal() && !quiet;
    let mut random = Random::new(0);
    let show = |player: &mut Player| if quiet { Ok(()) } else { offer(player) };
    show(player)?;
    if prompt {
        say("h for help\n> ")?;
    }
    let lines = Lines::new()?;
    for number in 1.. {
        let line = match lines.next()? {
            Next::Line(line) => line,
            Next::End => break,
            Next::Stop => return Ok(false),
        };
        match line.trim().split_once(' ').unwrap_or((line.trim(), "")) {
            ("", _) => {}
            ("q", _) => break,
            ("h", _) => say(HELP)?,
            ("l", _) => say_folded(&saved(player))?,
            ("s", path) if !path.trim().is_empty() => {
                Outputs::default()
                    .file("s", Some(path.trim()))
                    .check(&args.choice.files_and(args.steps.as_deref()))?;
                save(path.trim(), &saved(player))?;
            }
            ("u", _) if !player.undo() => say("nothing to undo\n")?,
            ("r", _) if !player.stray(&mut random) => say("no step is possible\n")?,
            ("u" | "r", _) => show(player)?,
            _ => match follow(player, &line) {
                Ok(()) => show(player)?,
                // A slip must not end a long run; later lines of a script are meant for another
                // state.
                Err(why) if prompt => say_folded(&format!("{why}\n"))?,
                Err(why) => {
                    return Err(input(format!("standard input, line {number}: {why}")));
                }
            },
        }
        if prompt {
            say("> ")?;
        }
    }
    Ok(true)
}

fn follow(player: &mut Player, line: &str) -> Result<(), String> {
    let all = Wanted::all(&Source::new("step", line)).map_err(|e| format!("{e}; h for help"))?;
    all.iter().try_for_each(|wanted| player.follow(wanted).map_err(|e| e.to_string()))
}

/// Shows where the run stands and what can be done.
fn offer(player: &mut Player) -> Result<(), CliError> {
    let (choices, more) = player.choices();
    let mut out = where_it_stands(player);
    for (number, choice) in choices.iter().enumerate() {
        let inside = if player.is_inside(choice) { "inside: " } else { "" };
        let effect = match &player.effect(choice)[..] {
            [] => String::new(),
            cells => format!(" -> {}", cells.join(", ")),
        };
        out += &format!("  {}. {inside}{}{effect}\n", number + 1, player.text(choice));
    }
    if choices.is_empty() {
        out += "no step is possible\n";
    }
    if more {
        out += "  and others; `{...}` with all names tells one that is not listed\n";
    }
    say_folded(&out)
}
