//! `tickbound measure`, and the process that it runs kernels in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tickbound_elimination::TableLimits;
use tickbound_input::message::one_line;
use tickbound_model::{Bound, Configurations, Floor, Problem};

mod args;
mod predicted;
mod progress;
mod rule;

use crate::commands::exit::{CliError, Exit, input};
use crate::commands::floor::{self, SpaceFloor};
use crate::commands::load::{self, positive_seconds};
use crate::commands::output::{Outputs, save, say_answer, say_json, written};
use crate::commands::progress::Progress;
use crate::commands::reader::own_program;
use crate::commands::stop;
use crate::commands::verify::screen::Screen;
pub use args::MeasureArgs;
use predicted::predicted;
use tickbound_device::DeviceChoice;
use tickbound_device::platform::mismatch;
use tickbound_measure::cache::{kept_beside, usual_name};
use tickbound_measure::files::usual_device;
use tickbound_measure::floors::{Floors, OfSpace};
use tickbound_measure::guided::Guide;
use tickbound_measure::select::{Candidates, Selection, candidates, select, shuffle, total};
use tickbound_measure::supervisor::SupervisorError;
use tickbound_measure::{MeasureError, MeasureOptions, MeasurePlan, MeasureReport, t4, worker};
use tickbound_opencl::KernelReading;
use tickbound_report::MeasuredTimes;
use tickbound_solver::SearchOptions;

/// Greatest number of configurations that are measured by default.
const MAX_UNASKED: usize = 500;
/// Most configurations of a space whose model is made only to be shown.
const MAX_MODELLED: usize = 20_000;
/// Most configurations that a budget draws from a space without a model.
const MAX_DRAWN: usize = 5_000;

/// Arguments of the process that kernels run in.
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    /// The device
    device: String,
    /// Compile, and run nothing
    #[arg(long)]
    compiles: bool,
}

pub(super) fn work(args: &WorkerArgs) -> Result<Exit, CliError> {
    worker::serve(choice(&args.device)?, args.compiles).map_err(input)?;
    Ok(Exit::Done)
}

pub(super) fn choice(text: &str) -> Result<DeviceChoice, CliError> {
    text.parse().map_err(|e: tickbound_device::DeviceChoiceError| CliError::Input(e.to_string()))
}

impl MeasureArgs {
    fn selection(&self, configurations: usize) -> Result<Selection, CliError> {
        let drawn = |count| Ok(Selection::Sample { count, seed: self.seed });
        match (self.top, self.sample) {
            (Some(count), _) => Ok(Selection::Top(count)),
            (_, Some(count)) => drawn(count),
            _ if !self.all && self.budget.is_some() => drawn(configurations.min(MAX_DRAWN)),
            _ if self.all || configurations <= MAX_UNASKED => Ok(Selection::All),
            _ => Err(CliError::Input(format!(
                "{}: {configurations} configurations; say which to measure: --sample N, --top K, \
                 --guided, or --all",
                self.question.chosen.problem
            ))),
        }
    }

