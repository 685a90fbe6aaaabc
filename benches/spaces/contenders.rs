//! Who is timed, and what one of them comes to on one problem.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tickbound_os::process::{Ended, Finished, ProcessLimits, ProcessStop, run};

/// Seconds after which a search is given up.
pub const LIMIT: u64 = 10;
/// What a search may take to start, to stop, and to import Python packages.
const GRACE: Duration = Duration::from_secs(3);
const MEMORY: u64 = 12 << 30;
/// Searches that take less than this many seconds run three times, and the median is taken.
pub const SHORT: f64 = 1.0;

/// Who is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// `tickbound tune --strategy`.
    Strategy(&'static str),
    /// `tickbound cp-sat`: its heading and its arguments.
    CpSat(&'static str, &'static [&'static str]),
    /// HiGHS on what `tickbound export --to opb` writes.
    Highs,
    /// Kernel Tuner's construction of the space, and nothing else.
    KernelTuner,
}

/// All of them, in the order of the columns.
pub const CONTENDERS: [Contender; 10] = [
    Contender::Strategy("race"),
    Contender::Strategy("eliminate"),
    Contender::Strategy("branch"),
    Contender::Strategy("enumerate"),
    Contender::Strategy("descend"),
    Contender::CpSat("cp-sat", &[]),
    Contender::CpSat("cp-sat, tables", &["--direct"]),
    Contender::CpSat("tables, 1 worker", &["--direct", "--workers", "1"]),
    Contender::Highs,
    Contender::KernelTuner,
];

/// What came of one problem.
#[derive(Debug, Clone, PartialEq)]
pub enum Timing {
    /// It ended: seconds, the least time unless only the space was built, valid configurations if
    /// it says so.
    Done { seconds: f64, least: Option<i64>, configurations: Option<u64> },
    /// The time was up.
    TimedOut,
    /// The memory was.
    OutOfMemory,
    /// The problem is outside what it takes; why.
    Refused(String),
    /// It is not installed.
    Absent,
    /// It did not end on the problem before, or was not tried there.
    NotTried,
}

impl Timing {
    /// The seconds if it ended.
    pub fn seconds(&self) -> Option<f64> {
        match self {
            Timing::Done { seconds, .. } => Some(*seconds),
            _ => None,
        }
    }

    /// The cell of a table.
    pub fn shown(&self) -> String {
        match self {
            Timing::Done { seconds, .. } if *seconds < 0.01 => format!("{seconds:.4}"),
            Timing::Done { seconds, .. } => format!("{seconds:.3}"),
            Timing::TimedOut => format!("> {LIMIT}"),
            Timing::OutOfMemory => "memory".to_owned(),
            Timing::Refused(_) => "refused".to_owned(),
            Timing::Absent => "absent".to_owned(),
            Timing::NotTried => "-".to_owned(),
        }
    }
}

impl Contender {
    /// The heading of its column.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Strategy(name) | Contender::CpSat(name, _) => name,
            Contender::Highs => "HiGHS",
            Contender::KernelTuner => "Kernel Tuner",
        }
    }

    /// Times it on the problem in a file: once, or the median of three if that is short.
    pub fn timed(self, problem: &Path) -> Timing {
        let mut all = vec![self.once(problem)];
        while all.len() < 3 && all.iter().all(|o| o.seconds().is_some_and(|s| s < SHORT)) {
            all.push(self.once(problem));
        }
        let place = |o: &Timing| o.seconds().unwrap_or(f64::INFINITY);
        all.sort_by(|a, b| place(a).total_cmp(&place(b)));
        all.swap_remove(all.len() / 2)
    }

    fn once(self, problem: &Path) -> Timing {
        let limit = LIMIT.to_string();
        let search = |arguments: &[&str]| {
            let mut command = tickbound(arguments);
            outcome(ended(command.arg(problem).args(["--json", "--timeout", &limit]), ""))
        };
        match self {
            Contender::Strategy(name) => search(&["tune", "--strategy", name]),
            Contender::CpSat(..) if !has(&python("PYTHON", "cp-sat"), "ortools") => Timing::Absent,
            Contender::CpSat(_, arguments) => search(&[&["cp-sat"], arguments].concat()),
            Contender::Highs => {
                let solver = (python("HIGHS", "highs"), "highspy", include_str!("highs.py"));
                exported(problem, "opb", solver)
            }
            Contender::KernelTuner => {
                let python = python("KERNEL_TUNER", "kernel-tuner");
                exported(problem, "t1", (python, "kernel_tuner", include_str!("kernel_tuner.py")))
            }
        }
    }
}

