//! `tickbound compare`.

use std::path::PathBuf;

use tickbound_model::Problem;

use super::exit::{CliError, Exit, input};
use super::load::{Chosen, Setting, by_name, positive_seconds};
use super::output::{Outputs, say_answer, say_json};
use super::progress::Progress;
use super::stop;
use super::values::{ByteSize, Seconds};
use tickbound_compare::{CompareEvent, CompareOptions, Input, SideBySide, engine};
use tickbound_report::answer::comparison::{Comparison, Row};
use tickbound_report::{comparison, html};

/// Arguments of `compare`.
#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Problem files (JSON)
    #[arg(required = true)]
    problems: Vec<String>,
    /// Replace an input or a platform number, in every problem
    #[arg(long = "input", value_name = "NAME=VALUE")]
    input: Vec<Setting>,
    /// Engines: smt[:ENCODING][:STRATEGY], smt-fresh, enumerate, cp-sat[:ENCODING],
    /// spin[:STYLE][:SEARCH], swarm, smt:all, spin:all, all
    #[arg(long, value_name = "LIST", default_value = engine::DEFAULT)]
    engines: String,
    /// Seconds for each engine
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(60.0))]
    timeout: Seconds,
    /// Memory for each engine, such as 8G
    #[arg(long, value_name = "SIZE")]
    memory: Option<ByteSize>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write a report with plots to this file
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
}

pub(super) fn run(args: &CompareArgs) -> Result<Exit, CliError> {
    let options = options(args.timeout, args.memory)?;
    let progress = Progress::new("");
    let result = side_by_side(args, options, &progress)?;
    drop(progress);
    if let Some(path) = &args.html {
        html::write(path, &[html::PageSource::from(result.clone())])?;
        note!("tickbound: {path} written");
    }
    stop::on_forced_end(|| {});
    say_result(args.json, &result)?;
    Ok(outcome(&result))
}

fn side_by_side(
    args: &CompareArgs,
    options: CompareOptions,
    progress: &Progress,
) -> Result<Comparison, CliError> {
    let engines = engine::parse(&args.engines).map_err(input)?;
    let replaced = by_name("--input", &args.input)?;
    // All problems are read before the first engine runs: a fault in the last one shows at once.
    let files = args.problems.iter();
    let mut inputs = Vec::new();
    let problems = files.map(|file| readable(file, &args.input, &mut inputs));
    let problems = problems.collect::<Result<Vec<_>, _>>()?;
    Outputs::default().file("--html", args.html.as_ref()).check(&inputs)?;
    let (interrupt, json) = (stop::flag(), args.json);
    let observer = |event: CompareEvent<'_>| show(progress, json, event);
    let mut session = SideBySide::new(options, interrupt, &observer);
    for (problem, file) in problems.iter().zip(&args.problems) {
        progress.about(&format!("{}:", problem.name));
        let input = Input { problem, file: file.clone(), replaced: replaced.clone() };
        session.run(&input, &engines, &|_, _| None);
    }
    Ok(session.finish())
}

/// A problem whose space can be listed, so that it is not for every engine to find the fault.
fn readable(file: &str, input: &[Setting], inputs: &mut Vec<PathBuf>) -> Result<Problem, CliError> {
    let chosen = Chosen::new(file, input);
    let problem = chosen.model()?;
    inputs.extend(chosen.files());
    problem.space().map_err(|mut e| {
        e.at = format!("{file}: {}", e.at);
        e
    })?;
    Ok(problem)
}

fn options(timeout: Seconds, memory: Option<ByteSize>) -> Result<CompareOptions, CliError> {
    let timeout = positive_seconds("--timeout", timeout)?;
    let program = std::env::current_exe()
        .map_err(|error| CliError::Read { path: "the program itself".into(), error })?;
    Ok(CompareOptions { program, timeout, memory: memory.map(|m| m.0) })
}

/// Contradictions are reported as errors: one of the engines is wrong, or tickbound is.
fn outcome(result: &Comparison) -> Exit {
    for case in &result.cases {
        for disagreement in &case.disagreements {
            error!("tickbound: {}: ENGINES DISAGREE: {disagreement}", case.problem);
        }
    }
    let proved = result.cases.iter().all(|case| case.rows.iter().any(Row::proved));
    Exit::found(result.agree && proved)
}

/// Shows which engine is at work, and since when, and keeps its messages if it does not come back.
fn show(progress: &Progress, json: bool, event: CompareEvent<'_>) {
    match event {
        CompareEvent::Start(engine) => {
            progress.say(engine.to_string());
            progress.restart();
        }
        CompareEvent::Known(known) => {
            let mut known = known.clone();
            stop::on_forced_end(move || {
                known.interrupted = true;
                // An error can no longer be reported.
                say_result(json, &known).unwrap_or_default();
            });
        }
    }
}

fn say_result(json: bool, result: &Comparison) -> Result<(), CliError> {
    match json {
        true => say_json(result),
        false => say_answer(&comparison::words(result)),
    }
}
