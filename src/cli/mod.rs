//! The command line: one file per subcommand, no logic of its own.
//!
//! Results go to standard output, progress and warnings to standard error. Exit status 0: done; 1:
//! nothing was found; 2: bad input, with one line that says what, where, and the fix.

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

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::report::ReportError;
use tickbound_solve::SolveError;

/// Finds the tuning parameters that give an OpenCL kernel its least run time, and proves it, from a
/// timing model, without the device.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
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

/// What a command that ran to its end has to say to the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Done,
    /// Nothing was found.
    Nothing,
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
    Kernel(#[from] tickbound_opencl_c::ReadError),
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
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing) => ExitCode::from(1),
        // A reader that has seen enough (`| head`) is no error.
        Err(CliError::Write { error, .. }) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("tickbound: {}", e.to_string().replace(['\n', '\r'], " "));
            ExitCode::from(2)
        }
    }
}

/// Writes to standard output, so that a closed pipe is an error value and not a panic.
pub(crate) fn say(text: &str) -> Result<(), CliError> {
    use std::io::Write;

    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| CliError::Write { path: "standard output".into(), error })
}
