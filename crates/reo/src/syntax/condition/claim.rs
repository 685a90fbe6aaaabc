//! What a condition says.

use crate::constant::{LESS, integer, worked_out};
use crate::constraint::{Constraint, Literal, Term};
use crate::symbol::{Cell, Symbols};
use crate::syntax::Spot;

/// Words that are no names.
pub(super) const RESERVED: [&str; 3] = ["true", "false", "null"];

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A word: a name, or what the language makes of it.
    Word(String),
    /// A constant.
    Constant(String),
    /// No value: an empty cell.
    Null,
    /// Some value, the same wherever the number stands.
    Some(u32),
    /// A cell before the step.
    Before(String),
    /// A cell after the step.
    After(String),
    /// A function of values.
    Call(String, Vec<Value>),
}

/// Something that holds in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Both are the same.
    Equal(Value, Value),
    /// They are not.
    Different(Value, Value),
    /// A predicate holds or fails.
    Predicate(bool, String, Vec<Value>),
}

/// A claim and where it stands.
pub type Claimed = (Spot, Claim);

impl Claim {
    /// `left sign right` for a sign of [`crate::constant::RELATIONS`]. Of two values the one is
    /// less or it is not: so `>=` is that `<` fails.
    pub(crate) fn relation(sign: &str, left: Value, right: Value) -> Claim {
        let (holds, one, other) = match sign {
            "<" => (true, left, right),
            ">" => (true, right, left),
            "<=" => (false, right, left),
            _ => (false, left, right),
        };
        Claim::Predicate(holds, LESS.to_owned(), vec![one, other]).decided()
    }

    /// The claim; where it compares two integers with [`LESS`], one that always or never holds.
    pub(crate) fn decided(self) -> Claim {
        let Claim::Predicate(holds, p, values) = &self else { return self };
        let [Value::Constant(a), Value::Constant(b)] = &values[..] else { return self };
        let (Some(x), Some(y)) = (integer(a), integer(b)) else { return self };
        if p != LESS {
            return self;
        }
        let same = Value::Constant(a.clone());
        if (x < y) == *holds {
            Claim::Equal(same.clone(), same)
        } else {
            Claim::Different(same.clone(), same)
        }
    }

    /// The claim as a literal; `word` tells what a word is, `cell` which cell it is as one.
    pub(crate) fn literal(
        &self,
        symbols: &mut Symbols,
        word: &impl Fn(&str, &mut Symbols) -> Term,
        cell: &impl Fn(&str, &mut Symbols) -> Cell,
    ) -> Literal {
        let mut term = |value: &Value| value.term(symbols, word, cell);
        match self {
            Claim::Equal(a, b) => Literal::Equal(term(a), term(b)),
            Claim::Different(a, b) => Literal::Different(term(a), term(b)),
            Claim::Predicate(holds, p, values) => {
                let terms = values.iter().map(term).collect();
                Literal::Predicate(*holds, symbols.intern(p), terms)
            }
        }
    }

    /// The values on its sides, or its arguments.
    pub fn values(&self) -> Vec<&Value> {
        match self {
            Claim::Equal(a, b) | Claim::Different(a, b) => vec![a, b],
            Claim::Predicate(_, _, values) => values.iter().collect(),
        }
    }
}

impl Value {
    /// `sign` of values: worked out where all of them are integers, else a function called so.
    pub(crate) fn of_sign(sign: &str, values: Vec<Value>) -> Value {
        let known = |value: &Value| match value {
            Value::Constant(word) => integer(word),
            _ => None,
        };
        let integers: Option<Vec<i64>> = values.iter().map(known).collect();
        let result = integers.and_then(|all| worked_out(sign, &all));
        match result {
            Some(k) => Value::Constant(k.to_string()),
            None => Value::Call(sign.to_owned(), values),
        }
    }

    fn term(
        &self,
        symbols: &mut Symbols,
        word: &impl Fn(&str, &mut Symbols) -> Term,
        cell: &impl Fn(&str, &mut Symbols) -> Cell,
    ) -> Term {
        match self {
            Value::Word(w) => word(w, symbols),
            Value::Constant(w) => Term::Constant(symbols.intern(w)),
            Value::Null => Term::Constant(symbols.intern("null")),
            Value::Some(k) => Term::Some(*k),
            Value::Before(w) => Term::Before(cell(w, symbols)),
            Value::After(w) => Term::After(cell(w, symbols)),
            Value::Call(f, values) => {
                let f = symbols.intern(f);
                Term::Call(f, values.iter().map(|v| v.term(symbols, word, cell)).collect())
            }
        }
    }

    /// Calls `see` with every value in it that is no call.
    pub fn visit<'v>(&'v self, see: &mut impl FnMut(&'v Value)) {
        match self {
            Value::Call(_, values) => values.iter().for_each(|v| v.visit(see)),
            leaf => see(leaf),
        }
    }
}

/// A value without words and cells as a term.
pub(crate) fn constant_of(value: &Value, symbols: &mut Symbols) -> Term {
    let word = |word: &str, symbols: &mut Symbols| Term::Constant(symbols.intern(word));
    let cell = |word: &str, symbols: &mut Symbols| symbols.cell(word);
    value.term(symbols, &word, &cell)
}

/// Claims as a constraint: words are names, all of them as they stand.
pub fn constraint(claims: &[Claimed], symbols: &mut Symbols) -> Constraint {
    let name = |word: &str, symbols: &mut Symbols| Term::Datum(symbols.name(word));
    let cell = |word: &str, symbols: &mut Symbols| symbols.cell(word);
    Constraint::new(claims.iter().map(|(_, c)| c.literal(symbols, &name, &cell)))
}
