//! CP-SAT of OR-Tools on the same transition systems as Z3.
//!
//! The system of an encoding is unrolled to as many steps as its slowest configuration needs, and
//! becomes one graph of integer and truth values without states (`flatten`); each value gets the
//! bounds that interval arithmetic gives it (`model`), because CP-SAT wants finite domains. A
//! Python script, `solve.py`, builds the constraints from that graph (tables as element
//! constraints, products, maxima, reified comparisons) and minimises the time.
//!
//! As for Z3, configurations whose lower bound exceeds the time of one that the simulator has run
//! are pruned, unless the summary is closed: then none is. CP-SAT does not get the bounds
//! or the time themselves.
//!
//! The configuration it returns is simulated before it counts; the proof is CP-SAT's.
//!
//! It needs Python with the package `ortools`. The variable `PYTHON` names the interpreter.

mod direct;
mod flatten;
mod model;

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Deserialize;
use thiserror::Error;
use tickbound_elimination::TableLimits;
use tickbound_model::{Bound, Problem};
use tickbound_os::process::{self as process, Ended, ProcessLimits};
use tickbound_simulator::simulate;

use tickbound_model::verdict::{Status, StopReason};
use tickbound_report::answer::{About, Answer, tenth_of_millisecond, values};
use tickbound_solver::prepare::{Prepared, prepare};
use tickbound_solver::{Encoding, SolveError};
use tickbound_timing::{Cost, direct_form};

/// Builds the constraints and runs CP-SAT; reads a model on standard input.
const SCRIPT: &str = include_str!("solve.py");
/// Most nodes of the unrolled system: about 2 GB in Python.
const MAX_NODES: usize = 400_000;
/// How long the script may take to stop once it has been asked to.
const GRACE: Duration = Duration::from_millis(500);
/// What it may take besides the solver's time: loading, and building the model.
const BESIDES: Duration = Duration::from_secs(4);
/// How long Python may take to say which version of OR-Tools it has.
const ASKING: Duration = Duration::from_secs(60);

/// How to search.
#[derive(Debug, Clone, Default)]
pub struct CpSatOptions {
    /// The encoding; `None` takes `summary`.
    pub encoding: Option<Encoding>,
    /// No encoding, but the direct form of the space and the time.
    pub direct: bool,
    /// Stop after this time.
    pub timeout: Option<Duration>,
    /// When that time began; `None`: with the search.
    pub since: Option<Instant>,
    /// Search threads; `None`: as many as there are cores.
    pub workers: Option<usize>,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum CpSatError {
    /// The problem is at fault, or outside what the encoding covers, or a fault was found.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// There is no Python: the interpreter, and why it cannot be run.
    #[error("{0}: cannot be run: {1}; name a Python interpreter in the variable PYTHON")]
    NoPython(String, std::io::Error),
    /// This interpreter has no OR-Tools.
    #[error("{0}: has no package ortools; `pip install ortools`")]
    NoPackage(String),
    /// The system, unrolled by this encoding, has too many values; how many there are so far.
    #[error(
        "--encoding {0}: {1} values, CP-SAT is given at most {MAX_NODES}; use --encoding summary \
         or smaller inputs"
    )]
    TooLarge(Encoding, usize),
    /// The problem has no direct form.
    #[error("--direct: the time or a condition is not a sum of small tables; leave it out")]
    NoForm,
    /// A value may have more bits, these, than CP-SAT computes with.
    #[error("a value may be as large as 2^{0}, CP-SAT holds 2^60; make the inputs smaller")]
    Range(u32),
    /// The script failed: the interpreter, and what it last printed on standard error.
    #[error("{0}: the CP-SAT script failed: {1}; please report it with the problem file")]
    Script(String, String),
}

