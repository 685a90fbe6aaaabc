//! CP-SAT of OR-Tools on the same transition systems as Z3.
//!
//! The system of an encoding is unrolled to as many steps as its slowest configuration needs, and
//! becomes one graph of integer and truth values without states (`flatten`); each value gets the
//! bounds that interval arithmetic gives it (`model`), because CP-SAT wants finite domains. A
//! Python script, `solve.py`, builds the constraints from that graph (tables as element
//! constraints, products, maxima, reified comparisons) and minimises the time.
//!
//! As for Z3, configurations whose lower bound exceeds the time of one that the simulator has run
//! are left out, unless the summary is closed: then all are left in. CP-SAT is not told the bounds
//! or the time themselves.
//!
//! The configuration that it returns is run in the simulator before it counts; that nothing is
//! faster is CP-SAT's word.
//!
//! It needs Python with the package `ortools`. The variable `PYTHON` names the interpreter.

mod flatten;
mod model;

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;
use tickbound_encodings::bounds::lower_bounds;
use tickbound_encodings::plan::Plan;
use tickbound_encodings::system::System;
use tickbound_encodings::system::run::{RunError, run as run_system};
use tickbound_model::simulate::{self, SimulateError, simulate};
use tickbound_model::{Bound, Configuration, Problem, Space};
use tickbound_process::{self as process, Ended, Limits};

use crate::report::answer::{rounded, values};
use tickbound_model::verdict::Status;
use tickbound_solve::{Encoding, SolveError};

/// Builds the constraints and runs CP-SAT; reads a model on standard input.
const SCRIPT: &str = include_str!("solve.py");
/// Most steps a system is unrolled for.
const MAX_STEPS: usize = 20_000;
/// Most nodes of the unrolled system: about 2 GB in Python.
const MAX_NODES: usize = 400_000;
/// Configurations simulated to see which can be left out.
const PROBES: usize = 4;
/// How long the script may take to stop once it has been asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long Python may take to say which version of OR-Tools it has.
const ASKING: Duration = Duration::from_secs(60);

/// How to search.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The encoding; `None` takes `summary`.
    pub encoding: Option<Encoding>,
    /// Stop after this time.
    pub timeout: Option<Duration>,
    /// Search threads; `None`: as many as there are cores.
    pub workers: Option<usize>,
}

/// What CP-SAT says, as `tickbound cp-sat --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Solved {
    /// Ticks of the best configuration found.
    pub time: Option<i64>,
    /// How much is known.
    pub status: Status,
    /// No configuration takes fewer ticks than this.
    pub lower: i64,
    /// The best configuration found.
    #[serde(skip)]
    pub best: Option<Configuration>,
    /// The encoding.
    pub encoding: Encoding,
    /// Steps it was unrolled for.
    pub steps: usize,
    /// Values in the graph.
    pub nodes: usize,
    /// Wall-clock seconds, all in all.
    pub seconds: f64,
    /// Of these, seconds that the solver itself took.
    pub solver_seconds: f64,
    /// Branches of the search.
    pub branches: u64,
    /// Conflicts of the search.
    pub conflicts: u64,
    /// Search threads.
    pub workers: usize,
    /// The simulator was run on the configuration and took as many ticks.
    pub replayed: bool,
    /// The tool and its version.
    pub tool: String,
    /// What ended the search early.
    pub stopped_by: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum CpSatError {
    /// The problem is at fault, or outside what the encoding covers, or a fault was found.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// There is no Python.
    #[error("{python}: cannot be run: {error}; name a Python interpreter in the variable PYTHON")]
    NoPython {
        /// The interpreter.
        python: String,
        /// Why.
        error: std::io::Error,
    },
    /// There is no OR-Tools.
    #[error("{python}: has no package ortools; `pip install ortools`")]
    NoPackage {
        /// The interpreter.
        python: String,
    },
    /// The unrolled system is too large.
    #[error(
        "--encoding {encoding}: {nodes} values, CP-SAT is given at most {MAX_NODES}; use --encoding summary or smaller inputs"
    )]
    TooLarge {
        /// The encoding.
        encoding: Encoding,
        /// Values in the graph so far.
        nodes: usize,
    },
    /// A value may leave what CP-SAT computes with.
    #[error("a value may be as large as 2^{bits}, CP-SAT holds 2^60; make the inputs smaller")]
    Range {
        /// Bits of the value.
        bits: u32,
    },
    /// The script failed.
    #[error("{python}: the CP-SAT script failed: {why}; please report it with the problem file")]
    Script {
        /// The interpreter.
        python: String,
        /// What it last printed on standard error.
        why: String,
    },
}

/// A Python interpreter with OR-Tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Python {
    program: String,
    /// Version of OR-Tools.
    pub ortools: String,
}

