//! `tickbound demo`: the abstract kernel for every size of the paper's Table 1.

use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
use tickbound_model::Problem;

use super::exit::{CliError, Exit};
use super::output::{say_folded, width};
use super::progress::Progress;
use super::stop::{self, Stops};
use tickbound_compare::paper::{Published, TABLE_1};
use tickbound_model::platforms;
use tickbound_model::verdict::Status;
use tickbound_report::Table;
use tickbound_solver::{Options, TuneResult, tune};

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the table as Markdown
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    stops: Stops,
}

/// The problem of the demonstration, as shipped in examples/problems.
const ABSTRACT: &str = include_str!("../../examples/problems/abstract.json");

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let interrupt = stop::flag();
    let mut table = Table::new([
        "size",
        "least time",
        "at WG,TS",
        "status",
        "seconds",
        "paper",
        "at",
        "its search",
    ]);
    let (mut seconds, mut better, mut proved) = (0.0, 0, true);
    for row in TABLE_1 {
        let result = tuned(row.size, interrupt)?;
        seconds += result.seconds;
        better += usize::from(result.upper.is_some_and(|t| t < row.time));
        table.push([
            row.size.to_string(),
            result.upper.map_or_else(|| "?".into(), |t| t.to_string()),
            optima(&result),
            if result.status == Status::Optimal { "proved".into() } else { "open".to_owned() },
            format!("{:.4}", result.seconds),
            row.time.to_string(),
            format!("{},{}", row.wg, row.ts),
            search(&row),
        ]);
        proved = result.status == Status::Optimal;
        if !proved {
            break;
        }
    }
    let large = tuned(1 << 30, interrupt)?;
    let shown = if args.markdown { table.to_markdown() } else { table.fitted(width()) };
    let intro = "The abstract OpenCL kernel of Garanina, Staroletov and Gorlatch (2023), on one\nunit of 4 elements: least model time over all workgroup sizes WG and tile sizes\nTS, beside the paper's Table 1.\n";
    say_folded(&format!(
        "{intro}\n{shown}\n{better} of {} times are below the paper's; all sizes together took \
         {seconds:.3} s.\n\
         size 2^30: least time {} at WG,TS = {}, {}, in {:.3} s\n",
        TABLE_1.len(),
        large.upper.map_or_else(|| "?".into(), |t| t.to_string()),
        optima(&large),
        if large.status == Status::Optimal { "proved" } else { "open" },
        large.seconds,
    ))?;
    Ok(Exit::found(proved && large.status == Status::Optimal))
}

/// How long the paper's verification took, and of which kind it was: by swarm, without a proof,
/// where there was no memory for an exhaustive search.
fn search(row: &Published) -> String {
    match row.exhaustive {
        "-" => format!("{}, swarm", row.verification),
        _ => row.verification.split(" / ").next().unwrap_or_default().to_owned(),
    }
}

fn tuned(size: i64, interrupt: &AtomicBool) -> Result<TuneResult, CliError> {
    let inputs = IndexMap::from([("size".to_owned(), size)]);
    let problem = Problem::from_json(ABSTRACT, &inputs, &platforms::find)?;
    let progress = Progress::new(&format!("size {size}:"));
    Ok(tune(&problem, &Options::default(), interrupt, &|known| progress.show(known.bounds))?)
}

fn optima(result: &TuneResult) -> String {
    let named = result
        .optima
        .iter()
        .map(|f| f.configuration.0.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
    named.collect::<Vec<_>>().join(" or ")
}
