//! Numbers and lists of `tests/layout.toml`, and the comparison with what is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use toml_edit::{DocumentMut, Item};

/// A violation and its place.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Debug)]
pub struct Offence {
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl Offence {
    /// A violation at a line of a file.
    pub fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Offence { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// The file of ceilings.
fn settings_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/layout.toml")
}

/// Reads and rewrites of the file of ceilings exclude each other.
static FILE: Mutex<()> = Mutex::new(());

/// The text of the file of ceilings.
fn settings_text() -> String {
    std::fs::read_to_string(settings_path()).expect("tests/layout.toml")
}

/// The value of a key at the top of the file, or of a table.
fn setting(key: &str) -> Item {
    let _guard = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let settings: DocumentMut = settings_text().parse().expect("tests/layout.toml is TOML");
    settings.get(key).cloned().unwrap_or_else(|| panic!("tests/layout.toml has no `{key}`"))
}

/// The texts of a list.
fn texts(item: &Item, key: &str) -> BTreeSet<String> {
    let list = item.as_array().unwrap_or_else(|| panic!("`{key}` is a list of texts"));
    list.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

/// A list of texts at the top of the file.
pub fn list(key: &str) -> BTreeSet<String> {
    texts(&setting(key), key)
}

/// A table of lists.
pub fn lists(table: &str) -> BTreeMap<String, BTreeSet<String>> {
    let item = setting(table);
    let entries = item.as_table().expect("a table").iter();
    entries.map(|(key, value)| (key.to_owned(), texts(value, key))).collect()
}

/// A table of numbers.
pub fn numbers(table: &str) -> BTreeMap<String, usize> {
    let item = setting(table);
    let number = |value: &Item| usize::try_from(value.as_integer()?).ok();
    let entries = item.as_table().expect("a table").iter();
    let number = |(key, value)| (str::to_owned(key), number(value).expect("a number"));
    entries.map(number).collect()
}

/// Compares violations with a ceiling; the error says what to do.
pub fn compare(
    table: &str,
    key: &str,
    fix: &str,
    offences: &[Offence],
    changed: &BTreeSet<String>,
) -> Result<(), String> {
    let (measured, ceiling) = (offences.len(), numbers(table).get(key).copied());
    match judge(measured, ceiling) {
        Ok(()) => Ok(()),
        Err(Change::Lower) if std::env::var_os("WRITE_LAYOUT").is_some_and(|v| v == "1") => {
            write_lower(table, key, measured);
            Ok(())
        }
        Err(Change::Lower) => Err(format!(
            "{key}: {measured} now; set the ceiling to {measured} in tests/layout.toml, [{table}] \
             (WRITE_LAYOUT=1 does it)"
        )),
        Err(Change::Enter) => {
            Err(format!("{key}: enter `{key} = {measured}` in tests/layout.toml, [{table}]"))
        }
        Err(Change::Repair(ceiling)) => Err(format!(
            "{key}: {measured}, more than the ceiling {ceiling}. {fix}\n{}",
            listing(offences, changed)
        )),
    }
}

/// What must change where a measure and its ceiling differ.
#[derive(PartialEq, Eq, Debug)]
pub enum Change {
    /// The source: it is above this ceiling.
    Repair(usize),
    /// The ceiling: it is above the measure.
    Lower,
    /// The file: it has no ceiling.
    Enter,
}

/// Compares a measure with its ceiling.
pub fn judge(measured: usize, ceiling: Option<usize>) -> Result<(), Change> {
    match ceiling {
        None => Err(Change::Enter),
        Some(ceiling) if measured > ceiling => Err(Change::Repair(ceiling)),
        Some(ceiling) if measured < ceiling => Err(Change::Lower),
        Some(_) => Ok(()),
    }
}

/// All violations, sorted: first those in files that differ from the last commit.
pub fn listing(offences: &[Offence], changed: &BTreeSet<String>) -> String {
    let mut sorted: Vec<&Offence> = offences.iter().collect();
    sorted.sort_unstable();
    let (near, far): (Vec<_>, Vec<_>) = sorted.into_iter().partition(|o| changed.contains(&o.path));
    let mut text = String::new();
    for (heading, part) in [("in files changed since the last commit", near), ("elsewhere", far)] {
        if !part.is_empty() {
            let lines: Vec<String> = part.iter().map(|offence| format!("  {offence}\n")).collect();
            text += &format!(" {heading}:\n{}", lines.concat());
        }
    }
    text
}

/// Lowers a ceiling in the file.
fn write_lower(table: &str, key: &str, to: usize) {
    let _guard = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = lowered(&settings_text(), table, key, to).expect("the line of the ceiling");
    std::fs::write(settings_path(), text).expect("tests/layout.toml can be written");
}

/// The text with a lower number on one line; none if no line has a number that is higher.
pub fn lowered(text: &str, table: &str, key: &str, to: usize) -> Option<String> {
    let (mut inside, mut found, mut result) = (false, false, String::new());
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') {
            inside = line.trim_end() == format!("[{table}]");
        }
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let digits: String =
            value.trim_start().chars().take_while(|c| c.is_ascii_digit()).collect();
        let higher = digits.parse::<usize>().is_ok_and(|number| number > to);
        if inside && higher && name.trim().trim_matches('"') == key {
            result += &format!("{name}={}", value.replacen(&digits, &to.to_string(), 1));
            found = true;
        } else {
            result += line;
        }
    }
    found.then_some(result)
}