impl Python {
    /// The interpreter that the variable `PYTHON` names, otherwise `python3`.
    ///
    /// # Errors
    /// If it cannot be run or has no OR-Tools.
    pub fn find() -> Result<Python, CpSatError> {
        let named = std::env::var("PYTHON").ok().filter(|name| !name.is_empty());
        let program = named.unwrap_or_else(|| "python3".to_owned());
        // Asking for the version does not import the package, which takes a while.
        let ask = "import importlib.metadata as m; print(m.version('ortools'))";
        let limits = Limits { time: Some(ASKING), ..Limits::default() };
        match process::run(Command::new(&program).args(["-c", ask]), "", limits) {
            Err(error) => Err(CpSatError::NoPython { python: program, error }),
            Ok(finished) if finished.ended != Ended::Exit(0) => {
                Err(CpSatError::NoPackage { python: program })
            }
            Ok(finished) => Ok(Python { program, ortools: finished.stdout.trim().to_owned() }),
        }
    }

    fn fault(&self, why: impl Into<String>) -> CpSatError {
        CpSatError::Script { python: self.program.clone(), why: why.into() }
    }
}

/// What the script prints.
#[derive(Debug, Deserialize)]
struct Said {
    /// `optimal`, `feasible`, `infeasible` or `unknown`.
    status: String,
    /// Value indices of the parameters.
    choice: Option<Vec<u32>>,
    time: Option<i64>,
    bound: Option<i64>,
    seconds: f64,
    branches: u64,
    conflicts: u64,
}

/// Searches for the least time of `problem`. `interrupt` ends the search when it becomes true.
///
/// # Errors
/// A fault of the problem, a problem that the encoding does not cover or that is too large, or a
/// Python that fails.
pub fn solve(
    problem: &Problem,
    options: &Options,
    python: &Python,
    interrupt: &AtomicBool,
) -> Result<Solved, CpSatError> {
    let started = Instant::now();
    let encoding = options.encoding.unwrap_or(Encoding::Summary);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let mut solved = Solved {
        time: None,
        status: Status::Infeasible,
        lower: 0,
        best: None,
        encoding,
        steps: 0,
        nodes: 0,
        seconds: 0.0,
        solver_seconds: 0.0,
        branches: 0,
        conflicts: 0,
        workers: options.workers.unwrap_or_else(cores).max(1),
        replayed: false,
        tool: format!("OR-Tools {}", python.ortools),
        stopped_by: None,
    };
    let space = problem.space().map_err(SolveError::from)?;
    if !space.bound.is_empty() {
        let (system, kept) = encode(problem, &space, encoding)?;
        solved.steps = steps(problem, &space, &system, &kept, encoding)?;
        let flat =
            flatten::flatten(&system, solved.steps, &kept, MAX_NODES).map_err(|e| match e {
                flatten::Unflat::TooLarge(nodes) => CpSatError::TooLarge { encoding, nodes },
                flatten::Unflat::Fault(fault) => SolveError::from(fault).into(),
            })?;
        let model = model::Model::new(&flat).map_err(|bits| CpSatError::Range { bits })?;
        solved.nodes = model.nodes.len();
        let left = options.timeout.map(|t| t.saturating_sub(started.elapsed()));
        let said = ask(python, &model, left, solved.workers, interrupt)?;
        note(problem, &space, &system, &said, &mut solved)?;
        if solved.status == Status::Bounded {
            let timeout = options.timeout.filter(|t| started.elapsed() >= *t);
            solved.stopped_by = Some(timeout.map_or_else(
                || "interrupt".to_owned(),
                |t| format!("time-out of {} s", t.as_secs_f64()),
            ));
        }
    }
    solved.seconds = rounded(started.elapsed().as_secs_f64());
    Ok(solved)
}

impl Solved {
    /// The object that `tickbound cp-sat --json` prints.
    #[must_use]
    pub fn json(&self, problem: &Problem) -> Value {
        let mut value = json!(self);
        let configuration = self.best.as_ref().map(|best| values(problem, best));
        value["configuration"] = configuration.unwrap_or(Value::Null);
        value
    }

    /// The answer for a person.
    #[must_use]
    pub fn words(&self, problem: &Problem) -> String {
        let at = self.best.as_ref().map(|best| problem.name_values(best).to_string());
        let at = at.filter(|at| !at.is_empty()).unwrap_or_else(|| "the only configuration".into());
        let first = match (self.status, self.time) {
            (Status::Optimal, Some(time)) => format!("least time: {time} ticks at {at}"),
            (Status::Infeasible, _) => "no configuration satisfies the constraints".to_owned(),
            (_, Some(time)) => format!(
                "not finished: the least time is between {} and {time} ticks; best so far: {at}",
                self.lower
            ),
            (_, None) => format!("not finished: the least time is at least {} ticks", self.lower),
        };
        let replayed = match (self.time, self.replayed) {
            (Some(_), true) => "replayed:   the simulator takes as many ticks\n",
            (Some(_), false) => "replayed:   too large to simulate\n",
            (None, _) => "",
        };
        let stopped = self.stopped_by.iter().map(|why| format!("stopped by: {why}\n"));
        format!(
            "{}\n{first}\n{replayed}{}by:         {} ({} encoding, {} steps, {} values, {} branches)\n\
             in:         {:.3} s\n",
            problem.name,
            stopped.collect::<String>(),
            self.tool,
            self.encoding,
            self.steps,
            self.nodes,
            self.branches,
            self.seconds,
        )
    }
}

