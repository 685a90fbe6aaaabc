//! `tickbound reo`: connectors.

mod bench;
mod check;
mod compose;
mod equal;
mod load;

use clap::Subcommand;
use tickbound_reo::bisimulation::Kind;
use tickbound_reo::limits::{Limits, Progress as Sizes};

use super::load::Size;
use super::progress::{Progress, interrupt_flag};
use super::{CliError, Exit};

/// Bytes that a composition may take if nobody says otherwise.
const DEFAULT_MEMORY: &str = "4G";

/// Arguments of `reo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compose a connector into one constraint automaton
    Compose(compose::Args),
    /// Look for a deadlock, or for a step that breaks an invariant
    Check(check::Args),
    /// Tell whether two connectors do the same, and if not, show a run that tells them apart
    Equal(equal::Args),
    /// Measure the product on the processors and on each OpenCL device: the experiment of the thesis
    Bench(bench::Args),
}

/// Which states may be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KindChoice {
    /// Every step is matched by a step
    Strong,
    /// Silent steps need not be matched
    Weak,
}

impl From<KindChoice> for Kind {
    fn from(choice: KindChoice) -> Kind {
        match choice {
            KindChoice::Strong => Kind::Strong,
            KindChoice::Weak => Kind::Weak,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    match &args.command {
        Command::Compose(args) => compose::run(args),
        Command::Check(args) => check::run(args),
        Command::Equal(args) => equal::run(args),
        Command::Bench(args) => bench::run(args),
    }
}

/// Runs `work` within `memory`, stopped by Ctrl-C, with a line on standard error that shows how far
/// it is.
fn within<T>(
    what: &str,
    memory: Size,
    work: impl FnOnce(&Limits<'_>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let stop = interrupt_flag()?;
    let line = Progress::new(what);
    let show = |sizes: Sizes| {
        line.say(format!("{} states, {} transitions", sizes.states, sizes.transitions));
    };
    work(&Limits { memory: memory.0, stop: &stop, progress: &show })
}

/// An error of a library as an error about the input: it says what, where and the fix itself.
fn input(error: impl std::fmt::Display) -> CliError {
    CliError::Input(error.to_string())
}
