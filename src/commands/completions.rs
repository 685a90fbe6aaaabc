//! `tickbound completions` and `tickbound manual`: descriptions for shells and `man` of the command
//! line.

use std::path::Path;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use super::exit::{CliError, Exit};
use super::output::{save, say};

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Arguments of `manual`.
#[derive(Debug, clap::Args)]
pub struct ManualArgs {
    /// The folder that the pages are written into; it is made
    folder: String,
}

/// Prints the completions of a shell.
pub(super) fn run(args: &CompletionsArgs, mut command: Command) -> Result<Exit, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "tickbound", &mut text);
    say(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// Writes a manual page for each command.
pub(super) fn manual(args: &ManualArgs, command: Command) -> Result<Exit, CliError> {
    let folder = Path::new(&args.folder);
    let unwritable = |error| CliError::Write { path: args.folder.clone(), error };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    pages(folder, &command)?;
    Ok(Exit::Done)
}

/// The page of a command, and those of its subcommands.
fn pages(folder: &Path, command: &Command) -> Result<(), CliError> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let path = folder.join(format!("{name}.1"));
    let mut page = Vec::new();
    let man = Man::new(command.clone())
        .source(concat!("tickbound ", env!("CARGO_PKG_VERSION")))
        .manual("tickbound");
    man.render(&mut page)
        .map_err(|error| CliError::Write { path: path.display().to_string(), error })?;
    save(&path, &String::from_utf8_lossy(&page))?;
    command.get_subcommands().try_for_each(|sub| pages(folder, sub))
}
