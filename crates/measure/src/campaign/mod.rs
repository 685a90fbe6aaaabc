//! Measuring many configurations: what is opened and read before the first, and the report.
//!
//! What happens in between is in [`schedule`].

mod finals;
mod pool;
mod schedule;
mod task;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use indexmap::IndexMap;
use tickbound_model::{Bound, FloorTerm, Problem};

use crate::cache::{Cache, CacheHead, CacheRecord};
use crate::error::MeasureError;
use crate::files::{SourceFiles, source_of};
use crate::floors::{FloorReport, Floors};
use crate::guided::Guide;
use crate::reference::{Allowed, Reference};
use crate::report::{MeasureEvent, MeasureOptions, MeasureReport, Measured};
use crate::supervisor::{Interrupts, Supervisor, SupervisorError, SupervisorSetup};
use crate::worker::Described;
use schedule::{About, Campaign};
use task::Task;
use tickbound_device::DeviceKind;
use tickbound_device::platform::mismatch;

/// What is measured, in which order.
#[derive(Debug)]
pub enum MeasurePlan<'a> {
    /// All of these, in sequence.
    Listed(&'a [Bound]),
    /// Of these as many as the guide takes, whose candidates they are.
    Guided(&'a [Bound], Box<Guide>),
}

const UNCHECKED: &str = "the problem has no reference: outputs are not checked";

/// Measures configurations of a problem that was read from `folder`.
///
/// # Errors
/// Nothing could be measured: the problem, the reference, the cache or the device is at fault.
pub fn measure(
    problem: &Problem,
    folder: &Path,
    plan: MeasurePlan<'_>,
    options: &MeasureOptions,
    interrupt: &AtomicBool,
    observer: &mut dyn FnMut(MeasureEvent<'_>),
) -> Result<MeasureReport, MeasureError> {
    let began = options.since.unwrap_or_else(Instant::now);
    let files = SourceFiles::read(problem, folder)?;
    let (all, guide) = match plan {
        MeasurePlan::Listed(all) => (all, None),
        MeasurePlan::Guided(all, guide) => (all, Some(guide)),
    };
    let (tasks, baseline) = tasks(problem, &files, all, options)?;
    let over = AtomicBool::new(false);
    let labs = labs(&files, options, began, [interrupt, &over])?;
    let device = labs[0].device().clone();
    let (cache, known) = open_cache((problem, &device), options, &tasks, observer)?;
    let has_new = tasks.iter().any(|task| !known.contains_key(task.values()));
    note(&files, options, has_new || baseline.is_some(), observer);
    let compiled = |files| compiled(problem, files, options, interrupt);
    let reference = files.reference.as_ref().filter(|_| has_new).map(compiled).transpose()?;
    let candidates = guide.is_some().then_some(all.len());
    let floors = floors(problem, &device, options);
    let (ended, cache, done, versus, (spent, skipped)) = std::thread::scope(|scope| {
        let about = About { problem, options, floors, interrupt, began, baseline };
        let mut campaign = Campaign::new(scope, about, labs, &tasks, guide)?;
        (campaign.cache, campaign.known, campaign.reference) = (cache, known, reference);
        let ended = campaign.run(observer);
        over.store(true, Ordering::Relaxed);
        let Campaign { cache, done, versus, spent, skipped, .. } = campaign;
        Ok::<_, MeasureError>((ended, cache, done, versus, (spent, skipped)))
    })?;
    let closed = cache.map_or(Ok(()), Cache::close);
    let stopped = ended?.or(closed.err().map(|error| SupervisorError::Unkept(error.to_string())));
    let results: Vec<_> = done.into_iter().map(|(_, measured)| measured).collect();
    Ok(MeasureReport {
        device,
        asked: candidates.map_or(tasks.len(), |_| results.len()),
        candidates,
        floor: floors.map(|floors| floor_report(floors, skipped, &results)),
        results,
        checked: files.reference.is_some(),
        versus,
        spent,
        stopped,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// The floors that hold on the device, as it is that of the platform, and that of the space.
fn floors<'a>(
    problem: &Problem,
    device: &Described,
    options: &'a MeasureOptions,
) -> Option<(&'a Floors, Option<(f64, FloorTerm)>)> {
    let platform = &problem.platform.name;
    let is_its = !platform.is_empty() && mismatch(&device.name, platform).is_none();
    let floors = options.floors.as_ref().filter(|_| is_its)?;
    Some((floors, (floors.of_space)(&floors.floor)))
}

fn floor_report(
    (floors, space): (&Floors, Option<(f64, FloorTerm)>),
    skipped: usize,
    results: &[Measured],
) -> FloorReport {
    let mut contradicted = IndexMap::new();
    for measured in results {
        let runs = measured.record.outcome.timed().map(|timed| &timed.runs);
        let fastest = runs.and_then(|runs| runs.iter().copied().reduce(f64::min));
        if let (Some((floor, term)), Some(fastest)) = (floors.seconds(&measured.bound), fastest)
            && fastest < floor
        {
            *contradicted.entry(term).or_default() += 1;
        }
    }
    FloorReport { space, skipped, contradicted }
}

/// A task for each configuration, and the number of the user's own, added if the plan lacks it.
fn tasks<'a>(
    problem: &Problem,
    files: &SourceFiles,
    all: &'a [Bound],
    options: &'a MeasureOptions,
) -> Result<(Vec<Task<'a>>, Option<usize>), MeasureError> {
    options.choices.iter().try_for_each(|choice| files.code.check_device(*choice))?;
    let is_own = |own: &Bound| {
        all.iter().position(|bound| bound.configuration == own.configuration).unwrap_or(all.len())
    };
    let baseline = options.baseline.as_ref().map(is_own);
    let more = options.baseline.iter().filter(|_| baseline == Some(all.len()));
    let tasks = all.iter().chain(more).map(|bound| Task::new(problem, files, bound, options));
    Ok((tasks.collect::<Result<_, _>>()?, baseline))
}

/// A lab for each device; all devices are equal.
fn labs<'a>(
    files: &SourceFiles,
    options: &MeasureOptions,
    began: Instant,
    interrupts: Interrupts<'a>,
) -> Result<Vec<Supervisor<'a>>, SupervisorError> {
    let mut labs: Vec<Supervisor<'a>> = Vec::new();
    for choice in &options.choices {
        let setup = SupervisorSetup {
            choice: *choice,
            folder: files.folder.clone(),
            limit: options.limit,
            deadline: options.timeout.and_then(|timeout| began.checked_add(timeout)),
            compiles: false,
            program: options.program.clone(),
        };
        let lab = Supervisor::open(setup, interrupts)?;
        if labs.iter().any(|other| other.device().index == lab.device().index) {
            return Err(SupervisorError::Choice(format!(
                "--device {choice}: this device is named twice"
            )));
        }
        if let Some(first) = labs.first() {
            if lab.kind() == DeviceKind::Cpu {
                let why = format!("--device {choice}: processors are measured one at a time");
                return Err(SupervisorError::Choice(why));
            }
            let (one, other) = (first.device(), lab.device());
            if *one != (Described { index: one.index, ..other.clone() }) {
                let why = format!("--device {choice}: {} and {}: not equal", one.name, other.name);
                return Err(SupervisorError::Choice(why));
            }
        }
        labs.push(lab);
    }
    if labs.is_empty() {
        return Err(SupervisorError::Choice("--device: name a device".to_owned()));
    }
    Ok(labs)
}

/// The reference, ready to run.
fn compiled(
    problem: &Problem,
    (path, text): &(PathBuf, String),
    options: &MeasureOptions,
    interrupt: &AtomicBool,
) -> Result<Reference, MeasureError> {
    let arguments = &source_of(problem)?.arguments;
    let allowed = Allowed { time: options.reference_limit, memory: options.reference_memory };
    Reference::compile(path, text, arguments, allowed, interrupt)
}

/// Notes before the first run.
fn note(
    files: &SourceFiles,
    options: &MeasureOptions,
    runs: bool,
    observer: &mut dyn FnMut(MeasureEvent<'_>),
) {
    if runs {
        observer(MeasureEvent::Note(whose_code(files, options)));
    }
    if files.reference.is_none() {
        observer(MeasureEvent::Note(UNCHECKED.into()));
    }
}

fn whose_code(files: &SourceFiles, options: &MeasureOptions) -> String {
    let kernel = format!(
        "runs the kernel of {} on the device, at most {} s for each configuration, in what memory \
         the device has",
        files.code.path,
        options.limit.as_secs_f64()
    );
    let Some((path, _)) = &files.reference else { return kernel };
    format!(
        "{kernel}; and the reference {} on this machine, as you, at most {} s and {} MB for each \
         run",
        path.display(),
        options.reference_limit.as_secs_f64(),
        options.reference_memory.div_ceil(1_000_000)
    )
}

type Opened = (Option<Cache>, HashMap<Vec<i64>, CacheRecord>);

fn open_cache(
    (problem, device): (&Problem, &Described),
    options: &MeasureOptions,
    tasks: &[Task<'_>],
    observer: &mut dyn FnMut(MeasureEvent<'_>),
) -> Result<Opened, MeasureError> {
    let Some(path) = &options.cache else { return Ok((None, HashMap::new())) };
    let mut values = vec![BTreeSet::new(); problem.parameters.len()];
    for task in tasks {
        values.iter_mut().zip(task.values()).for_each(|(set, v)| {
            set.insert(*v);
        });
    }
    let head = CacheHead {
        device: device.name.clone(),
        driver: device.driver.clone(),
        kernel: source_of(problem)?.entry.clone(),
        size: problem.inputs.values().copied().collect(),
        parameters: problem.parameters.iter().map(|p| p.name.clone()).collect(),
        values,
    };
    let wanted: HashMap<&[i64], &str> =
        tasks.iter().map(|task| (task.values(), task.fingerprint.as_str())).collect();
    // Those that are not used now are left as they are.
    let keep = |record: &CacheRecord| {
        wanted.get(&record.values[..]).is_none_or(|wanted| *wanted == record.source)
    };
    let (cache, found) = Cache::open(path, head, &keep)?;
    found.notes.into_iter().for_each(|note| observer(MeasureEvent::Note(note)));
    let known = found.records.into_iter().map(|record| (record.values.clone(), record)).collect();
    Ok((Some(cache), known))
}
