//! The command line: one file per subcommand, without logic.
//!
//! Results go to standard output, progress and warnings to standard error. The exit status is an
//! [`Exit`]; an error comes with one line that states what, where, and the fix.

/// Writes something beside the answer, a line on standard error, unless `--quiet` is given.
macro_rules! note {
    ($($text:tt)*) => {
        if !crate::commands::notes::are_hushed() {
            crate::commands::notes::line(&format!($($text)*));
        }
    };
}

/// Writes an error, a line on standard error.
macro_rules! error {
    ($($text:tt)*) => {
        crate::commands::notes::line(&format!($($text)*))
    };
}

mod calibrate;
mod capture;
mod certify;
mod check;
mod colour;
mod compare;
mod completions;
mod cp_sat;
mod devices;
mod emission;
mod emit;
mod exit;
mod explain;
mod export;
mod floor;
mod init;
mod load;
mod measure;
mod mix;
mod notes;
mod output;
mod over;
mod page;
mod platforms;
mod plot;
mod progress;
mod race;
mod reader;
mod reo;
mod report;
mod score;
mod search;
mod simulate;
mod spin;
mod stop;
mod study;
mod timeline;
mod tune;
mod values;
mod verify;
mod why;

use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use tickbound_input::message::one_line;

use exit::EXIT_STATUS;
pub use exit::{CliError, Exit};
pub use output::standard_output_is_closed;

/// Finds the tuning parameters that give an OpenCL kernel its least run time, and proves it, from a
/// timing model, without the device.
#[derive(Debug, Parser)]
#[command(version, about)]
pub struct Cli {
    #[command(flatten)]
    manner: Manner,
    #[command(subcommand)]
    command: Asked,
}

/// Options of all commands.
#[derive(Debug, Args)]
struct Manner {
    /// Print the answer and nothing beside it: no progress and no notes, errors alone
    #[arg(long, short, global = true)]
    quiet: bool,
}

/// The request to a process, from a user or from another process of this program.
#[derive(Debug, Subcommand)]
enum Asked {
    #[command(flatten)]
    Command(Box<Command>),
    /// Write a manual page for each command
    #[command(hide = true)]
    Manual(completions::ManualArgs),
    /// Run kernels for `measure`, as a process that may crash
    #[command(hide = true, name = tickbound_measure::supervisor::SUBCOMMAND)]
    MeasureWorker(measure::WorkerArgs),
    /// Read a kernel for another process, as one that may crash
    #[command(hide = true, name = reader::READ_KERNEL)]
    ReadKernel,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Propose a problem file for a kernel in OpenCL C
    Init(init::InitArgs),
    /// Run a program and record the kernels that it launches, for `init --from-capture`
    Capture(capture::CaptureArgs),
    /// Find the least run time over all configurations and prove it
    Tune(tune::TuneArgs),
    /// Compare a file of `tune --emit` with what its command would write now
    Emit(emit::EmitArgs),
    /// Check a certificate that `tune --certificate` has written
    Check(check::CheckArgs),
    /// Tell why the least time is what it is, and what would change it
    Why(why::WhyArgs),
    /// Prove that no configuration accesses memory out of bounds, races or diverges at barriers
    Verify(verify::VerifyArgs),
    /// Run one configuration tick by tick
    Simulate(simulate::SimulateArgs),
    /// Show the kernel program beside the source lines it was read from
    Explain(explain::ExplainArgs),
    /// Write the problem for another tool: Promela, BTOR2, or a T1 file for auto-tuners
    Export(export::ExportArgs),
    /// Find the least run time with the model checker SPIN
    Spin(spin::SpinArgs),
    /// Run several engines on the same problems, side by side
    Compare(compare::CompareArgs),
    /// Find the least run time with CP-SAT of OR-Tools, for comparison
    CpSat(cp_sat::CpSatArgs),
    /// Write results of compare and tune as one HTML page
    Report(report::ReportArgs),
    /// Compose, check and compare Reo connectors as constraint automata
    Reo(reo::ReoArgs),
    /// Run configurations of a kernel on an OpenCL device: check the output, time them
    Measure(measure::MeasureArgs),
    /// Compare two kernels that compute the same: predicted, and timed in turns on a device
    Race(race::RaceArgs),
    /// Choose configurations for another program to measure: JSON lines of questions and times
    Study(study::StudyArgs),
    /// Compare the model's ranking with measured times
    Score(score::ScoreArgs),
    /// Measure prices and resources of an OpenCL device, as a platform file
    Calibrate(calibrate::CalibrateArgs),
    /// List the OpenCL devices of this machine
    Devices(devices::DevicesArgs),
    /// List the shipped platforms, or show one with the source of each number
    Platforms(platforms::PlatformsArgs),
    /// Print what completes commands and options in a shell
    Completions(completions::CompletionsArgs),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let result = match parsed() {
        Ok(cli) => {
            if cli.manner.quiet {
                notes::hush();
            }
            match &cli.command {
                Asked::Command(command) => match &**command {
                    // Signals are for the program that is captured.
                    Command::Capture(args) => capture::run(args),
                    command => stop::listen().and_then(|()| run(command)),
                },
                Asked::Manual(args) => completions::manual(args, shown()),
                // A worker process ends here, with its own command.
                Asked::MeasureWorker(args) => measure::work(args),
                Asked::ReadKernel => reader::serve(),
            }
        }
        Err(e) if e.use_stderr() => {
            notes::lines(complaint(&e).trim_end());
            return ExitCode::from(Exit::Input as u8);
        }
        // The help, or the version.
        Err(e) => output::say_help(&e.render()).map(|()| Exit::Done),
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
            error!("tickbound: {}", one_line(&format!("{before}{e}")));
            match why {
                // A command without a result by then was stopped.
                Some(_) => Exit::Nothing,
                None if e.is_fault() => Exit::Fault,
                None => Exit::Input,
            }
        }
    };
    ExitCode::from(exit as u8)
}

