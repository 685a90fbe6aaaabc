//! Terms of Z3 for the nodes of a system, with known constants folded.

use std::collections::BTreeMap;

use tickbound_encodings::system::evaluate::Algebra;
use tickbound_encodings::system::{self, ChoiceId, Ex, InternalError, System, SystemNode, TableId};
use z3::ast::{Ast, Bool, Int};

/// Rows of a table: value indices of its parameters, and the value.
pub(super) type Rows = BTreeMap<Vec<u32>, i64>;

pub(super) type Value = system::SystemValue<Number, Truth>;

/// A value, constant where it is known.
#[derive(Debug, Clone)]
pub(super) enum Partial<C, T> {
    Known(C),
    Term(T),
}

pub(super) type Number = Partial<i128, Int>;

pub(super) type Truth = Partial<bool, Bool>;

impl Number {
    pub fn term(&self) -> Int {
        match self {
            Number::Known(v) => {
                i64::try_from(*v).map_or_else(|_| Int::from_i128(*v), Int::from_i64)
            }
            Number::Term(i) => i.clone(),
        }
    }
}

impl Truth {
    pub fn term(&self) -> Bool {
        match self {
            Truth::Known(v) => Bool::from_bool(*v),
            Truth::Term(b) => b.clone(),
        }
    }
}

/// Terms of Z3, with constants computed if they are known.
pub(super) struct Terms<'s> {
    pub system: &'s System,
    /// For each parameter and each of its values: it is chosen.
    pub chosen: Vec<Vec<Bool>>,
    /// The term of each table, once it was made.
    pub tables: Vec<Option<Number>>,
    /// What the present step picks.
    pub choices: Vec<Bool>,
}

impl Terms<'_> {
    /// A node's value out of rows; truth values are 0 and 1 there.
    pub fn tabulated(&self, e: Ex, support: &[usize], rows: &Rows) -> Result<Value, InternalError> {
        let mut distinct = rows.values();
        let first = distinct.next().copied();
        let same = first.filter(|first| distinct.all(|v| v == first));
        if !is_truth(self.system, e) {
            return Ok(Value::Int(self.number(support, rows)?));
        }
        Ok(Value::Bool(match same {
            Some(v) => Truth::Known(v != 0),
            None => {
                let yes = rows.iter().filter(|(_, v)| **v != 0);
                let yes: Vec<Bool> = yes.map(|(key, _)| self.chosen_key(support, key)).collect();
                Truth::Term(Bool::or(&yes))
            }
        }))
    }

    /// The number that rows say; any at all if there are none, because then it is never read.
    fn number(&self, support: &[usize], rows: &Rows) -> Result<Number, InternalError> {
        let mut distinct = rows.values();
        Ok(match distinct.next() {
            None => unread(),
            Some(first) if distinct.all(|v| v == first) => Number::Known(i128::from(*first)),
            Some(_) => Number::Term(self.choose(support, rows, &Int::from_i64)?),
        })
    }

    fn chosen_key(&self, support: &[usize], key: &[u32]) -> Bool {
        let parts: Vec<Bool> =
            support.iter().zip(key).map(|(p, v)| self.chosen[*p][*v as usize].clone()).collect();
        Bool::and(&parts)
    }

    /// A choice between the rows, nested parameter by parameter. The last row also represents
    /// combinations that no row has: those are of configurations that do not read it.
    pub fn choose(
        &self,
        support: &[usize],
        rows: &Rows,
        term: &dyn Fn(i64) -> Int,
    ) -> Result<Int, InternalError> {
        let Some((first, rest)) = support.split_first() else {
            let value = rows.values().next();
            return value
                .map(|v| term(*v))
                .ok_or_else(|| InternalError("a table without rows".into()));
        };
        let mut by_value: BTreeMap<u32, Rows> = BTreeMap::new();
        for (key, value) in rows {
            by_value.entry(key[0]).or_default().insert(key[1..].to_vec(), *value);
        }
        let mut cases = by_value.iter().rev();
        let last = cases.next().ok_or_else(|| InternalError("a table without rows".into()))?;
        let last = self.choose(rest, last.1, term)?;
        cases.try_fold(last, |other, (value, rows)| {
            let here = self.choose(rest, rows, term)?;
            Ok(self.chosen[*first][*value as usize].ite(&here, &other))
        })
    }
}

/// A number that is never read: left open, so that no proof can rest on it.
fn unread() -> Number {
    Number::Term(Int::fresh_const("unread"))
}

fn is_truth(system: &System, e: Ex) -> bool {
    match system.node(e) {
        SystemNode::Bool(_)
        | SystemNode::Eq(..)
        | SystemNode::Le(..)
        | SystemNode::Not(_)
        | SystemNode::And(_)
        | SystemNode::Or(_) => true,
        SystemNode::Ite(_, a, _) => is_truth(system, *a),
        _ => false,
    }
}