/// The kernel program that `explain` prints for an example kernel.
pub fn program(kernel: &str) -> Value {
    let file = format!("{}/examples/kernels/{kernel}.json", env!("CARGO_MANIFEST_DIR"));
    let finished = ended(tickbound(&["explain", "--json"]).arg(file), "");
    let explained: Option<Value> = serde_json::from_str(&finished.stdout).ok();
    explained.map_or_else(
        || panic!("explain {kernel}: {}", finished.stderr),
        |mut e| e["program"].take(),
    )
}

/// A Python's package and script, on a problem in another format.
fn exported(
    problem: &Path,
    format: &str,
    (python, package, script): (String, &str, &str),
) -> Timing {
    if !has(&python, package) {
        return Timing::Absent;
    }
    let text = ended(tickbound(&["export", "--to", format]).arg(problem), "");
    if text.ended != Ended::Exit(0) {
        return outcome(text);
    }
    outcome(ended(Command::new(python).args(["-c", script, &LIMIT.to_string()]), &text.stdout))
}

/// What a finished search says. A fault of the program ends the benchmark.
fn outcome(finished: Finished) -> Timing {
    const SIGALRM: i32 = 14;
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    // Of a search by another program its solver's alone.
    let seconds = answer["solver_seconds"].as_f64().or_else(|| answer["seconds"].as_f64());
    let done = || Timing::Done {
        seconds: seconds.expect("an answer has seconds"),
        least: answer["time"].as_i64(),
        configurations: answer["configurations"].as_u64(),
    };
    match finished.ended {
        Ended::Exit(0) => done(),
        Ended::Exit(1) | Ended::Signal(SIGALRM) | Ended::Stopped(ProcessStop::Time(_)) => {
            Timing::TimedOut
        }
        Ended::Exit(2) => Timing::Refused(finished.last_error().unwrap_or_default().to_owned()),
        Ended::Stopped(ProcessStop::Memory(_)) => Timing::OutOfMemory,
        other => panic!("a search ended with {other:?}: {}", finished.stderr),
    }
}

fn tickbound(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tickbound"));
    command.args(arguments).env("PYTHON", python("PYTHON", "cp-sat"));
    command
}

fn ended(command: &mut Command, input: &str) -> Finished {
    let time = Some(Duration::from_secs(LIMIT) + GRACE);
    let limits = ProcessLimits { time, memory: Some(MEMORY), ..ProcessLimits::default() };
    run(command, input, limits).expect("the program can be started")
}

/// The Python that a variable names, else that of an environment in .deps, else `python3`.
pub fn python(variable: &str, environment: &str) -> String {
    let named = std::env::var(variable).ok().filter(|name| !name.is_empty());
    let own = format!("{}/.deps/{environment}/bin/python", env!("CARGO_MANIFEST_DIR"));
    named.unwrap_or_else(|| if Path::new(&own).exists() { own } else { "python3".to_owned() })
}

fn has(python: &str, package: &str) -> bool {
    version(python, package).is_some()
}

/// The version of a Python package.
pub fn version(python: &str, package: &str) -> Option<String> {
    let ask = format!("import importlib.metadata as m; print(m.version('{package}'))");
    let output = Command::new(python).args(["-c", &ask]).output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Some(version).filter(|v| output.status.success() && !v.is_empty())
}
