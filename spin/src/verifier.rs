//! Making verifiers and running them.
//!
//! A verifier is made once for each goal and way of storing states ([`Session::build`]) and run
//! with limits ([`Session::run`]). What comes back is a verdict that is no fault: faults of the
//! model and answers that cannot be understood are errors.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::promela::Style;

use super::output::{Pulse, Report, Verdict};
use super::process::{Call, Ended, Finished, Line, Stop, Watch};
use super::result::RunLog;
use super::session::{Session, complaint, empty_folder, log, write};
use super::{Event, SpinError};

/// What the process may take beside what the verifier counts, in bytes: code, libraries, buffers.
const SLACK: u64 = 96 << 20;
/// Entries of the first hash table, as a power of two: 8 MiB. The verifier enlarges it as needed.
const HASH_BITS: u32 = 20;
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
    /// All times of all configurations.
    Times,
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
    pub folder: PathBuf,
    pub program: PathBuf,
    goal: Goal,
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
    /// Bits of the hash array for each state, in a bitstate run.
    pub hash_factor: Option<f64>,
    /// What the model itself printed; `None` if there was too much of it.
    pub printed: Option<Vec<String>>,
    /// Its place in the log.
    pub run: usize,
}

impl Session<'_> {
    /// A verifier; `None` if the search was stopped meanwhile.
    pub fn build(&self, goal: Goal, storage: Storage) -> Result<Option<Arc<Build>>, SpinError> {
        if let Some(build) = self.book().builds.get(&(goal, storage)) {
            return Ok(Some(build.clone()));
        }
        let (what, bound, macros) = match goal {
            Goal::Claims { bound } => ("OverTime", Some(bound), format!("-DT={bound}")),
            Goal::Best { below } => ("BEST", Some(below), format!("-DBEST={below}")),
            Goal::Times => ("TIMES", None, "-DTIMES".to_owned()),
        };
        (self.observer)(&Event::Started { what, bound });
        let name = bound.map_or_else(|| what.to_owned(), |b| format!("{what}-{b}"));
        let kind = if storage == Storage::Bits { "-bits" } else { "" };
        let folder = self.new_folder(&format!("{name}{kind}"))?;
        let Some(spin_seconds) = self.generate(&folder, &macros)? else { return Ok(None) };
        let Some(compile_seconds) = self.compile(&folder, goal, storage)? else { return Ok(None) };
        let build = Arc::new(Build {
            program: folder.join("pan"),
            folder,
            goal,
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
    pub fn spin(&self, folder: &Path) -> Call {
        let program = self.tools.compiler.to_string_lossy();
        let words = std::iter::once(&*program).chain(self.tools.compiler_args.iter().map(|a| &**a));
        let quoted = words.map(|word| format!("'{}'", word.replace('\'', r"'\''")));
        let compiler = quoted.collect::<Vec<_>>().join(" ");
        Call::new(&self.tools.spin, folder).arg(format!("-P{compiler} -std=gnu99 -E -x c"))
    }

    fn compile(
        &self,
        folder: &Path,
        goal: Goal,
        storage: Storage,
    ) -> Result<Option<f64>, SpinError> {
        let vector = self.subject.model.vector_bytes.max(VECTOR_BYTES);
        let memory = self.memory_for(storage) >> 20;
        let mut call = Call::new(&self.tools.compiler, folder);
        call.args.extend(self.tools.compiler_args.iter().map(Into::into));
        let mut call = call
            .arg("-O2")
            .arg("-w")
            .arg("-DSAFETY")
            .arg(format!("-DVECTORSZ={vector}"))
            .arg(format!("-DMEMLIM={memory}"));
        if !matches!(goal, Goal::Claims { .. }) {
            call = call.arg("-DNOCLAIM");
        }
        if storage == Storage::Bits {
            call = call.arg("-DBITSTATE").arg("-DT_RAND").arg("-DP_RAND");
        } else if self.subject.model.style == Style::Processes {
            // Lossless: states share the parts that belong to one process. Measured on the abstract
            // kernel of size 16: 277 MB instead of 489 and a tenth more time. One process has
            // nothing to share.
            call = call.arg("-DCOLLAPSE");
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

    /// Runs a verifier and writes the run into the log.
    pub fn run(&self, build: &Build, order: &Order<'_>) -> Result<Outcome, SpinError> {
        let storage = if order.bits.is_some() { Storage::Bits } else { Storage::Full };
        let memory = self.memory_for(storage);
        let seed = order.bits.map_or_else(String::new, |b| format!("s{}-", b.seed));
        let name = format!("run-{seed}m{}", order.depth);
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
        let hash_factor = report.hash_factor;
        let ours = |line: &String| line.starts_with("tickbound:");
        let printed = done.stdout.into_iter().filter(ours).collect();
        let printed = (!done.truncated).then_some(printed);
        let run = self.enter(entry);
        Ok(Outcome { verdict, complete, trails, hash_factor, printed, run })
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
    if matches!(build.goal, Goal::Best { .. }) {
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
