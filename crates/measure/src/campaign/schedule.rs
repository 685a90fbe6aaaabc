//! The schedule of a campaign: what is compiled ahead, what is timed next, and where.
//!
//! The first labs of the [`Pool`] time, one for each device; the others compile ahead of them, in
//! the order in which configurations are likely to be timed. A graphics processor runs kernels
//! while this machine's processors compile the next ones. Where the device is this machine's
//! processor, nothing is compiled while a kernel is timed: a batch is compiled, then timed.
//!
//! Configurations are timed in the order of the list, or as the [`Guide`] chooses; what was
//! compiled ahead and is not chosen is lost. At the end the best are timed again
//! ([`super::finals`]).

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread::Scope;
use std::time::Instant;

use tickbound_device::DeviceKind;
use tickbound_model::{FloorTerm, Problem};
use tickbound_os::process::Scratch;

use super::pool::{Pool, Said};
use super::task::Task;
use crate::cache::{Cache, CacheRecord};
use crate::error::MeasureError;
use crate::files::source_of;
use crate::floors::Floors;
use crate::guided::Guide;
use crate::job::Job;
use crate::outcome::{Outcome, Stages, Timed};
use crate::reference::Reference;
use crate::report::{MeasureEvent, MeasureOptions, Measured};
use crate::sample::median;
use crate::supervisor::{Supervisor, SupervisorError};
use crate::timing_run::Stage;
use crate::utc;
use crate::versus::Versus;
use crate::worker::{Request, WorkerAnswer};

/// Most processes that compile ahead unless an option gives their number.
const MAX_COMPILERS: usize = 8;
/// Programs that are compiled ahead, for each process that compiles.
const AHEAD: usize = 2;
/// The part of the budget that is left for timing the best in turns.
const FOR_FINALS: f64 = 0.1;

pub(super) type Observer<'o> = dyn FnMut(MeasureEvent<'_>) + 'o;

#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) problem: &'a Problem,
    pub(super) options: &'a MeasureOptions,
    /// Floors that hold on the device, and that of the space.
    pub(super) floors: Option<(&'a Floors, Option<(f64, FloorTerm)>)>,
    pub(super) interrupt: &'a AtomicBool,
    pub(super) began: Instant,
    /// The task of the user's own configuration.
    pub(super) baseline: Option<usize>,
}

/// What compiling a task ahead gave: its binary, if the driver gives one, or why there is none.
type Compiled = Result<Option<PathBuf>, (Outcome, Stages)>;

pub(super) struct Campaign<'a> {
    pub(super) about: About<'a>,
    pub(super) tasks: &'a [Task<'a>],
    pub(super) pool: Pool,
    /// What each lab is at: the number of a task.
    pub(super) at: Vec<Option<usize>>,
    /// Which labs are used no more.
    lost: Vec<bool>,
    /// How many labs time; the others compile.
    timers: usize,
    /// Nothing is compiled while something is timed.
    exclusive: bool,
    /// Tasks that come next, in this order.
    queue: VecDeque<usize>,
    guide: Option<Box<Guide>>,
    /// The task that is timed next, once it is compiled.
    waiting: Option<usize>,
    ready: HashMap<usize, Compiled>,
    /// Seconds that compiling each task ahead took.
    compiled: HashMap<usize, f64>,
    folder: Scratch,
    pub(super) cache: Option<Cache>,
    pub(super) known: HashMap<Vec<i64>, CacheRecord>,
    pub(super) reference: Option<Reference>,
    /// The results, each with the number of its task.
    pub(super) done: Vec<(usize, Measured)>,
    /// The least time so far, in seconds.
    best: Option<f64>,
    pub(super) versus: Option<Versus>,
    /// The budget was spent before all were measured.
    pub(super) spent: bool,
    /// Configurations that were not run, as their floors are above the best time.
    pub(super) skipped: usize,
}

