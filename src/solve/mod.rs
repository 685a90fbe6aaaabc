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
pub mod instance;
pub mod result;
pub mod strategy;
pub mod unroll;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;
use thiserror::Error;
use tickbound_encodings::bounds::lower_bounds;
use tickbound_encodings::model::{ModelError, Problem, Space};
use tickbound_encodings::plan::{Plan, PlanError};
use tickbound_encodings::simulate::SimulateError;
use tickbound_encodings::summary::Report;
use tickbound_encodings::system::System;
use tickbound_encodings::system::run::{RunError, run as run_system};
use tickbound_encodings::{event, summary, tick};

use bracket::{Bounds, Bracket};
use instance::{Answer, Instance, interruptible};
use result::{Found, Size, Status};
pub use result::{StopReason, TuneResult};
pub use strategy::Strategy;
use strategy::{Encoded, Task};

/// An encoding's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// One step a tick.
    Tick,
    /// One step to the next event.
    Event,
    /// Loops and lockstep phases closed in max-plus arithmetic.
    Summary,
}

/// What is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum, Default)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The least time over configurations and schedules.
    #[default]
    Best,
    /// The greatest time over schedules, for the configuration where the best case is least.
    Worst,
    /// The configuration whose worst case is least.
    Robust,
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
    #[error("--encoding {encoding}: {configuration} needs more than {limit} steps; use --encoding summary or smaller inputs")]
    TooDeep {
        /// The encoding.
        encoding: &'static str,
        /// The configuration.
        configuration: String,
        /// Most steps allowed.
        limit: usize,
    },
    /// An encoding and the simulator differ: a fault of this program.
    #[error("{configuration}: the encoding says {encoding} ticks, the simulator {simulator}; this is a fault of tickbound, please report it with the problem file")]
    Disagreement {
        /// The configuration.
        configuration: String,
        /// Ticks according to the encoding.
        encoding: i64,
        /// Ticks according to the simulator.
        simulator: i64,
    },
    /// The confirming solver found something faster: a fault of this program.
    #[error("a plain solver finds {found} ticks below the proved least time {claimed}; this is a fault of tickbound, please report it with the problem file")]
    Refuted {
        /// What was claimed.
        claimed: i64,
        /// What the confirming solver found.
        found: i64,
    },
    /// A strategy panicked: a fault of this program.
    #[error("a search thread failed; this is a fault of tickbound, please report it with the problem file")]
    Panicked,
}

/// Most steps an encoding is unrolled for.
pub const MAX_STEPS: usize = 20_000;
/// Steps of a program that is one jump: one to begin, one for the jump.
const CLOSED_STEPS: usize = 2;
/// Configurations simulated before the search for a first incumbent.
const PROBES: usize = 4;
/// Most optimal configurations that are listed.
pub const MAX_OPTIMA: usize = 64;

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
    if space.bound.is_empty() {
        return Ok(infeasible(&bracket, options));
    }
    let plan = match Plan::new(problem, &space) {
        Ok(plan) => Some(plan),
        Err(PlanError::Model(e)) => return Err(e.into()),
        // Without a plan every configuration is simulated, unless an encoding was asked for.
        Err(e) if options.encoding.is_some() => return Err(e.into()),
        Err(_) => None,
    };
    let bounds = options.bounds && options.strategy != Strategy::BisectFresh;
    let lower = match plan.as_ref().filter(|_| bounds) {
        Some(plan) => lower_bounds(plan),
        None => vec![0; space.bound.len()],
    };
    let mut size = Size { configurations: space.bound.len(), ..Size::default() };
    let mut task = Task { problem, space: &space, lower: &lower, system: None, bracket: &bracket };
    probe(&task, if bounds { PROBES } else { 1 })?;

    let encoding = options.encoding.unwrap_or(Encoding::Summary);
    let encoded = match plan.filter(|_| options.strategy.needs_encoding()) {
        Some(plan) => Some(encode(&plan, encoding, &mut size)),
        None => None,
    };
    let first = bracket.bounds().upper();
    let left_out = |c: usize| lower[c] > first;
    let mut confirmed_uncut = false;
    if let Some((system, report)) = &encoded {
        let candidates: Vec<usize> = (0..lower.len()).filter(|c| !left_out(*c)).collect();
        size.candidates = candidates.len();
        size.steps = steps_needed(problem, &space, system, encoding, &candidates)?;
        task.system = Some(Encoded { system, steps: size.steps, left_out: &left_out });
        search(&task, options.strategy)?;
        if bracket.closed() {
            // A closed summary ends after the same few steps in every configuration, so none need
            // be left out; elsewhere the search's own refusal is as good.
            let uncut = report.is_some_and(|r| r.open == 0);
            if uncut || bracket.refuted() < bracket.bounds().upper() - 1 {
                let all = Encoded { system, steps: size.steps.max(CLOSED_STEPS), left_out: &|_| false };
                let confirmed = confirm(&task, if uncut { all } else { task.system.unwrap_or(all) }, &mut size)?;
                confirmed_uncut = confirmed && uncut;
            }
        }
    } else {
        size.candidates = lower.len();
        search(&task, Strategy::Enumerate)?;
    }
    let shown = encoded.as_ref().map(|_| encoding);
    finish(&task, options, shown, confirmed_uncut, size)
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

