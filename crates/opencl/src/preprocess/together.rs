//! Many copies of one source in one run of the preprocessor, as each start takes long.
//!
//! Each copy stands under its own symbols. So that it finds what it would find alone, every macro
//! that the source or a file it includes could define or undefine is put aside before it and taken
//! back after it (`push_macro`, `pop_macro`). If it is not sure to be the same as alone, each copy
//! is expanded by itself.

use std::collections::BTreeSet;
use std::path::Path;

use super::text;
use crate::libclang::HEADER;
use crate::lines::{is_word, quote};

/// In front of a copy, and behind it.
const BEGIN: &str = "# 1 \"<begin>\"";
const END: &str = "# 1 \"<end>\"";

/// The last word of a copy. A call of a macro that the source leaves open would take it in.
const LAST: &str = "tickbound_end_of_copy";

/// Words of what lasts from one copy to the next, or differs, even with macros put aside.
const LASTING: &str = "\
    push_macro pop_macro poison once import assert unassert system_header __COUNTER__ \
    __INCLUDE_LEVEL__ __TIMESTAMP__ dependency";

/// Names that cannot be put aside.
const FIXED: [&str; 7] =
    ["defined", "__VA_ARGS__", "__VA_OPT__", "__FILE__", "__LINE__", "__DATE__", "__TIME__"];

/// The files of a source, and the macros that they may define.
pub(super) struct Copies {
    names: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl Copies {
    /// For a source; `None` if copies of it cannot be separated.
    pub(super) fn new(source: &str) -> Option<Copies> {
        let mut copies = Copies { names: BTreeSet::new(), files: BTreeSet::new() };
        copies.gather(source)?;
        Some(copies)
    }

    /// The names on lines with a `define` or an `undef`: those of macros are among them.
    fn gather(&mut self, text: &str) -> Option<()> {
        let joined = text.replace("\\\r\n", "").replace("\\\n", "");
        let unclear = ["\\u", "\\U", "??", "<begin>", "<end>", LAST];
        if unclear.iter().any(|part| joined.contains(part)) {
            return None;
        }
        let mut going_on = false;
        for line in joined.lines() {
            let words: Vec<&str> =
                line.split(|c| !is_word(c) && c != '$').filter(|w| !w.is_empty()).collect();
            if words.iter().any(|word| LASTING.split(' ').any(|lasting| lasting == *word)) {
                return None;
            }
            if going_on || words.iter().any(|word| ["define", "undef"].contains(word)) {
                let may_be = words.iter().filter(|w| !w.starts_with(|c: char| c.is_ascii_digit()));
                let own = may_be.filter(|w| !FIXED.contains(w));
                self.names.extend(own.map(|word| (*word).to_owned()));
                // A comment in a directive may end on another line.
                going_on = match (line.rfind("/*"), line.rfind("*/")) {
                    (Some(begin), Some(end)) => begin >= end,
                    (Some(_), None) => true,
                    (None, Some(_)) => false,
                    (None, None) => going_on,
                };
            }
        }
        Some(())
    }

    /// All copies, each with its macros.
    pub fn text(&self, name: &str, source: &str, copies: &[Vec<(String, String)>]) -> String {
        let mut text = String::new();
        for macros in copies {
            let names = macros.iter().map(|(name, _)| name).filter(|n| !self.names.contains(*n));
            let names: Vec<&String> = names.chain(&self.names).collect();
            let each = |what: &str| -> String {
                names.iter().map(|name| format!("#pragma {what}_macro(\"{name}\")\n")).collect()
            };
            let defines: String =
                macros.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
            let (push, pop) = (each("push"), each("pop"));
            let first = format!("# 1 {}", quote(name));
            text += &format!("{BEGIN}\n{push}{defines}{first}\n{source}\n{END}\n{LAST}\n{pop}");
        }
        text
    }

    /// Takes up the files that were read; `None` if one is unclear, else whether there were any.
    pub(super) fn more_files(&mut self, said: &str, folder: &Path, own: &[&str]) -> Option<bool> {
        let files: BTreeSet<&str> =
            said.lines().filter_map(text::marker).map(|(_, file)| file).collect();
        let mut more = false;
        for file in files {
            let own = own.iter().any(|name| file == quote(name).trim_matches('"'));
            let header = Path::new(file).file_name().is_some_and(|name| name == HEADER);
            if file.starts_with('<') || own || header || self.files.contains(file) {
                continue;
            }
            let path = file.replace("\\\"", "\"").replace("\\\\", "\\");
            let bytes = tickbound_input::bytes(folder.join(path));
            self.gather(&String::from_utf8_lossy(&bytes.ok()?))?;
            self.files.insert(file.to_owned());
            more = true;
        }
        Some(more)
    }
}

/// What each copy expands to; `None` if it is unclear which is which.
pub(super) fn apart(said: &str, copies: usize) -> Option<Vec<&str>> {
    let begin = format!("{BEGIN}\n");
    let parts: Option<Vec<&str>> = said.split(&begin).skip(1).map(up_to_end).collect();
    parts.filter(|parts| parts.len() == copies)
}

/// A copy up to its end.
fn up_to_end(part: &str) -> Option<&str> {
    let (text, rest) = part.split_once(&format!("\n{END}\n"))?;
    let last = rest.lines().find(|line| !line.trim().is_empty());
    (last == Some(LAST) && !rest.contains(END)).then_some(text)
}
