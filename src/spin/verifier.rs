//! Making verifiers and running them, and keeping the books of a search.
//!
//! A [`Session`] owns the working folder and all that is known: the bounds, the trails, the log of
//! runs. The searches ask it for verifiers ([`Session::build`]), run them ([`Session::run`]), and have
//! their trails replayed and confirmed ([`Session::replay`]); [`Session::over_time`] is the question
//! that most searches ask.
//!
//! The folder has one subfolder for each verifier, with the model, the C files and the program, and in
//! it one for each run, with its trails and its log. `--keep` keeps all of it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::output::{Pulse, Report, Verdict};
use super::process::{self, Call, Ended, Finished, Line, Stop, Watch};
use super::result::{Proof, RunLog, SpinResult, StopReason};
use super::trail::{Judge, Lines, Trail};
use super::{Event, LEAST_MEMORY, MAX_DEPTH, Observer, Options, SpinError, Subject, Tools};
use crate::solve::result::Status;

/// The depth limit of the first run, in steps.
const FIRST_DEPTH: u64 = 100_000;
/// By how much a depth limit is raised.
const DEEPER: u64 = 10;
/// Bytes of the verifier's stack for each step, in any kind of search, rounded up.
const STACK_BYTES: u64 = 80;
/// What the process may take beside what the verifier counts, in bytes: code, libraries, buffers.
const SLACK: u64 = 96 << 20;
/// Entries of the first hash table, as a power of two: 8 MiB. The verifier enlarges it as needed.
const HASH_BITS: u32 = 20;
/// Steps of SPIN's simulator.
const SIMULATION_STEPS: u64 = 20_000_000;
/// How long replays may take after the search was stopped.
const REPLAYS: Duration = Duration::from_secs(3);
/// Bytes of a state that the verifier is compiled for unless the model needs more.
const VECTOR_BYTES: usize = 1024;

/// A property of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// No run ends.
    NonTerm,
    /// No run ends within `T` ticks.
    OverTime,
}

impl Claim {
    pub fn name(self) -> &'static str {
        match self {
            Claim::NonTerm => "NonTerm",
            Claim::OverTime => "OverTime",
        }
    }
}

/// What a verifier is generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The claims, with this bound `T`.
    Claims { bound: i64 },
    /// Branch and bound below this time.
    Best { below: i64 },
}

/// How it stores states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Storage {
    /// In full.
    Full,
    /// As bits; choices are taken in an order that depends on a seed.
    Bits,
}

/// A verifier.
#[derive(Debug)]
pub struct Build {
    folder: PathBuf,
    program: PathBuf,
    claims: bool,
    /// Seconds of SPIN and of the compiler, until a run has put them into its log.
    seconds: Mutex<Option<(f64, f64)>>,
}

/// How to run a verifier.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The name of the run in logs.
    pub what: &'static str,
    /// The claim; `None` for a verifier without claims.
    pub claim: Option<Claim>,
    /// The bound, for the log.
    pub bound: Option<i64>,
    /// The depth limit.
    pub depth: u64,
    /// Stop as soon as the depth limit is reached.
    pub stop_when_cut: bool,
    /// Most errors, each with a trail; `None` for all of them, 1 for the first.
    pub errors: Option<u64>,
    /// A bitstate run.
    pub bits: Option<Bits>,
    /// When to stop.
    pub watch: Watch<'a>,
}

/// What makes one worker of a swarm different from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// The seed.
    pub seed: u64,
    /// The hash array has 2 to the power of this many bits.
    pub array: u32,
    /// Bits set for each state.
    pub per_state: u32,
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// The verdict; of a run for many errors, what cut it short, if something did.
    pub verdict: Verdict,
    /// It searched everything, storing states in full.
    pub complete: bool,
    /// The files of its trails.
    pub trails: Vec<PathBuf>,
    /// Its place in the log.
    pub run: usize,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It holds.
    Holds,
    /// A run that is faster; its ticks.
    Found(i64),
    /// The search was cut and says nothing.
    Cut(StopReason),
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ending {
    /// What the best time is proved by.
    pub proof: Option<Proof>,
    /// What ended it early.
    pub stopped_by: Option<StopReason>,
}

