//! The cache: what was measured, in the format of Kernel Tuner's caches, written as it comes.
//!
//! The file is one JSON object with `device_name`, `kernel_name`, `problem_size`,
//! `tune_params_keys`, `tune_params`, `objective` and, last, `cache`: an object with an entry for
//! each configuration ([`entry`]), one on a line. While it is written to, the two closing braces
//! are missing and a comma follows the last entry, as Kernel Tuner leaves it, so a kill costs at
//! most the line that was being written ([`text`]).
//!
//! What was measured is never lost, and never silently wrong:
//!
//! - Opening a cache writes a whole new file beside it and renames that, so a kill or a full disk
//!   then costs nothing. An entry that is added is synced; one that cannot be written is taken
//!   back, and the error states it.
//! - One process at a time writes to a cache, under any of its names. The lock lies on
//!   `FILE.lock`, its own file.
//! - An entry counts only if its key is its parameters' values and its times are numbers above 0. A
//!   byte that is none of UTF-8, or anything else that is no entry, costs its line and no other
//!   ([`text`]). Of several entries with one key the last counts.
//! - A note lists what is left out, with its lines, and the file as it was is kept as
//!   `FILE.old`.
//!
//! A cache belongs to one device, one kernel and one problem size (the values of the inputs);
//! another one's is refused. An entry belongs to one source
//! ([`Job::fingerprint`](super::job::Job)): entries of earlier ones are left out and measured
//! again.

pub mod entry;
mod error;
mod file;
pub mod text;

use std::collections::BTreeSet;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use tickbound_os::output::Disk;

pub use entry::CacheRecord;
pub use error::CacheError;
pub use file::kept_beside;
use file::{Held, Log};

/// The file where the times of a problem are kept unless another one is named: after the kernel,
/// the values of its inputs, and the device as options name it.
pub fn usual_name(problem: &tickbound_model::Problem, device: &str) -> String {
    let entry = problem.source.as_ref().map_or("kernel", |s| s.entry.as_str());
    let inputs = problem.inputs.values().map(|value| format!("{value}"));
    let size = inputs.collect::<Vec<_>>().join("x");
    let size = if size.is_empty() { size } else { format!("-{size}") };
    format!("{entry}{size}-{}.cache.json", device.replace(':', "-"))
}

/// What a cache is about.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheHead {
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

impl CacheHead {
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
                let what = field.replace('_', " ");
                let Some(theirs) = other.get(field) else {
                    return Some(format!("the line with its {what} is missing or broken; fix it"));
                };
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

/// A cache that is written to.
#[derive(Debug)]
pub struct Cache {
    log: Log,
    head: CacheHead,
    keys: BTreeSet<String>,
    /// An entry was added whose key was there.
    repeats: bool,
}

/// What was in a cache when it was opened.
#[derive(Debug, Default)]
pub struct CacheContents {
    /// The results.
    pub records: Vec<CacheRecord>,
    /// What a user should know, a line each.
    pub notes: Vec<String>,
}

impl Cache {
    /// Opens a cache, or begins one. What `keep` does not want is left out.
    ///
    /// # Errors
    /// See [`CacheError`]; then the file is as it was, or all that was in it is in it and in
    /// `FILE.old`.
    pub fn open(
        path: &Path,
        head: CacheHead,
        keep: &dyn Fn(&CacheRecord) -> bool,
    ) -> Result<(Cache, CacheContents), CacheError> {
        Cache::open_on(Disk::real(), path, head, keep)
    }

    fn open_on(
        disk: Disk,
        path: &Path,
        mut head: CacheHead,
        keep: &dyn Fn(&CacheRecord) -> bool,
    ) -> Result<(Cache, CacheContents), CacheError> {
        if let Some(name) = entry::clash(&head.parameters) {
            return Err(CacheError::Name(name.clone()));
        }
        let mut found = CacheContents::default();
        let mut kept = Vec::new();
        let held = Held::take(disk, path, &mut found.notes)?;
        let bytes = held.read()?.unwrap_or_default();
        let content = text::decoded(&bytes);
        if !content.trim().is_empty() {
            let parts = text::read(&content).ok_or_else(|| CacheError::NoCache(path.to_owned()))?;
            if let Some(why) = head.differs(&parts.head) {
                return Err(CacheError::File(path.to_owned(), why));
            }
            head.join(&parts.head);
            let sifted = Sifted::new(parts, &head.parameters, keep);
            if let Some(notes) = sifted.notes(&held) {
                held.keep_old(&bytes)?;
                found.notes.extend(notes);
            }
            (kept, found.records) = (sifted.texts, sifted.records);
        }
        let log = held.replace(&open_text(&head, &kept))?;
        let keys = found.records.iter().map(CacheRecord::key).collect();
        Ok((Cache { log, head, keys, repeats: false }, found))
    }

