//! Conditions as text.

use std::fmt::Write;

use itertools::Itertools;

use super::claim::{Claim, Claimed, RESERVED, Value};
use crate::constant::{LESS, OPERATORS, constant_text};
use crate::constraint::{Constraint, Literal, Term};
use crate::symbol::Symbols;
use crate::syntax::lex::OWN;

/// A constraint as text that reads back, whatever its words: as [`Constraint::text`], and words
/// that are none by their characters stand in back quotes.
pub fn text(constraint: &Constraint, symbols: &Symbols) -> String {
    let literals = constraint.literals().iter();
    let literals: Vec<String> =
        literals.map(|l| claim_text(&claim_of(l, symbols), false)).collect();
    if literals.is_empty() { "true".into() } else { literals.join(" & ") }
}

fn claim_of(literal: &Literal, symbols: &Symbols) -> Claim {
    let value = |t: &Term| value_of(t, symbols);
    match literal {
        Literal::Equal(a, b) => Claim::Equal(value(a), value(b)),
        Literal::Different(a, b) => Claim::Different(value(a), value(b)),
        Literal::Predicate(holds, p, terms) => {
            let terms = terms.iter().map(value).collect();
            Claim::Predicate(*holds, symbols.word(*p).to_owned(), terms)
        }
    }
}

fn value_of(term: &Term, symbols: &Symbols) -> Value {
    let word = |symbol| symbols.word(symbol).to_owned();
    match term {
        Term::Constant(c) => Value::Constant(word(*c)),
        Term::Datum(name) => Value::Word(word(name.0)),
        Term::Before(cell) => Value::Before(word(cell.0)),
        Term::After(cell) => Value::After(word(cell.0)),
        Term::Some(k) => Value::Some(*k),
        Term::Call(f, terms) => {
            Value::Call(word(*f), terms.iter().map(|t| value_of(t, symbols)).collect())
        }
    }
}

/// Claims as text, as rules write them or as this crate does.
pub(crate) fn claims_text(claims: &[Claimed], rules: bool) -> String {
    let claims: Vec<String> = claims.iter().map(|(_, c)| claim_text(c, rules)).collect();
    if claims.is_empty() { "true".into() } else { claims.join(if rules { ", " } else { " & " }) }
}

fn claim_text(claim: &Claim, rules: bool) -> String {
    match claim {
        Claim::Equal(a, b) => format!("{} = {}", value_text(a, rules), value_text(b, rules)),
        Claim::Different(a, b) => format!("{} != {}", value_text(a, rules), value_text(b, rules)),
        Claim::Predicate(holds, p, values) => match &values[..] {
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

fn values_text(values: &[Value], rules: bool) -> String {
    values.iter().map(|v| value_text(v, rules)).join(", ")
}

fn value_text(value: &Value, rules: bool) -> String {
    match value {
        Value::Word(word) => word_text(word, rules),
        Value::Constant(word) => constant_text(word),
        Value::Null => "null".into(),
        Value::Some(k) => format!("_{k}"),
        Value::Before(word) => format!("${}", word_text(word, rules)),
        Value::After(word) => format!("${}'", word_text(word, rules)),
        Value::Call(f, values) if OPERATORS.contains(&f.as_str()) => match &values[..] {
            [one] if f == "-" => format!("-{}", operand_text(one, rules)),
            [a, b] => format!("{} {f} {}", operand_text(a, rules), operand_text(b, rules)),
            _ => format!("{}({})", word_text(f, rules), values_text(values, rules)),
        },
        Value::Call(f, values) => {
            format!("{}({})", word_text(f, rules), values_text(values, rules))
        }
    }
}

/// A side of an operation, in brackets if it is one itself.
fn operand_text(value: &Value, rules: bool) -> String {
    let text = value_text(value, rules);
    match value {
        Value::Call(f, _) if OPERATORS.contains(&f.as_str()) => format!("({text})"),
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