impl Algebra for Terms<'_> {
    type Int = Number;
    type Bool = Truth;
    type Error = InternalError;

    fn int(&mut self, value: i64) -> Number {
        Number::Known(i128::from(value))
    }

    fn bool(&mut self, value: bool) -> Truth {
        Truth::Known(value)
    }

    fn unread(&mut self) -> Number {
        unread()
    }

    fn table(&mut self, id: TableId) -> Result<Number, InternalError> {
        if let Some(known) = &self.tables[id.index()] {
            return Ok(known.clone());
        }
        let table = &self.system.tables[id.index()];
        let number = self.number(&table.support, &table.rows)?;
        self.tables[id.index()] = Some(number.clone());
        Ok(number)
    }

    fn choice(&mut self, id: ChoiceId) -> Result<Truth, InternalError> {
        let pick = self.choices.get(id.index());
        pick.cloned()
            .map(Truth::Term)
            .ok_or_else(|| InternalError("a step without its choices".into()))
    }

    fn add(&mut self, a: &Number, b: &Number) -> Result<Number, InternalError> {
        Ok(match (a, b) {
            (Number::Known(x), Number::Known(y)) => Number::Known(inside(x.checked_add(*y))?),
            (Number::Known(0), other) | (other, Number::Known(0)) => other.clone(),
            (a, b) => Number::Term(a.term() + b.term()),
        })
    }

    fn mul(&mut self, a: &Number, b: &Number) -> Result<Number, InternalError> {
        Ok(match (a, b) {
            (Number::Known(x), Number::Known(y)) => Number::Known(inside(x.checked_mul(*y))?),
            (a, b) => Number::Term(a.term() * b.term()),
        })
    }

    fn max(&mut self, a: &Number, b: &Number) -> Number {
        match (a, b) {
            (Number::Known(x), Number::Known(y)) => Number::Known(*x.max(y)),
            (a, b) => {
                let (a, b) = (a.term(), b.term());
                Number::Term(a.ge(&b).ite(&a, &b))
            }
        }
    }

    fn equal(&mut self, a: &Number, b: &Number) -> Truth {
        match (a, b) {
            (Number::Known(x), Number::Known(y)) => Truth::Known(x == y),
            (a, b) => Truth::Term(a.term().eq(b.term())),
        }
    }

    fn at_most(&mut self, a: &Number, b: &Number) -> Truth {
        match (a, b) {
            (Number::Known(x), Number::Known(y)) => Truth::Known(x <= y),
            (a, b) => Truth::Term(a.term().le(b.term())),
        }
    }

    fn not(&mut self, a: &Truth) -> Truth {
        match a {
            Truth::Known(v) => Truth::Known(!v),
            Truth::Term(b) => Truth::Term(b.not()),
        }
    }

    fn junction(
        &mut self,
        items: impl Iterator<Item = Result<Truth, InternalError>>,
        conjunction: bool,
    ) -> Result<Truth, InternalError> {
        let mut left = Vec::new();
        for item in items {
            match item? {
                Truth::Known(v) if v == conjunction => {}
                Truth::Known(_) => return Ok(Truth::Known(!conjunction)),
                Truth::Term(b) => left.push(b),
            }
        }
        Ok(match left.as_slice() {
            [] => Truth::Known(conjunction),
            [one] => Truth::Term(one.clone()),
            _ if conjunction => Truth::Term(Bool::and(&left)),
            _ => Truth::Term(Bool::or(&left)),
        })
    }

    fn ite_int(&mut self, c: &Truth, a: &Number, b: &Number) -> Number {
        ite(c, a, b, Number::term)
    }

    fn ite_bool(&mut self, c: &Truth, a: &Truth, b: &Truth) -> Truth {
        ite(c, a, b, Truth::term)
    }
}

/// `if c then a else b`.
fn ite<C: Copy + PartialEq, T: Ast + Clone>(
    c: &Truth,
    a: &Partial<C, T>,
    b: &Partial<C, T>,
    term: fn(&Partial<C, T>) -> T,
) -> Partial<C, T> {
    match (c, a, b) {
        (Partial::Known(c), ..) => (if *c { a } else { b }).clone(),
        (_, Partial::Known(x), Partial::Known(y)) if x == y => Partial::Known(*x),
        (Partial::Term(c), a, b) => Partial::Term(c.ite(&term(a), &term(b))),
    }
}

/// What stays within 128 bits; times do by far.
fn inside(value: Option<i128>) -> Result<i128, InternalError> {
    value.ok_or_else(|| InternalError("a constant leaves 128 bits".into()))
}
