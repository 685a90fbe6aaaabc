//! Steps as text: which one is wanted, and with which data.
//!
//! ```text
//! steps := ([number] [{ name [= value], ... }])*
//! ```
//!
//! A number is that of a choice, counted from 1; without it the names tell the step. Values are
//! those of [`crate::syntax::condition`] without names in them.

use crate::syntax::condition::{self, ClaimValue, Dialect};
use crate::syntax::lex::{self, Cursor, OWN, TokenKind};
use crate::syntax::{Read, Source};

/// A requested step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Where it is requested, for errors.
    pub place: String,
    /// The number of the choice, from 1.
    pub number: Option<usize>,
    /// The names that fire, and the data that are given for some of them.
    pub names: Option<Vec<(String, Option<ClaimValue>)>>,
}

impl Wanted {
    /// All steps of a text.
    pub fn all(source: &Source) -> Read<Vec<Wanted>> {
        let tokens = lex::tokens(source, OWN)?;
        let c = &mut Cursor::new(source, &tokens);
        let mut all = Vec::new();
        while *c.peek(0) != TokenKind::End {
            let place = source.place(c.spot()).to_string();
            let number = match c.peek(0) {
                TokenKind::Number(digits) => digits.parse().ok(),
                _ => None,
            };
            if number.is_some() {
                c.take();
            }
            let names = if c.eat("{") { Some(c.list("}", datum)?) } else { None };
            if number.is_none() && names.is_none() {
                return Err(c.expected("the number of a step, or `{`"));
            }
            all.push(Wanted { place, number, names });
        }
        Ok(all)
    }
}

fn datum(c: &mut Cursor) -> Read<(String, Option<ClaimValue>)> {
    let name = c.word("a name")?;
    let value = if c.eat("=") { Some(value(c)?) } else { None };
    Ok((name, value))
}

/// A value without names and cells.
fn value(c: &mut Cursor) -> Read<ClaimValue> {
    let fault = c.expected("a constant, or a function of constants");
    let value = condition::value(c, Dialect::Own)?;
    let mut constant = true;
    value.visit(&mut |leaf| constant &= matches!(leaf, ClaimValue::Constant(_)));
    if constant { Ok(value) } else { Err(fault) }
}
