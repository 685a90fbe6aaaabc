//! Making verifiers and running them.
//!
//! A verifier is made once for each goal and way of storing states ([`SearchState::build`]) and run
//! with limits ([`SearchState::run`]). What comes back is a verdict that is no fault: faults of the
//! model and answers that cannot be understood are errors.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use tickbound_os::process::{Ended, Finished, OutputLine, ProcessStop, quoted};

use crate::error::SpinError;
use crate::options::SpinEvent;
use crate::orders::{Build, Goal, Order, OrderClaim, Storage, VerifierRun, reported, unreadable};
use crate::output::{ProgressLine, VerifierReport, VerifierVerdict};
use crate::promela::Style;
use crate::result::RunLog;
use crate::state::{SearchState, complaint, empty_folder, run_watched, write};

/// What the process may take beside what the verifier counts, in bytes: code, libraries, buffers.
const SLACK: u64 = 96 << 20;
/// Entries of the first hash table, as a power of two: 8 MiB. The verifier enlarges it as needed.
const HASH_BITS: u32 = 20;
/// Bytes of a state that the verifier is compiled for unless the model needs more.
const VECTOR_BYTES: usize = 1024;

impl SearchState<'_> {
    /// A verifier; `None` if the search was stopped meanwhile.
    pub fn build(&self, goal: Goal, storage: Storage) -> Result<Option<Arc<Build>>, SpinError> {
        if let Some(build) = self.known().builds.get(&(goal, storage)) {
            return Ok(Some(build.clone()));
        }
        let (what, bound, macros) = match goal {
            Goal::Claims { bound } => ("OverTime", Some(bound), format!("-DT={bound}")),
            Goal::Best { below } => ("BEST", Some(below), format!("-DBEST={below}")),
            Goal::Times => ("TIMES", None, "-DTIMES".to_owned()),
        };
        (self.observer)(&SpinEvent::Started { what, bound });
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
        self.known().builds.insert((goal, storage), build.clone());
        Ok(Some(build))
    }

    /// Runs `spin -a`; its seconds.
    fn generate(&self, folder: &Path, macros: &str) -> Result<Option<f64>, SpinError> {
        write(&folder.join("model.pml"), &self.subject.model.text)?;
        let mut command = self.spin(folder);
        let done = self.run_logged(command.args([macros, "-a", "model.pml"]), "build.log")?;
        match done.ended {
            Ended::Stopped(_) => Ok(None),
            Ended::Exit(0) if folder.join("pan.c").is_file() => Ok(Some(done.time.as_secs_f64())),
            _ => Err(refused(&done)),
        }
    }

    /// SPIN in a folder, with the compiler that was found as its preprocessor.
    pub fn spin(&self, folder: &Path) -> Command {
        let program = self.tools.compiler.to_string_lossy();
        let words = std::iter::once(&*program).chain(self.tools.compiler_args.iter().map(|a| &**a));
        let compiler = words.map(quoted).collect::<Vec<_>>().join(" ");
        let mut command = Command::new(&self.tools.spin);
        command.current_dir(folder).arg(format!("-P{compiler} -std=gnu99 -E -x c"));
        command
    }

    /// Runs the C compiler; its seconds.
    fn compile(
        &self,
        folder: &Path,
        goal: Goal,
        storage: Storage,
    ) -> Result<Option<f64>, SpinError> {
        let vector = self.vector_bytes();
        let memory = self.memory_for(storage) >> 20;
        let mut command = Command::new(&self.tools.compiler);
        command.current_dir(folder).args(&self.tools.compiler_args);
        command.args(["-O2", "-w", "-DSAFETY"]);
        command.args([format!("-DVECTORSZ={vector}"), format!("-DMEMLIM={memory}")]);
        if !matches!(goal, Goal::Claims { .. }) {
            command.arg("-DNOCLAIM");
        }
        if storage == Storage::Bits {
            command.args(["-DBITSTATE", "-DT_RAND", "-DP_RAND"]);
        } else if self.subject.model.style == Style::Processes {
            // Lossless: states share the parts that belong to one process. Measured on the abstract
            // kernel of size 16: 277 MB instead of 489 and a tenth more time. One process has
            // nothing to share.
            command.arg("-DCOLLAPSE");
        }
        let done = self.run_logged(command.args(["-o", "pan", "pan.c"]), "build.log")?;
        match done.ended {
            Ended::Stopped(_) => Ok(None),
            Ended::Exit(0) if folder.join("pan").is_file() => Ok(Some(done.time.as_secs_f64())),
            _ => Err(SpinError::Unusable(format!(
                "{} refuses the verifier that SPIN generated: {}; try another compiler with CC, \
                 and report it with the problem file",
                self.tools.compiler.display(),
                complaint(&done)
            ))),
        }
    }

    /// Bytes of a state that verifiers are compiled for.
    fn vector_bytes(&self) -> usize {
        self.subject.model.vector_bytes.max(VECTOR_BYTES)
    }

    /// Runs a verifier with ever greater depth limits, until one suffices, something is found, or
    /// there is no greater one. The order then has the last limit.
    pub fn run_deep_enough(
        &self,
        build: &Build,
        order: &mut Order<'_>,
    ) -> Result<VerifierRun, SpinError> {
        loop {
            let run = self.run(build, order)?;
            match self.deeper(order) {
                Some(next)
                    if run.verdict == VerifierVerdict::DepthLimit && run.trails.is_empty() =>
                {
                    order.depth = next;
                    self.set_depth(next);
                }
                _ => return Ok(run),
            }
        }
    }

    /// Runs a verifier and writes the run into the log.
    pub fn run(&self, build: &Build, order: &Order<'_>) -> Result<VerifierRun, SpinError> {
        // A run for many errors would go on above the cut.
        let stop_when_cut = self.deeper(order).is_some();
        let seed = order.bits.map_or_else(String::new, |b| format!("s{}-", b.seed));
        let name = format!("run-{seed}m{}", order.depth);
        let folder = empty_folder(&build.folder.join(name))?;
        (self.observer)(&SpinEvent::Started { what: order.what, bound: order.bound });
        let memory = self.memory_for(order.storage());
        let mut command = arguments(build, &folder, order, (memory, stop_when_cut));
        let (done, last) = self.run_observed(&mut command, order, stop_when_cut)?;
        let lines = done.stdout.lines().map(str::trim_end);
        let figures: Vec<&str> = last.as_deref().into_iter().chain(lines).collect();
        let report = VerifierReport::parse(&figures);
        let verdict = self.verdict(order, stop_when_cut, &report, &done)?;
        let trails: Vec<PathBuf> = match verdict {
            // The trail leads to the cut.
            VerifierVerdict::DepthLimit if order.errors == Some(1) => Vec::new(),
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
            seconds: done.time.as_secs_f64(),
            trails: trails.len(),
        };
        let complete = report.complete(done.ended);
        let hash_factor = report.hash_factor;
        let ours = figures.iter().filter(|line| line.starts_with("tickbound:"));
        let printed = (!done.truncated).then(|| ours.map(|line| (*line).to_owned()).collect());
        let run = self.enter(entry);
        Ok(VerifierRun { verdict, complete, trails, hash_factor, printed, run })
    }

    /// Runs a verifier and reports its progress to the observer; also returns the last line of it.
    fn run_observed(
        &self,
        command: &mut Command,
        order: &Order<'_>,
        stop_when_cut: bool,
    ) -> Result<(Finished, Option<String>), SpinError> {
        let mut last = None;
        let done = run_watched(command, order.watch, "pan.log", &mut |line| {
            if let Some(progress) = ProgressLine::parse(line) {
                last = Some(line.to_owned());
                (self.observer)(&SpinEvent::Running(progress));
                return OutputLine::Drop;
            }
            let cut = stop_when_cut && line.starts_with("error: max search depth too small");
            if cut { OutputLine::Enough } else { OutputLine::Keep }
        })?;
        Ok((done, last))
    }

    /// The verdict, unless it is a fault.
    fn verdict(
        &self,
        order: &Order<'_>,
        stop_when_cut: bool,
        report: &VerifierReport,
        done: &Finished,
    ) -> Result<VerifierVerdict, SpinError> {
        let what = || match order.bound {
            Some(bound) => format!("{} with T = {bound}", order.what),
            None => order.what.to_owned(),
        };
        let mut verdict = VerifierVerdict::of(report, done.ended, &done.stderr);
        if order.errors != Some(1)
            && verdict == VerifierVerdict::Violated
            && let Some(cut) = report.cut(done.ended)
        {
            verdict = cut;
        }
        // It was stopped because of that.
        if report.depth_cut
            && verdict == VerifierVerdict::Stopped(ProcessStop::Unneeded)
            && stop_when_cut
        {
            verdict = VerifierVerdict::DepthLimit;
        }
        let complete = matches!(verdict, VerifierVerdict::Holds | VerifierVerdict::NothingFound);
        if complete && report.claim.as_deref() != order.claim.map(OrderClaim::name) {
            let claim = report.claim.as_deref().unwrap_or("none");
            return Err(unreadable(&what(), &format!("it checked the claim `{claim}`")));
        }
        let message = match verdict {
            VerifierVerdict::Fault(message) => message,
            VerifierVerdict::Deadlock => "invalid end state".into(),
            VerifierVerdict::VectorTooSmall => {
                let bytes = self.vector_bytes();
                format!("a state takes more than the {bytes} bytes foreseen (VECTORSZ)")
            }
            VerifierVerdict::Unreadable(why) => return Err(unreadable(&what(), &why)),
            known => return Ok(known),
        };
        Err(reported(&what(), &message))
    }
}

