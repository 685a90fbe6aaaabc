//! `#define` lines of a source.

use crate::lines::is_word;

/// What follows `#define` in a line, if it is one.
pub(super) fn definition(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")
}

/// The text with empty lines instead of definitions of these macros that are one line.
pub(super) fn without_definitions(text: &str, names: &[&String]) -> String {
    let defines = |line: &str| {
        let name = definition(line)?.trim_start().split(|c| !is_word(c)).next()?;
        (names.iter().any(|own| *own == name) && !line.ends_with('\\')).then_some(())
    };
    let lines = text.lines().map(|line| defines(line).map_or(line, |()| ""));
    lines.flat_map(|line| [line, "\n"]).collect()
}
