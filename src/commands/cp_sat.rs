//! `tickbound cp-sat`.

use super::exit::{CliError, Exit};
use super::load::Chosen;
use super::output::{say_answer, say_json};
use super::stop::{self, Stops};
use super::values::named;
use tickbound_compare::cp_sat;
use tickbound_compare::cp_sat::Python;
use tickbound_solver::Encoding;

/// Arguments of `cp-sat`.
#[derive(Debug, clap::Args)]
pub struct CpSatArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// How time is encoded
    #[arg(long, value_parser = named::<Encoding>(), default_value = "summary")]
    encoding: Encoding,
    /// Give it tables and what parameters share instead of an encoding; the space is not listed
    #[arg(long, conflicts_with = "encoding")]
    direct: bool,
    /// Search threads; as many as there are cores if not given
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    #[command(flatten)]
    stops: Stops,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CpSatArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let problem = args.chosen.model()?;
    let options = cp_sat::CpSatOptions {
        encoding: Some(args.encoding),
        direct: args.direct,
        timeout: args.stops.watched()?,
        since: Some(stop::began()),
        workers: args.workers,
    };
    let interrupt = stop::flag();
    let python = Python::find()?;
    let answer = cp_sat::solve(&problem, &options, &python, interrupt)?;
    if args.json {
        say_json(&answer.json())?;
    } else {
        say_answer(&cp_sat::words(&problem, &answer))?;
    }
    Ok(Exit::of(&answer))
}
