//! Measuring many configurations, in sequence.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tickbound_model::{Bound, Problem};

use super::cache::{Cache, CacheHead, CacheRecord};
use super::error::MeasureError;
use super::files::{SourceFiles, source_of};
use super::guided::Guide;
use super::job::Job;
use super::lab::{Lab, LabError, LabSetup};
use super::outcome::{Outcome, Timed};
use super::reference::{Allowed, Reference};
use super::report::{MeasureEvent, MeasureOptions, MeasureReport, Measured};
use crate::utc;

/// What is measured, in which order.
#[derive(Debug)]
pub enum MeasurePlan<'a> {
    /// All of these, in sequence.
    Listed(&'a [Bound]),
    /// Of these as many as the guide takes, whose candidates they are.
    Guided(&'a [Bound], Box<Guide>),
}

impl<'a> MeasurePlan<'a> {
    fn configurations(&self) -> &'a [Bound] {
        match self {
            MeasurePlan::Listed(all) | MeasurePlan::Guided(all, _) => all,
        }
    }

    /// The next one, after `done` others.
    fn next(&mut self, done: usize) -> Option<usize> {
        match self {
            MeasurePlan::Listed(all) => (done < all.len()).then_some(done),
            MeasurePlan::Guided(_, guide) => guide.choose().filter(|_| !guide.is_settled()),
        }
    }

    fn tell(&mut self, number: usize, outcome: &Outcome) {
        if let MeasurePlan::Guided(_, guide) = self {
            // As exact as a cache keeps it: a campaign that goes on chooses as one that was never
            // stopped.
            guide.tell(number, outcome.timed().map(|timed| (timed.seconds() * 1e10).round()));
        }
    }

    /// How many are measured in all, if that is known before.
    fn of(&self) -> Option<usize> {
        match self {
            MeasurePlan::Listed(all) => Some(all.len()),
            MeasurePlan::Guided(..) => None,
        }
    }
}

const UNCHECKED: &str = "the problem has no reference: outputs are not checked";

