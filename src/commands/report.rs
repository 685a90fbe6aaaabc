//! `tickbound report`.

use std::path::PathBuf;

use super::exit::{CliError, Exit};
use super::output::Outputs;
use super::stop::Stops;
use tickbound_report::html;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// What compare, tune, spin or cp-sat has printed with --json
    #[arg(required = true)]
    results: Vec<String>,
    /// The report
    #[arg(short, long, value_name = "FILE")]
    output: String,
    #[command(flatten)]
    stops: Stops,
}

pub(super) fn run(args: &ReportArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let inputs: Vec<PathBuf> = args.results.iter().map(PathBuf::from).collect();
    Outputs::default().file("--output", Some(&args.output)).check(&inputs)?;
    let mut sources = Vec::new();
    for path in &args.results {
        let text = tickbound_input::text(path).map_err(|error| {
            CliError::Input(format!("{path}: {error}; give a file of `compare --json`"))
        })?;
        sources.push(html::PageSource::read(path, &text)?);
    }
    html::write(&args.output, &sources)?;
    note!("tickbound: {} written", args.output);
    Ok(Exit::Done)
}
