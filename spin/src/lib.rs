//! Running SPIN on a problem's Promela text: the papers' way to the least run time.
//!
//! In goes a problem with its space and its [`Model`], out comes a [`SpinResult`]: the least time
//! that SPIN has found, what it rests on, and every run and trail on the way. No solver and none of
//! the encodings is involved, so an answer that agrees with the solver's confirms both.
//!
//! A search generates verifiers (`spin -a`, a C compiler) in a folder of its own, runs them with
//! limits of time and memory, and reads what they print:
//!
//! - [`Search::Bisect`] (Fig. 1 of seed 000): a first time from SPIN's simulator, then the property
//!   `OverTime` with ever better bounds, one verifier run each;
//! - [`Search::Exhaustive`]: the least time of our own simulator as a guess, refuted at T and
//!   proved at T - 1;
//! - [`Search::BranchAndBound`]: one run, with the best time in a C variable that prunes the
//!   search;
//! - [`Search::Swarm`] (Fig. 5): many bitstate runs with different seeds and hash arrays.
//!
//! What is promised:
//!
//! - A lower bound comes from a run that was complete and exhaustive, and from nothing else
//!   ([`output::Report::complete`]). A search cut by its depth limit, by memory or by time says
//!   nothing, and neither does a bitstate run that has found nothing: a swarm gives upper bounds
//!   only.
//! - Every upper bound comes from a trail that was replayed, and that our simulator has run with
//!   the same schedule and the same time ([`trail`]). Where they differ, there is no result but an
//!   error that shows both. A run too large for the simulator counts, and is marked as unconfirmed.
//! - No process is left behind, whatever ends the search ([`process`]).
//!
//! The same input gives the same answer, except where time matters: a time-out, and the rounds of a
//! swarm, which end with the first worker that finds something.

pub mod output;
pub mod process;
pub mod promela;
mod question;
pub mod result;
mod search;
mod session;
pub mod times;
pub mod tools;
pub mod trail;
mod verifier;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::promela::Model;
use thiserror::Error;
use tickbound_model::simulate::SimulateError;
use tickbound_model::{Problem, Space};

use output::Pulse;
use process::Watch;
pub use result::{SpinResult, StopReason};
use session::Session;
pub use tools::Tools;
use tools::Version;

tickbound_model::named! {
    /// How to search.
    #[derive(Default)]
    pub enum Search {
        /// Take the least simulated time T; refute `OverTime` at T and prove it at T - 1
        Exhaustive = "exhaustive",
        /// Halve the interval of possible times, one verifier run for each bound
        Bisect = "bisect",
        /// One run that prunes what is no better than the best so far
        #[default]
        BranchAndBound = "branch-and-bound",
        /// Bitstate runs with different seeds on all cores; upper bounds only
        Swarm = "swarm",
    }
}

/// Least memory that a search can be given, in bytes.
pub const LEAST_MEMORY: u64 = 64 << 20;
/// Greatest depth limit, in steps: the verifier reads it as a C `int`.
pub const MAX_DEPTH: u64 = 2_000_000_000;

/// Limits of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The search.
    pub search: Search,
    /// Most bytes of memory for verifiers that run at the same time, together.
    pub memory: u64,
    /// Stop after this time.
    pub timeout: Option<Duration>,
    /// How many workers a swarm has; `None` takes one for each core.
    pub workers: Option<usize>,
    /// The depth limit in steps; `None` starts low and raises it as far as memory allows.
    pub depth: Option<u64>,
    /// Keep models, verifiers, trails and logs in this folder, which is made or must be empty.
    pub keep: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            search: Search::default(),
            memory: 4 << 30,
            timeout: None,
            workers: None,
            depth: None,
            keep: None,
        }
    }
}

/// What happens during a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The least time is known to lie in this interval, in ticks; `upper` is `None` before a trail
    /// has been found.
    Bounds {
        /// No configuration takes fewer.
        lower: i64,
        /// The best found.
        upper: Option<i64>,
    },
    /// A run begins, or a verifier is made for it.
    Started {
        /// What is run, as in [`result::RunLog::what`].
        what: &'static str,
        /// The bound `T`.
        bound: Option<i64>,
    },
    /// A run goes on. Short runs say nothing.
    Running(Pulse),
}

/// Is told what happens; several workers may call it at once.
pub type Observer<'a> = &'a (dyn Fn(&Event) + Sync);