#[derive(Debug, Default)]
struct Book {
    lower: i64,
    trails: Vec<Trail>,
    runs: Vec<RunLog>,
    notes: Vec<String>,
    builds: HashMap<(Goal, Storage), Arc<Build>>,
    folders: usize,
    /// The depth limit that was last found to suffice.
    depth: u64,
    /// When the replays end that were begun after the search was stopped.
    grace: Option<Instant>,
}

impl Book {
    fn best(&self) -> Option<&Trail> {
        self.trails.iter().min_by_key(|t| rank(t))
    }
}

/// Best first: by time, then by steps, then by configuration and run.
fn rank(trail: &Trail) -> (i64, u64, usize, usize) {
    (trail.found.time, trail.steps.unwrap_or(u64::MAX), trail.index, trail.run)
}

/// A search under way.
pub struct Session<'a> {
    pub subject: Subject<'a>,
    pub options: &'a Options,
    pub watch: Watch<'a>,
    tools: &'a Tools,
    observer: Observer<'a>,
    folder: PathBuf,
    /// Removes the folder at the end, unless it is kept.
    _temporary: Option<TempDir>,
    started: Instant,
    book: Mutex<Book>,
}

impl<'a> Session<'a> {
    /// A search with an empty folder.
    pub fn new(
        subject: Subject<'a>,
        tools: &'a Tools,
        options: &'a Options,
        watch: Watch<'a>,
        observer: Observer<'a>,
    ) -> Result<Session<'a>, SpinError> {
        let (folder, temporary) = match &options.keep {
            Some(kept) => (empty_folder(kept)?, None),
            None => {
                let made = tempfile::Builder::new().prefix("tickbound-spin-").tempdir();
                let made =
                    made.map_err(|error| SpinError::File { path: std::env::temp_dir(), error })?;
                (made.path().to_owned(), Some(made))
            }
        };
        let depth = options.depth.unwrap_or(FIRST_DEPTH);
        let book = Mutex::new(Book { depth, ..Book::default() });
        let started = Instant::now();
        let _temporary = temporary;
        Ok(Session { subject, options, watch, tools, observer, folder, _temporary, started, book })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // A worker that panicked elsewhere leaves the plain data here intact.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bounds: nothing takes less than the first, the best trail takes the second.
    pub fn bounds(&self) -> (i64, Option<i64>) {
        let book = self.book();
        (book.lower, book.best().map(|t| t.found.time))
    }

    /// The depth limit to begin with.
    pub fn depth(&self) -> u64 {
        self.book().depth
    }

