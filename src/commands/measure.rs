//! `tickbound measure`, and the process that it runs kernels in.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tickbound_elimination::TableLimits;
use tickbound_input::message::one_line;
use tickbound_model::{Bound, Problem};
use tickbound_simulator::simulate;

use super::exit::{CliError, Exit, input};
use super::load::{Question, positive_seconds};
use super::output::{Outputs, save, say_answer, say_json, written};
use super::progress::Progress;
use super::stop::{self, Stops};
use super::values::{ByteSize, Seconds};
use tickbound_device::DeviceChoice;
use tickbound_device::platform::mismatch;
use tickbound_measure::cache::{kept_beside, usual_name};
use tickbound_measure::guided::Guide;
use tickbound_measure::lab::LabError;
use tickbound_measure::outcome::Outcome;
use tickbound_measure::select::{Candidates, Selection, candidates, select, total};
use tickbound_measure::{
    MeasureError, MeasureEvent, MeasureOptions, MeasurePlan, MeasureReport, measure, t4, worker,
};
use tickbound_report::MeasuredTimes;

/// Most configurations that are measured if nobody states which.
const MAX_UNASKED: usize = 500;
/// Most configurations of a space whose model is made only to be shown.
const MAX_MODELLED: usize = 20_000;
/// How long the model's times may take after a stop, so that they stand beside what was measured.
const AFTER_STOP: Duration = Duration::from_millis(200);
/// Failures that are told one by one.
const MAX_TOLD: usize = 20;

/// Arguments of `measure`.
#[derive(Debug, clap::Args)]
pub struct MeasureArgs {
    #[command(flatten)]
    question: Question,
    /// The device: opencl, or opencl:N as `tickbound devices` lists them
    #[arg(long, value_name = "DEVICE", default_value = "opencl")]
    device: String,
    /// Measure the whole space
    #[arg(long, conflicts_with_all = ["top", "sample", "guided"])]
    all: bool,
    /// Measure the K best configurations of the model; under the profile resources, its K best
    /// programs
    #[arg(long, value_name = "K", conflicts_with_all = ["sample", "guided"])]
    top: Option<usize>,
    /// Measure N configurations chosen at random
    #[arg(long, value_name = "N", group = "drawn")]
    sample: Option<usize>,
    /// Measure the model's five best programs, then what promises most from the times so far, until
    /// that is little
    #[arg(long, group = "drawn")]
    guided: bool,
    /// What the random choice depends on
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "drawn")]
    seed: u64,
    /// Most seconds for compiling and running one configuration
    #[arg(
        long = "run-timeout", alias = "limit", value_name = "SECONDS",
        default_value_t = Seconds(10.0)
    )]
    limit: Seconds,
    /// Most seconds for one run of the host reference
    #[arg(
        long = "reference-timeout",
        alias = "reference-limit",
        value_name = "SECONDS",
        default_value_t = Seconds(600.0)
    )]
    reference_limit: Seconds,
    /// Most memory of the host reference
    #[arg(long, value_name = "SIZE", default_value = "8G")]
    reference_memory: ByteSize,
    /// Where results are kept; the same command goes on where this file ends
    /// [default: KERNEL-INPUTS-DEVICE.cache.json in the current folder]
    #[arg(long, value_name = "FILE")]
    cache: Option<String>,
    /// Write the results in the T4 format of auto-tuning results
    #[arg(long, value_name = "FILE")]
    t4: Option<String>,
    /// Draw the results (.svg or .png; both without an extension)
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
    /// Write a page with the results: charts, and a table to sort and filter
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    #[command(flatten)]
    stops: Stops,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Arguments of the process that kernels run in.
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    /// The device
    device: String,
}

pub(super) fn work(args: &WorkerArgs) -> Result<Exit, CliError> {
    worker::serve(choice(&args.device)?).map_err(input)?;
    Ok(Exit::Done)
}

fn choice(text: &str) -> Result<DeviceChoice, CliError> {
    text.parse().map_err(|e: tickbound_device::DeviceChoiceError| CliError::Input(e.to_string()))
}

impl MeasureArgs {
    fn selection(&self, configurations: usize) -> Result<Selection, CliError> {
        match (self.top, self.sample) {
            (Some(count), _) => Ok(Selection::Top(count)),
            (_, Some(count)) => Ok(Selection::Sample { count, seed: self.seed }),
            _ if self.all || configurations <= MAX_UNASKED => Ok(Selection::All),
            _ => Err(CliError::Input(format!(
                "{}: {configurations} configurations; say which to measure: --sample N, --top K, \
                 --guided, or --all",
                self.question.chosen.problem
            ))),
        }
    }

