//! Finding the least run time of a kernel and proving it.
//!
//! In goes a [`Problem`], out comes a [`TuneResult`]: the least time over all configurations, the
//! configurations that reach it, and what the proof is; or, if the search was stopped, the bracket
//! it had reached. The way there:
//!
//! 1. list the space; work out the plan; bound every configuration from below by its critical path;
//! 2. simulate the most promising configurations: the best one is the first incumbent, and every
//!    configuration whose lower bound reaches it is left out;
//! 3. encode, unroll, and let a strategy close the bracket on live solvers ([`strategy`]);
//! 4. confirm with a plain solver that nothing takes one tick less - with a closed summary over
//!    *all* configurations, so that the lower bounds need not be trusted;
//! 5. simulate every configuration that may be optimal, so that all optima are listed.
//!
//! Nothing a solver says is believed before the simulator has run it.

pub mod bracket;
pub mod closed;
pub mod instance;
pub mod open;
pub mod result;
pub mod strategy;
pub mod unroll;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thiserror::Error;
pub use tickbound_encodings::Encoding;
use tickbound_encodings::plan::{Plan, PlanError};
use tickbound_model::simulate::SimulateError;
pub use tickbound_model::verdict::StopReason;
use tickbound_model::verdict::{Found, Status};
use tickbound_model::{ModelError, Problem, Space};

use bracket::Bracket;
use instance::interruptible;
use result::Size;
pub use result::TuneResult;
pub use strategy::Strategy;
use strategy::Task;

tickbound_model::named! {
    /// What is best.
    #[derive(Default)]
    pub enum Objective {
        /// The least time over configurations and schedules.
        #[default]
        Best = "best",
        /// The greatest time over schedules, for the configuration where the best case is least.
        Worst = "worst",
        /// The configuration whose worst case is least.
        Robust = "robust",
    }
}

/// How to search.
#[derive(Debug, Clone)]
pub struct Options {
    /// The encoding; `None` chooses `summary`.
    pub encoding: Option<Encoding>,
    /// The strategy.
    pub strategy: Strategy,
    /// What is best. Without open schedules all objectives are the same.
    pub objective: Objective,
    /// List at least this many of the best configurations.
    pub top: usize,
    /// Stop after this time.
    pub timeout: Option<Duration>,
    /// Use lower bounds, probes and cuts. Without them the search starts from 0 and the time of the
    /// first configuration, as the papers do; `bisect-fresh` always does.
    pub bounds: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            encoding: None,
            strategy: Strategy::Race,
            objective: Objective::Best,
            top: 0,
            timeout: None,
            bounds: true,
        }
    }
}

/// Why there is no result.
#[derive(Debug, Error)]
pub enum SolveError {
    /// The problem is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The problem is outside what the encoding covers.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The simulator refuses.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A configuration's time leaves 63 bits.
    #[error("{configuration}: its time leaves 63 bits; make the inputs smaller or exclude it")]
    Overflow {
        /// The configuration.
        configuration: String,
    },
    /// The encoding needs too many steps.
    #[error(
        "--encoding {encoding}: {configuration} needs more than {limit} steps; use --encoding summary or smaller inputs"
    )]
    TooDeep {
        /// The encoding.
        encoding: Encoding,
        /// The configuration.
        configuration: String,
        /// Most steps allowed.
        limit: usize,
    },
    /// An encoding and the simulator differ: a fault of this program.
    #[error(
        "{configuration}: the encoding says {encoding} ticks, the simulator {simulator}; this is a fault of tickbound, please report it with the problem file"
    )]
    Disagreement {
        /// The configuration.
        configuration: String,
        /// Ticks according to the encoding.
        encoding: i64,
        /// Ticks according to the simulator.
        simulator: i64,
    },
    /// The confirming solver found something faster: a fault of this program.
    #[error(
        "a plain solver finds {found} ticks below the proved least time {claimed}; this is a fault of tickbound, please report it with the problem file"
    )]
    Refuted {
        /// What was claimed.
        claimed: i64,
        /// What the confirming solver found.
        found: i64,
    },
    /// A strategy panicked: a fault of this program.
    #[error(
        "a search thread failed; this is a fault of tickbound, please report it with the problem file"
    )]
    Panicked,
}

impl SolveError {
    /// The fault is in this program, not in what it was given.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        use SolveError::{Disagreement, Panicked, Refuted};
        matches!(self, Disagreement { .. } | Refuted { .. } | Panicked)
    }
}

/// What is asked, and what is known so far.
struct Inquiry<'a> {
    problem: &'a Problem,
    space: &'a Space,
    options: &'a Options,
    bracket: &'a Bracket<'a>,
}

