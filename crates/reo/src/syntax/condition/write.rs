//! Conditions as text.

use std::fmt::Write;

use super::claim::RESERVED;
use crate::constraint::{DataConstraint, Spelling};
use crate::symbol::Symbols;
use crate::syntax::lex::OWN;

/// A constraint as text that reads back for any words: as [`DataConstraint::text`], and words
/// that are none by their characters stand in back quotes.
pub fn text(constraint: &DataConstraint, symbols: &Symbols) -> String {
    constraint.spelled(&Spelling { symbols, word: word_text })
}

/// A word, in back quotes if it is none by its characters.
pub(crate) fn word_text(word: &str) -> String {
    if OWN.is_word(word) && !RESERVED.contains(&word) {
        return word.to_owned();
    }
    let mut out = String::from("`");
    for c in word.chars() {
        match c {
            '`' | '\\' => _ = write!(out, "\\{c}"),
            c if c.is_control() => _ = write!(out, "{}", c.escape_default()),
            c => out.push(c),
        }
    }
    out + "`"
}
