//! `tickbound reo verify`.

use std::path::Path;

use serde_json::json;
use tickbound_reo_stream::{StreamedProduct, verify};

use crate::commands::exit::{CliError, Exit, input};
use crate::commands::output::{say_folded, say_json};
use crate::commands::progress::Progress;
use crate::commands::stop::{self, Memory};

/// Arguments of `reo verify`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The dataset: a folder that `reo compose --dataset` has written
    folder: String,
    #[command(flatten)]
    memory: Memory,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    args.memory.watched();
    let line = Progress::new("verifying");
    let go_on = |block: usize| {
        line.say(format!("block {block}"));
        !stop::is_due()
    };
    let manifest = verify(Path::new(&args.folder), &go_on).map_err(input)?;
    drop(line);
    let (head, tally) = (&manifest.head, manifest.tally());
    let (steps, idle) = match head.product {
        StreamedProduct::Dense => ("algebraic_transitions", "with idle loops "),
        StreamedProduct::Reachable => ("transitions", ""),
    };
    if args.json {
        let whole = json!({
            "connector": head.connector,
            "product": head.product,
            "states": tally.states,
            steps: tally.checksum.steps,
            "checksum": manifest.checksum,
            "blocks": manifest.written.len(),
            "filter": head.filter,
            "rows": manifest.rows(),
        });
        return say_json(&whole).map(|()| Exit::Done);
    }
    let filter = head.filter.iter();
    let rows: String = filter
        .map(|filter| {
            format!("; {} of them fulfil `{filter}` and are in the files", manifest.rows())
        })
        .collect();
    say_folded(&format!(
        "{}: {} whole: {} states, {idle}{} transitions in {} blocks, checksum {}{rows}\n",
        head.connector,
        args.folder,
        tally.states,
        tally.checksum.steps,
        manifest.written.len(),
        manifest.checksum
    ))?;
    Ok(Exit::Done)
}
