//! `tickbound why`.

use std::sync::{Arc, Mutex, PoisonError};

use tickbound_model::Problem;
use tickbound_model::verdict::Status;
use tickbound_solver::bracket::Incumbent;
use tickbound_solver::{SearchOptions, TuneResult};

use super::exit::{CliError, Exit, input};
use super::load::Question;
use super::output::{Outputs, save, say_answer, width, written};
use super::progress::Progress;
use super::search::SearchArgs;
use super::stop;
use tickbound_report::sarif::sarif;
use tickbound_why::page::page;
use tickbound_why::words::words;
use tickbound_why::{SearchEvent, Searches, Why, WhyObserver, WhyRequest, why};

/// Arguments of `why`.
#[derive(Debug, clap::Args)]
pub struct WhyArgs {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    search: SearchArgs,
    /// Write a page with the answer and what each change saves
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Write the lines of the source that take time, with hints, as SARIF for editors and code
    /// review
    #[arg(long, value_name = "FILE")]
    sarif: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What is known, in case the process must be ended.
struct Told {
    search: Incumbent,
    why: Option<Why>,
}

pub(super) fn run(args: &WhyArgs) -> Result<Exit, CliError> {
    let options = args.search.options()?;
    let problem = args.question.problem()?;
    let outputs = Outputs::default().file("--html", args.html.as_ref());
    outputs.file("--sarif", args.sarif.as_ref()).check(&args.question.chosen.files())?;
    let told = Arc::new(Mutex::new(Told { search: Incumbent::default(), why: None }));
    on_forced_end(args, &problem, &options, told.clone());
    let mut answer = {
        let progress = Progress::new(&problem.name);
        let search = |heard: SearchEvent<'_>| match heard {
            SearchEvent::Begins(how) => progress.about(&format!("{}, {how}:", problem.name)),
            SearchEvent::Changed(now) => progress.show(now.bounds),
            SearchEvent::First(now) => {
                progress.show(now.bounds);
                lock(&told).search = now.clone();
            }
        };
        let known = |now: &Why| lock(&told).why = Some(now.clone());
        let again = |name: &str, value: i64| again(&args.question, &problem, name, value);
        let asked = WhyRequest {
            problem: &problem,
            fixed: args.question.fixed_parameters(),
            again: &again,
            searches: Searches { options: &options, since: stop::began(), interrupt: stop::flag() },
        };
        why(&asked, &WhyObserver { search: &search, why: &known })?
    };
    if !answer.not_known.is_empty() {
        answer.stopped_by = stop::reason().map(|why| why.to_string()).or(answer.stopped_by);
    }
    let text = said(args, &answer)?;
    // If the page takes too long, this is still printed.
    let last = text.clone();
    stop::on_forced_end(move || say_answer(&last).unwrap_or_default());
    if let Some(path) = &args.html {
        page(&answer).write(path)?;
        written(&[path.into()]);
    }
    if let (Some(path), Some(resources)) = (&args.sarif, &answer.resources) {
        let findings = resources.findings(&args.question.chosen.folder());
        save(path, &format!("{:#}\n", sarif(&findings)))?;
        written(&[path.into()]);
    }
    stop::on_forced_end(|| {});
    say_answer(&text)?;
    Ok(Exit::found(answer.status == Status::Optimal && answer.not_known.is_empty()))
}

/// The answer as one JSON object on a line, or for people.
fn said(args: &WhyArgs, answer: &Why) -> Result<String, CliError> {
    match args.json {
        true => Ok(serde_json::to_string(answer).map_err(input)? + "\n"),
        false => Ok(words(answer, width())),
    }
}

/// The problem with another number of the platform. What is read out of a source may depend on it.
fn again(
    question: &Question,
    problem: &Problem,
    name: &str,
    value: i64,
) -> Result<Problem, String> {
    if problem.source.is_some() {
        return question.with_input(name, value).problem().map_err(|e| e.to_string());
    }
    let mut changed = problem.clone();
    match changed.platform.set(name, value) {
        Some(Ok(())) => Ok(changed),
        Some(Err(e)) => Err(e.to_string()),
        None => Err(format!("the platform has no number {name}")),
    }
}

/// What is printed if a search does not come back.
fn on_forced_end(
    args: &WhyArgs,
    problem: &Problem,
    options: &SearchOptions,
    told: Arc<Mutex<Told>>,
) {
    let (problem, options) = (problem.clone(), options.clone());
    let (json, fixed) = (args.json, args.question.fixed_parameters());
    stop::on_forced_end(move || {
        let Told { search, why } = &*lock(&told);
        let seconds = stop::began().elapsed().as_secs_f64();
        let cut = || {
            let result = TuneResult::cut(&options, search.clone(), seconds, stop::reason());
            Why::begun(&problem, fixed, &result)
        };
        let stopped_by = stop::reason().map(|why| why.to_string());
        let answer = Why { stopped_by, seconds, ..why.clone().unwrap_or_else(cut).noted() };
        let text = match json {
            true => serde_json::to_string(&answer).map(|text| text + "\n").unwrap_or_default(),
            false => words(&answer, width()),
        };
        // An error can no longer be reported.
        say_answer(&text).unwrap_or_default();
    });
}

fn lock(told: &Mutex<Told>) -> std::sync::MutexGuard<'_, Told> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}
