//! Conditions as text.

use std::fmt::Write;

use itertools::Itertools;

use super::claim::{ClaimValue, Claimed, GuardClaim, RESERVED};
use crate::constant::{LESS, OPERATORS, constant_text};
use crate::constraint::{DataConstraint, Spelling};
use crate::symbol::Symbols;
use crate::syntax::lex::OWN;

/// A constraint as text that reads back for any words: as [`DataConstraint::text`], and words
/// that are none by their characters stand in back quotes.
pub fn text(constraint: &DataConstraint, symbols: &Symbols) -> String {
    constraint.spelled(&Spelling { symbols, word: own_word })
}

/// Claims as text, as rules write them or as this crate does.
pub(crate) fn claims_text(claims: &[Claimed], rules: bool) -> String {
    let claims: Vec<String> = claims.iter().map(|(_, c)| claim_text(c, rules)).collect();
    if claims.is_empty() { "true".into() } else { claims.join(if rules { ", " } else { " & " }) }
}

fn claim_text(claim: &GuardClaim, rules: bool) -> String {
    match claim {
        GuardClaim::Equal(a, b) => format!("{} = {}", value_text(a, rules), value_text(b, rules)),
        GuardClaim::Different(a, b) => {
            format!("{} != {}", value_text(a, rules), value_text(b, rules))
        }
        GuardClaim::Predicate(holds, p, values) => match &values[..] {
            [a, b] if p == LESS => {
                let sign = if *holds { LESS } else { ">=" };
                format!("{} {sign} {}", value_text(a, rules), value_text(b, rules))
            }
            _ => {
                let sign = if *holds { "" } else { "!" };
                format!("{sign}{}({})", word_text(p, rules), values_text(values, rules))
            }
        },
    }
}

fn values_text(values: &[ClaimValue], rules: bool) -> String {
    values.iter().map(|v| value_text(v, rules)).join(", ")
}

fn value_text(value: &ClaimValue, rules: bool) -> String {
    match value {
        ClaimValue::Word(word) => word_text(word, rules),
        ClaimValue::Constant(word) => constant_text(word),
        ClaimValue::Null => "null".into(),
        ClaimValue::Some(k) => format!("_{k}"),
        ClaimValue::Before(word) => format!("${}", word_text(word, rules)),
        ClaimValue::After(word) => format!("${}'", word_text(word, rules)),
        ClaimValue::Call(f, values) if OPERATORS.contains(&f.as_str()) => match &values[..] {
            [one] if f == "-" => format!("-{}", operand_text(one, rules)),
            [a, b] => format!("{} {f} {}", operand_text(a, rules), operand_text(b, rules)),
            _ => format!("{}({})", word_text(f, rules), values_text(values, rules)),
        },
        ClaimValue::Call(f, values) => {
            format!("{}({})", word_text(f, rules), values_text(values, rules))
        }
    }
}

/// A side of an operation, in brackets if it is one itself.
fn operand_text(value: &ClaimValue, rules: bool) -> String {
    let text = value_text(value, rules);
    match value {
        ClaimValue::Call(f, _) if OPERATORS.contains(&f.as_str()) => format!("({text})"),
        _ => text,
    }
}

/// A word as [`text`] writes it.
pub(crate) fn own_word(word: &str) -> String {
    word_text(word, false)
}

/// A word, in back quotes if it is none by its characters.
fn word_text(word: &str, rules: bool) -> String {
    // What rules say came from words.
    if rules || OWN.is_word(word) && !RESERVED.contains(&word) {
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
