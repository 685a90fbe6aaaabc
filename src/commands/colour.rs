//! Colour on terminals: the heading of an answer, and the words that say how much is known.
//!
//! Nowhere else: what is piped, or written into files, is plain. `NO_COLOR`
//! (<https://no-color.org>) turns it off.

use std::ffi::OsStr;
use std::io::IsTerminal;

/// How a line is begun that states how much is known, and the number of its colour as terminals
/// have them (ECMA-48, SGR).
const STATUS: [(&str, &str); 14] = [
    ("least time:", GOOD),
    ("least worst case:", GOOD),
    ("worst case:", GOOD),
    ("proved in the model:", GOOD),
    ("holds", GOOD),
    ("not proved:", OPEN),
    ("not confirmed:", OPEN),
    ("no configuration satisfies the constraints", OPEN),
    ("stopped by:", OPEN),
    ("stopped before", OPEN),
    ("not checked:", OPEN),
    ("trusted:", OPEN),
    ("rejected:", BAD),
    ("engines disagree", BAD),
];
const GOOD: &str = "1;32";
const OPEN: &str = "1;33";
const BAD: &str = "1;31";
/// The heading: bold.
const HEADING: &str = "1";

/// Whether standard output shows colour, and the user wants it.
pub(super) fn is_wanted() -> bool {
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    std::io::stdout().is_terminal() && allowed(&variable("NO_COLOR"), &variable("TERM"))
}

fn allowed(no_color: &OsStr, terminal: &OsStr) -> bool {
    no_color.is_empty() && terminal != "dumb"
}

/// An answer with its heading and its status in colour. Its text is not changed.
pub(super) fn painted(text: &str) -> String {
    let paint = |part: &str, colour: &str| format!("\u{1b}[{colour}m{part}\u{1b}[0m");
    let mut out = String::with_capacity(text.len() + 64);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let words = line.trim_end_matches('\n');
        let known = STATUS.iter().find(|(begin, _)| words.starts_with(begin));
        match known {
            Some((begin, colour)) => {
                out += &paint(begin, colour);
                out += &line[begin.len()..];
            }
            None if number == 0 && !words.is_empty() => {
                out += &paint(words, HEADING);
                out += &line[words.len()..];
            }
            None => out += line,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_status() {
        let text = "a kernel, 4 configurations\nleast time: 5 ticks at A=1\nties: A=2\nproved in \
            the model: by Z3\n";
        let expected = "\u{1b}[1ma kernel, 4 configurations\u{1b}[0m\n\u{1b}[1;32mleast \
            time:\u{1b}[0m 5 ticks at A=1\n\
                        ties: A=2\n\u{1b}[1;32mproved in the model:\u{1b}[0m by Z3\n";
        assert_eq!(painted(text), expected);
        assert_eq!(painted("rejected:   no\n"), "\u{1b}[1;31mrejected:\u{1b}[0m   no\n");
        assert_eq!(painted(""), "");
    }

    #[test]
    fn who_wants_none() {
        assert!(allowed("".as_ref(), "xterm".as_ref()));
        assert!(!allowed("1".as_ref(), "xterm".as_ref()));
        assert!(!allowed("".as_ref(), "dumb".as_ref()));
    }
}