/// What is wrong with the command line; what Rust states of numbers as what to write.
fn complaint(e: &clap::Error) -> String {
    let whole = "write a whole number, such as 10";
    [
        ("invalid digit found in string", whole),
        ("cannot parse integer from empty string", whole),
        ("number too large to fit in target type", "write a smaller number"),
        ("number too small to fit in target type", "write a larger number"),
    ]
    .iter()
    .fold(e.render().to_string(), |text, (said, fix)| text.replace(said, fix))
}

/// The commands in the groups in which the help lists them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Tune", &["init", "capture", "tune", "emit", "why", "explain", "simulate"]),
    ("Prove", &["verify", "check", "spin", "export", "compare", "cp-sat"]),
    ("Measure", &["devices", "calibrate", "measure", "race", "study", "score"]),
    ("Other", &["platforms", "report", "completions", "help"]),
    ("Connectors", &["reo"]),
];

/// The list of commands, by groups.
fn listed(command: &clap::Command) -> String {
    let line = |name: &&str| {
        let about = command.find_subcommand(name).and_then(clap::Command::get_about);
        let about = about.map_or_else(|| "Print the help of a command".into(), ToString::to_string);
        format!("  {name:<12} {about}\n")
    };
    let group = |(title, names): &(&str, &[&str])| {
        format!("{title}:\n{}\n", names.iter().map(line).collect::<String>())
    };
    GROUPS.iter().map(group).collect()
}

/// The help of the program lists commands by groups.
fn with_groups(command: clap::Command) -> clap::Command {
    let list = listed(&command);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} \
         {{usage}}\n\n{list}Options:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// The exit status in the help of each command.
fn with_exit_status(command: clap::Command) -> clap::Command {
    command.max_term_width(100).after_help(EXIT_STATUS).mut_subcommands(with_exit_status)
}

/// The command line.
fn command() -> clap::Command {
    with_groups(with_exit_status(Cli::command()))
}

/// The command line without what it has for processes of this program alone.
fn shown() -> clap::Command {
    let named = clap::Command::new("tickbound").version(env!("CARGO_PKG_VERSION"));
    let about = Cli::command().get_about().cloned().unwrap_or_default();
    with_exit_status(Manner::augment_args(Command::augment_subcommands(named.about(about))))
}

/// The request to this process.
fn parsed() -> Result<Cli, clap::Error> {
    let mut matches = command().try_get_matches()?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|e| e.format(&mut command()))
}

fn run(command: &Command) -> Result<Exit, CliError> {
    match command {
        Command::Init(args) => match &args.from_capture {
            Some(folder) => capture::problems::run(args, folder),
            None => init::run(args),
        },
        Command::Capture(args) => capture::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Emit(args) => emit::run(args),
        Command::Check(args) => check::run(args),
        Command::Why(args) => why::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Export(args) => export::run(args),
        Command::Spin(args) => spin::run(args),
        Command::Compare(args) => compare::run(args),
        Command::CpSat(args) => cp_sat::run(args),
        Command::Report(args) => report::run(args),
        Command::Reo(args) => reo::run(args),
        Command::Measure(args) => measure::run(args),
        Command::Race(args) => race::run(args),
        Command::Study(args) => study::run(args),
        Command::Score(args) => score::run(args),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Platforms(args) => platforms::run(args),
        Command::Completions(args) => completions::run(args, shown()),
    }
}