    fn options(&self, problem: &Problem) -> Result<MeasureOptions, CliError> {
        let program = std::env::current_exe()
            .map_err(|e| CliError::Input(format!("this program's own file is not known: {e}")))?;
        let cache = self.cache.clone().unwrap_or_else(|| usual_name(problem, &self.device));
        Ok(MeasureOptions {
            choice: choice(&self.device)?,
            limit: positive_seconds("--run-timeout", self.limit)?,
            reference_limit: positive_seconds("--reference-timeout", self.reference_limit)?,
            reference_memory: self.reference_memory.0,
            timeout: self.stops.watched()?,
            since: Some(stop::began()),
            cache: Some(PathBuf::from(cache)),
            program,
        })
    }

    /// Refuses files that cannot be written, or that are one, or that the problem is read from.
    fn check_outputs(&self, options: &MeasureOptions) -> Result<(), CliError> {
        let outputs = Outputs::default().file("--cache", options.cache.as_ref());
        let outputs =
            outputs.file("--t4", self.t4.as_ref()).picture("--plot", self.plot.as_ref())?;
        let outputs = outputs.file("--html", self.html.as_ref());
        let mut inputs = self.question.chosen.files();
        // What lies beside a cache is not to be written over either.
        inputs.extend(options.cache.iter().flat_map(|cache| kept_beside(cache)));
        outputs.check(&inputs)
    }

    fn write_files(&self, times: &MeasuredTimes<'_>) -> Result<(), CliError> {
        if let Some(path) = &self.t4 {
            let text = format!("{:#}\n", t4::results(times.problem, times.report));
            save(path, &text)?;
            note!("tickbound: {path} written");
        }
        match (&self.plot, times.chart()) {
            (None, _) => {}
            (Some(_), None) => note!("tickbound: --plot: there are no times to draw"),
            (Some(path), Some(chart)) => written(&chart.write(path)?),
        }
        if let Some(path) = &self.html {
            times.page().write(path)?;
            written(&[path.into()]);
        }
        Ok(())
    }

    /// Puts the kernel program in, if it is needed or is there for little.
    fn add_model(&self, problem: &mut Problem, configurations: usize) -> Result<(), CliError> {
        let needed = self.top.is_some() || self.guided;
        if !needed && configurations > MAX_MODELLED {
            return Ok(());
        }
        match self.question.chosen.attach(problem) {
            Ok(_) => Ok(()),
            Err(e) if needed => Err(e),
            Err(e) => {
                note!("tickbound: no model beside the times: {}", one_line(&e.to_string()));
                Ok(())
            }
        }
    }
}

impl MeasureArgs {
    /// Writes the files and prints the answer.
    fn say(&self, times: &MeasuredTimes<'_>) -> Result<(), CliError> {
        self.write_files(times)?;
        match self.json {
            true => say_json(&times.object()),
            false => say_answer(&times.words()),
        }
    }
}

pub(super) fn run(args: &MeasureArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let mut problem = args.question.read()?;
    if problem.source.is_none() {
        return Err(MeasureError::NoSource.into());
    }
    let options = args.options(&problem)?;
    args.check_outputs(&options)?;
    let before = problem.clone();
    let configurations = before.configurations(&TableLimits::default())?;
    let total = total(&configurations);
    let selection = if args.guided { None } else { Some(args.selection(total)?) };
    let interrupt = stop::flag();
    let progress = Progress::new(&problem.name);
    args.add_model(&mut problem, total)?;
    let problem = problem.kernel_alone();
    let (guided, selected) = match selection {
        None => (Some(candidates(&problem, &configurations, args.seed, interrupt)?), Vec::new()),
        Some(selection) => (None, select(&problem, &configurations, selection, interrupt)?),
    };
    let plan = match &guided {
        None => MeasurePlan::Listed(&selected),
        Some(all) => {
            progress.aside(&format!("tickbound: {}", chosen_from(all)));
            MeasurePlan::Guided(&all.bound, Box::new(Guide::new(all.candidates.clone(), args.seed)))
        }
    };
    let folder = args.question.chosen.folder();
    let cache = options.cache.as_ref().map(|c| c.display().to_string());
    let (told, kept, cache) = (0, 0, cache.as_deref());
    let mut teller = Teller { problem: &problem, progress: &progress, cache, told, kept };
    let report = measure(&problem, &folder, plan, &options, interrupt, &mut |e| teller.tell(&e));
    let report = match report {
        Err(e) if e.is_only_stopped() => {
            teller.line(&e.to_string());
            return Ok(Exit::Nothing);
        }
        report => report?,
    };
    let ticks = predicted(&problem, &report);
    let mismatch = mismatch(&report.device.name, &problem.platform.name);
    if let Some(mismatch) = mismatch.filter(|_| ticks.iter().any(Option::is_some)) {
        progress.aside(&format!("tickbound: {mismatch}"));
    }
    drop(progress);
    args.say(&MeasuredTimes { problem: &problem, report: &report, ticks: &ticks, cache })?;
    ended(&report, args.json)
}

