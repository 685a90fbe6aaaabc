//! Measuring many configurations, one after another.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tickbound_model::{Bound, Problem};

use super::cache::{Cache, Head, Record};
use super::error::MeasureError;
use super::files::{Files, source_of};
use super::job::Job;
use super::lab::{Lab, LabError, Setup};
use super::outcome::{Outcome, Timed};
use super::reference::Reference;
use super::report::{Event, Measured, Options, Report};
use crate::utc;

/// Measures configurations of a problem that was read from `folder`.
///
/// # Errors
/// Nothing could be measured: the problem, the reference, the cache or the device is at fault.
pub fn measure(
    problem: &Problem,
    folder: &Path,
    selection: &[Bound],
    options: &Options,
    interrupt: &AtomicBool,
    observer: &mut dyn FnMut(Event<'_>),
) -> Result<Report, MeasureError> {
    let began = Instant::now();
    let files = Files::read(problem, folder)?;
    let tasks = selection.iter().map(|bound| Task::new(problem, &files, bound, options));
    let tasks = tasks.collect::<Result<Vec<_>, _>>()?;
    let setup = Setup {
        choice: options.choice,
        folder: files.folder.clone(),
        limit: options.limit,
        deadline: options.timeout.map(|t| began + t),
        program: options.program.clone(),
    };
    let lab = Lab::open(setup, interrupt)?;
    let (cache, known) = match &options.cache {
        Some(path) => open_cache(path, problem, &lab, &tasks, observer)?,
        None => (None, HashMap::new()),
    };
    let reference = match &files.reference {
        Some((path, text)) if tasks.iter().any(|task| !known.contains_key(task.values())) => {
            let arguments = &source_of(problem)?.arguments;
            Some(Reference::compile(path, text, arguments, options.reference_limit, interrupt)?)
        }
        Some(_) => None,
        None => {
            observer(Event::Note("the problem has no reference: outputs are not checked".into()));
            None
        }
    };
    let device = lab.device().clone();
    let mut campaign =
        Campaign { problem, interrupt, lab, cache, known, reference, results: Vec::new() };
    let ended = campaign.run(&tasks, observer);
    let closed = campaign.cache.take().map_or(Ok(()), Cache::close);
    let stopped = ended?;
    closed?;
    Ok(Report {
        device,
        results: campaign.results,
        asked: tasks.len(),
        checked: files.reference.is_some(),
        stopped,
        seconds: began.elapsed().as_secs_f64(),
    })
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
        files: &Files,
        bound: &'a Bound,
        options: &Options,
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

type Opened = (Option<Cache>, HashMap<Vec<i64>, Record>);

fn open_cache(
    path: &Path,
    problem: &Problem,
    lab: &Lab<'_>,
    tasks: &[Task<'_>],
    observer: &mut dyn FnMut(Event<'_>),
) -> Result<Opened, MeasureError> {
    let mut values = vec![BTreeSet::new(); problem.parameters.len()];
    for task in tasks {
        values.iter_mut().zip(task.values()).for_each(|(set, v)| {
            set.insert(*v);
        });
    }
    let head = Head {
        device: lab.device().name.clone(),
        driver: lab.device().driver.clone(),
        kernel: source_of(problem)?.entry.clone(),
        size: problem.inputs.values().copied().collect(),
        parameters: problem.parameters.iter().map(|p| p.name.clone()).collect(),
        values,
    };
    let wanted: HashMap<&[i64], &str> =
        tasks.iter().map(|task| (task.values(), task.fingerprint.as_str())).collect();
    // Those that nobody asks for now are left as they are.
    let keep = |record: &Record| {
        wanted.get(&record.values[..]).is_none_or(|wanted| *wanted == record.source)
    };
    let (cache, found) = Cache::open(path, head, &keep)?;
    found.notes.into_iter().for_each(|note| observer(Event::Note(note)));
    let known = found.records.into_iter().map(|record| (record.values.clone(), record)).collect();
    Ok((Some(cache), known))
}

/// Measuring, under way.
struct Campaign<'a> {
    problem: &'a Problem,
    interrupt: &'a AtomicBool,
    lab: Lab<'a>,
    cache: Option<Cache>,
    known: HashMap<Vec<i64>, Record>,
    reference: Option<Reference>,
    results: Vec<Measured>,
}

impl Campaign<'_> {
    /// Measures all that is not known; returns why it stopped before that.
    fn run(
        &mut self,
        tasks: &[Task<'_>],
        observer: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<LabError>, MeasureError> {
        for (done, task) in tasks.iter().enumerate() {
            if let Some(record) = self.known.remove(task.values()) {
                self.results.push(Measured { bound: task.bound.clone(), record, cached: true });
                continue;
            }
            let mut job = task.job.clone();
            if let Some(reference) = &mut self.reference {
                observer(Event::Reference);
                match reference.expected(self.problem, task.bound, &job, self.interrupt) {
                    Ok(file) => job.expected = Some(file),
                    Err(MeasureError::Interrupted) => return Ok(Some(LabError::Interrupted)),
                    Err(e) => return Err(e),
                }
            }
            let mut stage = |stage| observer(Event::Stage(task.bound, stage, done, tasks.len()));
            let (outcome, stages) = match self.lab.run(&job, &mut stage) {
                Ok(result) => result,
                Err(LabError::Process(why)) => return Err(LabError::Process(why).into()),
                Err(stopped) => return Ok(Some(stopped)),
            };
            let record = Record {
                values: task.values().to_vec(),
                rates: self.rates(task.bound, &outcome)?,
                outcome,
                stages,
                timestamp: utc::now(),
                source: task.fingerprint.clone(),
            };
            if let Some(cache) = &mut self.cache {
                cache.append(&record)?;
            }
            observer(Event::Measured(task.bound, &record));
            self.results.push(Measured { bound: task.bound.clone(), record, cached: false });
        }
        Ok(None)
    }

    /// Bytes and operations a second, where the problem says how many there are.
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