/// Measures configurations of a problem that was read from `folder`.
///
/// # Errors
/// Nothing could be measured: the problem, the reference, the cache or the device is at fault.
pub fn measure(
    problem: &Problem,
    folder: &Path,
    mut plan: MeasurePlan<'_>,
    options: &MeasureOptions,
    interrupt: &AtomicBool,
    observer: &mut dyn FnMut(MeasureEvent<'_>),
) -> Result<MeasureReport, MeasureError> {
    let began = Instant::now();
    let files = SourceFiles::read(problem, folder)?;
    let tasks =
        plan.configurations().iter().map(|bound| Task::new(problem, &files, bound, options));
    let tasks = tasks.collect::<Result<Vec<_>, _>>()?;
    let lab = Lab::open(setup(&files, options, began), interrupt)?;
    let (cache, known) = match &options.cache {
        Some(path) => open_cache(path, problem, &lab, &tasks, observer)?,
        None => (None, HashMap::new()),
    };
    let has_new = tasks.iter().any(|task| !known.contains_key(task.values()));
    if has_new {
        observer(MeasureEvent::Note(whose_code(&files, options)));
    }
    if files.reference.is_none() {
        observer(MeasureEvent::Note(UNCHECKED.into()));
    }
    let reference = match &files.reference {
        Some(files) if has_new => Some(compiled(problem, files, options, interrupt)?),
        _ => None,
    };
    let mut campaign =
        Campaign { problem, interrupt, lab, cache, known, reference, results: Vec::new() };
    let ended = campaign.run(&tasks, &mut plan, observer);
    let closed = campaign.cache.take().map_or(Ok(()), Cache::close);
    let mut stopped = ended?;
    match (closed, &stopped) {
        (Ok(()), _) => {}
        (Err(error), None) => stopped = Some(LabError::Unkept(error.to_string())),
        (Err(error), Some(_)) => observer(MeasureEvent::Note(error.to_string())),
    }
    let results = campaign.results;
    Ok(MeasureReport {
        device: campaign.lab.device().clone(),
        asked: plan.of().unwrap_or(results.len()),
        candidates: plan.of().is_none().then_some(tasks.len()),
        results,
        checked: files.reference.is_some(),
        stopped,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// What the worker process is started with.
fn setup(files: &SourceFiles, options: &MeasureOptions, began: Instant) -> LabSetup {
    LabSetup {
        choice: options.choice,
        folder: files.folder.clone(),
        limit: options.limit,
        deadline: options.timeout.and_then(|t| options.since.unwrap_or(began).checked_add(t)),
        program: options.program.clone(),
    }
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

/// Whose code will run, where, and within which limits.
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

/// A configuration and its job.
struct Task<'a> {
    bound: &'a Bound,
    job: Job,
    fingerprint: String,
}

impl<'a> Task<'a> {
    fn new(
        problem: &Problem,
        files: &SourceFiles,
        bound: &'a Bound,
        options: &MeasureOptions,
    ) -> Result<Task<'a>, MeasureError> {
        let mut job = Job::new(problem, files, bound).map_err(|e| match e {
            MeasureError::Number { at, why } => MeasureError::Number {
                at,
                why: format!("{why} for {}", problem.name_values(&bound.configuration)),
            },
            e => e,
        })?;
        // The rest of the limit is for a run that takes longer than others, and for the last check.
        job.rule.seconds = options.limit.as_secs_f64() * 0.7;
        let fingerprint = job.fingerprint(files);
        Ok(Task { bound, job, fingerprint })
    }

    fn values(&self) -> &[i64] {
        &self.bound.configuration.0
    }
}

type Opened = (Option<Cache>, HashMap<Vec<i64>, CacheRecord>);

fn open_cache(
    path: &Path,
    problem: &Problem,
    lab: &Lab<'_>,
    tasks: &[Task<'_>],
    observer: &mut dyn FnMut(MeasureEvent<'_>),
) -> Result<Opened, MeasureError> {
    let mut values = vec![BTreeSet::new(); problem.parameters.len()];
    for task in tasks {
        values.iter_mut().zip(task.values()).for_each(|(set, v)| {
            set.insert(*v);
        });
    }
    let head = CacheHead {
        device: lab.device().name.clone(),
        driver: lab.device().driver.clone(),
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

/// Measuring, under way.
struct Campaign<'a> {
    problem: &'a Problem,
    interrupt: &'a AtomicBool,
    lab: Lab<'a>,
    cache: Option<Cache>,
    known: HashMap<Vec<i64>, CacheRecord>,
    reference: Option<Reference>,
    results: Vec<Measured>,
}

impl Campaign<'_> {
    /// Measures what the plan asks for and is not known; returns why it stopped before the end.
    fn run(
        &mut self,
        tasks: &[Task<'_>],
        plan: &mut MeasurePlan<'_>,
        observer: &mut dyn FnMut(MeasureEvent<'_>),
    ) -> Result<Option<LabError>, MeasureError> {
        while let Some(number) = plan.next(self.results.len()) {
            let Some(task) = tasks.get(number) else { break };
            let measured = match self.known.remove(task.values()) {
                Some(record) => Measured { bound: task.bound.clone(), record, cached: true },
                None => match self.measured(task, plan.of(), observer)? {
                    Ok(measured) => measured,
                    Err(stopped) => return Ok(Some(stopped)),
                },
            };
            plan.tell(number, &measured.record.outcome);
            let kept = match (&mut self.cache, measured.cached) {
                (Some(cache), false) => cache.append(&measured.record),
                _ => Ok(()),
            };
            self.results.push(measured);
            if let Err(error) = kept {
                return Ok(Some(LabError::Unkept(error.to_string())));
            }
        }
        Ok(None)
    }

    /// Measures one; the inner error states why measuring is over.
    fn measured(
        &mut self,
        task: &Task<'_>,
        of: Option<usize>,
        observer: &mut dyn FnMut(MeasureEvent<'_>),
    ) -> Result<Result<Measured, LabError>, MeasureError> {
        let mut job = task.job.clone();
        if let Some(reference) = &mut self.reference {
            observer(MeasureEvent::Reference);
            match reference.expected(self.problem, task.bound, &job, self.interrupt) {
                Ok(file) => job.expected = Some(file),
                Err(MeasureError::Interrupted) => return Ok(Err(LabError::Interrupted)),
                Err(e) => return Err(e),
            }
        }
        let done = self.results.len();
        let mut stage = |stage| observer(MeasureEvent::Stage(task.bound, stage, done, of));
        let (outcome, stages) = match self.lab.run(&job, &mut stage) {
            Ok(result) => result,
            Err(LabError::Process(why)) => return Err(LabError::Process(why).into()),
            Err(stopped) => return Ok(Err(stopped)),
        };
        let record = CacheRecord {
            values: task.values().to_vec(),
            rates: self.rates(task.bound, &outcome)?,
            outcome,
            stages,
            timestamp: utc::now(),
            source: task.fingerprint.clone(),
        };
        observer(MeasureEvent::Measured(task.bound, &record));
        Ok(Ok(Measured { bound: task.bound.clone(), record, cached: false }))
    }

    /// Bytes and operations a second, where the problem states how many there are.
    fn rates(&self, bound: &Bound, outcome: &Outcome) -> Result<Vec<(String, f64)>, MeasureError> {
        let source = source_of(self.problem)?;
        let Some(seconds) = outcome.timed().map(Timed::seconds) else {
            return Ok(Vec::new());
        };
        let amounts = [("GB/s", &source.bytes), ("GOP/s", &source.operations)];
        let rates = amounts.into_iter().filter_map(|(name, amount)| {
            // An amount without a value has no rate; it is nothing that the run depends on.
            let amount = amount.as_ref()?.eval(&bound.env).ok()?;
            (seconds > 0.0).then(|| (name.to_owned(), amount as f64 / seconds / 1e9))
        });
        Ok(rates.collect())
    }
}
