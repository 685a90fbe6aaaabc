//! `tickbound reo`: connectors.

mod check;
mod compose;
mod compose_args;
mod draw;
mod equal;
mod generate;
mod lines;
mod load;
mod product;
mod ranks;
mod run;
mod shared;
mod shortest;
mod steps;
mod stream;
mod verify;

use super::exit::{CliError, Exit};
use super::stop::Timeout;
use super::values::Seconds;
use clap::Subcommand;

/// Arguments of `reo`.
#[derive(Debug, clap::Args)]
pub struct ReoArgs {
    #[command(subcommand)]
    command: Command,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", global = true)]
    timeout: Option<Seconds>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compose a connector into one constraint automaton
    Compose(compose_args::Args),
    /// Look for a deadlock, for a step that breaks an invariant, or for a run that breaks a formula
    /// of LTL
    Check(check::Args),
    /// Tell whether two connectors do the same, and if not, show a run that tells them apart
    Equal(equal::Args),
    /// Run a connector: choose among its steps, with the data that flow, or take steps at random
    Run(run::Args),
    /// Draw a connector: its circuit in the usual signs, its automaton beside it, the steps of a
    /// run lit in both
    Draw(draw::Args),
    /// Write a connector as a program in Rust or C, with functions to put and take data at its
    /// ports
    Generate(generate::Args),
    /// Tell whether a dataset that `compose --dataset` has written is whole and as it was written
    Verify(verify::Args),
}

pub(super) fn run(args: &ReoArgs) -> Result<Exit, CliError> {
    Timeout::of(args.timeout).watched()?;
    match &args.command {
        Command::Compose(args) => compose::run(args),
        Command::Check(args) => check::run(args),
        Command::Equal(args) => equal::run(args),
        Command::Run(args) => run::run(args),
        Command::Draw(args) => draw::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Verify(args) => verify::run(args),
    }
}