    /// Adds a sentence to the result.
    pub fn note(&self, note: String) {
        self.book().notes.push(note);
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
            let mut book = self.book();
            book.lower = book.lower.max(bound.saturating_add(1));
        }
        self.tell_bounds();
        Ok(())
    }

    /// A trail has been confirmed.
    pub fn offer(&self, trail: Trail) -> Result<(), SpinError> {
        let (lower, found) = (self.bounds().0, trail.found.time);
        if found < lower {
            let who = "a trail that it found later".to_owned();
            return Err(SpinError::Contradiction { proved: lower - 1, who, found });
        }
        self.book().trails.push(trail);
        self.tell_bounds();
        Ok(())
    }

    fn tell_bounds(&self) {
        let (lower, upper) = self.bounds();
        (self.observer)(&Event::Bounds { lower, upper });
    }

    /// The reason for a stop from outside.
    pub fn reason(&self, stop: Stop) -> StopReason {
        match stop {
            Stop::Interrupted => StopReason::Interrupted,
            Stop::TimedOut | Stop::RoundOver | Stop::Settled => {
                StopReason::TimeOut(self.options.timeout.unwrap_or_default().as_secs_f64())
            }
        }
    }

    /// The next depth limit above one that did not suffice; `None` if the user has fixed it, or if
    /// the verifier's stack would take more than half of `memory`.
    pub fn deeper(&self, depth: u64, memory: u64) -> Option<u64> {
        if self.options.depth.is_some() {
            return None;
        }
        let most = (memory / 2 / STACK_BYTES).min(MAX_DEPTH);
        let next = depth.saturating_mul(DEEPER).min(most);
        (next > depth).then_some(next)
    }

    /// A smaller depth limit did not suffice.
    pub fn set_depth(&self, depth: u64) {
        let mut book = self.book();
        book.depth = book.depth.max(depth);
    }

    // Verifiers.

    /// A verifier; `None` if the search was stopped meanwhile.
    pub fn build(&self, goal: Goal, storage: Storage) -> Result<Option<Arc<Build>>, SpinError> {
        if let Some(build) = self.book().builds.get(&(goal, storage)) {
            return Ok(Some(build.clone()));
        }
        let (what, bound, macros) = match goal {
            Goal::Claims { bound } => ("OverTime", bound, format!("-DT={bound}")),
            Goal::Best { below } => ("BEST", below, format!("-DBEST={below}")),
        };
        (self.observer)(&Event::Started { what, bound: Some(bound) });
        let kind = if storage == Storage::Bits { "-bits" } else { "" };
        let folder = self.new_folder(&format!("{what}-{bound}{kind}"))?;
        let Some(spin_seconds) = self.generate(&folder, &macros)? else { return Ok(None) };
        let Some(compile_seconds) = self.compile(&folder, goal, storage)? else { return Ok(None) };
        let build = Arc::new(Build {
            program: folder.join("pan"),
            folder,
            claims: matches!(goal, Goal::Claims { .. }),
            seconds: Mutex::new(Some((spin_seconds, compile_seconds))),
        });
        self.book().builds.insert((goal, storage), build.clone());
        Ok(Some(build))
    }

    /// Runs `spin -a`; its seconds.
    fn generate(&self, folder: &Path, macros: &str) -> Result<Option<f64>, SpinError> {
        write(&folder.join("model.pml"), &self.subject.model.text)?;
        let call = self.spin(folder).arg(macros).arg("-a").arg("model.pml");
        let done = self.start(&call, &self.watch, &mut |_| Line::Keep)?;
        log(folder, "build.log", &call, &done)?;
        if let Ended::Stopped(_) = done.ended {
            return Ok(None);
        }
        if done.ended != Ended::Exit(0) || !folder.join("pan.c").is_file() {
            return Err(SpinError::Refused { said: complaint(&done) });
        }
        Ok(Some(done.seconds))
    }

    /// SPIN, with the compiler that was found as its preprocessor.
    fn spin(&self, folder: &Path) -> Call {
        let quoted = self.tools.compiler.to_string_lossy().replace('\'', r"'\''");
        Call::new(&self.tools.spin, folder).arg(format!("-P'{quoted}' -std=gnu99 -E -x c"))
    }

    fn compile(
        &self,
        folder: &Path,
        goal: Goal,
        storage: Storage,
    ) -> Result<Option<f64>, SpinError> {
        let vector = self.subject.model.vector_bytes.max(VECTOR_BYTES);
        let memory = self.memory_for(storage) >> 20;
        let mut call = Call::new(&self.tools.compiler, folder)
            .arg("-O2")
            .arg("-w")
            .arg("-DSAFETY")
            .arg(format!("-DVECTORSZ={vector}"))
            .arg(format!("-DMEMLIM={memory}"));
        if matches!(goal, Goal::Best { .. }) {
            call = call.arg("-DNOCLAIM");
        }
        if storage == Storage::Bits {
            call = call.arg("-DBITSTATE").arg("-DT_RAND").arg("-DP_RAND");
        }
        call = call.arg("-o").arg("pan").arg("pan.c");
        let done = self.start(&call, &self.watch, &mut |_| Line::Keep)?;
        log(folder, "build.log", &call, &done)?;
        match done.ended {
            Ended::Stopped(_) => Ok(None),
            Ended::Exit(0) if folder.join("pan").is_file() => Ok(Some(done.seconds)),
            _ => Err(SpinError::Compile {
                compiler: self.tools.compiler.clone(),
                said: complaint(&done),
            }),
        }
    }

    /// Bytes for one verifier.
    pub fn memory_for(&self, storage: Storage) -> u64 {
        let all = self.options.memory;
        match storage {
            Storage::Full => all,
            Storage::Bits => (all / self.workers() as u64).max(LEAST_MEMORY / 2),
        }
    }

    /// Workers of a swarm.
    pub fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.options.workers.unwrap_or_else(cores)
    }

    // Runs.

    /// Runs a verifier and writes the run into the log.
    pub fn run(&self, build: &Build, order: &Order<'_>) -> Result<Outcome, SpinError> {
        let storage = if order.bits.is_some() { Storage::Bits } else { Storage::Full };
        let memory = self.memory_for(storage);
        let name = format!("run-{}", order.bits.map_or(order.depth, |b| b.seed));
        let folder = empty_folder(&build.folder.join(name))?;
        (self.observer)(&Event::Started { what: order.what, bound: order.bound });
        let call = arguments(build, &folder, order, memory);
        let mut last = None;
        let done = self.start(&call, &order.watch, &mut |line| {
            if let Some(pulse) = Pulse::parse(line) {
                last = Some(line.to_owned());
                (self.observer)(&Event::Running(pulse));
                return Line::Drop;
            }
            // A run for many errors would go on above the cut.
            let cut = order.stop_when_cut && line.starts_with("error: max search depth too small");
            if cut { Line::Enough } else { Line::Keep }
        })?;
        log(&folder, "pan.log", &call, &done)?;
        let figures: Vec<&str> = last.iter().chain(&done.stdout).map(String::as_str).collect();
        let report = Report::parse(&figures);
        let verdict = self.verdict(order, &report, &done)?;
        let trails: Vec<PathBuf> = match verdict {
            // The trail leads to the cut.
            Verdict::DepthLimit if order.errors == Some(1) => Vec::new(),
            _ => report.trails.iter().map(|file| folder.join(file)).collect(),
        };
        let built = build.seconds.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (spin_seconds, compile_seconds) = built.unwrap_or_default();
        let entry = RunLog {
            what: order.what,
            bound: order.bound,
            seed: order.bits.map(|b| b.seed),
            verdict: verdict.clone(),
            coverage: report.coverage,
            hash_factor: report.hash_factor,
            states: report.states,
            transitions: report.transitions,
            depth: report.depth,
            depth_limit: order.depth,
            memory_bytes: report.memory_bytes,
            spin_seconds,
            compile_seconds,
            seconds: done.seconds,
            trails: trails.len(),
        };
        let complete = report.complete(done.ended);
        Ok(Outcome { verdict, complete, trails, run: self.enter(entry) })
    }

    fn enter(&self, entry: RunLog) -> usize {
        let mut book = self.book();
        book.runs.push(entry);
        book.runs.len() - 1
    }

    /// The verdict, unless it is a fault.
    fn verdict(
        &self,
        order: &Order<'_>,
        report: &Report,
        done: &Finished,
    ) -> Result<Verdict, SpinError> {
        let what = || match order.bound {
            Some(bound) => format!("{} with T = {bound}", order.what),
            None => order.what.to_owned(),
        };
        let mut verdict = Verdict::of(report, done.ended, &done.stderr);
        if order.errors != Some(1)
            && verdict == Verdict::Violated
            && let Some(cut) = report.cut(done.ended)
        {
            verdict = cut;
        }
        // It was stopped because of that.
        if report.depth_cut && verdict == Verdict::Stopped(Stop::Settled) && order.stop_when_cut {
            verdict = Verdict::DepthLimit;
        }
        let complete = matches!(verdict, Verdict::Holds | Verdict::NothingFound);
        if complete && report.claim.as_deref() != order.claim.map(Claim::name) {
            let claim = report.claim.as_deref().unwrap_or("none");
            let why = format!("it checked the claim `{claim}`");
            return Err(SpinError::Unreadable { what: what(), why });
        }
        match verdict {
            Verdict::Fault(said) => Err(SpinError::Model { what: what(), said }),
            Verdict::Deadlock => {
                Err(SpinError::Model { what: what(), said: "invalid end state".into() })
            }
            Verdict::VectorTooSmall => Err(SpinError::Model {
                what: what(),
                said: format!(
                    "a state takes more than the {} bytes foreseen (VECTORSZ)",
                    self.subject.model.vector_bytes.max(VECTOR_BYTES)
                ),
            }),
            Verdict::Unreadable(why) => Err(SpinError::Unreadable { what: what(), why }),
            known => Ok(known),
        }
    }

    /// Asks whether everything takes more than `bound` ticks, and takes note of the answer.
    pub fn over_time(&self, bound: i64) -> Result<Answer, SpinError> {
        self.first_error(Claim::OverTime, bound)
    }

    /// Asks for any run that ends.
    pub fn any_end(&self) -> Result<Answer, SpinError> {
        self.first_error(Claim::NonTerm, 0)
    }

    fn first_error(&self, claim: Claim, bound: i64) -> Result<Answer, SpinError> {
        let Some(build) = self.build(Goal::Claims { bound }, Storage::Full)? else {
            return Ok(self.stopped());
        };
        let memory = self.memory_for(Storage::Full);
        let mut depth = self.depth();
        loop {
            let next = self.deeper(depth, memory);
            let order = Order {
                what: claim.name(),
                claim: Some(claim),
                bound: (claim == Claim::OverTime).then_some(bound),
                depth,
                stop_when_cut: next.is_some(),
                errors: Some(1),
                bits: None,
                watch: self.watch,
            };
            let outcome = self.run(&build, &order)?;
            return match outcome.verdict {
                Verdict::Holds => {
                    if claim == Claim::OverTime {
                        self.refuted(bound)?;
                    }
                    Ok(Answer::Holds)
                }
                Verdict::Violated => self.first_trail(&build, &order, &outcome),
                Verdict::DepthLimit => match next {
                    Some(next) => {
                        depth = next;
                        self.set_depth(next);
                        continue;
                    }
                    None => Ok(Answer::Cut(StopReason::Depth(depth))),
                },
                Verdict::OutOfMemory => Ok(Answer::Cut(StopReason::Memory(memory))),
                Verdict::Stopped(stop) => Ok(Answer::Cut(self.reason(stop))),
                other => Err(SpinError::Unreadable {
                    what: order.what.into(),
                    why: format!("`{}` is no answer here", other.word()),
                }),
            };
        }
    }

    fn first_trail(
        &self,
        build: &Build,
        order: &Order<'_>,
        outcome: &Outcome,
    ) -> Result<Answer, SpinError> {
        let Some(file) = outcome.trails.first() else {
            return Err(SpinError::Unreadable {
                what: order.what.into(),
                why: "it reports an error and has written no trail".into(),
            });
        };
        match self.replay(build, order, file, outcome.run)? {
            Some(trail) => {
                let time = trail.found.time;
                self.offer(trail)?;
                Ok(Answer::Found(time))
            }
            None => Ok(self.stopped()),
        }
    }

    /// The answer of a search that was stopped between two runs.
    pub fn stopped(&self) -> Answer {
        Answer::Cut(self.reason(self.watch.stop().unwrap_or(Stop::Interrupted)))
    }

    // Trails.

    /// Replays a trail and has our simulator confirm it; `None` if the search was stopped meanwhile.
    pub fn replay(
        &self,
        build: &Build,
        order: &Order<'_>,
        file: &Path,
        run: usize,
    ) -> Result<Option<Trail>, SpinError> {
        let folder = file.parent().unwrap_or(&build.folder);
        let mut call =
            Call::new(&build.program, folder).arg("-r").arg(file.file_name().unwrap_or_default());
        call = call.arg("-n").arg(format!("-m{}", order.depth));
        if let Some(claim) = order.claim {
            call = call.arg("-N").arg(claim.name());
        }
        let done = self.start(&call, &self.replay_watch(), &mut |_| Line::Keep)?;
        log(folder, "replay.log", &call, &done)?;
        if let Ended::Stopped(_) = done.ended {
            return Ok(None);
        }
        let trail = self.confirm(&done.stdout, run)?.ok_or_else(|| SpinError::Trail {
            why: format!("its replay does not come to an end: {}", complaint(&done)),
        })?;
        let bound = order.bound.filter(|_| order.claim == Some(Claim::OverTime));
        match bound {
            Some(bound) if trail.found.time > bound => Err(SpinError::Trail {
                why: format!("it takes {} ticks where T is {bound}", trail.found.time),
            }),
            _ => Ok(Some(trail)),
        }
    }

    /// The end of a swarm's round does not stop replays. When the whole search is stopped there is
    /// still a moment for them, so that what was found is kept.
    fn replay_watch(&self) -> Watch<'_> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        if self.watch.stop().is_none() {
            return self.watch;
        }
        let deadline = *self.book().grace.get_or_insert_with(|| Instant::now() + REPLAYS);
        Watch { interrupt: &NEVER, deadline: Some(deadline), round: None, settled: None }
    }

    fn confirm(&self, lines: &[String], run: usize) -> Result<Option<Trail>, SpinError> {
        let read = Lines::parse(lines)
            .map_err(|line| SpinError::Trail { why: format!("it prints `{line}`") })?;
        let Subject { problem, space, model } = self.subject;
        let judge =
            Judge { problem, space, names: &model.parameters, open_schedule: model.open_schedule };
        judge.confirm(&read, run)
    }

    /// One random run in SPIN's simulator: a first time. `None` if it does not come to an end.
    pub fn simulate(&self, seed: u64) -> Result<Option<i64>, SpinError> {
        (self.observer)(&Event::Started { what: "simulation", bound: None });
        let folder = self.new_folder("simulation")?;
        write(&folder.join("model.pml"), &self.subject.model.text)?;
        let call = self
            .spin(&folder)
            .arg("-DT=0")
            .arg(format!("-n{seed}"))
            .arg(format!("-u{SIMULATION_STEPS}"))
            .arg("-T")
            .arg("model.pml");
        let done = self.start(&call, &self.watch, &mut |_| Line::Keep)?;
        log(&folder, "simulation.log", &call, &done)?;
        let verdict = match done.ended {
            Ended::Stopped(stop) => Verdict::Stopped(stop),
            Ended::Exit(0) => Verdict::NothingFound,
            _ => return Err(SpinError::Refused { said: complaint(&done) }),
        };
        let entry = RunLog {
            what: "simulation",
            bound: None,
            seed: Some(seed),
            verdict,
            coverage: None,
            hash_factor: None,
            states: 0,
            transitions: 0,
            depth: 0,
            depth_limit: SIMULATION_STEPS,
            memory_bytes: 0,
            spin_seconds: 0.0,
            compile_seconds: 0.0,
            seconds: done.seconds,
            trails: 0,
        };
        let run = self.enter(entry);
        if let Ended::Stopped(_) = done.ended {
            return Ok(None);
        }
        let Some(trail) = self.confirm(&done.stdout, run)? else { return Ok(None) };
        let time = trail.found.time;
        self.offer(trail)?;
        Ok(Some(time))
    }

    // Programs and files.

    fn start(
        &self,
        call: &Call,
        watch: &Watch<'_>,
        on_line: &mut dyn FnMut(&str) -> Line,
    ) -> Result<Finished, SpinError> {
        process::run(call, watch, on_line)
            .map_err(|error| SpinError::Start { program: call.program.clone(), error })
    }

    fn new_folder(&self, name: &str) -> Result<PathBuf, SpinError> {
        let number = {
            let mut book = self.book();
            book.folders += 1;
            book.folders
        };
        empty_folder(&self.folder.join(format!("{number:02}-{name}")))
    }

    // Results.

    /// The result for a space without configurations.
    pub fn infeasible(self) -> SpinResult {
        SpinResult { status: Status::Infeasible, ..self.result(Ending::default()) }
    }

    /// What is known now.
    pub fn result(self, ending: Ending) -> SpinResult {
        let seconds = self.started.elapsed().as_secs_f64();
        let mut book = self.book.into_inner().unwrap_or_else(PoisonError::into_inner);
        book.trails.sort_by_key(rank);
        let best = book.trails.first().map(|t| t.found.clone());
        let proved = ending.proof.is_some() && best.is_some();
        SpinResult {
            status: if proved { Status::Optimal } else { Status::Bounded },
            lower: book.lower,
            upper: best.as_ref().map(|f| f.time),
            best,
            proof: ending.proof.filter(|_| proved),
            search: self.options.search,
            style: self.subject.model.style,
            runs: book.runs,
            trails: book.trails,
            notes: book.notes,
            seconds,
            stopped_by: ending.stopped_by,
            spin: self.tools.version.to_string(),
            compiler: self.tools.compiler_version.clone(),
        }
    }
}

