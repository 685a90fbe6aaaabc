//! `tickbound compare`.

use std::path::{Path, PathBuf};

use tickbound_model::Problem;

use super::exit::{CliError, Exit, input};
use super::load::{Chosen, Setting, by_name, positive_seconds};
use super::output::{Outputs, save, say_answer, say_json};
use super::progress::Progress;
use super::stop;
use super::values::{Seconds, Size};
use tickbound_compare::paper;
use tickbound_compare::{Event, Input, Options, SideBySide, engine};
use tickbound_report::answer::comparison::{Comparison, Row};
use tickbound_report::{comparison, html};

/// Arguments of `compare`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Problem files (JSON)
    #[arg(required_unless_present = "paper")]
    problems: Vec<String>,
    /// Replace an input or a platform number, in every problem
    #[arg(long = "input", value_name = "N=V")]
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
    memory: Option<Size>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write a report with plots to this file
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Instead of problems: tables 1 and 3 of the 2023 paper beside ours, as comparison.md, .json,
    /// .html and .svg in this folder; to be run in the root of the repository
    #[arg(long, value_name = "DIR", conflicts_with_all = ["problems", "input", "engines"])]
    paper: Option<String>,
    /// With --paper: run nothing, write the pages again from comparison.json in that folder
    #[arg(long, requires = "paper")]
    redraw: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let options = options(args.timeout, args.memory)?;
    let progress = Progress::new("");
    if let Some(folder) = &args.paper {
        let fault = |error| CliError::Write { path: folder.clone(), error };
        std::fs::create_dir_all(folder).map_err(fault)?;
        args.outputs().check(&[])?;
    }
    let result = match &args.paper {
        None => side_by_side(args, options, &progress)?,
        Some(folder) => {
            let result = if args.redraw {
                measured(&Path::new(folder).join("comparison.json"))?
            } else {
                paper_tables(options, args.json, &progress)?
            };
            write_paper(Path::new(folder), &result)?;
            result
        }
    };
    drop(progress);
    if let Some(path) = &args.html {
        html::write(path, &[html::Source::from(result.clone())])?;
        eprintln!("tickbound: {path} written");
    }
    stop::on_forced_end(|| {});
    say_result(args.json, &result)?;
    Ok(outcome(&result))
}

impl Args {
    fn outputs(&self) -> Outputs {
        let paper = self.paper.as_ref().map(Path::new);
        let outputs = PAPER.iter().fold(Outputs::default(), |outputs, name| {
            outputs.file("--paper", paper.map(|folder| folder.join(name)))
        });
        outputs.file("--html", self.html.as_ref())
    }
}

fn side_by_side(
    args: &Args,
    options: Options,
    progress: &Progress,
) -> Result<Comparison, CliError> {
    let engines = engine::parse(&args.engines).map_err(input)?;
    let replaced = by_name("--input", &args.input)?;
    // All problems are read before the first engine runs: a fault in the last one shows at once.
    let files = args.problems.iter();
    let mut inputs = Vec::new();
    let problems = files.map(|file| readable(file, &args.input, &mut inputs));
    let problems = problems.collect::<Result<Vec<_>, _>>()?;
    args.outputs().check(&inputs)?;
    let (interrupt, json) = (stop::flag(), args.json);
    let observer = |event: Event<'_>| show(progress, json, event);
    let mut session = SideBySide::new(options, interrupt, &observer);
    for (problem, file) in problems.iter().zip(&args.problems) {
        progress.about(&format!("{}:", problem.name));
        let input = Input { problem, file: file.clone(), replaced: replaced.clone() };
        session.run(&input, &engines, &|_, _| None);
    }
    Ok(session.finish())
}

fn paper_tables(options: Options, json: bool, progress: &Progress) -> Result<Comparison, CliError> {
    let interrupt = stop::flag();
    let observer = |event: Event<'_>| show(progress, json, event);
    let mut session = SideBySide::new(options, interrupt, &observer);
    paper::run(&mut session, &|problem| progress.about(&format!("{problem}:"))).map_err(input)?;
    Ok(session.finish())
}

/// A comparison that was written down.
fn measured(path: &Path) -> Result<Comparison, CliError> {
    let shown = path.display();
    let text = tickbound_input::text(path).map_err(|e| {
        CliError::Input(format!("{shown}: {e}; run without --redraw first, as `make compare` does"))
    })?;
    tickbound_input::json(&text)
        .map_err(|e| CliError::Input(format!("{shown}: no comparison: {e}; run without --redraw")))
}

/// Files that `--paper` writes.
const PAPER: [&str; 5] = [
    "comparison.json",
    "comparison-abstract.svg",
    "comparison-minimum.svg",
    "comparison.md",
    "comparison.html",
];

/// The files of `make compare`.
fn write_paper(folder: &Path, result: &Comparison) -> Result<(), CliError> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        save(&path, text)?;
        eprintln!("tickbound: {} written", path.display());
        Ok::<(), CliError>(())
    };
    // Figures first: whatever fails after that can be made again from them.
    write("comparison.json", &(serde_json::to_string(result).map_err(input)? + "\n"))?;
    let mut pictures = Vec::new();
    for (svg, name) in html::series(&result.cases)?.iter().zip(["abstract", "minimum"]) {
        let name = format!("comparison-{name}.svg");
        write(&name, svg)?;
        pictures.push(name);
    }
    write("comparison.md", &paper::page(result, &pictures).map_err(input)?)?;
    // Not kept in the repository: it can be drawn again from the figures.
    write("comparison.html", &html::page(&[html::Source::from(result.clone())])?)
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

fn options(timeout: Seconds, memory: Option<Size>) -> Result<Options, CliError> {
    let timeout = positive_seconds("--timeout", timeout)?;
    let program = std::env::current_exe()
        .map_err(|error| CliError::Read { path: "the program itself".into(), error })?;
    Ok(Options { program, timeout, memory: memory.map(|m| m.0) })
}

/// Contradictions are said aloud: one of the engines is wrong, or tickbound is.
fn outcome(result: &Comparison) -> Exit {
    for case in &result.cases {
        for disagreement in &case.disagreements {
            complain!("tickbound: {}: ENGINES DISAGREE: {disagreement}", case.problem);
        }
    }
    let proved = result.cases.iter().all(|case| case.rows.iter().any(Row::proved));
    Exit::found(result.agree && proved)
}

/// Shows which engine is at work, and since when, and keeps what is said if it does not come back.
fn show(progress: &Progress, json: bool, event: Event<'_>) {
    match event {
        Event::Start(engine) => {
            progress.say(engine.to_string());
            progress.restart();
        }
        Event::Known(known) => {
            let mut known = known.clone();
            stop::on_forced_end(move || {
                known.interrupted = true;
                // There is nobody left to tell what went wrong.
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
