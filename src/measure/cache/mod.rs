//! The cache: what was measured, in the format of Kernel Tuner's caches, written as it comes.
//!
//! The file is one JSON object with `device_name`, `kernel_name`, `problem_size`,
//! `tune_params_keys`, `tune_params`, `objective` and, last, `cache`: an object with an entry for
//! each configuration ([`entry`]), one on a line. While it is written to, the two closing braces are
//! missing and a comma follows the last entry, as Kernel Tuner leaves it, so a kill costs at most
//! the line that was being written ([`text`]). Opening a cache fixes what is broken by writing a
//! whole new file beside it and renaming that, so a kill then costs nothing.
//!
//! A cache belongs to one device, one kernel and one problem size (the values of the inputs); another
//! one's is refused. An entry belongs to one source ([`Job::fingerprint`](super::job::Job)): entries
//! of an earlier version are measured again, and the file as it was is kept as `FILE.old`. A process
//! that writes holds a lock on the file.

pub mod entry;
pub mod text;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub use entry::Record;

/// What a cache is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The device's name.
    pub device: String,
    /// The driver's version.
    pub driver: String,
    /// The kernel's name.
    pub kernel: String,
    /// The values of the problem's inputs, in order.
    pub size: Vec<i64>,
    /// The parameters' names, in order.
    pub parameters: Vec<String>,
    /// For each parameter, values that it has in the space.
    pub values: Vec<BTreeSet<i64>>,
}

/// The version of the format, as Kernel Tuner counts.
const VERSION: &str = "1.1.0";

impl Head {
    fn json(&self) -> Map<String, Value> {
        let values = self.parameters.iter().cloned().zip(self.values.iter().map(|v| json!(v)));
        let head = json!({
            "schema_version": VERSION,
            "device_name": self.device,
            "driver_version": self.driver,
            "kernel_name": self.kernel,
            "problem_size": self.size,
            "tune_params_keys": self.parameters,
            "tune_params": values.collect::<Map<_, _>>(),
            "objective": "time",
        });
        head.as_object().cloned().unwrap_or_default()
    }

    /// Why a cache with this head is another one's; nothing if it is not.
    fn differs(&self, other: &Map<String, Value>) -> Option<String> {
        let ours = self.json();
        ["device_name", "kernel_name", "problem_size", "tune_params_keys"].into_iter().find_map(
            |field| {
                let theirs = other.get(field).unwrap_or(&Value::Null);
                let what = field.replace('_', " ");
                (*theirs != ours[field])
                    .then(|| format!("its {what} is {theirs}, not {}", ours[field]))
            },
        )
    }

    /// With the values that another head knows.
    fn join(&mut self, other: &Map<String, Value>) {
        for (name, values) in self.parameters.iter().zip(&mut self.values) {
            let theirs =
                other.get("tune_params").and_then(|p| p.get(name)).and_then(Value::as_array);
            values.extend(theirs.into_iter().flatten().filter_map(entry::integer));
        }
    }
}

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The file cannot be read or written.
    #[error("{}: {error}; choose another file with --cache", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is something else.
    #[error("{}: is no cache of measurements, or was cut within its first lines; remove it, or choose another file with --cache", path.display())]
    NoCache {
        /// The file.
        path: PathBuf,
    },
    /// It is about something else.
    #[error("{}: {why}; choose another file with --cache", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// Another process writes to it.
    #[error("{}: another process measures into it; wait for it, or choose another file with --cache", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

/// A cache that is written to.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    file: File,
    parameters: Vec<String>,
    entries: usize,
}

/// What was in a cache when it was opened.
#[derive(Debug, Default)]
pub struct Found {
    /// The results.
    pub records: Vec<Record>,
    /// What a person should know, a line each.
    pub notes: Vec<String>,
}

