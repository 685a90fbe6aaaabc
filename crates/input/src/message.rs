//! What error messages are made of: the nearest known name for an unknown one, and text on
//! one line.
//!
//! ```
//! use tickbound_input::message::{one_line, suggest};
//!
//! assert_eq!(suggest("synk", ["sync", "lossy"]), "did you mean `sync`?");
//! assert_eq!(suggest("router", ["sync", "lossy"]), "known here: sync, lossy");
//! assert_eq!(one_line("two\nlines"), "two lines");
//! ```

use std::borrow::Cow;

/// Longest name that is compared with others, in bytes: the comparison takes the product of
/// lengths.
const MAX_NAME: usize = 64;
/// Most known names that a name is compared with.
const MAX_COMPARED: usize = 1_000;
/// Most known names that a message lists.
const MAX_LISTED: usize = 12;
/// Longest excerpt, in characters.
const MAX_EXCERPT: usize = 200;

/// A whole number for people: in groups of three digits where it has five or more.
///
/// ```
/// assert_eq!(tickbound_input::message::grouped(6_174_656), "6,174,656");
/// assert_eq!(tickbound_input::message::grouped(-12_345), "-12,345");
/// assert_eq!(tickbound_input::message::grouped(1024), "1024");
/// ```
pub fn grouped(number: impl std::fmt::Display) -> String {
    let text = number.to_string();
    let (sign, digits) = text.split_at(text.len() - text.trim_start_matches('-').len());
    if digits.len() < 5 {
        return text;
    }
    let mut out = sign.to_owned();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The known name that is probably meant by `name`, if one is near: at most a third of its letters
/// differ. Case, blanks and punctuation do not count, so that `GTX 570` is `gtx-570`.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
    let wanted = plain(name);
    let short = |k: &&str| k.len() <= MAX_NAME && name.len() <= MAX_NAME;
    let near = known.into_iter().filter(short).take(MAX_COMPARED).filter_map(|k| {
        let letters = plain(k);
        let distance = strsim::damerau_levenshtein(&wanted, &letters);
        let near = distance <= 1.max(k.len() / 3) && distance < letters.len();
        near.then_some((distance, k))
    });
    near.min().map(|(_, k)| k)
}

/// The fix for a name that is not known: the nearest known one, or some of the known ones.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    suggest_or(name, known.iter().copied(), || match &known[..] {
        [] => "there is none here".into(),
        [some @ .., _] if some.len() >= MAX_LISTED => {
            format!("known here: {}, ...", some[..MAX_LISTED].join(", "))
        }
        all => format!("known here: {}", all.join(", ")),
    })
}

/// As [`suggest`], with another text where no known name is near.
pub fn suggest_or<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(name, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// Whether a character does something to a terminal instead of being shown: control characters, and
/// those that change the direction of writing.
fn acts(c: char) -> bool {
    let direction =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || direction
}

/// `text` with a blank for each line break and tabulator; other characters that act on a terminal
/// are written as `\u{1b}`.
pub fn one_line(text: &str) -> String {
    printable(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// `text` in which characters that act on a terminal, but for line breaks and tabulators, are
/// written as `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.escape_unicode().to_string())
}

/// As [`printable`] for JSON, which stays the same JSON: such characters are written as `\u001b`.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    escaped(text, |c| format!("\\u{:04x}", u32::from(c)))
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    let hidden = |c: char| acts(c) && c != '\n' && c != '\t';
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if hidden(c) { escape(c) } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// The first 200 characters of `text`, on one line: for text from files, which may be long.
pub fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(MAX_EXCERPT).collect();
    one_line(&short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_named() {
        assert_eq!(nearest("synk", ["lossy", "sync"]), Some("sync"));
        assert_eq!(nearest("GTX 570", ["a100", "gtx-570"]), Some("gtx-570"));
        assert_eq!(nearest("b", ["a"]), None);
        assert_eq!(nearest("", ["a", "bc"]), None);
        assert_eq!(nearest("!", ["?", "<="]), None);
        assert_eq!(nearest("stra\u{df}e", ["strase"]), Some("strase"));
        assert_eq!(nearest(&"a".repeat(65), ["a".repeat(64).as_str()]), None);
    }

    #[test]
    fn names_are_listed_where_none_is_near() {
        assert_eq!(suggest("router", ["sync", "lossy"]), "known here: sync, lossy");
        assert_eq!(suggest("x", []), "there is none here");
        assert_eq!(suggest_or("x", ["sync"], || "write `sync`".into()), "write `sync`");
        let many: Vec<String> = (100..113).map(|k| k.to_string()).collect();
        let listed = suggest("x", many.iter().map(String::as_str));
        assert!(listed.ends_with("110, 111, ..."), "{listed}");
        let listed = suggest("x", many[1..].iter().map(String::as_str));
        assert!(listed.ends_with("111, 112"), "{listed}");
    }

    #[test]
    fn what_acts_on_a_terminal_is_shown() {
        assert_eq!(printable("a\tb\n"), "a\tb\n");
        assert_eq!(printable("\u{1b}[2J\u{202e}x\r"), "\\u{1b}[2J\\u{202e}x\\u{d}");
        assert_eq!(one_line("a\nb\u{1b}c\u{202e}d"), "a b\\u{1b}c\\u{202e}d");
        assert_eq!(printable_json("[\"\u{7f}\u{9b}\u{202e}\"]\n"), "[\"\\u007f\\u009b\\u202e\"]\n");
    }

    #[test]
    fn text_is_on_one_line() {
        assert_eq!(one_line("a\r\n\tb"), "a   b");
        assert_eq!(excerpt(&"\u{e9}\n".repeat(200)), "\u{e9} ".repeat(100));
    }
}