/// Why there is no result.
#[derive(Debug, Error)]
pub enum SpinError {
    /// No SPIN.
    #[error(
        "SPIN was not found ({tried}); install it, for example with `apt-get install spin gcc` or from \
         https://spinroot.com, or set SPIN to the program"
    )]
    NoSpin {
        /// What was looked for.
        tried: String,
    },
    /// No C compiler.
    #[error(
        "no C compiler was found ({tried}), and SPIN's verifiers are C programs; install one, for example \
         with `apt-get install gcc`, or set CC to the program"
    )]
    NoCompiler {
        /// What was looked for.
        tried: String,
    },
    /// A program called spin that is something else.
    #[error(
        "{program}: `-V` prints `{said}`, which is no version of SPIN; set SPIN to the model checker of \
         https://spinroot.com", program = program.display()
    )]
    NotSpin {
        /// The program.
        program: PathBuf,
        /// What it prints.
        said: String,
    },
    /// An old SPIN.
    #[error(
        "{program}: SPIN {version} is too old, {oldest} is needed; install a newer one from \
         https://spinroot.com, or set SPIN to it", program = program.display()
    )]
    TooOld {
        /// The program.
        program: PathBuf,
        /// Its version.
        version: Version,
        /// The oldest that is used.
        oldest: Version,
    },
    /// A limit that makes no sense.
    #[error("{what}; {fix}")]
    Option {
        /// What it is.
        what: String,
        /// What to give instead.
        fix: &'static str,
    },
    /// A file or a folder could not be used.
    #[error("{}: {error}; give a folder that may be written to", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A program could not be run.
    #[error("{}: cannot be run: {error}; check that it may be executed", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// SPIN refuses the model.
    #[error(
        "SPIN refuses the model: {said}; this is a fault of tickbound, please report it with the problem \
         file"
    )]
    Refused {
        /// Its first complaint.
        said: String,
    },
    /// The C compiler refuses the verifier.
    #[error(
        "{compiler} refuses the verifier that SPIN generated: {said}; try another compiler with CC, and \
         report it with the problem file",
        compiler = compiler.display()
    )]
    Compile {
        /// The compiler.
        compiler: PathBuf,
        /// Its first complaint.
        said: String,
    },
    /// The verifier found a fault of the model itself.
    #[error(
        "{what}: the verifier reports `{said}`; this is a fault of tickbound, please report it with the \
         problem file"
    )]
    Model {
        /// The run.
        what: String,
        /// What it says.
        said: String,
    },
    /// The verifier crashed or printed nothing that can be understood.
    #[error("{what}: the verifier's answer cannot be read: {why}; --keep DIR keeps its log")]
    Unreadable {
        /// The run.
        what: String,
        /// What is known.
        why: String,
    },
    /// A trail that does not fit the problem.
    #[error(
        "a trail of SPIN cannot be used: {why}; this is a fault of tickbound, please report it with the \
         problem file (--keep DIR keeps the trail)"
    )]
    Trail {
        /// What is wrong.
        why: String,
    },
    /// SPIN and our simulator differ.
    #[error(
        "{configuration}: SPIN takes {spin} ticks, the simulator {simulator}; this is a fault of \
         tickbound, please report it with the problem file (--keep DIR keeps the trail)"
    )]
    Disagreement {
        /// The configuration.
        configuration: String,
        /// Ticks of SPIN's run.
        spin: i64,
        /// What our simulator makes of it.
        simulator: String,
    },
    /// SPIN has proved a bound and then found something below it, or our simulator has.
    #[error(
        "SPIN proves that nothing takes {proved} ticks or fewer, but {who} takes {found}; this is a fault \
         of tickbound, please report it with the problem file"
    )]
    Contradiction {
        /// The bound for which `OverTime` was proved.
        proved: i64,
        /// Who found otherwise.
        who: String,
        /// Ticks found.
        found: i64,
    },
    /// The simulator refuses.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A worker panicked.
    #[error(
        "a worker failed; this is a fault of tickbound, please report it with the problem file"
    )]
    Panicked,
}

impl SpinError {
    /// The fault is in this program, not in what it was given or in what is installed.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        use SpinError::{Contradiction, Disagreement, Model, Panicked, Refused, Trail};
        matches!(
            self,
            Refused { .. }
                | Model { .. }
                | Trail { .. }
                | Disagreement { .. }
                | Contradiction { .. }
                | Panicked
        )
    }
}

/// What is searched.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Its space, which the model covers.
    pub space: &'a Space,
    /// The space in Promela.
    pub model: &'a Model,
}

/// Searches for the least time with SPIN. `interrupt` ends the search when it becomes true, with
/// what is known by then.
///
/// # Errors An option that makes no sense, files or programs that cannot be used, and every fault
/// of the model or of this program that shows on the way.
pub fn search(
    subject: Subject<'_>,
    tools: &Tools,
    options: &Options,
    interrupt: &AtomicBool,
    observer: Observer<'_>,
) -> Result<SpinResult, SpinError> {
    options.check()?;
    if subject.space.bound.is_empty() {
        return Ok(SpinResult::infeasible(options.search, subject.model.style, tools));
    }
    let deadline = options.timeout.and_then(|t| Instant::now().checked_add(t));
    let watch = Watch { interrupt, deadline, round: None, settled: None };
    let session = Session::new(subject, tools, options, watch, observer)?;
    let ending = search::run(&session)?;
    Ok(session.result(ending))
}

impl Options {
    fn check(&self) -> Result<(), SpinError> {
        let refuse = |what: String, fix| Err(SpinError::Option { what, fix });
        if self.memory < LEAST_MEMORY {
            return refuse(
                format!("a memory limit of {} bytes is too small", self.memory),
                "give at least 64M",
            );
        }
        if self.workers == Some(0) {
            return refuse("a swarm of 0 workers".into(), "give at least 1");
        }
        match self.depth {
            Some(d) if d == 0 || d > MAX_DEPTH => refuse(
                format!("a depth limit of {d} steps"),
                "give 1 to 2000000000 steps, or leave it out",
            ),
            _ => Ok(()),
        }
    }
}
