//! The command line: one file per subcommand, no logic of its own.
//!
//! Results go to standard output, progress and warnings to standard error. The exit status is an
//! [`Exit`]; an error comes with one line that says what, where, and the fix.

mod calibrate;
mod compare;
mod cp_sat;
mod demo;
mod devices;
mod explain;
mod export;
mod load;
mod measure;
mod platforms;
mod plot;
mod progress;
mod reo;
mod report;
mod score;
mod simulate;
mod spin;
mod timeline;
mod tune;
mod values;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::answer::Answer;
use crate::compare::cp_sat::CpSatError;
use crate::report::{ReportError, Table};
use tickbound_model::Problem;
use tickbound_model::verdict::Found;
use tickbound_solve::SolveError;

const EXIT_STATUS: &str = "\
Exit status:
  0  proved, or done
  1  not proved, infeasible, or nothing found
  2  bad input
  3  a fault of tickbound: please report it with the problem file";

/// Finds the tuning parameters that give an OpenCL kernel its least run time, and proves it, from a
/// timing model, without the device.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, after_help = EXIT_STATUS)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find the least run time over all configurations and prove it
    Tune(tune::Args),
    /// Run one configuration tick by tick
    Simulate(simulate::Args),
    /// Show the kernel program beside the source lines it was read from
    Explain(explain::Args),
    /// Write the problem for another tool: a Promela model for SPIN, a T1 file for auto-tuners
    Export(export::Args),
    /// Find the least run time with the model checker SPIN
    Spin(spin::Args),
    /// Run several engines on the same problems, side by side
    Compare(compare::Args),
    /// Find the least run time with CP-SAT of OR-Tools, for comparison
    CpSat(cp_sat::Args),
    /// Write results of compare and tune as one HTML page
    Report(report::Args),
    /// Compose, check and compare Reo connectors as constraint automata
    Reo(reo::Args),
    /// Run configurations of a kernel on an OpenCL device: check the output, time them
    Measure(measure::Args),
    /// Compare the model's ranking with measured times
    Score(score::Args),
    /// Run kernels for `measure`, as a process that may crash
    #[command(hide = true, name = crate::measure::lab::SUBCOMMAND)]
    MeasureWorker(measure::WorkerArgs),
    /// Measure the prices of an OpenCL device, and write them as a platform file
    Calibrate(calibrate::Args),
    /// List the OpenCL devices of this machine
    Devices(devices::Args),
    /// List the shipped platforms, or show one with the source of each number
    Platforms(platforms::Args),
    /// Tune the paper's abstract kernel for every size of its Table 1, beside the paper's figures
    Demo(demo::Args),
}

/// How a command ends, as the shell is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done; a least time is proved.
    Done,
    /// 1: nothing is proved, or nothing was found.
    Nothing,
    /// 2: bad input.
    Input,
    /// 3: a fault of tickbound.
    Fault,
}

impl Exit {
    /// The end of a command that searches for a least time.
    fn of(answer: &Answer) -> Exit {
        if answer.proved() { Exit::Done } else { Exit::Nothing }
    }
}

/// Why a command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Bad input, or a fault found by the engines.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A file could not be read.
    #[error("{path}: {error}; give the path of a problem file")]
    Read {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The problem cannot be written in Promela.
    #[error(transparent)]
    Promela(#[from] tickbound_spin::promela::PromelaError),
    /// A kernel in OpenCL C cannot be read.
    #[error(transparent)]
    Frontend(#[from] tickbound_opencl_c::FrontendError),
    /// CP-SAT is missing, or has found a fault.
    #[error(transparent)]
    CpSat(#[from] CpSatError),
    /// SPIN is missing, or has found a fault.
    #[error(transparent)]
    Spin(#[from] tickbound_spin::SpinError),
    /// A report could not be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Measured times cannot be read.
    #[error(transparent)]
    Results(#[from] crate::measure::score::ResultsError),
    /// Nothing could be measured.
    #[error(transparent)]
    Measure(#[from] crate::measure::MeasureError),
    /// Standard output or another file could not be written.
    #[error("{path}: cannot be written: {error}; choose a place that exists and may be written to")]
    Write {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// Something else about the input.
    #[error("{0}")]
    Input(String),
}

impl CliError {
    /// The fault is in tickbound, not in what it was given.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            CliError::Solve(e) => e.is_fault(),
            CliError::Spin(e) => e.is_fault(),
            CliError::CpSat(e) => e.is_fault(),
            _ => false,
        }
    }
}

impl From<tickbound_model::ModelError> for CliError {
    fn from(e: tickbound_model::ModelError) -> Self {
        CliError::Solve(e.into())
    }
}

impl From<tickbound_model::simulate::SimulateError> for CliError {
    fn from(e: tickbound_model::simulate::SimulateError) -> Self {
        CliError::Solve(e.into())
    }
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Tune(args) => tune::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Export(args) => export::run(args),
        Command::Spin(args) => spin::run(args),
        Command::Compare(args) => compare::run(args),
        Command::CpSat(args) => cp_sat::run(args),
        Command::Report(args) => report::run(args),
        Command::Reo(args) => reo::run(args),
        Command::Measure(args) => measure::run(args),
        Command::Score(args) => score::run(args),
        Command::MeasureWorker(args) => measure::work(args),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Platforms(args) => platforms::run(args),
        Command::Demo(args) => demo::run(args),
    };
    let exit = match result {
        Ok(exit) => exit,
        // A reader that has seen enough (`| head`) is no error.
        Err(CliError::Write { error, .. }) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            Exit::Done
        }
        Err(e) => {
            eprintln!("tickbound: {}", e.to_string().replace(['\n', '\r'], " "));
            if e.is_fault() { Exit::Fault } else { Exit::Input }
        }
    };
    ExitCode::from(exit as u8)
}

/// Writes to standard output, so that a closed pipe is an error value and not a panic.
pub(crate) fn say(text: &str) -> Result<(), CliError> {
    use std::io::Write;

    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| CliError::Write { path: "standard output".into(), error })
}

/// Says on standard error which files were written.
fn written(files: &[PathBuf]) {
    files.iter().for_each(|path| eprintln!("tickbound: {} written", path.display()));
}

/// Configurations in order: their rank, what `columns` says of each, and the values of their
/// parameters.
fn ranking<'f>(
    problem: &Problem,
    columns: &[&str],
    rows: impl Iterator<Item = (Vec<String>, &'f Found)>,
) -> Table {
    let names = problem.parameters.iter().map(|p| p.name.as_str());
    let mut table = Table::new(["rank"].iter().chain(columns).copied().chain(names));
    for (rank, (cells, found)) in rows.enumerate() {
        let values = found.configuration.0.iter().map(i64::to_string);
        table.push([(rank + 1).to_string()].into_iter().chain(cells).chain(values));
    }
    table
}
