//! `tickbound emit`.

use std::path::PathBuf;

use clap::{Args, FromArgMatches};

use super::emission::WRITTEN_BY;
use super::exit::{CliError, Exit};
use super::output::say;
use super::tune::{self, TuneArgs};

/// Arguments of `emit`.
#[derive(Debug, clap::Args)]
pub struct EmitArgs {
    /// Compare this file, which `tune --emit` has written, with what its command would write now;
    /// run it in the folder in which the command was run
    #[arg(long, value_name = "FILE")]
    check: PathBuf,
}

pub(super) fn run(args: &EmitArgs) -> Result<Exit, CliError> {
    let (path, shown) = (&args.check, args.check.display());
    let fault = |what: &str| CliError::Input(format!("--check {shown}: {what}"));
    let text = tickbound_input::text(path)
        .map_err(|error| CliError::Read { path: shown.to_string(), error })?;
    let missing = "has no line with the command that wrote it; give a file of `tune --emit`";
    let line = text.lines().find_map(|line| line.split_once(WRITTEN_BY));
    let (_, line) = line.ok_or_else(|| fault(missing))?;
    // The line of a JSON file ends with what closes its text.
    let line = line.trim_end_matches(',').trim_end_matches('"').replace("\\\"", "\"");
    let words = shlex::split(&line).ok_or_else(|| fault(missing))?;
    // The first word is `tune`, in the place where a program's name is expected.
    let matches = TuneArgs::augment_args(clap::Command::new("tune")).try_get_matches_from(words);
    let arguments = matches.and_then(|matches| TuneArgs::from_arg_matches(&matches));
    let arguments = arguments.map_err(|error| fault(&format!("its command: {error}")))?;
    let now = tune::emission(&arguments)?.by(&line).text(path)?;
    if now == text {
        say(&format!("{shown}: is what its command writes\n"))?;
        return Ok(Exit::Done);
    }
    let differs = text.lines().zip(now.lines()).position(|(a, b)| a != b);
    let differs = differs.unwrap_or_else(|| text.lines().count().min(now.lines().count()));
    say(&format!(
        "{shown}: differs from what its command writes now, from line {}; run the command again\n",
        differs + 1
    ))?;
    Ok(Exit::Nothing)
}
