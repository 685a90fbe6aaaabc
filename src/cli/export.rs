//! `tickbound export`.

use tickbound_encodings::promela::{self, Style};

use super::load::{Setting, fix, problem};
use super::{CliError, Outcome, say};

/// What a problem can be written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// SPIN
    Promela,
}

/// How a Promela model is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(super) enum StyleChoice {
    /// The processes of the paper: host, device, unit, pex, barrier, clock
    Processes,
    /// One process, one atomic step from one moment to the next
    #[default]
    Lockstep,
}

impl From<StyleChoice> for Style {
    fn from(choice: StyleChoice) -> Style {
        match choice {
            StyleChoice::Processes => Style::Processes,
            StyleChoice::Lockstep => Style::Lockstep,
        }
    }
}

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Problem file (JSON)
    problem: String,
    /// What to write
    #[arg(long, value_enum)]
    to: Target,
    /// How a Promela model is written
    #[arg(long, value_enum, default_value = "processes")]
    style: StyleChoice,
    /// Replace an input or a platform number
    #[arg(long = "input", value_name = "N=V")]
    input: Vec<Setting>,
    /// Fix a parameter
    #[arg(long = "set", value_name = "P=V")]
    set: Vec<Setting>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Outcome, CliError> {
    let mut problem = problem(&args.problem, &args.input)?;
    fix(&mut problem, &args.set)?;
    let Target::Promela = args.to;
    let space = problem.space()?;
    let model = promela::export(&problem, &space, &promela::Options { style: args.style.into() })?;
    match &args.output {
        None => say(&model.text)?,
        Some(path) => std::fs::write(path, &model.text)
            .map_err(|error| CliError::Write { path: path.clone(), error })?,
    }
    if model.vector_bytes > 1024 {
        eprintln!(
            "tickbound: compile the verifier with -DVECTORSZ={}; a state is larger than SPIN's 1024 bytes",
            model.vector_bytes
        );
    }
    Ok(Outcome::Done)
}
