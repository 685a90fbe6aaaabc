//! Engines side by side on the same problem: Z3, enumeration, CP-SAT and SPIN.
//!
//! Each engine runs as its own process, the command that a user would type, so that its time
//! and its memory are those that a user would get, an engine that fails takes nothing with it, and
//! a limit can be enforced from outside. Engines run in sequence. Their answers are then
//! compared with each other ([`comparison::disagreements`]): lower bounds and
//! configurations of all engines must fit together.
//!
//! An engine that refuses, is absent, fails or runs out of time is a row with its reason.
//!
//! * [`engine`]: the engines' names;
//! * [`cp_sat`]: CP-SAT as an engine;

pub mod cp_sat;
pub mod engine;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use tickbound_model::Problem;
use tickbound_model::verdict::Status;
use tickbound_os::process::{Ended, Finished, ProcessLimits, ProcessStop, quoted};

use tickbound_report::answer::comparison::{Case, Comparison, Row, RowStatus};
use tickbound_report::answer::{About, Answer, comparison};
use tickbound_report::machine::Machine;

pub use engine::Engine;

/// What an engine may take beyond its time before it is stopped from outside: reading, reporting.
const SLACK: Duration = Duration::from_secs(5);
/// How long an engine may take to stop when asked: less than this program itself has.
const GRACE: Duration = Duration::from_millis(600);

/// Limits for each engine, and where the engines are.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// The program `tickbound`.
    pub program: PathBuf,
    /// Time for each engine.
    pub timeout: Duration,
    /// Bytes of memory for each engine.
    pub memory: Option<u64>,
}

/// A problem to compare engines on.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// The problem, read with the inputs below.
    pub problem: &'a Problem,
    /// Its file.
    pub file: String,
    /// Inputs and platform numbers that replace those of the file.
    pub replaced: IndexMap<String, i64>,
}

/// Called before each engine is run, and after it.
pub type CompareObserver<'a> = &'a dyn Fn(CompareEvent<'_>);

/// What happens during a comparison.
#[derive(Debug, Clone, Copy)]
pub enum CompareEvent<'a> {
    /// An engine is about to run.
    Start(Engine),
    /// The comparison if it is known now, after each engine.
    Known(&'a Comparison),
}

/// A comparison on its way.
pub struct SideBySide<'a> {
    options: CompareOptions,
    interrupt: &'a AtomicBool,
    observer: CompareObserver<'a>,
    started: Instant,
    cp_sat: OnceLock<Result<String, String>>,
    spin: OnceLock<Result<String, String>>,
    cases: Vec<Case>,
}

/// The answers of engines for a problem with this many configurations.
fn case(input: &Input<'_>, configurations: Option<u64>, rows: Vec<Row>) -> Case {
    let numbers = input.problem.inputs.iter().chain(&input.replaced);
    Case {
        about: Some(About::of(input.problem)),
        problem: input.problem.name.clone(),
        file: input.file.clone(),
        inputs: numbers.map(|(name, value)| (name.clone(), *value)).collect(),
        configurations,
        disagreements: comparison::disagreements(&rows),
        rows,
    }
}

impl<'a> SideBySide<'a> {
    /// A comparison without problems so far. `interrupt` ends it when it becomes true: the engine
    /// that runs is asked to stop, and the rest is not run.
    pub fn new(
        options: CompareOptions,
        interrupt: &'a AtomicBool,
        observer: CompareObserver<'a>,
    ) -> Self {
        let (started, cases) = (Instant::now(), Vec::new());
        let (cp_sat, spin) = (OnceLock::new(), OnceLock::new());
        SideBySide { options, interrupt, observer, started, cp_sat, spin, cases }
    }

    /// Runs engines on one more problem, without those that `skip` gives a reason for.
    pub fn run(
        &mut self,
        input: &Input<'_>,
        engines: &[Engine],
        skip: &dyn Fn(Engine, &[Row]) -> Option<String>,
    ) -> &Case {
        let configurations = input.problem.space().ok().map(|s| s.bound.len() as u64);
        let mut rows = Vec::new();
        for engine in engines {
            let row = match skip(*engine, &rows) {
                _ if self.interrupted() => self.not_run(*engine, "interrupt".to_owned()),
                Some(why) => self.not_run(*engine, why),
                None => {
                    (self.observer)(CompareEvent::Start(*engine));
                    self.row(*engine, input)
                }
            };
            rows.push(row);
            let case = case(input, configurations, rows.clone());
            let cases = self.cases.iter().cloned().chain([case]).collect();
            (self.observer)(CompareEvent::Known(&self.comparison(cases)));
        }
        self.cases.push(case(input, configurations, rows));
        &self.cases[self.cases.len() - 1]
    }