fn encode(plan: &Plan, encoding: Encoding, size: &mut Size) -> (System, Option<Report>) {
    let (system, report) = match encoding {
        Encoding::Tick => (tick::encode(plan), None),
        Encoding::Event => (event::encode(plan), None),
        Encoding::Summary => {
            let (system, report) = summary::encode(plan);
            size.note(&report);
            (system, Some(report))
        }
    };
    size.states = system.states.len();
    (system, report)
}

/// Steps after which every given configuration has reached its goal.
fn steps_needed(
    problem: &Problem,
    space: &Space,
    system: &System,
    encoding: Encoding,
    candidates: &[usize],
) -> Result<usize, SolveError> {
    let mut most = 0;
    for c in candidates {
        let configuration = || {
            let named = problem.name_values(&space.bound[*c].configuration).to_string();
            if named.is_empty() { problem.name.clone() } else { named }
        };
        match run_system(system, *c, MAX_STEPS) {
            Ok(run) => most = most.max(run.steps),
            Err(RunError::Overflow) => {
                return Err(SolveError::Overflow { configuration: configuration() });
            }
            Err(RunError::Steps(limit)) => {
                let encoding = match encoding {
                    Encoding::Tick => "tick",
                    Encoding::Event => "event",
                    Encoding::Summary => "summary",
                };
                return Err(SolveError::TooDeep { encoding, configuration: configuration(), limit });
            }
        }
    }
    Ok(most)
}

/// Runs a strategy on a thread of its own, which gets a solver context of its own.
fn search(task: &Task<'_>, strategy: Strategy) -> Result<(), SolveError> {
    if strategy == Strategy::Race {
        return strategy::run(strategy, task);
    }
    std::thread::scope(|scope| {
        let work = || interruptible(task.bracket, || strategy::run(strategy, task));
        scope.spawn(work).join().unwrap_or(Err(SolveError::Panicked))
    })
}

/// Asks a plain solver, from nothing, for one tick less than the best time.
fn confirm(task: &Task<'_>, encoded: Encoded<'_>, size: &mut Size) -> Result<bool, SolveError> {
    let claimed = task.bracket.bounds().upper();
    size.steps = encoded.steps;
    let size_of = &mut size.variables;
    std::thread::scope(|scope| {
        let work = || {
            // A bracket of its own: the shared one is closed, which would stop the solver at once.
            let own = task.bracket.reopened();
            let instance = Instance::new(encoded.system, encoded.steps, encoded.left_out, &own);
            *size_of = instance.size();
            interruptible(&own, || instance.at_most(claimed - 1))
        };
        let answer = scope.spawn(work).join().map_err(|_| SolveError::Panicked)?;
        task.bracket.count_call();
        match answer {
            Answer::No => {
                task.bracket.refute(claimed - 1);
                Ok(true)
            }
            Answer::Yes(_, found) => Err(SolveError::Refuted { claimed, found }),
            Answer::Nothing => {
                if !task.bracket.out_of_time() {
                    task.bracket.give_up("no answer to the confirming question".into());
                }
                Ok(false)
            }
        }
    })
}