/// The system, and the configurations that are not left out.
fn encode(
    problem: &Problem,
    space: &Space,
    encoding: Encoding,
) -> Result<(System, Vec<usize>), SolveError> {
    let plan = Plan::new(problem, space)?;
    let all = || (0..space.bound.len()).collect();
    let encoded = encoding.encode(&plan).map_err(SolveError::from)?;
    let kept = if encoded.is_closed() { all() } else { candidates(problem, space, &plan)? };
    Ok((encoded.system, kept))
}

/// Configurations whose lower bound does not exceed the time of one that has been simulated.
fn candidates(problem: &Problem, space: &Space, plan: &Plan) -> Result<Vec<usize>, SolveError> {
    let lower = lower_bounds(plan);
    let mut order: Vec<usize> = (0..lower.len()).collect();
    order.sort_by_key(|c| (lower[*c], *c));
    let mut best = i64::MAX;
    for c in order.iter().take(PROBES) {
        best = best.min(simulated(problem, &space.bound[*c])?.unwrap_or(i64::MAX));
    }
    Ok((0..lower.len()).filter(|c| lower[*c] <= best).collect())
}

/// Ticks in the simulator; none if it is too large for that.
fn simulated(problem: &Problem, bound: &Bound) -> Result<Option<i64>, SolveError> {
    match simulate(problem, bound, &simulate::Options::default()) {
        Ok(run) => Ok(Some(run.time)),
        Err(SimulateError::TooManyEvents { .. } | SimulateError::TooManyItems { .. }) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Steps after which every one of the configurations has reached its goal.
fn steps(
    problem: &Problem,
    space: &Space,
    system: &System,
    kept: &[usize],
    encoding: Encoding,
) -> Result<usize, SolveError> {
    let mut most = 0;
    for c in kept {
        let configuration = || problem.name_values(&space.bound[*c].configuration).to_string();
        match run_system(system, *c, MAX_STEPS) {
            Ok(run) => most = most.max(run.steps),
            Err(RunError::Fault(fault)) => return Err(fault.into()),
            Err(RunError::Overflow) => {
                return Err(SolveError::Overflow { configuration: configuration() });
            }
            Err(RunError::Steps(limit)) => {
                let configuration = configuration();
                return Err(SolveError::TooDeep { encoding, configuration, limit });
            }
        }
    }
    Ok(most)
}

fn ask(
    python: &Python,
    model: &model::Model,
    left: Option<Duration>,
    workers: usize,
    interrupt: &AtomicBool,
) -> Result<Said, CpSatError> {
    let seconds = left.map_or_else(|| "inf".to_owned(), |t| t.as_secs_f64().to_string());
    let mut command = Command::new(&python.program);
    command.args(["-c", SCRIPT, &seconds, &workers.to_string()]);
    let input = serde_json::to_string(model).map_err(|e| python.fault(e.to_string()))?;
    // The script counts its time itself; this is for one that hangs.
    let time = left.map(|t| t + 2 * GRACE);
    let limits = Limits { time, interrupt, grace: GRACE, ..Limits::default() };
    let finished = process::run(&mut command, input, limits)
        .map_err(|error| CpSatError::NoPython { python: python.program.clone(), error })?;
    match serde_json::from_str(&finished.stdout) {
        Ok(said) => Ok(said),
        // Stopped before it had anything to say.
        Err(_) if finished.ended.stopped().is_some() => Ok(Said {
            status: "unknown".to_owned(),
            choice: None,
            time: None,
            bound: None,
            seconds: 0.0,
            branches: 0,
            conflicts: 0,
        }),
        Err(_) => {
            let last = finished.last_error().map(str::to_owned);
            Err(python.fault(last.unwrap_or_else(|| finished.ended.to_string())))
        }
    }
}

/// Takes what the script said, and runs the configuration in the simulator.
fn note(
    problem: &Problem,
    space: &Space,
    system: &System,
    said: &Said,
    solved: &mut Solved,
) -> Result<(), SolveError> {
    solved.status = match said.status.as_str() {
        "optimal" => Status::Optimal,
        "infeasible" => Status::Infeasible,
        _ => Status::Bounded,
    };
    solved.lower = said.bound.unwrap_or(0).max(0);
    solved.solver_seconds = rounded(said.seconds);
    (solved.branches, solved.conflicts) = (said.branches, said.conflicts);
    let (Some(choice), Some(claimed)) = (&said.choice, said.time) else { return Ok(()) };
    let Some(c) = system.configurations.iter().position(|known| known == choice) else {
        return Ok(());
    };
    let bound = &space.bound[c];
    (solved.time, solved.best) = (Some(claimed), Some(bound.configuration.clone()));
    if solved.status == Status::Optimal {
        solved.lower = claimed;
    }
    match simulated(problem, bound)? {
        Some(time) if time == claimed => solved.replayed = true,
        Some(simulator) => {
            return Err(SolveError::Disagreement {
                configuration: problem.name_values(&bound.configuration).to_string(),
                encoding: claimed,
                simulator: Some(simulator),
            });
        }
        None => {}
    }
    Ok(())
}
