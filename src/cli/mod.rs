//! The command line: one file per subcommand, no logic of its own.
//!
//! Results go to standard output, progress and warnings to standard error. The exit status is an
//! [`Exit`]; an error comes with one line that says what, where, and the fix.

/// Writes a line to standard error, with nothing in it that a terminal would obey. It may be closed or full: nothing that is said there is worth ending for, as the
/// macro of this name in the standard library does.
macro_rules! eprintln {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let line = format!($($text)*);
        let _ = writeln!(std::io::stderr(), "{}", tickbound_message::printable(&line));
    }};
}

mod calibrate;
mod check;
mod compare;
mod cp_sat;
mod demo;
mod devices;
mod exit;
mod explain;
mod export;
mod init;
mod load;
mod measure;
mod output;
mod page;
mod platforms;
mod plot;
mod progress;
mod reo;
mod report;
mod score;
mod simulate;
mod spin;
mod stop;
mod timeline;
mod tune;
mod values;
mod why;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tickbound_message::one_line;

use exit::EXIT_STATUS;
pub use exit::{CliError, Exit};
pub use output::standard_output_is_closed;

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
    /// Propose a problem file for a kernel in OpenCL C
    Init(init::Args),
    /// Find the least run time over all configurations and prove it
    Tune(tune::Args),
    /// Check a certificate that `tune --certificate` has written
    Check(check::Args),
    /// Tell why the least time is what it is, and what would change it
    Why(why::Args),
    /// Run one configuration tick by tick
    Simulate(simulate::Args),
    /// Show the kernel program beside the source lines it was read from
    Explain(explain::Args),
    /// Write the problem for another tool: a Promela model for SPIN, BTOR2 for model checkers, a T1 file for auto-tuners
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
    /// Read a kernel for another process, as one that may crash
    #[command(hide = true, name = load::READ_KERNEL)]
    ReadKernel,
    /// Measure the prices of an OpenCL device, and write them as a platform file
    Calibrate(calibrate::Args),
    /// List the OpenCL devices of this machine
    Devices(devices::Args),
    /// List the shipped platforms, or show one with the source of each number
    Platforms(platforms::Args),
    /// Tune the paper's abstract kernel for every size of its Table 1, beside the paper's figures
    Demo(demo::Args),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let result = match Cli::try_parse() {
        Ok(cli) => match &cli.command {
            // What a process is told to do that belongs to another ends with that.
            command @ (Command::MeasureWorker(_) | Command::ReadKernel) => run(command),
            command => stop::listen().and_then(|()| run(command)),
        },
        Err(e) if e.use_stderr() => e.exit(),
        // The help, or the version.
        Err(e) => {
            output::said(e.print().and_then(|()| std::io::stdout().flush())).map(|()| Exit::Done)
        }
    };
    let exit = match result {
        Ok(exit) => exit,
        // A reader that has seen enough (`| head`) is no error.
        Err(CliError::Write { error, .. }) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            Exit::Done
        }
        Err(e) => {
            let why = if e.is_fault() { None } else { stop::reason() };
            let before = why.as_ref().map(|why| format!("{why}: ")).unwrap_or_default();
            eprintln!("tickbound: {}", one_line(&format!("{before}{e}")));
            match why {
                // Whatever has no result by then has none because it was stopped.
                Some(_) => Exit::Nothing,
                None if e.is_fault() => Exit::Fault,
                None => Exit::Input,
            }
        }
    };
    ExitCode::from(exit as u8)
}

fn run(command: &Command) -> Result<Exit, CliError> {
    match command {
        Command::Init(args) => init::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Check(args) => check::run(args),
        Command::Why(args) => why::run(args),
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
        Command::ReadKernel => load::serve(),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Platforms(args) => platforms::run(args),
        Command::Demo(args) => demo::run(args),
    }
}
