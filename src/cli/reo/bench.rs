//! `tickbound reo bench`.

use super::shared::DEFAULT_MEMORY;
use crate::bench;
use crate::cli::exit::{CliError, Exit, input};
use crate::cli::output::{Outputs, say, say_json, written};
use crate::cli::progress::Progress;
use crate::cli::stop;
use crate::cli::values::Size;
use tickbound_device;
use tickbound_reo::limits::Limits;

/// Arguments of `reo bench`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Draw the times beside those of the thesis (.svg or .png; both without an extension)
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
    /// Runs of which the average is taken; 5 before them do not count
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: usize,
    /// Bytes of the large product that is compared with a plain fill
    #[arg(long, value_name = "SIZE", default_value = "128M")]
    bytes: Size,
    /// Most memory
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MEMORY)]
    memory: Size,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    Outputs::default().picture("--plot", args.plot.as_ref())?.check(&[])?;
    let listing = tickbound_device::list();
    listing.notes.iter().for_each(|note| eprintln!("tickbound: {note}"));
    if let Some(why) = listing.absent() {
        eprintln!("tickbound: {why}; using the CPU");
    }
    let stop = stop::flag();
    let limits = Limits { memory: args.memory.0, stop, progress: &|_| {} };
    let options = bench::Options { kept: args.runs, bytes: args.bytes.0, ..<_>::default() };
    let line = Progress::new("reo bench");
    let report = bench::run(&options, &listing.devices, &limits, &|next| line.say(next.to_owned()))
        .map_err(input)?;
    drop(line);
    if let Some(path) = &args.plot {
        written(&report.plot(path)?);
    }
    if args.json {
        say_json(&report)?;
    } else {
        say(&report.markdown())?;
    }
    Ok(Exit::Done)
}
