//! What commands print.

use std::fmt::Display;
use std::path::PathBuf;

use serde::Serialize;
use tickbound_message::{one_line, printable};
use tickbound_model::Problem;
use tickbound_model::verdict::Found;

use super::exit::{CliError, input};
use super::stop;
use crate::report::Table;

/// Writes to standard output, so that a closed pipe is an error value and not a panic.
pub(crate) fn say(text: &str) -> Result<(), CliError> {
    use std::io::Write;

    let _whole = stop::writing();
    let mut out = std::io::stdout().lock();
    // Names come from files of whoever wrote them.
    out.write_all(printable(text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| CliError::Write { path: "standard output".into(), error })
}

/// Writes one JSON object to standard output.
pub(crate) fn say_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string(value).map_err(input)?;
    say(&format!("{text}\n"))
}

/// Writes a file.
pub(crate) fn save(path: &str, text: &str) -> Result<(), CliError> {
    std::fs::write(path, text).map_err(|error| CliError::Write { path: path.to_owned(), error })
}

/// Writes a file, or to standard output if there is no path.
pub(crate) fn say_or_save(path: Option<&str>, text: &str) -> Result<(), CliError> {
    path.map_or_else(|| say(text), |path| save(path, text))
}

/// Says something on standard error, on one line.
pub(crate) fn tell(text: impl Display) {
    eprintln!("tickbound: {}", one_line(&text.to_string()));
}

/// Says on standard error which files were written.
pub(crate) fn written(files: &[PathBuf]) {
    files.iter().for_each(|path| eprintln!("tickbound: {} written", path.display()));
}

/// Configurations in order: their rank, what `columns` says of each, and the values of their
/// parameters.
pub(crate) fn ranking<'f>(
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
