//! A search under way: what is known, and the folder in which everything happens.
//!
//! A [`SearchState`] holds what is known: the bounds, the trails, the log of runs. Bounds only ever
//! close, and one that contradicts another is a fault and not a result. The folder has one
//! subfolder for each verifier, with the model, the C files and the program, and in it one for each
//! run, with its trails and its log. `--keep` keeps all of it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tickbound_model::verdict::Status;
use tickbound_os::process::{Finished, OutputLine, ProcessStop, Scratch, command_line, run_lines};

use crate::error::SpinError;
use crate::options::{LEAST_MEMORY, MAX_DEPTH, SpinEvent, SpinObserver, SpinOptions, SpinSubject};
use crate::orders::{Build, Goal, Order, Storage};
use crate::output::VerifierVerdict;
use crate::result::{RunLog, SpinProof, SpinResult, SpinStop};
use crate::tools::SpinTools;
use crate::trail::SpinTrail;
use crate::watch::Watch;

/// The depth limit of the first run, in steps: the verifier's own default.
const INITIAL_DEPTH: u64 = 10_000;
/// By how much a depth limit is raised.
const DEEPER: u64 = 10;
/// Bytes of the verifier's stack for each step, in any kind of search, rounded up.
const STACK_BYTES: u64 = 80;

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ending {
    /// What the best time is proved by.
    pub proof: Option<SpinProof>,
    /// What ended it early.
    pub stopped_by: Option<SpinStop>,
}

/// What is known so far.
#[derive(Debug, Default)]
pub struct SpinBounds {
    pub lower: i64,
    pub trails: Vec<SpinTrail>,
    pub runs: Vec<RunLog>,
    pub notes: Vec<String>,
    pub builds: HashMap<(Goal, Storage), Arc<Build>>,
    pub folders: usize,
    /// The depth limit that was last found to suffice.
    pub depth: u64,
    /// Ends the replays that were begun after the search was stopped.
    pub last_replays: Option<Watch<'static>>,
}

impl SpinBounds {
    fn best(&self) -> Option<&SpinTrail> {
        self.trails.iter().min_by_key(|t| rank(t))
    }
}

/// Best first: by time, then by steps, then by configuration and run.
fn rank(trail: &SpinTrail) -> (i64, u64, usize, usize) {
    (trail.found.time, trail.steps.unwrap_or(u64::MAX), trail.index, trail.run)
}

/// A search under way.
pub struct SearchState<'a> {
    pub subject: SpinSubject<'a>,
    pub options: &'a SpinOptions,
    pub watch: Watch<'a>,
    pub tools: &'a SpinTools,
    pub observer: SpinObserver<'a>,
    folder: PathBuf,
    /// Removes the folder at the end, unless it is kept.
    _temporary: Option<Scratch>,
    started: Instant,
    known: Mutex<SpinBounds>,
}