/// Searches for the least time of `problem`. `interrupt` ends the search when it becomes true;
/// `observer` is called with every change of the bracket.
///
/// # Errors
/// A fault of the problem, a problem that the chosen encoding does not cover, or a fault found in
/// this program by its own checks.
pub fn tune(
    problem: &Problem,
    options: &Options,
    interrupt: &AtomicBool,
    observer: bracket::Observer<'_>,
) -> Result<TuneResult, SolveError> {
    let bracket = Bracket::new(options.timeout, interrupt, observer);
    let space = problem.space()?;
    let inquiry = Inquiry { problem, space: &space, options, bracket: &bracket };
    if space.bound.is_empty() {
        let result = inquiry.result(Ending::default());
        return Ok(TuneResult { status: Status::Infeasible, ..result });
    }
    match Plan::new(problem, &space) {
        Ok(plan) => match closed::tune(&inquiry, Some(plan)) {
            // Nobody asked for an encoding, and the one taken has grown too large.
            Err(SolveError::TooDeep { .. }) if options.encoding.is_none() => {
                closed::tune(&inquiry, None)
            }
            result => result,
        },
        Err(PlanError::OpenSchedule) => open::tune(&inquiry),
        Err(PlanError::Model(e)) => Err(e.into()),
        // Without a plan every configuration is simulated, unless an encoding was asked for.
        Err(e) if options.encoding.is_some() => Err(e.into()),
        Err(_) => closed::tune(&inquiry, None),
    }
}

/// How a search ended, apart from what the bracket knows.
#[derive(Default)]
struct Ending {
    encoding: Option<Encoding>,
    /// The bracket is closed and the lower bound proved.
    finished: bool,
    optima: Vec<Found>,
    more_optima: bool,
    confirmed_uncut: bool,
    replayed: bool,
    size: Size,
}

impl Inquiry<'_> {
    fn result(&self, ending: Ending) -> TuneResult {
        let bounds = self.bracket.bounds();
        let found = |(c, time): (usize, i64)| Found {
            configuration: self.space.bound[c].configuration.clone(),
            time,
        };
        TuneResult {
            status: if ending.finished { Status::Optimal } else { Status::Bounded },
            lower: bounds.lower,
            upper: bounds.best.map(|(_, time)| time),
            best: ending.optima.first().cloned().or_else(|| bounds.best.map(found)),
            optima: ending.optima,
            more_optima: ending.more_optima,
            encoding: ending.encoding,
            strategy: self.options.strategy,
            objective: self.options.objective,
            schedule: None,
            solver_calls: self.bracket.calls(),
            confirmed_uncut: ending.confirmed_uncut,
            replayed: ending.replayed,
            seconds: self.bracket.seconds(),
            stopped_by: if ending.finished { None } else { self.bracket.stopped_by() },
            size: ending.size,
        }
    }
}

/// Simulates the configurations with the least lower bounds, while one of them may be better than
/// the best so far.
fn probe(task: &Task<'_>, most: usize) -> Result<(), SolveError> {
    let mut order: Vec<usize> = (0..task.lower.len()).collect();
    order.sort_by_key(|c| (task.lower[*c], *c));
    task.bracket.raise(task.lower[order[0]]);
    for c in order.into_iter().take(most) {
        if task.lower[c] >= task.bracket.bounds().upper() || task.bracket.out_of_time() {
            break;
        }
        task.replay_if_possible(c)?;
    }
    Ok(())
}

impl Task<'_> {
    /// Simulates a configuration unless it is too large for that.
    fn replay_if_possible(&self, c: usize) -> Result<(), SolveError> {
        match self.replay(c, None) {
            Ok(_) => Ok(()),
            Err(SolveError::Simulate(e)) if is_too_large(&e) => Ok(()),
            Err(e) => Err(e),
        }
    }
}

/// True if the simulator refused because of the size, not because of a fault.
fn is_too_large(e: &SimulateError) -> bool {
    matches!(e, SimulateError::TooManyEvents { .. } | SimulateError::TooManyItems { .. })
}

/// Runs a strategy on a thread of its own, which gets a solver context of its own.
fn search(task: &Task<'_>, strategy: Strategy) -> Result<(), SolveError> {
    // The bounds alone may have closed the bracket; what is left then is the confirmation.
    if task.bracket.done() {
        return Ok(());
    }
    if strategy == Strategy::Race {
        return strategy::run(strategy, task);
    }
    std::thread::scope(|scope| {
        let work = || interruptible(task.bracket, || strategy::run(strategy, task));
        scope.spawn(work).join().unwrap_or(Err(SolveError::Panicked))
    })
}

/// The version of the Z3 that this program is linked with.
#[must_use]
pub fn z3_version() -> &'static str {
    z3::full_version()
}