pub fn refused(run: &Finished) -> SpinError {
    SpinError::Fault(format!("SPIN refuses the model: {}", complaint(run)))
}

/// The verifier's command line for this memory, in bytes; whether the depth limit stops it.
fn arguments(
    build: &Build,
    folder: &Path,
    order: &Order<'_>,
    (memory, stop_when_cut): (u64, bool),
) -> Command {
    // The shell sets a limit of address space, and becomes the verifier.
    let mut command = Command::new("/bin/sh");
    command.current_dir(folder).args(["-c", r#"ulimit -v "$0"; exec "$@""#]);
    command.arg((memory.saturating_add(SLACK) / 1024).to_string()).arg(&build.program);
    command.args(["-n".to_owned(), format!("-m{}", order.depth)]);
    if let Some(claim) = order.claim {
        command.args(["-N", claim.name()]);
    }
    match order.errors {
        Some(1) if stop_when_cut => command.arg("-b"),
        Some(1) => &mut command,
        Some(n) => command.args(["-e".to_owned(), format!("-c{n}")]),
        None => command.args(["-e", "-c0"]),
    };
    if matches!(build.goal, Goal::Best { .. }) {
        // Pruned runs end where they are.
        command.arg("-E");
    }
    match order.bits {
        None => command.arg(format!("-w{HASH_BITS}")),
        Some(bits) => command.args([
            format!("-RS{}", bits.seed),
            format!("-w{}", bits.array),
            format!("-k{}", bits.per_state),
        ]),
    };
    command
}