/// The verifier's command line.
fn arguments(build: &Build, folder: &Path, order: &Order<'_>, memory: u64) -> Call {
    let mut call = Call::new(&build.program, folder).arg("-n").arg(format!("-m{}", order.depth));
    call.memory = Some(memory.saturating_add(SLACK));
    if let Some(claim) = order.claim {
        call = call.arg("-N").arg(claim.name());
    }
    call = match order.errors {
        Some(1) if order.stop_when_cut => call.arg("-b"),
        Some(1) => call,
        Some(n) => call.arg("-e").arg(format!("-c{n}")),
        None => call.arg("-e").arg("-c0"),
    };
    if !build.claims {
        // Pruned runs end where they are.
        call = call.arg("-E");
    }
    match order.bits {
        None => call.arg(format!("-w{HASH_BITS}")),
        Some(bits) => call
            .arg(format!("-RS{}", bits.seed))
            .arg(format!("-w{}", bits.array))
            .arg(format!("-k{}", bits.per_state)),
    }
}

/// Makes a folder; it is a fault if it has something in it.
fn empty_folder(path: &Path) -> Result<PathBuf, SpinError> {
    let fail = |error| SpinError::File { path: path.to_owned(), error };
    std::fs::create_dir_all(path).map_err(fail)?;
    if std::fs::read_dir(path).map_err(fail)?.next().is_some() {
        return Err(SpinError::Option {
            what: format!("{}: the folder is not empty", path.display()),
            mend: "give a new one",
        });
    }
    // The programs run in other folders.
    std::path::absolute(path).map_err(fail)
}

fn write(path: &Path, text: &str) -> Result<(), SpinError> {
    std::fs::write(path, text).map_err(|error| SpinError::File { path: path.to_owned(), error })
}

/// Appends a command and its output to a log.
fn log(folder: &Path, name: &str, call: &Call, done: &Finished) -> Result<(), SpinError> {
    let path = folder.join(name);
    let mut text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = writeln!(text, "$ {}", call.line());
    done.stdout.iter().for_each(|line| {
        let _ = writeln!(text, "{line}");
    });
    let _ = writeln!(text, "{}[{:?} after {:.3} s]", done.stderr, done.ended, done.seconds);
    write(&path, &text)
}

/// The line in which a program says what it does not like.
fn complaint(done: &Finished) -> String {
    let all = || done.stderr.lines().chain(done.stdout.iter().map(String::as_str)).map(str::trim);
    let error = |l: &&str| l.to_lowercase().contains("error") || l.contains("cannot");
    let line = all().find(error).or_else(|| all().find(|l| !l.is_empty()));
    let line = line.map_or_else(|| format!("{:?}, without a word", done.ended), str::to_owned);
    line.chars().take(300).collect()
}
