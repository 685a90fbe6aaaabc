//! What commands print and write.
//!
//! Results go to standard output and into the files that options name. Files are whole or absent
//! ([`tickbound_os::output`]). Before a command works it states which it will write ([`Outputs`]):
//! a name that cannot be written, that the command reads, or that two options share is refused
//! while nothing is done. Files come before what is printed, so that a reader who closes the pipe
//! loses no file. Standard output that is full or closed is an error, but for a pipe that its
//! reader has closed.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tickbound_input::message::{printable, printable_json};
use tickbound_model::Problem;
use tickbound_model::verdict::TimedConfiguration;
use tickbound_os::output::OutputPlace;

use super::colour;
use super::exit::{CliError, input};
use super::stop;
use tickbound_report::table::hanging;
use tickbound_report::{Table, picture};

/// This process was started without standard output.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Notes that this process was started without standard output. Rust then opens `/dev/null` in its
/// place before `main`, where all that is printed would be lost without an error.
pub fn standard_output_is_closed() {
    CLOSED.store(true, Ordering::Relaxed);
}

/// Writes to standard output, so that a closed pipe is an error value and not a panic.
pub(crate) fn say(text: &str) -> Result<(), CliError> {
    put(&shown(text))
}

fn put(text: &str) -> Result<(), CliError> {
    use std::io::Write;

    let _whole = stop::writing();
    let mut out = std::io::stdout().lock();
    said(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// As [`say`]; on a terminal long lines are broken, and the heading and the status have colour.
pub(crate) fn say_answer(text: &str) -> Result<(), CliError> {
    let text = folded(text);
    put(&if colour::is_wanted() && !is_object(&text) { colour::painted(&text) } else { text })
}

/// As [`say`]; on a terminal long lines are broken.
pub(crate) fn say_folded(text: &str) -> Result<(), CliError> {
    put(&folded(text))
}

fn folded(text: &str) -> String {
    let text = shown(text).into_owned();
    match terminal_width() {
        Some(width) if !is_object(&text) => hanging(&text, width),
        _ => text,
    }
}

/// Help of the command line; on a terminal long lines are broken, and names have colour.
pub(super) fn say_help(help: &clap::builder::StyledStr) -> Result<(), CliError> {
    let text = if colour::is_wanted() { help.ansi().to_string() } else { help.to_string() };
    put(&text)
}

/// `text`, which may have names from files of others, without what acts on a terminal.
fn shown(text: &str) -> Cow<'_, str> {
    if is_object(text) { printable_json(text) } else { printable(text) }
}

/// Whether a program reads it: a JSON object is not folded, and not painted.
fn is_object(text: &str) -> bool {
    text.starts_with('{')
}

/// What came of writing to standard output.
fn said(written: std::io::Result<()>) -> Result<(), CliError> {
    let closed = || Err(std::io::Error::other("it is closed"));
    let written = if CLOSED.load(Ordering::Relaxed) { closed() } else { written };
    written.map_err(|error| CliError::Write { path: "standard output".into(), error })
}

/// Columns of the terminal that standard output is, if it is one.
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Columns of the terminal that standard output is; 80 where it is none.
pub(crate) fn width() -> usize {
    terminal_width().unwrap_or(80)
}

/// The same for tables whose lines other programs look for: where there is no terminal they are not
/// broken.
pub(crate) fn rows_width() -> usize {
    terminal_width().unwrap_or(usize::MAX)
}

/// Writes one JSON object to standard output.
pub(crate) fn say_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string(value).map_err(input)?;
    say(&format!("{text}\n"))
}

/// Writes a file.
pub(crate) fn save(path: impl AsRef<Path>, text: &str) -> Result<(), CliError> {
    let path = path.as_ref();
    tickbound_os::output::write(path, text.as_bytes()).map_err(|error| unwritable(path, error))
}

fn unwritable(path: &Path, error: std::io::Error) -> CliError {
    CliError::Write { path: path.display().to_string(), error }
}

/// The files that a command is to write, each with the option that names it.
#[derive(Debug, Default)]
pub(crate) struct Outputs(Vec<(&'static str, PathBuf)>);

impl Outputs {
    /// With the file of an option, if it is given.
    pub(crate) fn file(mut self, option: &'static str, path: Option<impl AsRef<Path>>) -> Outputs {
        self.0.extend(path.map(|path| (option, path.as_ref().to_owned())));
        self
    }

    /// With those that may come into the folder of an option, if it is given. One that is not there
    /// yet has no file that could be lost.
    pub(crate) fn folder(
        mut self,
        option: &'static str,
        folder: Option<&Path>,
        names: impl Iterator<Item = &'static str>,
    ) -> Outputs {
        if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
            self.0.extend(names.map(|name| (option, folder.join(name))));
        }
        self
    }

    /// With the files of a picture, if requested. Refuses a name that is not a picture's.
    pub(crate) fn picture(
        mut self,
        option: &'static str,
        path: Option<&String>,
    ) -> Result<Outputs, CliError> {
        let files = path.map(|path| picture::files(Path::new(path))).transpose();
        let files = files.map_err(|e| CliError::Input(format!("{option} {e}")))?;
        self.0.extend(files.into_iter().flatten().map(|file| (option, file)));
        Ok(self)
    }

    /// Refuses what cannot be written, what is one of the files that the command reads, and what
    /// two options name.
    pub(crate) fn check(&self, inputs: &[PathBuf]) -> Result<(), CliError> {
        // What is not there is no input.
        let inputs: Vec<OutputPlace> =
            inputs.iter().filter_map(|path| OutputPlace::of(path).ok()).collect();
        let mut places: Vec<(&str, OutputPlace)> = Vec::new();
        for (option, path) in &self.0 {
            let place = OutputPlace::of(path).map_err(|error| unwritable(path, error))?;
            let path = path.display();
            if inputs.iter().any(|input| input.is(&place)) {
                let why = "this command reads or keeps that file; choose another name";
                return Err(CliError::Input(format!("{option} {path}: {why}")));
            }
            if let Some((other, _)) = places.iter().find(|(_, other)| other.is(&place)) {
                let why = format!("{other} names the same file; choose another name");
                return Err(CliError::Input(format!("{option} {path}: {why}")));
            }
            places.push((option, place));
        }
        let paths = self.0.iter().map(|(_, path)| path);
        paths.zip(&places).try_for_each(|(path, (_, place))| {
            tickbound_os::output::writable(place).map_err(|error| unwritable(path, error))
        })
    }
}

/// Writes a file, or to standard output if there is no path.
pub(crate) fn say_or_save(path: Option<&str>, text: &str) -> Result<(), CliError> {
    let text = &shown(text);
    path.map_or_else(|| put(text), |path| save(path, text))
}

/// Writes on standard error which files were written.
pub(crate) fn written(files: &[PathBuf]) {
    files.iter().for_each(|path| note!("tickbound: {} written", path.display()));
}

/// Configurations in order: their rank, what `columns` states of each, and the values of their
/// parameters.
pub(crate) fn ranking<'f>(
    problem: &Problem,
    columns: &[&str],
    rows: impl Iterator<Item = (Vec<String>, &'f TimedConfiguration)>,
) -> Table {
    let names = problem.parameters.iter().map(|p| p.name.as_str());
    let mut table = Table::new(["rank"].iter().chain(columns).copied().chain(names));
    for (rank, (cells, found)) in rows.enumerate() {
        let values = found.configuration.0.iter().map(i64::to_string);
        table.push([(rank + 1).to_string()].into_iter().chain(cells).chain(values));
    }
    table
}
