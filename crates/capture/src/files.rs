//! The files of a capture: one folder for each process.

use std::fmt::Write as _;
use std::fs::{OpenOptions, create_dir, create_dir_all};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Environment variable with the folder of captures.
const FOLDER: &str = "TICKBOUND_CAPTURE";

/// Where a process writes.
#[derive(Default)]
pub struct Files {
    /// The folder of this process, once it is made.
    own: Option<PathBuf>,
    /// Something could not be written: nothing more is.
    pub failed: bool,
}

impl Files {
    /// Adds to a file in the folder of this process, which is made if it is not there. An error is
    /// reported once.
    pub fn append(&mut self, name: &str, bytes: &[u8]) {
        let Err(error) = self.try_append(name, bytes) else { return };
        if !std::mem::replace(&mut self.failed, true) {
            let rest = "nothing more of this process is captured";
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "tickbound capture: {error}; {rest}");
        }
    }

    fn try_append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let own = self.own.take().map_or_else(create, Ok)?;
        let path = own.join(name);
        self.own = Some(own);
        // Opened each time: a program may close files that it does not know.
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(bytes)).map_err(|error| named(&path, error))
    }
}

/// Makes the folder of a process, with the first number that is free.
fn create() -> io::Result<PathBuf> {
    let missing = || io::Error::other(format!("{FOLDER} names no folder; set it"));
    // The program may change its working directory later.
    let all = std::path::absolute(std::env::var_os(FOLDER).ok_or_else(missing)?)?;
    create_dir_all(&all).map_err(|error| named(&all, error))?;
    let mut number = 0_u32;
    loop {
        let own = all.join(format!("process{number}"));
        match create_dir(&own) {
            Ok(()) => return Ok(own),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(named(&own, error)),
        }
    }
}

/// An error with its path.
fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
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
    json + "\""
}