    /// The problems so far.
    pub fn finish(mut self) -> Comparison {
        let cases = std::mem::take(&mut self.cases);
        self.comparison(cases)
    }

    fn comparison(&self, cases: Vec<Case>) -> Comparison {
        Comparison {
            format: comparison::FORMAT.to_owned(),
            tickbound: env!("CARGO_PKG_VERSION").to_owned(),
            machine: Machine::this(),
            timeout: self.options.timeout.as_secs_f64(),
            memory_limit: self.options.memory,
            interrupted: self.interrupted(),
            agree: cases.iter().all(|c| c.disagreements.is_empty()),
            seconds: whole_milliseconds(self.started.elapsed()),
            cases,
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn not_run(&self, engine: Engine, why: String) -> Row {
        Row::empty(engine.to_string(), RowStatus::NotRun, Some(why))
    }

    fn row(&self, engine: Engine, input: &Input<'_>) -> Row {
        let tool = match self.tool(engine) {
            Ok(tool) => tool,
            Err(missing) => {
                return Row::empty(engine.to_string(), RowStatus::NotInstalled, Some(missing));
            }
        };
        let arguments = self.arguments(engine, input);
        let mut command = Command::new(&self.options.program);
        command.args(&arguments);
        // Half of it for work that may look at the flag, half for what is known without it.
        let half = GRACE / 2;
        command.env(tickbound_os::process::GRACE_VARIABLE, half.as_millis().to_string());
        let limits = ProcessLimits {
            time: Some(self.options.timeout + SLACK),
            memory: self.options.memory,
            interrupt: self.interrupt,
            grace: GRACE,
            ..ProcessLimits::default()
        };
        let mut row = match tickbound_os::process::run(&mut command, "", limits) {
            Ok(finished) => heard(engine, &finished),
            Err(e) => {
                let why = format!("{}: cannot be run: {e}", self.options.program.display());
                Row::empty(engine.to_string(), RowStatus::Failed, Some(why))
            }
        };
        row.tool = row.tool.or(Some(tool));
        row.command = std::iter::once("tickbound".to_owned())
            .chain(arguments.iter().map(|a| quoted(a)))
            .collect::<Vec<_>>()
            .join(" ");
        row
    }

    fn tool(&self, engine: Engine) -> Result<String, String> {
        match engine {
            Engine::Smt { .. } => {
                let version = tickbound_solver::z3_version();
                let number = version.split_whitespace().next().unwrap_or("?");
                Ok(format!("Z3 {}", number.trim_start_matches('v')))
            }
            Engine::Enumerate => Ok(own()),
            Engine::CpSat { .. } => {
                let found = || cp_sat::Python::find().map(|p| format!("OR-Tools {}", p.ortools));
                self.cp_sat.get_or_init(|| found().map_err(|e| e.to_string())).clone()
            }
            Engine::Spin { .. } => {
                let found =
                    || tickbound_spin::SpinTools::find().map(|t| format!("SPIN {}", t.version));
                self.spin.get_or_init(|| found().map_err(|e| e.to_string())).clone()
            }
        }
    }

    fn arguments(&self, engine: Engine, input: &Input<'_>) -> Vec<String> {
        let mut arguments = engine.arguments();
        arguments.insert(1, input.file.clone());
        for (name, value) in &input.replaced {
            arguments.extend(["--input".to_owned(), format!("{name}={value}")]);
        }
        if let (Engine::Spin { .. }, Some(memory)) = (engine, self.options.memory) {
            // For the verifiers; some is left for the compiler and for tickbound.
            arguments.extend(["--memory".to_owned(), (memory / 10 * 9).to_string()]);
        }
        let seconds = self.options.timeout.as_secs_f64().to_string();
        arguments.extend(["--timeout".to_owned(), seconds, "--json".to_owned()]);
        arguments
    }
}

/// The tool that this program itself is.
fn own() -> String {
    format!("tickbound {}", env!("CARGO_PKG_VERSION"))
}

/// The row of an engine that was run.
fn heard(engine: Engine, finished: &Finished) -> Row {
    let measured = |row: Row| Row {
        process_seconds: Some(whole_milliseconds(finished.time)),
        memory: Some(finished.memory),
        ..row
    };
    let name = engine.to_string();
    let stopped = finished.ended.stopped().map(|why| why.to_string());
    let Ok(answer) = serde_json::from_str::<Answer>(&finished.stdout) else {
        let (status, why) = silent(finished);
        return measured(Row::empty(name, status, Some(stopped.unwrap_or(why))));
    };
    // Open schedules, and groups that differ, are always explored by the simulator.
    let simulated =
        matches!(engine, Engine::Smt { .. }) && answer.encoding.as_deref() == Some("none");
    let swarm = matches!(engine, Engine::Spin { search: tickbound_spin::Search::Swarm, .. });
    let remark = match answer.status {
        _ if simulated => Some("answered without Z3".to_owned()),
        Status::Bounded if swarm => Some("a swarm proves nothing".to_owned()),
        _ => None,
    };
    let row = Row::answered(name, answer);
    measured(Row {
        reason: stopped.or(row.reason).or(remark),
        solver_calls: row.solver_calls.filter(|_| engine != Engine::Enumerate),
        tool: row.tool.or_else(|| simulated.then(own)),
        ..row
    })
}

/// How an engine ended that printed no answer.
fn silent(finished: &Finished) -> (RowStatus, String) {
    let why = finished.last_error().map(|l| l.strip_prefix("tickbound: ").unwrap_or(l).to_owned());
    match finished.ended {
        // It was interrupted before it listened.
        Ended::Stopped(ProcessStop::Interrupted) => (RowStatus::NotRun, "interrupt".to_owned()),
        Ended::Exit(2) => (RowStatus::Refused, why.unwrap_or_else(|| "no reason given".to_owned())),
        _ => (RowStatus::Failed, why.unwrap_or_else(|| finished.ended.to_string())),
    }
}

fn whole_milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(ended: Ended, stdout: &str, stderr: &str) -> Finished {
        Finished {
            ended,
            stdout: stdout.to_owned(),
            truncated: false,
            stderr: stderr.to_owned(),
            time: Duration::from_millis(1234),
            memory: 5,
        }
    }

    #[test]
    fn what_is_heard() {
        let answer = r#"{"time":44,"status":"optimal","lower":44,"configuration":{"WG":4},
            "solver_calls":4,"seconds":0.5,"replayed":true,"stopped_by":null,"more":[1]}"#;
        let smt = engine::parse("smt").unwrap()[0];
        let row = heard(smt, &finished(Ended::Exit(0), answer, ""));
        assert_eq!(
            (row.time, row.status, row.named()),
            (Some(44), RowStatus::Optimal, "WG=4".into())
        );
        assert_eq!(
            (row.seconds, row.process_seconds, row.memory),
            (Some(0.5), Some(1.234), Some(5))
        );
        assert_eq!(row.solver_calls, Some(4));
        assert_eq!(
            heard(Engine::Enumerate, &finished(Ended::Exit(0), answer, "")).solver_calls,
            None
        );
    }

    #[test]
    fn what_is_not_heard() {
        let smt = engine::parse("smt").unwrap()[0];
        for (ended, output, errors, status, reason) in [
            (Ended::Exit(2), "", "tickbound: a.json: no\n", RowStatus::Refused, "a.json: no"),
            (Ended::Exit(2), "", "", RowStatus::Refused, "no reason given"),
            (Ended::Stopped(ProcessStop::Interrupted), "", "", RowStatus::NotRun, "interrupt"),
            (Ended::Signal(9), "", "", RowStatus::Failed, "signal 9 (killed)"),
            (Ended::Exit(101), "{", "thread panicked\n\n", RowStatus::Failed, "thread panicked"),
        ] {
            let row = heard(smt, &finished(ended, output, errors));
            assert_eq!((row.status, row.reason.as_deref()), (status, Some(reason)));
        }
        let killed = finished(Ended::Stopped(ProcessStop::Memory(2_000_000)), "", "");
        assert_eq!(heard(smt, &killed).reason.as_deref(), Some("memory limit of 2 MB"));
    }
}
