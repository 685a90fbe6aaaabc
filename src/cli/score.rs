//! `tickbound score`.

use std::path::Path;

use serde_json::json;
use tickbound_model::Problem;
use tickbound_model::simulate::{Options, simulate};

use super::exit::{CliError, Exit};
use super::load::Question;
use super::output::{say, say_json};
use super::progress::Progress;
use crate::measure::score::{Results, Score, score};
use crate::report::Table;

/// Arguments of `score`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// Measured times: a cache of `measure` or of Kernel Tuner, a T4 file, or KTT's output in JSON; may be compressed (.gz)
    #[arg(long, value_name = "RESULTS")]
    against: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The model's ticks beside measured milliseconds.
struct Compared {
    pairs: Vec<(i64, f64)>,
    /// Results that are no configurations of the problem.
    outside: usize,
    /// Configurations that are too large to simulate.
    without_ticks: usize,
}

fn compare(problem: &Problem, results: &Results, progress: &Progress) -> Compared {
    let mut compared = Compared { pairs: Vec::new(), outside: 0, without_ticks: 0 };
    for (done, (parameters, time)) in results.entries.iter().enumerate() {
        if done % 64 == 0 {
            progress.say(format!("{done} of {} simulated", results.entries.len()));
        }
        let Ok(bound) = problem.bind(parameters) else {
            compared.outside += 1;
            continue;
        };
        match simulate(problem, &bound, &Options::default()) {
            Ok(run) => compared.pairs.push((run.time, *time)),
            Err(_) => compared.without_ticks += 1,
        }
    }
    compared
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let problem = args.question.problem()?;
    let mut results = Results::read(Path::new(&args.against))?;
    let names: Vec<&str> = problem.parameters.iter().map(|p| p.name.as_str()).collect();
    results.only(&names)?;
    let compared = {
        let progress = Progress::new(&problem.name);
        compare(&problem, &results, &progress)
    };
    let scored = score(&compared.pairs);
    match args.json {
        true => say_json(&as_json(args, &results, &compared, scored.as_ref()))?,
        false => say(&words(&problem, &results, &compared, scored.as_ref()))?,
    }
    Ok(Exit::found(scored.is_some()))
}

fn as_json(
    args: &Args,
    results: &Results,
    compared: &Compared,
    scored: Option<&Score>,
) -> serde_json::Value {
    json!({
        "results": args.against,
        "device": results.device,
        "entries": compared.pairs.len(),
        "failed": results.failed,
        "outside": compared.outside,
        "not_simulated": compared.without_ticks,
        "spearman": scored.and_then(|s| s.spearman),
        "kendall": scored.and_then(|s| s.kendall),
        "reached": scored.map(|s| &s.reached),
    })
}

fn words(
    problem: &Problem,
    results: &Results,
    compared: &Compared,
    scored: Option<&Score>,
) -> String {
    let device = results.device.as_deref().unwrap_or("a device");
    let mut out = format!("{} against times of {device}\n", problem.name);
    let mut used = vec![format!("{} of {} times", compared.pairs.len(), results.entries.len())];
    let also = [
        (compared.outside, "are no configurations of the problem"),
        (compared.without_ticks, "are too large to simulate"),
        (results.failed, "configurations failed"),
    ];
    used.extend(also.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    out += &format!("used:         {}\n", used.join("; "));
    let Some(score) = scored else { return out };
    let number = |n: Option<f64>| {
        n.map_or_else(|| "none, one side is all equal".into(), |n| format!("{n:.3}"))
    };
    out += &format!("Spearman:     {}\n", number(score.spearman));
    out += &format!("Kendall (b):  {}\n\n", number(score.kendall));
    let mut table = Table::new(["trials", "model's best reach", "random ones reach"]);
    for reached in &score.reached {
        let percent = |part: f64| format!("{:.1}%", part * 100.0);
        table.push([reached.trials.to_string(), percent(reached.model), percent(reached.random)]);
    }
    out + &format!("{table}\nof the best time measured, on average.\n")
}
