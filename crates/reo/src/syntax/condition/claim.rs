//! Conditions as claims on values, and as text.

use std::fmt::Write;

use crate::constant::{LESS, integer, worked_out};
use crate::constraint::{DataConstraint, DataTerm, Literal, Spelling};
use crate::symbol::{Cell, Symbols};
use crate::syntax::Spot;
use crate::syntax::lex::OWN;

/// Words that are no names.
pub(super) const RESERVED: [&str; 3] = ["true", "false", "null"];

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimValue {
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
    Call(String, Vec<ClaimValue>),
}

/// Something that holds in a step.
pub type GuardClaim = Literal<ClaimValue, String>;

/// A claim and where it stands.
pub type Claimed = (Spot, GuardClaim);

impl GuardClaim {
    /// `left sign right` for one of [`crate::constant::RELATIONS`]; `>=` is that `<` fails.
    pub(crate) fn relation(sign: &str, left: ClaimValue, right: ClaimValue) -> GuardClaim {
        let (holds, one, other) = match sign {
            "<" => (true, left, right),
            ">" => (true, right, left),
            "<=" => (false, right, left),
            _ => (false, left, right),
        };
        GuardClaim::Predicate(holds, LESS.to_owned(), [one, other].into()).decided()
    }

    /// The claim; where it compares two integers with [`LESS`], one that always or never holds.
    pub(crate) fn decided(self) -> GuardClaim {
        let GuardClaim::Predicate(holds, p, values) = &self else { return self };
        let [ClaimValue::Constant(a), ClaimValue::Constant(b)] = &values[..] else { return self };
        let (Some(x), Some(y)) = (integer(a), integer(b)) else { return self };
        if p != LESS {
            return self;
        }
        let same = ClaimValue::Constant(a.clone());
        if (x < y) == *holds {
            GuardClaim::Equal(same.clone(), same)
        } else {
            GuardClaim::Different(same.clone(), same)
        }
    }

    /// The claim as a literal; `word` gives the term of a word, `cell` its cell.
    pub(crate) fn literal(
        &self,
        symbols: &mut Symbols,
        word: &impl Fn(&str, &mut Symbols) -> DataTerm,
        cell: &impl Fn(&str, &mut Symbols) -> Cell,
    ) -> Literal {
        let mut term = |value: &ClaimValue| value.term(symbols, word, cell);
        match self {
            GuardClaim::Equal(a, b) => Literal::Equal(term(a), term(b)),
            GuardClaim::Different(a, b) => Literal::Different(term(a), term(b)),
            GuardClaim::Predicate(holds, p, values) => {
                let terms = values.iter().map(term).collect();
                Literal::Predicate(*holds, symbols.intern(p), terms)
            }
        }
    }

    /// With other values on its sides, or as arguments.
    pub(crate) fn map<E>(
        &self,
        mut value: impl FnMut(&ClaimValue) -> Result<ClaimValue, E>,
    ) -> Result<GuardClaim, E> {
        Ok(match self {
            GuardClaim::Equal(a, b) => GuardClaim::Equal(value(a)?, value(b)?),
            GuardClaim::Different(a, b) => GuardClaim::Different(value(a)?, value(b)?),
            GuardClaim::Predicate(holds, p, values) => {
                let values = values.iter().map(value).collect::<Result<_, E>>()?;
                GuardClaim::Predicate(*holds, p.clone(), values)
            }
        })
    }

    /// The words in it that are names, or what the language makes of them.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.leaves(|v| if let ClaimValue::Word(word) = v { Some(word) } else { None })
    }

    pub(crate) fn after_cells(&self) -> Vec<&str> {
        self.leaves(|v| if let ClaimValue::After(cell) = v { Some(cell) } else { None })
    }

    /// The words that `pick` finds among the values in it that are no calls.
    fn leaves<'c>(&'c self, pick: impl Fn(&'c ClaimValue) -> Option<&'c String>) -> Vec<&'c str> {
        let mut all = Vec::new();
        let mut see = |v: &'c ClaimValue| all.extend(pick(v).map(String::as_str));
        self.terms().for_each(|v| v.visit(&mut see));
        all
    }
}

impl ClaimValue {
    /// `sign` of values: worked out where all of them are integers, else a function called so.
    pub(crate) fn of_sign(sign: &str, values: Vec<ClaimValue>) -> ClaimValue {
        let known = |value: &ClaimValue| match value {
            ClaimValue::Constant(word) => integer(word),
            _ => None,
        };
        let integers: Option<Vec<i64>> = values.iter().map(known).collect();
        let result = integers.and_then(|all| worked_out(sign, &all));
        match result {
            Some(k) => ClaimValue::Constant(k.to_string()),
            None => ClaimValue::Call(sign.to_owned(), values),
        }
    }

    fn term(
        &self,
        symbols: &mut Symbols,
        word: &impl Fn(&str, &mut Symbols) -> DataTerm,
        cell: &impl Fn(&str, &mut Symbols) -> Cell,
    ) -> DataTerm {
        match self {
            ClaimValue::Word(w) => word(w, symbols),
            ClaimValue::Constant(w) => DataTerm::Constant(symbols.intern(w)),
            ClaimValue::Null => DataTerm::Constant(symbols.intern("null")),
            ClaimValue::Some(k) => DataTerm::Some(*k),
            ClaimValue::Before(w) => DataTerm::Before(cell(w, symbols)),
            ClaimValue::After(w) => DataTerm::After(cell(w, symbols)),
            ClaimValue::Call(f, values) => {
                let f = symbols.intern(f);
                DataTerm::Call(f, values.iter().map(|v| v.term(symbols, word, cell)).collect())
            }
        }
    }

    /// Calls `see` with every value in it that is no call.
    pub fn visit<'v>(&'v self, see: &mut impl FnMut(&'v ClaimValue)) {
        match self {
            ClaimValue::Call(_, values) => values.iter().for_each(|v| v.visit(see)),
            leaf => see(leaf),
        }
    }
}

/// A value without words and cells as a term.
pub(crate) fn constant_of(value: &ClaimValue, symbols: &mut Symbols) -> DataTerm {
    let word = |word: &str, symbols: &mut Symbols| DataTerm::Constant(symbols.intern(word));
    let cell = |word: &str, symbols: &mut Symbols| symbols.cell(word);
    value.term(symbols, &word, &cell)
}

/// Claims as a constraint: words are names, all of them as they stand.
pub fn constraint(claims: &[Claimed], symbols: &mut Symbols) -> DataConstraint {
    let name = |word: &str, symbols: &mut Symbols| DataTerm::Datum(symbols.name(word));
    let cell = |word: &str, symbols: &mut Symbols| symbols.cell(word);
    DataConstraint::new(claims.iter().map(|(_, c)| c.literal(symbols, &name, &cell)))
}

/// A constraint as [`DataConstraint::text`], with back quotes around unusual words: it reads back.
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