impl<'a> Campaign<'a> {
    /// Starts the threads of the labs, one for each device, and of others that compile.
    pub(super) fn new<'scope>(
        scope: &'scope Scope<'scope, 'a>,
        about: About<'a>,
        mut labs: Vec<Supervisor<'a>>,
        tasks: &'a [Task<'a>],
        guide: Option<Box<Guide>>,
    ) -> Result<Campaign<'a>, MeasureError> {
        let folder = Scratch::new("programs")
            .map_err(|e| SupervisorError::Process(format!("no temporary folder: {e}")))?;
        let exclusive = labs.iter().any(|lab| lab.kind() == DeviceKind::Cpu);
        let timers = labs.len();
        let compilers = about.options.compilers.unwrap_or_else(|| {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            match exclusive {
                // Making a binary costs PoCL as much as a second core saves.
                true if cores <= 2 => 0,
                true => cores.min(MAX_COMPILERS),
                // A process that times keeps a core busy.
                false => cores.saturating_sub(timers).clamp(1, MAX_COMPILERS),
            }
        });
        let more = labs.iter().cycle().take(compilers).map(Supervisor::compiling);
        labs.extend(more.collect::<Vec<_>>());
        let first = about.baseline.into_iter();
        let listed = if guide.is_some() { 0 } else { tasks.len() };
        let others = (0..listed).filter(|task| Some(*task) != about.baseline);
        Ok(Campaign {
            at: vec![None; labs.len()],
            lost: vec![false; labs.len()],
            pool: Pool::new(scope, labs),
            queue: first.chain(others).collect(),
            about,
            tasks,
            timers,
            exclusive,
            guide,
            waiting: None,
            ready: HashMap::new(),
            compiled: HashMap::new(),
            folder,
            cache: None,
            known: HashMap::new(),
            reference: None,
            done: Vec::new(),
            best: None,
            versus: None,
            spent: false,
            skipped: 0,
        })
    }

    /// Measures what is not known, and times the best again; returns why it stopped early.
    pub(super) fn run(
        &mut self,
        observer: &mut Observer<'_>,
    ) -> Result<Option<SupervisorError>, MeasureError> {
        let measured = self.measured(observer);
        if self.guide.is_none() {
            self.done.sort_by_key(|(task, _)| *task);
        }
        match measured.and_then(|()| self.finals(observer)) {
            Ok(()) => Ok(None),
            Err(fault @ MeasureError::Supervisor(SupervisorError::Process(_))) => Err(fault),
            Err(MeasureError::Supervisor(stopped)) => Ok(Some(stopped)),
            Err(MeasureError::Interrupted) => Ok(Some(SupervisorError::Interrupted)),
            Err(fault) => Err(fault),
        }
    }

    fn measured(&mut self, observer: &mut Observer<'_>) -> Result<(), MeasureError> {
        loop {
            self.time(observer)?;
            self.compile_ahead()?;
            if self.at.iter().all(Option::is_none) {
                return Ok(());
            }
            self.hear(observer)?;
        }
    }

    /// Gives each device that is idle the next task.
    fn time(&mut self, observer: &mut Observer<'_>) -> Result<(), MeasureError> {
        while let Some(lab) = (0..self.timers).find(|lab| self.at[*lab].is_none()) {
            let Some(task) = self.waiting.take().or_else(|| self.next()) else { break };
            if let Some(record) = self.known.remove(self.tasks[task].values()) {
                let bound = self.tasks[task].bound.clone();
                self.keep(task, Measured { bound, record, cached: true });
                continue;
            }
            let compiling = self.at[self.timers..].iter().any(Option::is_some);
            match self.ready.remove(&task) {
                None if self.has_compilers() => {
                    self.waiting = Some(task);
                    self.tell(task, Stage::Compile, observer);
                    break;
                }
                Some(ready) if self.exclusive && compiling => {
                    self.ready.insert(task, ready);
                    self.waiting = Some(task);
                    break;
                }
                Some(Err((outcome, stages))) => self.take(task, outcome, stages, observer)?,
                ready => {
                    let binary = ready.and_then(Result::ok).flatten();
                    let job = Box::new(Job { binary, ..self.job(task, observer)? });
                    self.at[lab] = Some(task);
                    self.pool.give(lab, Request::Run(job))?;
                }
            }
        }
        Ok(())
    }

    /// The next task, unless the budget is spent.
    fn next(&mut self) -> Option<usize> {
        let share = self.about.options.budget.map(|budget| budget.mul_f64(1.0 - FOR_FINALS));
        let (elapsed, done) = (self.about.began.elapsed(), self.done.len() as u32);
        // Another one takes as long as one of those so far.
        let each = elapsed.checked_div(done);
        if share.zip(each).is_some_and(|(share, each)| elapsed + each > share) {
            self.spent = true;
            return None;
        }
        if self.is_near_floor() {
            return None;
        }
        loop {
            let guide = &mut self.guide;
            let next = self.queue.pop_front().or_else(|| {
                let guide = guide.as_mut()?;
                guide.choose().filter(|_| !guide.is_settled())
            })?;
            if !self.is_hopeless(next) {
                return Some(next);
            }
            self.skipped += 1;
            if let Some(guide) = &mut self.guide {
                guide.tell(next, None);
            }
        }
    }

    /// Whether the best time is so near the floor of the space that measuring ends.
    fn is_near_floor(&self) -> bool {
        let near = || {
            let (floors, space) = self.about.floors?;
            Some(self.best? <= space?.0 * floors.gap?)
        };
        near().unwrap_or(false)
    }

    /// Whether the floor of a task, which has no time yet, is above the best time.
    fn is_hopeless(&self, task: usize) -> bool {
        let Some(((floors, _), best)) = self.about.floors.zip(self.best) else { return false };
        let is_known = self.known.contains_key(self.tasks[task].values());
        let own = Some(task) == self.about.baseline;
        !is_known && !own && floors.is_above(self.tasks[task].bound, best)
    }

    /// The job of a task, with the outputs as they should be.
    fn job(&mut self, task: usize, observer: &mut Observer<'_>) -> Result<Job, MeasureError> {
        let Task { bound, job, .. } = &self.tasks[task];
        let mut job = job.clone();
        let cutoff = self.best.map(|best| best * self.about.options.cutoff);
        job.cutoff = cutoff.filter(|_| Some(task) != self.about.baseline);
        if let Some(reference) = &mut self.reference {
            observer(MeasureEvent::Reference);
            let About { problem, interrupt, .. } = self.about;
            job.expected = Some(reference.expected(problem, bound, &job, interrupt)?);
        }
        Ok(job)
    }

    fn has_compilers(&self) -> bool {
        self.lost[self.timers..].iter().any(|lost| !lost)
    }

    /// Gives processes that compile what is likely to be timed next.
    fn compile_ahead(&mut self) -> Result<(), SupervisorError> {
        let timing = self.at[..self.timers].iter().any(Option::is_some);
        let compiling = self.at[self.timers..].iter().any(Option::is_some);
        let needed = self.waiting.is_some_and(|task| !self.ready.contains_key(&task));
        if self.exclusive && (timing || (!compiling && !needed)) {
            return Ok(());
        }
        let each = if self.guide.is_some() { 1 } else { AHEAD };
        let most = each * (self.at.len() - self.timers);
        let guessed = self.guide.as_ref().map(|guide| guide.upcoming(most));
        let likely = self.waiting.iter().chain(&self.queue).copied();
        let likely = likely.chain(guessed.into_iter().flatten());
        let next: Vec<usize> = likely.filter(|task| !self.is_hopeless(*task)).take(most).collect();
        for task in next {
            let is_known = self.known.contains_key(self.tasks[task].values());
            if !is_known && !self.ready.contains_key(&task) && !self.compile(task)? {
                break;
            }
        }
        Ok(())
    }

    /// Gives a process that compiles a task, unless it has it; false if none is free.
    fn compile(&mut self, task: usize) -> Result<bool, SupervisorError> {
        if self.at[self.timers..].contains(&Some(task)) {
            return Ok(true);
        }
        let open = |lab: &usize| self.at[*lab].is_none() && !self.lost[*lab];
        let Some(lab) = (self.timers..self.at.len()).find(open) else { return Ok(false) };
        self.at[lab] = Some(task);
        let job = Box::new(self.tasks[task].job.clone());
        self.pool.give(lab, Request::Compile(job, self.file(task))).map(|()| true)
    }

    /// Where the binary of a task lies.
    fn file(&self, task: usize) -> PathBuf {
        self.folder.path().join(format!("program-{task}"))
    }

    /// The jobs of tasks, compiled, outputs unchecked; nothing if one does not compile any more.
    pub(super) fn jobs(
        &mut self,
        tasks: &[usize],
        observer: &mut Observer<'_>,
    ) -> Result<Option<Vec<Job>>, MeasureError> {
        while self.has_compilers() && !tasks.iter().all(|task| self.ready.contains_key(task)) {
            for task in tasks {
                if !self.ready.contains_key(task) && !self.compile(*task)? {
                    break;
                }
            }
            self.hear(observer)?;
        }
        let jobs = tasks.iter().map(|task| match self.ready.remove(task) {
            Some(Err(_)) => None,
            ready => {
                let binary = ready.and_then(Result::ok).flatten();
                Some(Job { binary, ..self.tasks[*task].job.clone() })
            }
        });
        Ok(jobs.collect())
    }

    /// Waits for a message of a lab, and takes it.
    fn hear(&mut self, observer: &mut Observer<'_>) -> Result<(), MeasureError> {
        let (lab, said) = self.pool.hear()?;
        let answer = match said {
            Said::Stage(stage) => {
                if let Some(task) = self.at[lab].filter(|_| lab < self.timers) {
                    self.tell(task, stage, observer);
                }
                return Ok(());
            }
            Said::Answer(answer) => answer,
        };
        let Some(task) = self.at[lab].take() else { return Ok(()) };
        match answer {
            Ok(WorkerAnswer::Outcome(outcome, stages)) if lab < self.timers => {
                return self.take(task, outcome, stages, observer);
            }
            Ok(WorkerAnswer::Outcome(outcome, stages)) => {
                self.ready.insert(task, Err((outcome, stages)));
            }
            Ok(WorkerAnswer::Compiled(seconds, kept)) => {
                let file = kept.then(|| self.file(task));
                self.compiled.insert(task, seconds);
                self.ready.insert(task, Ok(file));
            }
            Ok(WorkerAnswer::Rounds(_)) => {
                return Err(SupervisorError::Process("has rounds out of turn".to_owned()).into());
            }
            // A device may have room for fewer processes; the one that times compiles then.
            Err(SupervisorError::Vanished(..) | SupervisorError::NoDevice(_))
                if lab >= self.timers =>
            {
                self.lost[lab] = true;
                self.ready.insert(task, Ok(None));
            }
            Err(stopped) => return Err(stopped.into()),
        }
        Ok(())
    }

    fn tell(&self, task: usize, stage: Stage, observer: &mut Observer<'_>) {
        let of = self.guide.is_none().then_some(self.tasks.len());
        observer(MeasureEvent::Stage(self.tasks[task].bound, stage, self.done.len(), of));
    }

    fn take(
        &mut self,
        task: usize,
        outcome: Outcome,
        mut stages: Stages,
        observer: &mut Observer<'_>,
    ) -> Result<(), MeasureError> {
        let Task { bound, fingerprint, .. } = &self.tasks[task];
        stages.compile += self.compiled.remove(&task).unwrap_or(0.0);
        // Where there is none, nothing is to be removed.
        let _ = std::fs::remove_file(self.file(task));
        let record = CacheRecord {
            values: self.tasks[task].values().to_vec(),
            rates: self.rates(task, &outcome)?,
            outcome,
            stages,
            timestamp: utc::now(),
            source: fingerprint.clone(),
        };
        observer(MeasureEvent::Measured(bound, &record));
        let kept = append(&mut self.cache, &record);
        self.keep(task, Measured { bound: (*bound).clone(), record, cached: false });
        Ok(kept?)
    }

    fn keep(&mut self, task: usize, measured: Measured) {
        let outcome = &measured.record.outcome;
        let seconds = outcome.timed().and_then(|timed| median(&timed.runs));
        self.best = self.best.into_iter().chain(seconds).reduce(f64::min);
        if let Some(guide) = &mut self.guide {
            // As exact as a cache keeps it: a resumed campaign chooses as one never stopped.
            guide.tell(task, seconds.map(|seconds| (seconds * 1e10).round()));
        }
        self.done.push((task, measured));
    }

    /// Bytes and operations a second, where the problem states how many there are.
    fn rates(&self, task: usize, outcome: &Outcome) -> Result<Vec<(String, f64)>, MeasureError> {
        let source = source_of(self.about.problem)?;
        let Some(seconds) = outcome.timed().map(Timed::seconds) else {
            return Ok(Vec::new());
        };
        let amounts = [("GB/s", &source.bytes), ("GOP/s", &source.operations)];
        let rates = amounts.into_iter().filter_map(|(name, amount)| {
            // An amount without a value has no rate; it is nothing that the run depends on.
            let amount = amount.as_ref()?.eval(&self.tasks[task].bound.env).ok()?;
            (seconds > 0.0).then(|| (name.to_owned(), amount as f64 / seconds / 1e9))
        });
        Ok(rates.collect())
    }
}

/// Adds a result to the cache, if there is one.
pub(super) fn append(
    cache: &mut Option<Cache>,
    record: &CacheRecord,
) -> Result<(), SupervisorError> {
    let kept = cache.as_mut().map_or(Ok(()), |cache| cache.append(record));
    kept.map_err(|error| SupervisorError::Unkept(error.to_string()))
}
