//! `tickbound tune`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use num_bigint::BigUint;
use tickbound_elimination::TableLimits;
use tickbound_input::message::grouped;
use tickbound_model::{Caches, Problem};
use tickbound_opencl::{KernelReading, ReadError};
use tickbound_simulator::simulate;
use tickbound_solver::bracket::{Bounds, Incumbent};

use super::certify::certify;
use super::emission::{Emission, checked};
use super::exit::{CliError, Exit};
use super::floor::{SpaceFloor, beside, floor as floor_of_problem};
use super::load::Question;
use super::mix;
use super::output::{Outputs, ranking, rows_width, say_answer, written};
use super::over::OverArgs;
use super::plot::Drawing;
use super::progress::Progress;
use super::search::SearchArgs;
use super::stop;
use super::values::named;
use super::{page, timeline};
use tickbound_report::answer::{self, Answer, FloorAnswer};
use tickbound_solver::{Objective, ProgramClasses, SearchOptions, StopReason, TuneResult, tune};

/// Arguments of `tune`.
#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    search: SearchArgs,
    /// What is best where schedules are open
    #[arg(
        long, value_parser = named::<Objective>(), default_value = "best", help_heading = "Search"
    )]
    objective: Objective,
    /// Show at least this many of the best configurations; under the profile resources, this many
    /// of the best programs
    #[arg(long, value_name = "K", default_value_t = 0, help_heading = "Output")]
    top: usize,
    /// Write the timeline of the best run to this file, a picture (.svg, .png) or Trace Event JSON
    /// for Perfetto; of open schedules the best and the worst
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    trace: Option<String>,
    /// Draw time over two parameters (.svg or .png; both without an extension)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<String>,
    /// Write a page with the answer, charts of the configurations, and the best run's timeline
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<String>,
    /// Write a certificate of the least time into this folder, for `tickbound check`
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    certificate: Option<String>,
    /// Also prove a time that no configuration can undercut on the device, for all compilers and
    /// schedulers; with --certificate DIR its certificate is DIR-floor
    #[arg(long, help_heading = "Search")]
    floor: bool,
    /// Write the best configuration, or the rule, as code: .flags, .h, .json, .rs, .py or .cmake
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    emit: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Find the configuration that takes least over all named sizes of the problem together, each
    /// launched as often as its `weights` state
    #[arg(
        long, help_heading = "Rule over sizes", conflicts_with_all = [
            "trace", "plot", "html", "certificate", "floor", "top", "size", "rule"
        ]
    )]
    mix: bool,
    #[command(flatten)]
    over: OverArgs,
}

impl TuneArgs {
    fn options(&self) -> Result<SearchOptions, CliError> {
        Ok(SearchOptions { objective: self.objective, top: self.top, ..self.search.options()? })
    }

    /// Refuses outputs that cannot be written, before the search.
    fn check_outputs(&self, problem: &Problem) -> Result<(), CliError> {
        timeline::check(problem, self.trace.as_ref())?;
        let outputs = Outputs::default().file("--trace", self.trace.as_ref());
        let outputs = outputs.picture("--plot", self.plot.as_ref())?;
        let outputs = checked(&self.emit, outputs.file("--html", self.html.as_ref()))?;
        let folder = self.certificate.as_deref().map(Path::new);
        let files = tickbound_certificate::folder::files();
        outputs.folder("--certificate", folder, files).check(&self.question.chosen.files())?;
        let Some(folder) = folder else { return Ok(()) };
        if self.objective != Objective::Best {
            let why = "a certificate is for the least time; leave --objective out";
            return Err(CliError::Input(format!("--certificate: {why}")));
        }
        if self.floor {
            tickbound_certificate::folder::writable(&beside(folder))?;
        }
        Ok(tickbound_certificate::folder::writable(folder)?)
    }
}

pub(super) fn run(args: &TuneArgs) -> Result<Exit, CliError> {
    let options = args.options()?;
    match args.over.is_given() {
        true => args.over.run(&args.question, &options, (&args.emit, args.json)),
        false if args.mix => mix::run(&args.question, &options, (&args.emit, args.json)),
        false => run_one(args, &options),
    }
}