    fn options(&self, problem: &Problem) -> Result<MeasureOptions, CliError> {
        if self.cutoff.is_nan() || self.cutoff < 1.0 {
            let why = format!("--cutoff {}: write a number that is at least 1", self.cutoff);
            return Err(CliError::Input(why));
        }
        let program = own_program()?;
        let flushed = if self.flush_cache { "-flushed" } else { "" };
        let usual = || usual_device(problem).to_string();
        let device = self.device.clone().unwrap_or_else(usual);
        let usual = || usual_name(problem, &(device.clone() + flushed));
        let cache = self.cache.clone().unwrap_or_else(usual);
        Ok(MeasureOptions {
            choices: device.split(',').map(choice).collect::<Result<_, _>>()?,
            compilers: self.compilers,
            cutoff: self.cutoff,
            flush_cache: self.flush_cache,
            budget: self.budget.map(|time| positive_seconds("--budget", time)).transpose()?,
            baseline: None,
            floors: None,
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

    /// Puts the kernel program in, if it is needed or is there for little; false if there is none.
    fn add_model(
        &self,
        problem: &mut Problem,
        configurations: usize,
    ) -> Result<(bool, Option<KernelReading>), CliError> {
        let needed = self.top.is_some() || self.guided;
        // A floor saves runs, which take longer than reading the kernel.
        let shown = configurations <= MAX_MODELLED || Floor::greatest_mhz(problem).is_ok();
        if !needed && !self.leaves_choice() && !shown {
            return Ok((false, None));
        }
        match self.question.chosen.attach(problem) {
            Ok(reading) => Ok((!problem.kernel.is_empty(), reading)),
            Err(e) if needed => Err(e),
            Err(e) => {
                note!("tickbound: no model beside the times: {}", one_line(&e.to_string()));
                Ok((false, None))
            }
        }
    }

    /// The floors of the problem, if its platform has them.
    fn floors(
        &self,
        problem: &Problem,
        reading: Option<&KernelReading>,
        progress: &Progress,
    ) -> Result<Option<Floors>, CliError> {
        let caches = floor::caches(self.flush_cache);
        let floor = match floor::floor(problem, reading, caches)? {
            Ok(floor) => floor,
            Err(why) if self.gap.is_some() => return Err(why.into()),
            Err(_) => return Ok(None),
        };
        let (own, say) = (problem.clone(), progress.sayer());
        let of_space: OfSpace = Arc::new(move |floor: &Floor| {
            let options = SearchOptions::default();
            SpaceFloor::search(&own, floor.clone(), (&options, None), &say).ok()?.seconds()
        });
        Ok(Some(Floors { floor, of_space, gap: self.gap }))
    }

    /// Only the time is given: what is measured follows from the model, if there is one.
    fn leaves_choice(&self) -> bool {
        let chosen = self.all || self.guided || self.top.is_some() || self.sample.is_some();
        self.budget.is_some() && !chosen
    }

    /// What is chosen from for a guided search; for another one `None`, and what is measured.
    fn chosen(
        &self,
        problem: &Problem,
        configurations: &Configurations<'_>,
        modelled: bool,
    ) -> Result<Chosen, CliError> {
        let interrupt = stop::flag();
        if self.guided || (self.leaves_choice() && modelled) {
            let all = candidates(problem, configurations, self.seed, interrupt)?;
            return Ok((Some(all), Vec::new()));
        }
        let selection = self.selection(total(configurations))?;
        let mut selected = select(problem, configurations, selection, interrupt)?;
        if self.leaves_choice() {
            // The time may end before the last of them: in the space's order they are no sample.
            shuffle(&mut selected, self.seed);
        }
        Ok((None, selected))
    }
}

/// What is chosen from for a guided search, or what is measured.
type Chosen = (Option<Candidates>, Vec<Bound>);

impl MeasureArgs {
    /// Leaves out the configurations that are refuted, unless they are wanted. Gives how many there
    /// were with them.
    fn leave_out_refuted(
        &self,
        problem: (&Problem, &Path),
        (guided, selected): &mut Chosen,
        options: &MeasureOptions,
        progress: &Progress,
    ) -> Result<usize, CliError> {
        let bounds = guided.as_ref().map_or(&*selected, |all| &all.bound);
        let (all, own) = (bounds.len(), options.baseline.iter());
        if self.unverified {
            return Ok(all);
        }
        let among = bounds.iter().chain(own.clone()).map(|bound| bound.configuration.clone());
        let screen = Screen::new(problem, &among.collect::<Vec<_>>(), progress);
        own.clone().try_for_each(|own| screen.check("--baseline", &own.configuration))?;
        match guided {
            None => screen.retain(selected, progress),
            Some(candidates) => {
                candidates.retain(|bound| screen.admits(&bound.configuration));
                screen.note_left_out(all - candidates.bound.len(), all, progress);
            }
        }
        Ok(all)
    }

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
    match &args.rule {
        Some(path) => rule::run(args, path),
        None => run_space(args),
    }
}

/// Measures configurations of the problem's space.
fn run_space(args: &MeasureArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let mut problem = args.question.read()?;
    if problem.source.is_none() {
        return Err(MeasureError::NoSource.into());
    }
    let mut options = args.options(&problem)?;
    args.check_outputs(&options)?;
    let before = problem.clone();
    let configurations = before.configurations(&TableLimits::default())?;
    let total = total(&configurations);
    if !args.guided && !args.leaves_choice() {
        args.selection(total)?;
    }
    let progress = Progress::new(&problem.name);
    let (modelled, reading) = args.add_model(&mut problem, total)?;
    let problem = problem.kernel_alone();
    options.floors = args.floors(&problem, reading.as_ref(), &progress)?;
    let own = || load::bound(&problem, "--baseline", &args.baseline);
    options.baseline = (!args.baseline.is_empty()).then(own).transpose()?;
    let mut chosen = args.chosen(&problem, &configurations, modelled)?;
    let folder = args.question.chosen.folder();
    let all = args.leave_out_refuted((&before, &folder), &mut chosen, &options, &progress)?;
    let (guided, selected) = chosen;
    if all > 0 && selected.is_empty() && guided.as_ref().is_none_or(|all| all.bound.is_empty()) {
        return Ok(Exit::Nothing);
    }
    let plan = match &guided {
        None => MeasurePlan::Listed(&selected),
        Some(all) => {
            progress.aside(&format!("tickbound: {}", chosen_from(all)));
            MeasurePlan::Guided(&all.bound, Box::new(Guide::new(all.candidates.clone(), args.seed)))
        }
    };
    let report = progress::measured((&problem, &folder), plan, &options, &progress)?;
    let Some(report) = report else { return Ok(Exit::Nothing) };
    let ticks = predicted(&problem, &report);
    let mismatch = mismatch(&report.device.name, &problem.platform.name);
    if let Some(mismatch) = mismatch.filter(|_| ticks.iter().any(Option::is_some)) {
        progress.aside(&format!("tickbound: {mismatch}"));
    }
    drop(progress);
    let floors = options.floors.as_ref().map(|floors| &floors.floor);
    let cache = options.cache.as_ref().map(|c| c.display().to_string());
    let cache = cache.as_deref();
    args.say(&MeasuredTimes { problem: &problem, report: &report, ticks: &ticks, floors, cache })?;
    ended(&report, args)
}

/// How the command ends, with what stopped it.
fn ended(report: &MeasureReport, args: &MeasureArgs) -> Result<Exit, CliError> {
    if let Some(unkept @ SupervisorError::Unkept(_)) = &report.stopped {
        return Err(CliError::Input(unkept.to_string()));
    }
    let vanished = matches!(report.stopped, Some(SupervisorError::Vanished(..)));
    if let Some(why) = report.stopped.as_ref().filter(|_| vanished || args.json) {
        note!("tickbound: {why}");
    }
    let found = !report.ranked().is_empty() && !vanished;
    if args.baseline.is_empty() || !found {
        return Ok(Exit::found(found));
    }
    let Some(versus) = report.versus else {
        note!("tickbound: --baseline: there are no two times to compare");
        return Ok(Exit::Nothing);
    };
    Ok(if versus.is_faster() { Exit::Faster } else { Exit::Done })
}

/// What a guided search chooses from, in words.
fn chosen_from(all: &Candidates) -> String {
    let of = match all.sampled {
        false => "configurations".to_owned(),
        true => "configurations, the model's best and a random sample of the space".to_owned(),
    };
    format!("--guided chooses from {} programs of {} {of}", all.bound.len(), all.looked)
}