/// What the model predicts for the configurations that were measured.
fn predicted(problem: &Problem, report: &MeasureReport) -> Vec<Option<i64>> {
    let begun = Instant::now();
    let is_late = || stop::is_due() && begun.elapsed() > AFTER_STOP;
    report.results.iter().map(|m| ticks(problem, &m.bound, &is_late)).collect()
}

/// How the command ends, with what stopped it.
fn ended(report: &MeasureReport, json: bool) -> Result<Exit, CliError> {
    if let Some(unkept @ LabError::Unkept(_)) = &report.stopped {
        return Err(CliError::Input(unkept.to_string()));
    }
    let vanished = matches!(report.stopped, Some(LabError::Vanished { .. }));
    if let Some(why) = report.stopped.as_ref().filter(|_| vanished || json) {
        note!("tickbound: {why}");
    }
    let found = !report.ranked().is_empty() && !vanished;
    Ok(Exit::found(found))
}

/// What a guided search chooses from, in words.
fn chosen_from(all: &Candidates) -> String {
    let of = match all.sampled {
        false => "configurations".to_owned(),
        true => "configurations, the model's best and a random sample of the space".to_owned(),
    };
    format!("--guided chooses from {} programs of {} {of}", all.bound.len(), all.looked)
}

/// The model's time of a configuration, if there is a model that is not too large for it.
fn ticks(problem: &Problem, bound: &Bound, is_late: &dyn Fn() -> bool) -> Option<i64> {
    if problem.kernel.is_empty() || is_late() {
        return None;
    }
    simulate(problem, bound, &tickbound_simulator::SimulateOptions::default())
        .ok()
        .map(|run| run.time)
}

/// Writes on standard error what happens.
struct Teller<'a> {
    problem: &'a Problem,
    progress: &'a Progress,
    cache: Option<&'a str>,
    /// Failures that were told.
    told: usize,
    /// Results that were measured and are in the cache.
    kept: usize,
}

impl Teller<'_> {
    fn tell(&mut self, event: &MeasureEvent<'_>) {
        match event {
            MeasureEvent::Note(note) => self.line(note),
            MeasureEvent::Reference => {
                self.progress.say("the host computes what is right".to_owned())
            }
            MeasureEvent::Stage(bound, stage, done, of) => {
                // By now the result before is in the cache.
                self.on_forced_end();
                let named = self.problem.name_values(&bound.configuration);
                let of = of.map_or_else(|| "measured".to_owned(), |of| format!("of {of}"));
                self.progress.say(format!("{done} {of}; {named}: {}", stage.progress()));
            }
            MeasureEvent::Measured(bound, record) => {
                self.kept += 1;
                let Outcome::Failed(failure) = &record.outcome else { return };
                self.told += 1;
                let named = self.problem.name_values(&bound.configuration);
                match self.told {
                    ..=MAX_TOLD => self.line(&format!("{named}: {}", failure.message)),
                    told if told == MAX_TOLD + 1 => self.line("more failures are in the cache"),
                    _ => {}
                }
            }
        }
    }

    /// What is printed if the campaign does not come back: nothing of it is lost.
    fn on_forced_end(&self) {
        let (kept, cache) = (self.kept, self.cache.unwrap_or_default().to_owned());
        stop::on_forced_end(move || {
            let why = stop::reason().map_or_else(String::new, |why| format!("{why}; "));
            error!(
                "tickbound: {why}ended before it was finished; {kept} results are in {cache}, the \
                 same command goes on"
            );
        });
    }

    fn line(&self, text: &str) {
        self.progress.aside(&format!("tickbound: {}", one_line(text)));
    }
}