impl CpSatError {
    /// The fault is in tickbound, not in what it was given.
    pub fn is_fault(&self) -> bool {
        matches!(self, CpSatError::Script(..))
            || matches!(self, CpSatError::Solve(e) if e.is_fault())
    }
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
        let limits = ProcessLimits { time: Some(ASKING), ..ProcessLimits::default() };
        match process::run(Command::new(&program).args(["-c", ask]), "", limits) {
            Err(error) => Err(CpSatError::NoPython(program, error)),
            Ok(finished) if finished.ended != Ended::Exit(0) => Err(CpSatError::NoPackage(program)),
            Ok(finished) => Ok(Python { program, ortools: finished.stdout.trim().to_owned() }),
        }
    }

    fn fault(&self, why: impl Into<String>) -> CpSatError {
        CpSatError::Script(self.program.clone(), why.into())
    }
}

#[derive(Debug, Default, Deserialize)]
struct ScriptOutput {
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
    options: &CpSatOptions,
    python: &Python,
    interrupt: &AtomicBool,
) -> Result<Answer, CpSatError> {
    let started = Instant::now();
    let since = options.since.unwrap_or(started);
    let encoding = options.encoding.unwrap_or_default();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let workers = options.workers.unwrap_or_else(cores).max(1);
    let mut answer = Answer {
        about: Some(About::of(problem)),
        status: Status::Infeasible,
        encoding: Some(encoding.to_string()),
        steps: Some(0),
        nodes: Some(0),
        solver_seconds: Some(0.0),
        branches: Some(0),
        conflicts: Some(0),
        workers: Some(workers as u64),
        replayed: Some(false),
        tool: Some(format!("OR-Tools {}", python.ortools)),
        ..Answer::default()
    };
    let left = || options.timeout.map(|t| t.saturating_sub(since.elapsed()));
    let asking = |model: &model::Model, answer: &mut Answer| {
        answer.nodes = Some(model.nodes.len() as u64);
        ask(python, model, left(), workers, interrupt)
    };
    match options.direct {
        true => ask_form(problem, &asking, &mut answer)?,
        false => ask_system(problem, encoding, &asking, &mut answer)?,
    }
    if answer.status == Status::Bounded {
        let timeout = options.timeout.filter(|t| since.elapsed() >= *t);
        let timeout = timeout.map(|t| StopReason::TimeOut(t.as_secs_f64()));
        answer.stopped_by = Some(timeout.unwrap_or(StopReason::Interrupted).to_string());
    }
    answer.seconds = Some(tenth_of_millisecond(started.elapsed().as_secs_f64()));
    Ok(answer)
}

type Asking<'a> = dyn Fn(&model::Model, &mut Answer) -> Result<ScriptOutput, CpSatError> + 'a;

fn ask_system(
    problem: &Problem,
    encoding: Encoding,
    asking: &Asking<'_>,
    answer: &mut Answer,
) -> Result<(), CpSatError> {
    let space = problem.space().map_err(SolveError::from)?;
    if space.bound.is_empty() {
        return Ok(());
    }
    let Prepared { encoded, kept, steps } = prepare(problem, &space, encoding)?;
    let system = encoded.system;
    let flat = flatten::flatten(&system, steps, &kept, MAX_NODES).map_err(|e| match e {
        flatten::Unflat::TooLarge(nodes) => CpSatError::TooLarge(encoding, nodes),
        flatten::Unflat::Fault(fault) => SolveError::from(fault).into(),
    })?;
    let model = model::Model::new(&flat).map_err(CpSatError::Range)?;
    answer.steps = Some(steps as u64);
    let output = asking(&model, answer)?;
    let known = |choice: &Vec<u32>| {
        let c = system.configurations.iter().position(|known| known == choice)?;
        Some(space.bound[c].clone())
    };
    let bound = output.choice.as_ref().and_then(known);
    Ok(note(problem, bound, &output, answer)?)
}

