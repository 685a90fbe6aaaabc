//! `tickbound simulate`.

use tickbound_model::simulate::{Options, simulate};

use super::exit::{CliError, Exit};
use super::load::{Chosen, Setting, by_name};
use super::output::{say, say_json};
use super::timeline;
use tickbound_model::simulate::Script;

/// Arguments of `simulate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    /// Value of a parameter; every parameter needs one
    #[arg(long = "set", value_name = "P=V")]
    set: Vec<Setting>,
    /// Write the timeline (Trace Event JSON, for Perfetto) to this file
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let problem = args.chosen.model()?;
    let bound = problem.bind(&by_name("--set", &args.set)?)?;
    let run = simulate(&problem, &bound, &Options::default())?;
    if args.json {
        say_json(&serde_json::json!({ "time": run.time }))?;
    } else {
        let configuration = problem.name_values(&bound.configuration).to_string();
        let with =
            if configuration.is_empty() { String::new() } else { format!(" with {configuration}") };
        say(&format!("{}: {} ticks{with}\n", problem.name, run.time))?;
    }
    if let Some(path) = &args.trace {
        let (spans, truncated) = timeline::write(&problem, &bound, &Script::FirstCome, path)?;
        let note = if truncated { ", the first of many" } else { "" };
        eprintln!("tickbound: {path}: {spans} spans{note}; open it in Perfetto");
    }
    Ok(Exit::Done)
}