impl Cache {
    /// Opens a cache, or begins one. What `keep` does not want is left out.
    ///
    /// # Errors
    /// See [`CacheError`]; then the file is as it was.
    pub fn open(
        path: &Path,
        mut head: Head,
        keep: &dyn Fn(&Record) -> bool,
    ) -> Result<(Cache, Found), CacheError> {
        let mut found = Found::default();
        let mut kept = Vec::new();
        // Held until the new file is in place.
        let mut old = None;
        if path.exists() {
            let mut file =
                OpenOptions::new().read(true).write(true).open(path).map_err(at(path))?;
            let data = file.metadata().map_err(at(path))?;
            tickbound_input::regular(&data).map_err(at(path))?;
            lock(&file, path)?;
            let bytes = tickbound_input::within(tickbound_input::MOST, &mut file);
            let text = bytes.and_then(tickbound_input::decoded).map_err(at(path))?;
            if !text.trim().is_empty() {
                let parts = text::read(&text)
                    .ok_or_else(|| CacheError::NoCache { path: path.to_owned() })?;
                if let Some(why) = head.differs(&parts.head) {
                    return Err(CacheError::Other { path: path.to_owned(), why });
                }
                head.join(&parts.head);
                kept = sift(path, parts, &head.parameters, keep, &mut found);
                if found.notes.iter().any(|note| note.contains(".old")) {
                    std::fs::copy(path, beside(path, ".old")).map_err(at(path))?;
                }
            }
            old = Some(file);
        }
        let file = replace(path, &open_text(&head, &kept))?;
        drop(old);
        let cache =
            Cache { path: path.to_owned(), file, parameters: head.parameters, entries: kept.len() };
        Ok((cache, found))
    }

    /// Adds a result.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, record: &Record) -> Result<(), CacheError> {
        let (key, entry) = (json!(record.key()), record.entry(&self.parameters));
        self.entries += 1;
        // One write, so that a kill leaves a line or none, as a rule.
        self.file.write_all(format!("\n{key}: {entry},").as_bytes()).map_err(at(&self.path))
    }

    /// Closes the object, so that any reader of JSON can read it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn close(mut self) -> Result<(), CacheError> {
        let failed = at(&self.path);
        let close = |file: &mut File, comma: bool| {
            let length = file.metadata()?.len();
            file.set_len(length - u64::from(comma))?;
            file.write_all(b"}\n}")
        };
        close(&mut self.file, self.entries > 0).map_err(failed)
    }
}

/// The entries to keep, as text.
fn sift(
    path: &Path,
    parts: text::Parts,
    parameters: &[String],
    keep: &dyn Fn(&Record) -> bool,
    found: &mut Found,
) -> Vec<String> {
    let (name, mut stale) = (path.display(), 0);
    let mut kept = indexmap::IndexMap::new();
    for (key, value, text) in parts.entries {
        let record = Record::read(&value, parameters);
        match record {
            Some(record) if !keep(&record) => stale += 1,
            record => {
                kept.insert(key, (record, text));
            }
        }
    }
    if let [first, ..] = parts.broken[..] {
        let count = kept.len();
        found
            .notes
            .push(format!("{name}:{first}: cut short or broken; fixed, {count} entries are whole"));
    }
    if stale > 0 {
        found.notes.push(format!(
            "{name}: {stale} entries are of another version of the kernel and are measured again; {} has them",
            beside(path, ".old").display()
        ));
    }
    let mut texts = Vec::new();
    for (key, (record, text)) in kept {
        texts.push(format!("{}: {}", json!(key), text.replace('\n', " ")));
        found.records.extend(record);
    }
    texts
}

/// The text of a cache that is open.
fn open_text(head: &Head, entries: &[String]) -> String {
    let mut text = String::from("{");
    for (name, value) in head.json() {
        text += &format!("\n{}: {value},", json!(name));
    }
    text += "\n\"cache\": {";
    for entry in entries {
        text += &format!("\n{entry},");
    }
    text
}

/// Puts a whole new file in the place of another, and holds it locked.
fn replace(path: &Path, text: &str) -> Result<File, CacheError> {
    let new = beside(path, ".new");
    let mut file = OpenOptions::new().create(true).append(true).open(&new).map_err(at(&new))?;
    lock(&file, path)?;
    file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(at(&new))?;
    std::fs::rename(&new, path).map_err(at(path))?;
    Ok(file)
}

fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(extension);
    PathBuf::from(name)
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> CacheError + use<> {
    let path = path.to_owned();
    move |error| CacheError::File { path: path.clone(), error }
}

#[cfg(unix)]
fn lock(file: &File, path: &Path) -> Result<(), CacheError> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(CacheError::Locked { path: path.to_owned() }),
        // A file system without locks: then there is none.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn lock(_: &File, _: &Path) -> Result<(), CacheError> {
    Ok(())
}