/// Searches the problem at one size.
fn run_one(args: &TuneArgs, options: &SearchOptions) -> Result<Exit, CliError> {
    let Some((problem, reading)) = read(args, options)? else { return Ok(Exit::Nothing) };
    // Whether there is one is known before the search.
    let floor = args
        .floor
        .then(|| floor_of_problem(&problem, reading.as_ref(), Caches::Unknown))
        .transpose()?
        .transpose()?;
    if let Some(guesses) = args.question.chosen.guesses() {
        note!("tickbound: {guesses}");
    }
    args.check_outputs(&problem)?;
    let drawing = args.plot.as_ref().map(|_| Drawing::of(&problem)).transpose()?;
    let mut result = searched(&problem, options, args.json)?;
    // With the time to read the kernel.
    result.seconds = stop::began().elapsed().as_secs_f64();
    if result.stopped_by == Some(StopReason::Interrupted) {
        result.stopped_by = stop::reason();
    }
    let best = result.best.as_ref().map(|best| &best.configuration);
    let found = floor.map(|floor| {
        let progress = Progress::new(&problem.name);
        SpaceFloor::search(&problem, floor, (options, best), &progress.sayer())
    });
    let found = found.transpose()?;
    let space = found.as_ref().map(|found| found.answer(&problem, best));
    let answer = answer::tune::answer(&problem, &result);
    let text = |result: &TuneResult| {
        let listed = args.top > 0 && !args.json;
        let list = if listed { listing(&problem, result) } else { String::new() };
        said(args.json, &problem, result, space.as_ref()) + &list
    };
    notes(args, &problem, &result);
    // If a picture takes too long, this is still printed.
    let last = text(&result);
    stop::on_forced_end(move || say_answer(&last).unwrap_or_default());
    write_files(args, &problem, drawing.as_ref(), &result, (found.as_ref(), space.as_ref()))?;
    if let Some(folder) = &args.certificate {
        found.iter().try_for_each(|found| found.certify(&problem, Path::new(folder)))?;
        certify(&problem, &result, Path::new(folder))?;
        // The proof that others can check is part of the work.
        result.seconds = stop::began().elapsed().as_secs_f64();
    }
    stop::on_forced_end(|| {});
    say_answer(&text(&result))?;
    Ok(Exit::of(&answer))
}

/// What `--emit` writes for these arguments.
pub(super) fn emission(args: &TuneArgs) -> Result<Emission, CliError> {
    let options = args.options()?;
    if let Some(rule) = args.over.emission(&args.question, &options)? {
        return Ok(rule);
    }
    if args.mix {
        return mix::emission(&args.question, &options);
    }
    let problem = args.question.problem()?;
    let result = searched(&problem, &options, args.json)?;
    Emission::best(&args.question, &problem, &result)
}

/// Searches with progress on standard error.
fn searched(
    problem: &Problem,
    options: &SearchOptions,
    json: bool,
) -> Result<TuneResult, CliError> {
    let progress = Progress::new(&problem.name);
    let known = Arc::new(Mutex::new(Incumbent::default()));
    on_forced_end(json, problem, options, known.clone());
    let told = AtomicBool::new(false);
    let observer = |now: &Incumbent| {
        progress.show(now.bounds);
        if let (Some(best), true) = (&now.best, now.bounds.lower == now.bounds.upper())
            && options.objective == Objective::Best
            && !told.swap(true, Ordering::Relaxed)
        {
            // The proof may take longer than finding it.
            let (time, at) = (grouped(now.bounds.upper()), problem.name_values(best));
            progress.tell(&format!("least time: {time} ticks at {at}; proving it"));
        }
        *known.lock().unwrap_or_else(PoisonError::into_inner) = now.clone();
    };
    Ok(tune(problem, options, stop::flag(), &observer)?)
}

/// The problem; `None` if a stop came before it was read, and the answer is given.
fn read(
    args: &TuneArgs,
    options: &SearchOptions,
) -> Result<Option<(Problem, Option<KernelReading>)>, CliError> {
    let (question, of_words, json) = (args.question.clone(), options.clone(), args.json);
    stop::on_forced_end(move || match of_one_configuration(&question, &of_words, json) {
        Some(text) => say_answer(&text).unwrap_or_default(),
        None => stop::complain_unfinished(),
    });
    let problem = match args.question.with_reading() {
        Err(e @ CliError::Kernel(ReadError::Stopped { .. })) => {
            let _whole = stop::writing();
            let text = of_one_configuration(&args.question, options, json).ok_or(e)?;
            say_answer(&text)?;
            None
        }
        problem => Some(problem?),
    };
    stop::on_forced_end(stop::complain_unfinished);
    Ok(problem)
}

/// The result as one JSON object on a line, or for people.
fn said(json: bool, problem: &Problem, result: &TuneResult, floor: Option<&FloorAnswer>) -> String {
    if json {
        let answer = answer::tune::answer(problem, result);
        return format!("{}\n", Answer { floor: floor.cloned(), ..answer }.json());
    }
    let floor =
        floor.map(|floor| format!("floor:         {}\n", floor.words(problem, result.upper)));
    answer::tune::words(problem, result) + &floor.unwrap_or_default()
}

