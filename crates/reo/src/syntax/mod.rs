//! What the input languages share: texts, places in them, tokens, and the text of conditions.
//!
//! A [`Source`] is cut into tokens, each with its place, over which a cursor walks (`lex`);
//! [`condition`] reads and writes conditions. Errors are one line: `file:line:column`, what is
//! wrong, and the fix ([`WithPlace`]).

pub mod condition;
pub(crate) mod lex;

use std::fmt;

use thiserror::Error;
use tickbound_input::message::excerpt;

/// Longest text that is read, in bytes.
pub const MAX_TEXT: usize = 64 << 20;
/// Most states of all automata of a text.
pub(crate) const MAX_STATES: usize = 1 << 24;
/// Most 64-bit words of all labels of a text.
pub(crate) const MAX_LABELS: usize = 1 << 25;
/// Deepest nesting of brackets, blocks and calls in a text.
pub const MAX_NESTING: usize = 64;
/// Longest word, in bytes.
pub const MAX_WORD: usize = 1_000;

/// What to do about clocks of timed automata.
pub(crate) const CLOCKS: &str =
    "clocks are not read; say what waits with the component `timer` in a .treo or .reo file";

/// A text and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// How errors call it.
    pub name: String,
    /// Its path, best from the root of the file system: imports are looked for around it.
    pub path: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// The text of the file at `path`.
    pub fn new(path: &str, text: &str) -> Source {
        Source { name: path.into(), path: path.into(), text: text.into() }
    }

    /// The same, called `name` in errors.
    #[must_use]
    pub fn named(self, name: &str) -> Source {
        Source { name: name.into(), ..self }
    }

    /// Where the byte at `spot` is, as people count.
    pub fn place(&self, spot: Spot) -> Place {
        let mut end = spot.0.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Place { file: self.name.clone(), line, column }
    }

    /// `fault`, found at `spot` of this text.
    pub fn fault<F: fmt::Display>(&self, spot: Spot, fault: F) -> WithPlace<F> {
        WithPlace { place: self.place(spot), fault: Box::new(fault) }
    }
}

/// A byte of a text. All spots are equal, so that trees laid out in different ways are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spot(pub usize);

impl PartialEq for Spot {
    fn eq(&self, _: &Spot) -> bool {
        true
    }
}

impl Eq for Spot {}

/// A place in a text, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", excerpt(&self.file), self.line, self.column)
    }
}

/// A fault and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {fault}")]
pub struct WithPlace<F: fmt::Display> {
    /// Where.
    pub place: Place,
    /// What is wrong, and the fix.
    pub fault: Box<F>,
}

impl<F: fmt::Display> WithPlace<F> {
    /// The same place, the fault as another type.
    pub fn map<G: fmt::Display>(self, to: impl FnOnce(F) -> G) -> WithPlace<G> {
        WithPlace { place: self.place, fault: Box::new(to(*self.fault)) }
    }
}

/// What is read of a text, or why it is none of its language.
pub type Read<T> = Result<T, WithPlace<SyntaxFault>>;

/// Why a text is no sentence of its language.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SyntaxFault {
    /// Something else should stand here: what should, and what does.
    #[error("{1} where {0} should stand")]
    Expected(String, String),
    /// Text in quotes or a comment that does not end.
    #[error("{0} without an end; write {1}")]
    Unended(&'static str, &'static str),
    /// A word that stands where a component should begin.
    #[error("`{0}` begins no component; {1}")]
    Begin(String, String),
    /// Too deep.
    #[error("nested deeper than {MAX_NESTING}; split it")]
    Deep,
    /// Too long.
    #[error("{0} of {1} bytes; the longest allowed is {2}")]
    Long(&'static str, usize, usize),
    /// An integer out of range.
    #[error("{0} is too large; integers have at most 63 bits")]
    Integer(String),
    /// A section of an atom that is not read.
    #[error("`#{0}` is no section that is read here; {1}")]
    Section(String, String),
    /// A condition that cannot be read.
    #[error("{0}")]
    Condition(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        let source = Source::new("f", "ab\n\u{e9}x\n");
        let at = |spot| source.place(Spot(spot)).to_string();
        assert_eq!(
            [at(0), at(2), at(3), at(4), at(5), at(99)].join(" "),
            "f:1:1 f:1:3 f:2:1 f:2:1 f:2:2 f:3:1"
        );
    }
}