    /// Adds a result, which counts instead of an earlier one with its key. It is on the disk when
    /// this returns.
    ///
    /// # Errors
    /// The file cannot be written; then nothing of the result stays in it.
    pub fn append(&mut self, record: &CacheRecord) -> Result<(), CacheError> {
        let (key, entry) = (record.key(), record.entry(&self.head.parameters));
        self.log.add(&format!("\n{}: {entry},", json!(key)))?;
        self.repeats |= !self.keys.insert(key);
        Ok(())
    }

    /// Closes the object, so that any reader of JSON can read it, with one entry for each key.
    ///
    /// # Errors
    /// The file cannot be written; all entries stay.
    pub fn close(self) -> Result<(), CacheError> {
        let mut log = self.log;
        if self.repeats {
            let held = log.held();
            let content = text::decoded(&held.read()?.unwrap_or_default());
            let parts =
                text::read(&content).ok_or_else(|| CacheError::NoCache(held.shown.clone()))?;
            let last = Sifted::new(parts, &self.head.parameters, &|_| true);
            log = held.replace(&open_text(&self.head, &last.texts))?;
        }
        // Without the last comma.
        log.end(u64::from(!self.keys.is_empty()), "}\n}")
    }
}

#[derive(Debug, Default)]
struct Sifted {
    /// Entries that are kept, as lines without the comma.
    texts: Vec<String>,
    records: Vec<CacheRecord>,
    /// Lines with something that is no entry.
    broken: Vec<usize>,
    /// Lines with entries that cannot be right.
    wrong: Vec<usize>,
    /// Lines with entries whose key comes once more.
    earlier: Vec<usize>,
    /// Lines with entries of another version of the kernel.
    stale: Vec<usize>,
}

impl Sifted {
    fn new(
        parts: text::CacheParts,
        parameters: &[String],
        keep: &dyn Fn(&CacheRecord) -> bool,
    ) -> Sifted {
        let mut sifted = Sifted { broken: parts.broken, ..Sifted::default() };
        let mut kept: IndexMap<Vec<i64>, (usize, String, CacheRecord)> = IndexMap::new();
        for text::CacheLine { line, key, value, text } in parts.entries {
            let record = CacheRecord::read(&value, parameters);
            let values = entry::key_values(&key);
            match record.filter(|record| values.as_ref() == Some(&record.values)) {
                None => sifted.wrong.push(line),
                Some(record) if !keep(&record) => sifted.stale.push(line),
                Some(record) => {
                    let text = format!("{}: {}", json!(key), text.replace('\n', " "));
                    let earlier = kept.insert(record.values.clone(), (line, text, record));
                    sifted.earlier.extend(earlier.map(|(line, ..)| line));
                }
            }
        }
        for (_, text, record) in kept.into_values() {
            sifted.texts.push(text);
            sifted.records.push(record);
        }
        sifted
    }

    /// What was left out; nothing if that is nothing.
    fn notes(&self, held: &Held) -> Option<Vec<String>> {
        let (name, old, whole) = (held.shown.display(), held.old(), self.texts.len());
        let note = |lines: &Vec<usize>, what: &dyn Fn(usize) -> String| {
            let first = lines.first()?;
            let lines_too =
                if lines.len() > 1 { format!(" ({})", listed(lines)) } else { String::new() };
            let what = what(lines.len());
            Some(format!(
                "{name}:{first}: {what}{lines_too}; {} has the file as it was",
                old.display()
            ))
        };
        let notes = [
            note(&self.broken, &|_| {
                format!("cut short or broken; fixed, {whole} entries are whole")
            }),
            note(&self.wrong, &|n| {
                format!(
                    "{n} entries are no results: a time that is not above 0, or a key of other \
                     values; left out"
                )
            }),
            note(&self.earlier, &|n| {
                format!("{n} entries come once more, where they count; left out here")
            }),
            note(&self.stale, &|n| {
                format!("{n} entries are of another version of the kernel and are measured again")
            }),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        (!notes.is_empty()).then_some(notes)
    }
}

/// Lines, at most ten of them.
fn listed(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(10).map(usize::to_string).collect();
    let more = lines.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("lines {}{more}", shown.join(", "))
}

fn open_text(head: &CacheHead, entries: &[String]) -> String {
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

#[cfg(test)]
mod tests;