/// What is printed of the bracket if the search does not come back.
fn on_forced_end(
    json: bool,
    problem: &Problem,
    options: &SearchOptions,
    known: Arc<Mutex<Incumbent>>,
) {
    let (problem, options) = (problem.clone(), options.clone());
    stop::on_forced_end(move || {
        let known = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let seconds = stop::began().elapsed().as_secs_f64();
        let result = TuneResult::cut(&options, known, seconds, stop::reason());
        // An error can no longer be reported.
        say_answer(&said(json, &problem, &result, None)).unwrap_or_default();
    });
}

/// The answer that a stop leaves while the kernel is read for all configurations: one of them, for
/// which it is read by itself, and its time.
fn of_one_configuration(
    question: &Question,
    options: &SearchOptions,
    json: bool,
) -> Option<String> {
    let space = question.read().ok()?;
    let configurations = space.configurations(&TableLimits::default()).ok()?;
    let last = configurations.count().filter(|count| *count > BigUint::ZERO)? - 1u32;
    // The middle first: what cannot be launched is most often at the ends.
    let candidates = [last.clone() / 2u32, BigUint::ZERO, last];
    candidates.iter().find_map(|number| {
        let best = configurations.nth(number)?;
        let problem = question.only(&best).ok()?;
        let bound = problem.bind_configuration(&best).ok()?;
        let run = simulate(&problem, &bound, &Default::default()).ok()?;
        let bounds = Bounds { lower: 0, best: Some((0, run.time)) };
        let known = Incumbent { bounds, best: Some(best) };
        let seconds = stop::began().elapsed().as_secs_f64();
        let result = TuneResult::cut(options, known, seconds, stop::reason());
        Some(said(json, &problem, &result, None))
    })
}

/// The best programs, or the best configurations where programs cannot be compared.
fn listing(problem: &Problem, result: &TuneResult) -> String {
    let ProgramClasses { list, whole } = &result.programs;
    if list.is_empty() {
        let best = result.optima.iter().map(|f| (vec![f.time.to_string()], f));
        return format!("\n{}\n", ranking(problem, &["ticks"], best).fitted(rows_width()));
    }
    let rows = list.iter().map(|p| {
        let cells =
            vec![p.first.time.to_string(), p.configurations.to_string(), p.differ.join(" ")];
        (cells, &p.first)
    });
    let table = ranking(problem, &["ticks", "stands for", "differ in"], rows);
    let among = match whole {
        true => "",
        false => " (of those that the search came by; there may be more)",
    };
    format!(
        "\n{}\nConfigurations that use the same of the device are one program: the first of them, \
         how many it stands for{among}, \
         and the parameters in which they differ.\n",
        table.fitted(rows_width())
    )
}

/// Notes what the answer leaves out.
fn notes(args: &TuneArgs, problem: &Problem, result: &TuneResult) {
    if let Some(why) = shortfall(args.top, result) {
        note!("tickbound: {why}");
    }
    if args.question.chosen.size.is_none() && problem.sizes.values().any(|s| s.weight > 1) {
        note!("tickbound: for one size; --mix takes all, as often as they are launched");
    }
    if problem.source.is_some() && !args.json {
        let command = format!("tickbound verify {}", args.question.chosen.problem);
        note!("tickbound: not verified; `{command}` shows whether all configurations are safe");
    }
}

/// Why fewer configurations are listed than were requested, if there are more.
fn shortfall(top: usize, result: &TuneResult) -> Option<String> {
    let listed = result.optima.len();
    let there_are_more = result.configurations.as_ref().is_none_or(|n| *n > listed.into());
    // The profile resources lists programs, and states itself what it lists.
    if listed >= top || !there_are_more || !result.programs.list.is_empty() {
        return None;
    }
    let why = match (&result.schedule, &result.stopped_by) {
        (_, Some(why)) => format!("the search was stopped ({why})"),
        (Some(_), None) if result.objective == Objective::Worst => {
            "a worst case is that of one configuration".to_owned()
        }
        (_, None) => "the time was over".to_owned(),
    };
    Some(format!("--top {top}: {listed} listed, because {why}"))
}

fn write_files(
    args: &TuneArgs,
    problem: &Problem,
    drawing: Option<&Drawing<'_>>,
    result: &TuneResult,
    (found, space): (Option<&SpaceFloor>, Option<&FloorAnswer>),
) -> Result<(), CliError> {
    if let (Some(path), Some(best)) = (&args.trace, &result.best) {
        let bound = problem.bind_configuration(&best.configuration)?;
        let runs = timeline::shown(result);
        timeline::write(problem, &bound, &runs, path)?;
    }
    if let (Some(path), Some(drawing)) = (&args.plot, drawing) {
        written(&drawing.write(path)?);
    }
    if !args.emit.is_empty() {
        Emission::best(&args.question, problem, result)?.write(&args.emit)?;
    }
    if let Some(path) = &args.html {
        page::of(problem, result, found.zip(space), args.search.seed)?.write(path)?;
        written(&[path.into()]);
    }
    Ok(())
}