impl<'a> SearchState<'a> {
    /// A search with an empty folder.
    pub fn new(
        subject: SpinSubject<'a>,
        tools: &'a SpinTools,
        options: &'a SpinOptions,
        watch: Watch<'a>,
        observer: SpinObserver<'a>,
    ) -> Result<SearchState<'a>, SpinError> {
        let (folder, temporary) = match &options.keep {
            Some(kept) => (empty_folder(kept)?, None),
            None => {
                let made =
                    Scratch::new("spin").map_err(|e| not_written(&std::env::temp_dir(), &e))?;
                (made.path().to_owned(), Some(made))
            }
        };
        let depth = options.depth.unwrap_or(INITIAL_DEPTH);
        let known = Mutex::new(SpinBounds { depth, ..SpinBounds::default() });
        let started = Instant::now();
        let _temporary = temporary;
        Ok(SearchState {
            subject,
            options,
            watch,
            tools,
            observer,
            folder,
            _temporary,
            started,
            known,
        })
    }

    pub fn known(&self) -> MutexGuard<'_, SpinBounds> {
        // A worker that panicked elsewhere leaves the plain data here intact.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bounds: nothing takes less than the first, the best trail takes the second.
    pub fn bounds(&self) -> (i64, Option<i64>) {
        let known = self.known();
        (known.lower, known.best().map(|t| t.found.time))
    }

    /// The depth limit to begin with.
    pub fn depth(&self) -> u64 {
        self.known().depth
    }

    /// Adds a sentence to the result.
    pub fn note(&self, note: String) {
        self.known().notes.push(note);
    }

    /// A complete run has proved that everything takes more than `bound` ticks.
    pub fn refuted(&self, bound: i64) -> Result<(), SpinError> {
        if let (_, Some(found)) = self.bounds()
            && found <= bound
        {
            let who = "a trail that it found before".to_owned();
            return Err(SpinError::Contradiction { proved: bound, who, found });
        }
        {
            let mut known = self.known();
            known.lower = known.lower.max(bound.saturating_add(1));
        }
        self.tell_bounds();
        Ok(())
    }

    /// A trail has been confirmed.
    pub fn offer(&self, trail: SpinTrail) -> Result<(), SpinError> {
        let (lower, found) = (self.bounds().0, trail.found.time);
        if found < lower {
            let who = "a trail that it found later".to_owned();
            return Err(SpinError::Contradiction { proved: lower - 1, who, found });
        }
        self.known().trails.push(trail);
        self.tell_bounds();
        Ok(())
    }

    fn tell_bounds(&self) {
        let (lower, upper) = self.bounds();
        let best = self.known().best().map(|trail| trail.found.clone());
        (self.observer)(&SpinEvent::Bounds { lower, upper, best });
    }

    /// The reason for a stop from outside.
    pub fn reason(&self, stopped: ProcessStop) -> SpinStop {
        match stopped {
            ProcessStop::Interrupted => SpinStop::Interrupted,
            ProcessStop::Time(_)
            | ProcessStop::Memory(_)
            | ProcessStop::Output(_)
            | ProcessStop::Unneeded => {
                SpinStop::TimeOut(self.options.timeout.unwrap_or_default().as_secs_f64())
            }
        }
    }

    /// What cut a run short.
    ///
    /// # Errors
    /// If nothing did, and its verdict is no answer to its order.
    pub fn cut_by(
        &self,
        verdict: &VerifierVerdict,
        order: &Order<'_>,
    ) -> Result<SpinStop, SpinError> {
        match verdict {
            VerifierVerdict::DepthLimit => Ok(SpinStop::Depth(order.depth)),
            VerifierVerdict::OutOfMemory => Ok(SpinStop::Memory(self.memory_for(order.storage()))),
            VerifierVerdict::Stopped(stopped) => Ok(self.reason(*stopped)),
            other => Err(order.unreadable(format!("`{}` is no answer here", other.word()))),
        }
    }

    /// The next depth limit above one that did not suffice; `None` if the user has fixed it, or if
    /// the verifier's stack would take more than half of its memory.
    pub fn deeper(&self, order: &Order<'_>) -> Option<u64> {
        if self.options.depth.is_some() {
            return None;
        }
        let (memory, depth) = (self.memory_for(order.storage()), order.depth);
        let most = (memory / 2 / STACK_BYTES).min(MAX_DEPTH);
        let next = depth.saturating_mul(DEEPER).min(most);
        (next > depth).then_some(next)
    }

    /// A smaller depth limit did not suffice.
    pub fn set_depth(&self, depth: u64) {
        let mut known = self.known();
        known.depth = known.depth.max(depth);
    }

    /// Bytes for one verifier.
    pub fn memory_for(&self, storage: Storage) -> u64 {
        let all = self.options.memory;
        match storage {
            Storage::Full => all,
            Storage::Bits => (all / self.workers() as u64).max(LEAST_MEMORY / 2),
        }
    }

    pub fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.options.workers.unwrap_or_else(cores)
    }

    pub fn enter(&self, entry: RunLog) -> usize {
        let mut known = self.known();
        known.runs.push(entry);
        known.runs.len() - 1
    }

    /// A run of the log.
    pub fn entry(&self, run: usize) -> Option<RunLog> {
        self.known().runs.get(run).cloned()
    }

    pub fn new_folder(&self, name: &str) -> Result<PathBuf, SpinError> {
        let number = {
            let mut known = self.known();
            known.folders += 1;
            known.folders
        };
        empty_folder(&self.folder.join(format!("{number:02}-{name}")))
    }

    /// Like [`run_watched`], until the search is stopped.
    pub fn run_logged(&self, command: &mut Command, log: &str) -> Result<Finished, SpinError> {
        run_watched(command, self.watch, log, &mut |_| OutputLine::Keep)
    }

    /// What is known now.
    pub fn result(self, ending: Ending) -> SpinResult {
        let seconds = self.started.elapsed().as_secs_f64();
        let mut known = self.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        known.trails.sort_by_key(rank);
        // Workers find the same run again and again; the first one to do so keeps it.
        let mut trails: Vec<SpinTrail> = Vec::new();
        for trail in known.trails {
            let alike = |t: &SpinTrail| {
                (&t.found, &t.script, t.steps) == (&trail.found, &trail.script, trail.steps)
            };
            if !trails.iter().any(alike) {
                trails.push(trail);
            }
        }
        let best = trails.first().map(|t| t.found.clone());
        let proved = ending.proof.is_some() && best.is_some();
        SpinResult {
            status: if proved { Status::Optimal } else { Status::Bounded },
            lower: known.lower,
            upper: best.as_ref().map(|f| f.time),
            best,
            proof: ending.proof.filter(|_| proved),
            search: self.options.search,
            style: self.subject.model.style,
            runs: known.runs,
            trails,
            notes: known.notes,
            seconds,
            stopped_by: ending.stopped_by,
            spin: self.tools.version.to_string(),
            compiler: self.tools.compiler_version.clone(),
        }
    }
}

