//! The abstract kernel for every size of the paper's Table 1, beside the paper's figures.

use std::error::Error;
use std::fs;
use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
use tickbound_model::verdict::Status;
use tickbound_model::{Problem, platforms};
use tickbound_report::Table;
use tickbound_solver::{SearchOptions, TuneResult, tune};

use crate::paper::{ABSTRACT, Published, TABLE_1};
use crate::project::root;

/// The table as text, with the least time for 2^30 elements behind it.
///
/// # Errors
/// The problem file is missing or at fault, or a search fails.
pub fn table1() -> Result<String, Box<dyn Error>> {
    let text = fs::read_to_string(root().join(ABSTRACT))?;
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
    let (mut seconds, mut better) = (0.0, 0);
    for row in TABLE_1 {
        let result = tuned(&text, row.size)?;
        seconds += result.seconds;
        better += usize::from(result.upper.is_some_and(|t| t < row.time));
        table.push([
            row.size.to_string(),
            result.upper.map_or_else(|| "?".into(), |t| t.to_string()),
            optima(&result),
            status(&result).to_owned(),
            format!("{:.4}", result.seconds),
            row.time.to_string(),
            format!("{},{}", row.wg, row.ts),
            search(&row),
        ]);
    }
    let large = tuned(&text, 1 << 30)?;
    Ok(format!(
        "The abstract OpenCL kernel of Garanina, Staroletov and Gorlatch (2023), on one\n\
         unit of 4 elements: least model time over all workgroup sizes WG and tile sizes\n\
         TS, beside the paper's Table 1.\n\n{table}\n{better} of {} times are below the paper's; \
         all sizes together took {seconds:.3} s.\nsize 2^30: least time {} at WG,TS = {}, {}, in \
         {:.3} s\n",
        TABLE_1.len(),
        large.upper.map_or_else(|| "?".into(), |t| t.to_string()),
        optima(&large),
        status(&large),
        large.seconds,
    ))
}

fn status(result: &TuneResult) -> &'static str {
    if result.status == Status::Optimal { "proved" } else { "open" }
}

/// How long the paper's verification took, and of which kind it was: by swarm, without a proof,
/// where there was no memory for an exhaustive search.
fn search(row: &Published) -> String {
    match row.exhaustive {
        "-" => format!("{}, swarm", row.verification),
        _ => row.verification.split(" / ").next().unwrap_or_default().to_owned(),
    }
}

fn tuned(text: &str, size: i64) -> Result<TuneResult, Box<dyn Error>> {
    let inputs = IndexMap::from([("size".to_owned(), size)]);
    let problem = Problem::from_json(text, &inputs, &platforms::find)?;
    Ok(tune(&problem, &SearchOptions::default(), &AtomicBool::new(false), &|_| {})?)
}

fn optima(result: &TuneResult) -> String {
    let named = result
        .optima
        .iter()
        .map(|f| f.configuration.0.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
    named.collect::<Vec<_>>().join(" or ")
}
