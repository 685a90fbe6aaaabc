//! `tickbound spin`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tickbound_input::message::grouped;
use tickbound_model::Problem;
use tickbound_model::verdict::{self, TimedConfiguration};
use tickbound_spin::promela;

use super::exit::{CliError, Exit};
use super::load::Question;
use super::output::{ranking, say, say_answer, say_json};
use super::progress::Progress;
use super::stop::{self, Timeout};
use super::values::ByteSize;
use super::values::named;
use tickbound_report::answer;
use tickbound_spin::output::ProgressLine;
use tickbound_spin::promela::Style;
use tickbound_spin::result::SpinStop;
use tickbound_spin::{Search, SpinEvent, SpinOptions, SpinResult, SpinSubject, SpinTools, search};

/// Trails listed in the words.
const LISTED: usize = 10;

/// Arguments of `spin`.
#[derive(Debug, clap::Args)]
pub struct SpinArgs {
    #[command(flatten)]
    question: Question,
    /// How the least time is searched for
    #[arg(long, value_parser = named::<Search>(), default_value = "branch-and-bound")]
    search: Search,
    /// How the Promela model is written
    #[arg(long, value_parser = named::<Style>(), default_value = "lockstep")]
    style: Style,
    /// Memory for all verifiers that run at the same time, such as 4G
    #[arg(long, value_name = "SIZE", default_value = "4G")]
    memory: ByteSize,
    #[command(flatten)]
    timeout: Timeout,
    /// Workers of a swarm [default: one for each core]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Depth limit in steps [default: raised as far as memory allows]
    #[arg(long, value_name = "N")]
    depth: Option<u64>,
    /// Keep models, verifiers, trails and logs in this new folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl SpinArgs {
    fn options(&self) -> Result<SpinOptions, CliError> {
        Ok(SpinOptions {
            search: self.search,
            memory: self.memory.0,
            timeout: self.timeout.watched()?,
            since: Some(stop::began()),
            workers: self.workers,
            depth: self.depth,
            keep: self.keep.clone(),
        })
    }
}

pub(super) fn run(args: &SpinArgs) -> Result<Exit, CliError> {
    args.timeout.watched()?;
    let problem = args.question.problem()?;
    let options = args.options()?;
    let space = problem.space()?;
    let tools = SpinTools::find()?;
    let interrupt = stop::flag();
    let result = if space.bound.is_empty() {
        SpinResult::infeasible(options.search, args.style, &tools)
    } else {
        let style = args.style;
        let model = promela::export(&problem, &space, &promela::PromelaOptions { style })?;
        let shown = Shown::new(&problem);
        on_forced_end(args, &problem, &tools, shown.known.clone());
        let subject = SpinSubject { problem: &problem, space: &space, model: &model };
        search(subject, &tools, &options, interrupt, &|event| shown.show(event))?
    };
    let answer = answer::spin::answer(&problem, &result);
    stop::on_forced_end(|| {});
    say_result(args.json, &problem, &result)?;
    if !args.json && args.search == Search::Swarm && !result.trails.is_empty() {
        let best = result.trails.iter().take(LISTED).map(|trail| {
            let steps = trail.steps.map_or_else(|| "-".into(), |s| s.to_string());
            (vec![trail.found.time.to_string(), steps], &trail.found)
        });
        say(&format!("\n{}\n", ranking(&problem, &["ticks", "steps"], best)))?;
    }
    if let Some(folder) = &args.keep {
        note!("tickbound: {}: models, verifiers, trails and logs", folder.display());
    }
    Ok(Exit::of(&answer))
}

fn say_result(json: bool, problem: &Problem, result: &SpinResult) -> Result<(), CliError> {
    match json {
        true => say_json(&answer::spin::answer(problem, result).json()),
        false => say_answer(&answer::spin::words(problem, result)),
    }
}

/// The least time cannot be below the first, and the best run so far.
type Bracket = (i64, Option<TimedConfiguration>);

/// What is printed of the bracket if the search does not come back.
fn on_forced_end(
    args: &SpinArgs,
    problem: &Problem,
    tools: &SpinTools,
    known: Arc<Mutex<Bracket>>,
) {
    let (json, problem) = (args.json, problem.clone());
    let nothing = SpinResult::infeasible(args.search, args.style, tools);
    stop::on_forced_end(move || {
        let (lower, best) = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let seconds = stop::began().elapsed().as_secs_f64();
        let result = nothing.cut(lower, best, seconds, stop::reason().and_then(as_spin_says));
        // An error can no longer be reported.
        say_result(json, &problem, &result).unwrap_or_default();
    });
}

fn as_spin_says(reason: verdict::StopReason) -> Option<SpinStop> {
    match reason {
        verdict::StopReason::TimeOut(seconds) => Some(SpinStop::TimeOut(seconds)),
        verdict::StopReason::Interrupted => Some(SpinStop::Interrupted),
        verdict::StopReason::Memory(bytes) => Some(SpinStop::Memory(bytes)),
        _ => None,
    }
}

/// The progress of a search, for a line on a terminal.
struct Shown {
    known: Arc<Mutex<Bracket>>,
    progress: Progress,
    /// The bounds, and what runs.
    line: Mutex<(String, String)>,
}

impl Shown {
    fn new(problem: &Problem) -> Shown {
        let (known, line) = (Arc::default(), Mutex::default());
        Shown { known, progress: Progress::new(&problem.name), line }
    }

    fn show(&self, event: &SpinEvent) {
        let Ok(mut line) = self.line.lock() else { return };
        match event {
            SpinEvent::Bounds { lower, upper, best } => {
                let now = (*lower, best.clone());
                *self.known.lock().unwrap_or_else(PoisonError::into_inner) = now;
                let upper = upper.map_or_else(|| "?".into(), grouped);
                line.0 = format!("least time between {} and {upper} ticks; ", grouped(lower));
            }
            SpinEvent::Started { what, bound: Some(t) } => line.1 = format!("{what}, T = {t}"),
            SpinEvent::Started { what, bound: None } => line.1 = (*what).to_owned(),
            SpinEvent::Running(ProgressLine { states, memory_bytes, depth, .. }) => {
                let (bounds, what) = &*line;
                let millions = *states as f64 / 1e6;
                return self.progress.say(format!(
                    "{bounds}{what}: {millions:.0} million states, depth {depth}, {} MiB",
                    memory_bytes >> 20
                ));
            }
        }
        self.progress.say(format!("{}{}", line.0, line.1));
    }
}