/// Makes a folder; it is a fault if it has something in it.
pub fn empty_folder(path: &Path) -> Result<PathBuf, SpinError> {
    let fail = |error| not_written(path, &error);
    std::fs::create_dir_all(path).map_err(fail)?;
    if std::fs::read_dir(path).map_err(fail)?.next().is_some() {
        let what = format!("{}: the folder is not empty; give a new one", path.display());
        return Err(SpinError::Unusable(what));
    }
    // The programs run in other folders.
    std::path::absolute(path).map_err(fail)
}

fn not_written(path: &Path, error: &std::io::Error) -> SpinError {
    let path = path.display();
    SpinError::Unusable(format!("{path}: {error}; give a folder that may be written to"))
}

pub fn write(path: &Path, text: &str) -> Result<(), SpinError> {
    std::fs::write(path, text).map_err(|error| not_written(path, &error))
}

/// Runs a program until its end or the watch stops it; appends command and output to the log.
pub fn run_watched(
    command: &mut Command,
    watch: Watch<'_>,
    log: &str,
    on_line: &mut dyn FnMut(&str) -> OutputLine,
) -> Result<Finished, SpinError> {
    let finished = run_lines(command, watch.limits(), on_line).map_err(|error| {
        let program = command.get_program().display();
        let what = format!("{program}: cannot be run: {error}; check that it may be executed");
        SpinError::Unusable(what)
    })?;
    let path = command.get_current_dir().unwrap_or(Path::new(".")).join(log);
    let mut text = std::fs::read_to_string(&path).unwrap_or_default();
    let (ended, seconds) = (finished.ended, finished.time.as_secs_f64());
    let (stdout, stderr) = (&finished.stdout, &finished.stderr);
    let line = command_line(command);
    let _ = writeln!(text, "$ {line}\n{stdout}{stderr}[{ended} after {seconds:.3} s]");
    write(&path, &text)?;
    Ok(finished)
}

/// The line in which a program states what it does not like.
pub fn complaint(finished: &Finished) -> String {
    let all = || finished.stderr.lines().chain(finished.stdout.lines()).map(str::trim);
    let error = |l: &&str| l.to_lowercase().contains("error") || l.contains("cannot");
    let line = all().find(error).or_else(|| all().find(|l| !l.is_empty()));
    let line = line.map_or_else(|| format!("{}, no message", finished.ended), str::to_owned);
    line.chars().take(300).collect()
}