fn ask_form(problem: &Problem, asking: &Asking<'_>, answer: &mut Answer) -> Result<(), CpSatError> {
    let configurations =
        problem.loose_configurations(&TableLimits::default()).map_err(SolveError::from)?;
    let form = Cost::new(problem).ok().and_then(|cost| direct_form(&configurations, &cost));
    let model = direct::model(&form.ok_or(CpSatError::NoForm)?);
    let model = model.map_err(CpSatError::Range)?;
    answer.encoding = Some("direct".to_owned());
    let output = asking(&model, answer)?;
    let bind = |choice: &Vec<u32>| configurations.bind(&configurations.configuration(choice));
    let bound = output.choice.as_ref().map(bind).transpose().map_err(SolveError::from)?;
    Ok(note(problem, bound, &output, answer)?)
}

/// The answer for a user.
pub fn words(problem: &Problem, answer: &Answer) -> String {
    let count = |n: Option<u64>| n.unwrap_or_default();
    let by = format!(
        "{} ({} encoding, {} steps, {} values, {} branches)",
        answer.tool.as_deref().unwrap_or_default(),
        answer.encoding.as_deref().unwrap_or_default(),
        count(answer.steps),
        count(answer.nodes),
        count(answer.branches),
    );
    let lines = [answer.replay(), answer.stop(), Some(("by:", by))];
    answer.words(&problem.name, "least time:", lines.into_iter().flatten())
}

fn ask(
    python: &Python,
    model: &model::Model,
    left: Option<Duration>,
    workers: usize,
    interrupt: &AtomicBool,
) -> Result<ScriptOutput, CpSatError> {
    let seconds = left.map_or_else(|| "inf".to_owned(), |t| t.as_secs_f64().to_string());
    let mut command = Command::new(&python.program);
    command.args(["-c", SCRIPT, &seconds, &workers.to_string()]);
    let input = serde_json::to_string(model).map_err(|e| python.fault(e.to_string()))?;
    // The script counts its time itself; this is for one that hangs.
    let time = left.map(|t| t + BESIDES);
    let limits = ProcessLimits { time, interrupt, grace: GRACE, ..ProcessLimits::default() };
    let finished = process::run(&mut command, input, limits)
        .map_err(|error| CpSatError::NoPython(python.program.clone(), error))?;
    match serde_json::from_str(&finished.stdout) {
        Ok(output) => Ok(output),
        // Stopped before it had anything to say.
        Err(_) if finished.ended.stopped().is_some() => {
            Ok(ScriptOutput { status: "unknown".to_owned(), ..ScriptOutput::default() })
        }
        Err(_) => {
            let last = finished.last_error().map(str::to_owned);
            Err(python.fault(last.unwrap_or_else(|| finished.ended.to_string())))
        }
    }
}

/// Takes what the script found, and runs the configuration in the simulator.
fn note(
    problem: &Problem,
    bound: Option<Bound>,
    output: &ScriptOutput,
    answer: &mut Answer,
) -> Result<(), SolveError> {
    answer.status = match output.status.as_str() {
        "optimal" => Status::Optimal,
        "infeasible" => Status::Infeasible,
        _ => Status::Bounded,
    };
    answer.lower = output.bound.unwrap_or(0).max(0);
    answer.solver_seconds = Some(tenth_of_millisecond(output.seconds));
    (answer.branches, answer.conflicts) = (Some(output.branches), Some(output.conflicts));
    let (Some(bound), Some(claimed)) = (&bound, output.time) else { return Ok(()) };
    answer.time = Some(claimed);
    answer.configuration = Some(values(problem, &bound.configuration));
    if answer.proved() {
        answer.lower = claimed;
    }
    match simulate(problem, bound, &Default::default()) {
        Ok(run) if run.time == claimed => answer.replayed = Some(true),
        Ok(run) => {
            let (configuration, time) = (&bound.configuration, Some(run.time));
            return Err(SolveError::disagreement(problem, configuration, claimed, time));
        }
        Err(e) if e.is_too_large() => {}
        Err(e) => return Err(e.into()),
    }
    Ok(())
}
