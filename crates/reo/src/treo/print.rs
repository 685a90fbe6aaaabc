//! Variables and values of Treo as text, as they are written.

use std::fmt::{self, Display, Formatter};

use itertools::Itertools;

use super::ast::{Operator, TreoSpan, TreoValue, TreoVariable};

fn list<T: Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).join(", ")
}

impl Display for TreoVariable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)?;
        self.indices.iter().try_for_each(|index| write!(f, "[{index}]"))
    }
}

impl Display for TreoValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TreoValue::Integer(k) => write!(f, "{k}"),
            TreoValue::Text(text) => write!(f, "{text:?}"),
            TreoValue::Variable(variable) => write!(f, "{variable}"),
            TreoValue::Component(word, arguments) => write!(f, "{word}<{}>", list(arguments)),
            TreoValue::Negative(value) => write!(f, "-({value})"),
            TreoValue::Binary(operator, left, right) => {
                write_side(f, left, operator.binds())?;
                // `//` begins a comment.
                let gap = if *operator == Operator::Divide { " " } else { "" };
                write!(f, "{gap}{}{gap}", operator.sign())?;
                write_side(f, right, operator.binds() + 1)
            }
            TreoValue::List(items) => write!(f, "<{}>", list(items)),
        }
    }
}

/// A side of an operation, in brackets if it binds looser than `least`.
fn write_side(f: &mut Formatter<'_>, side: &TreoValue, least: u8) -> fmt::Result {
    match side {
        TreoValue::Binary(operator, _, _) if operator.binds() < least => write!(f, "({side})"),
        TreoValue::Integer(k) if *k < 0 => write!(f, "({side})"),
        _ => write!(f, "{side}"),
    }
}

impl Operator {
    fn binds(self) -> u8 {
        match self {
            Operator::Add | Operator::Subtract => 0,
            Operator::Multiply | Operator::Divide | Operator::Remainder => 1,
        }
    }
}

impl Display for TreoSpan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TreoSpan::One(value) => write!(f, "{value}"),
            TreoSpan::Range(from, to) => write!(f, "{from}..{to}"),
        }
    }
}