fn infeasible(bracket: &Bracket<'_>, options: &Options) -> TuneResult {
    TuneResult {
        status: Status::Infeasible,
        lower: 0,
        upper: None,
        best: None,
        optima: Vec::new(),
        more_optima: false,
        encoding: None,
        strategy: options.strategy,
        solver_calls: 0,
        confirmed_uncut: false,
        replayed: false,
        seconds: bracket.seconds(),
        stopped_by: None,
        size: Size::default(),
    }
}

fn finish(
    task: &Task<'_>,
    options: &Options,
    encoding: Option<Encoding>,
    confirmed_uncut: bool,
    size: Size,
) -> Result<TuneResult, SolveError> {
    let bounds = task.bracket.bounds();
    let proved = encoding.is_none() || task.bracket.refuted() >= bounds.upper().saturating_sub(1);
    let optimal = task.bracket.closed() && proved;
    let (optima, more_optima) =
        if optimal { ranked(task, options.top, bounds)? } else { (Vec::new(), false) };
    let found = |(c, time): (usize, i64)| Found {
        configuration: task.space.bound[c].configuration.clone(),
        time,
    };
    let best = match optima.first() {
        Some(first) => Some(first.clone()),
        None => bounds.best.map(found),
    };
    let replayed = match &best {
        Some(_) => bounds.best.is_some_and(|(c, t)| task.replay(c, None).is_ok_and(|r| r == t)),
        None => false,
    };
    Ok(TuneResult {
        status: if optimal { Status::Optimal } else { Status::Bounded },
        lower: bounds.lower,
        upper: bounds.best.map(|(_, time)| time),
        best,
        optima,
        more_optima,
        encoding,
        strategy: options.strategy,
        solver_calls: task.bracket.calls(),
        confirmed_uncut,
        replayed,
        seconds: task.bracket.seconds(),
        stopped_by: if optimal { None } else { task.bracket.stopped_by() },
        size,
    })
}

/// All optimal configurations, and the next best up to `top` in all, by simulating in order of
/// their lower bounds whatever may be among them.
fn ranked(
    task: &Task<'_>,
    top: usize,
    bounds: Bounds,
) -> Result<(Vec<Found>, bool), SolveError> {
    let mut order: Vec<usize> = (0..task.lower.len()).collect();
    order.sort_by_key(|c| (task.lower[*c], *c));
    let mut best: Vec<(i64, usize)> = bounds.best.iter().map(|(c, t)| (*t, *c)).collect();
    let least = bounds.upper();
    for c in order {
        let worst_kept = if best.len() < top { i64::MAX } else { best.last().map_or(least, |b| b.0) };
        if task.lower[c] > worst_kept.max(least) || task.bracket.out_of_time() {
            break;
        }
        if bounds.best.is_some_and(|(known, _)| known == c) {
            continue;
        }
        let time = match task.replay(c, None) {
            Ok(time) => time,
            Err(SolveError::Simulate(e)) if is_too_large(&e) => continue,
            Err(e) => return Err(e),
        };
        best.push((time, c));
        best.sort_unstable();
        let optimal = best.iter().filter(|(t, _)| *t == least).count();
        best.truncate(top.max(optimal).max(1));
        if optimal > MAX_OPTIMA && top <= optimal {
            best.truncate(top.max(MAX_OPTIMA));
            return Ok((named(task, &best), true));
        }
    }
    Ok((named(task, &best), false))
}

fn named(task: &Task<'_>, best: &[(i64, usize)]) -> Vec<Found> {
    best.iter()
        .map(|(time, c)| Found {
            configuration: task.space.bound[*c].configuration.clone(),
            time: *time,
        })
        .collect()
}
