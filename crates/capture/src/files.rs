//! The files of a capture: one folder a process, made when it is first needed.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Environment variable with the folder of captures.
const FOLDER: &str = "TICKBOUND_CAPTURE";

/// Where a process writes.
#[derive(Debug, Default)]
pub struct Files {
    /// The folder of this process, once it is made.
    own: Option<PathBuf>,
    /// Something could not be written: nothing more is.
    failed: bool,
}

impl Files {
    /// Whether nothing is written any more.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// Makes the folder of this process.
    pub fn begin(&mut self) {
        let made = self.folder().map(|_| ());
        self.check(made);
    }

    /// Adds whole lines at the end of the capture.
    pub fn append(&mut self, lines: &str) {
        // The file is opened each time: programs close files that they do not know, and others
        // then get their numbers.
        let written = self.folder().and_then(|folder| {
            let path = folder.join("capture.jsonl");
            let mut file =
                OpenOptions::new().create(true).append(true).open(&path).map_err(named(&path))?;
            file.write_all(lines.as_bytes()).map_err(named(&path))
        });
        self.check(written);
    }

    /// Writes a source.
    pub fn source(&mut self, name: &str, text: &[u8]) {
        let written = self.folder().and_then(|folder| {
            let path = folder.join(name);
            File::create(&path).and_then(|mut file| file.write_all(text)).map_err(named(&path))
        });
        self.check(written);
    }

    fn folder(&mut self) -> io::Result<&Path> {
        if self.own.is_none() {
            self.own = Some(create()?);
        }
        Ok(self.own.as_deref().unwrap_or(Path::new("")))
    }

    fn check(&mut self, written: io::Result<()>) {
        let Err(error) = written else { return };
        if !std::mem::replace(&mut self.failed, true) {
            let rest = "nothing more of this process is captured";
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "tickbound capture: {error}; {rest}");
        }
    }
}

/// Makes the folder of a process: the first number that is free.
fn create() -> io::Result<PathBuf> {
    let missing = || io::Error::other(format!("{FOLDER} names no folder; set it"));
    let all = PathBuf::from(std::env::var_os(FOLDER).ok_or_else(missing)?);
    // The program may change its working directory.
    let all = std::path::absolute(&all)?;
    fs::create_dir_all(&all).map_err(named(&all))?;
    let mut number = 0_u32;
    loop {
        let own = all.join(format!("process{number}"));
        match fs::create_dir(&own) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| own.clone()).map_err(named(&own)),
        }
    }
}

/// An error with the path that it is about.
fn named(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// A text in JSON; what is no UTF-8 is replaced.
pub fn quoted(text: &[u8]) -> String {
    let mut json = String::from("\"");
    for c in String::from_utf8_lossy(text).chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => _ = write!(json, "\\u{:04x}", u32::from(c)),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}
