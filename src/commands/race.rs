//! `tickbound race`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use tickbound_measure::files::usual_device;
use tickbound_measure::race::{Racer, race};
use tickbound_measure::supervisor::SupervisorSetup;
use tickbound_model::{Bound, Problem};
use tickbound_report::answer::{About, RaceMeasurement, Raced, RacedKernel, values};
use tickbound_solver::{SearchOptions, tune};

use super::exit::{CliError, Exit};
use super::load::{Question, positive_seconds};
use super::measure::choice;
use super::output::{say, say_answer, say_json};
use super::progress::Progress;
use super::reader::own_program;
use super::stop::{self, Stops};
use super::values::{Percent, Seconds};

/// Arguments of `race`.
#[derive(Debug, clap::Args)]
pub struct RaceArgs {
    #[command(flatten)]
    question: Question,
    /// The other problem file, or another source for the kernel of the first one
    other: PathBuf,
    /// Time both in turns on a device: opencl, opencl:N, cuda or cuda:N as `tickbound devices`
    /// lists them
    #[arg(long, value_name = "DEVICE")]
    measure: Option<Option<String>>,
    /// How many pairs of runs are timed
    #[arg(long, value_name = "N", default_value = "31")]
    pairs: NonZeroUsize,
    /// How much slower the second may be; beyond, the exit status is 1
    #[arg(long, value_name = "PERCENT", default_value_t = Percent(2.0))]
    threshold: Percent,
    /// Most seconds for compiling one kernel, for running it, and for all pairs
    #[arg(long = "run-timeout", value_name = "SECONDS", default_value_t = Seconds(60.0))]
    limit: Seconds,
    #[command(flatten)]
    stops: Stops,
    /// Print a table in Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A kernel that takes part.
struct Side {
    question: Question,
    problem: Problem,
    bound: Bound,
    told: RacedKernel,
}

impl Side {
    /// Reads a problem, and takes the configuration that is best in the model.
    fn new(question: Question, options: &SearchOptions) -> Result<Side, CliError> {
        let problem = question.problem()?.kernel_alone();
        let result = tune(&problem, options, stop::flag(), &|_| {})?;
        let chosen = &question.chosen;
        let file = chosen.source.as_ref().map(|path| path.display().to_string());
        let file = file.unwrap_or_else(|| chosen.problem.clone());
        let Some(best) = &result.best else {
            return Err(CliError::Input(format!("{file}: no configuration was found")));
        };
        let bound = problem.bind_configuration(&best.configuration)?;
        let told = RacedKernel {
            file,
            about: About::of(&problem),
            configuration: values(&problem, &best.configuration),
            ticks: result.upper,
            proved: tickbound_report::answer::tune::answer(&problem, &result).proved(),
        };
        Ok(Side { question, problem, bound, told })
    }
}

pub(super) fn run(args: &RaceArgs) -> Result<Exit, CliError> {
    let timeout = args.stops.watched()?;
    let options = SearchOptions { timeout, since: Some(stop::began()), ..SearchOptions::default() };
    let progress = Progress::new("race");
    progress.say("searching for the best configurations".to_owned());
    let mut other = args.question.clone();
    match args.other.extension().and_then(|ending| ending.to_str()) {
        Some("json") => other.chosen.problem = args.other.display().to_string(),
        _ => other.chosen.source = Some(args.other.clone()),
    }
    let sides = [Side::new(args.question.clone(), &options)?, Side::new(other, &options)?];
    let ticks = [sides[0].told.ticks, sides[1].told.ticks];
    let predicted = match ticks {
        [Some(a), Some(b)] if a > 0 => Some(b as f64 / a as f64),
        _ => None,
    };
    progress.say("timing both in turns".to_owned());
    let measured = args
        .measure
        .as_ref()
        .map(|device| measured(args, device.as_deref(), &sides))
        .transpose()?;
    drop(progress);
    let threshold = args.threshold.0;
    let slower = match &measured {
        Some(measured) => measured.is_slower(threshold),
        None => predicted.is_some_and(|ratio| ratio > 1.0 + threshold / 100.0),
    };
    let [a, b] = sides.map(|side| side.told);
    let raced = Raced { a, b, predicted, measured, threshold_percent: threshold, slower };
    match (args.json, args.markdown) {
        (true, _) => say_json(&raced)?,
        (_, true) => say(&raced.markdown())?,
        _ => say_answer(&raced.words())?,
    }
    Ok(Exit::found(!raced.slower))
}

fn measured(
    args: &RaceArgs,
    device: Option<&str>,
    sides: &[Side; 2],
) -> Result<RaceMeasurement, CliError> {
    let usual = || Ok(usual_device(&sides[0].problem));
    let choice = device.map_or_else(usual, choice)?;
    let program = own_program()?;
    let limit = positive_seconds("--run-timeout", args.limit)?;
    let folders = [&sides[0], &sides[1]].map(|side| side.question.chosen.folder());
    let setup = SupervisorSetup {
        choice,
        folder: folders[0].clone(),
        limit,
        deadline: None,
        compiles: false,
        program,
    };
    let racer = |place: usize| Racer {
        problem: &sides[place].problem,
        folder: &folders[place],
        bound: &sides[place].bound,
    };
    let times = race([racer(0), racer(1)], args.pairs.get(), setup, [stop::flag(), stop::flag()])?;
    let [a_seconds, b_seconds] = times.seconds;
    Ok(RaceMeasurement {
        device: times.device.name,
        a_seconds,
        b_seconds,
        ratio: times.ratio,
        interval: times.interval.map(|(low, high)| [low, high]),
    })
}
