//! Values, variables and predicates.
//!
//! ```text
//! predicate := either [-> predicate]
//! either    := all (|| all)*
//! all       := one (&& one)*
//! one       := ! one | ( predicate ) | true | false
//!            | variable : value | value (= | != | < | <= | > | >=) value
//! value     := product ((+ | -) product)*
//! product   := signed ((* | / | %) signed)*
//! signed    := - signed | integer | text | ( value ) | < item, ... > | variable [< value, ... >]
//! variable  := word ([ value [.. value], ... ])*, and as a component or argument word (. word)*
//! ```
//!
//! `name<...>` is a component with arguments where one can stand, else a comparison.

use crate::syntax::lex::{Cursor, TokenKind};
use crate::syntax::{Read, SyntaxFault};
use crate::treo::ast::{
    Index, ListItem, Operator, Predicate, TermComparison, TreoValue, TreoVariable,
};

/// Most operators in one value: they nest, too.
const MAX_OPERATORS: usize = 256;

/// How a value is read.
struct Reader<'c, 't> {
    c: &'c mut Cursor<'t>,
    operators: usize,
}

/// A value where a component may stand.
pub(super) fn argument(c: &mut Cursor) -> Read<TreoValue> {
    Reader { c, operators: 0 }.sum(true)
}

fn plain(c: &mut Cursor) -> Read<TreoValue> {
    Reader { c, operators: 0 }.sum(false)
}

/// A word with its indices.
pub(super) fn variable(c: &mut Cursor) -> Read<TreoVariable> {
    Reader { c, operators: 0 }.variable()
}

/// A word of a component, perhaps with those of its folders before it.
pub(super) fn dotted(c: &mut Cursor) -> Read<TreoVariable> {
    Reader { c, operators: 0 }.dotted()
}

pub(super) fn predicate(c: &mut Cursor) -> Read<Predicate> {
    let left = tests(c, "|", |c| tests(c, "&", one, Predicate::All), Predicate::Any)?;
    if !c.eat("->") {
        return Ok(left);
    }
    let right = c.nested(predicate)?;
    Ok(Predicate::Any(vec![Predicate::Not(Box::new(left)), right]))
}

/// Predicates with `sign` twice between.
fn tests(
    c: &mut Cursor,
    sign: &str,
    mut part: impl FnMut(&mut Cursor) -> Read<Predicate>,
    join: fn(Vec<Predicate>) -> Predicate,
) -> Read<Predicate> {
    let first = part(c)?;
    let twice =
        |c: &Cursor<'_>| c.is(sign) && matches!(c.peek(1), TokenKind::Sign(s) if *s == sign);
    if !twice(c) {
        return Ok(first);
    }
    let mut all = vec![first];
    while twice(c) {
        c.take();
        c.take();
        all.push(part(c)?);
    }
    Ok(join(all))
}

fn one(c: &mut Cursor) -> Read<Predicate> {
    if c.eat("!") {
        return Ok(Predicate::Not(Box::new(c.nested(one)?)));
    }
    for (word, predicate) in
        [("true", Predicate::All(Vec::new())), ("false", Predicate::Any(Vec::new()))]
    {
        if c.is_word(word)
            && !TermComparison::ALL
                .iter()
                .any(|how| matches!(c.peek(1), TokenKind::Sign(s) if *s == how.sign()))
        {
            c.take();
            return Ok(predicate);
        }
    }
    // A bracket may hold a predicate, or begin a value.
    if c.is("(") {
        let mut inside = c.clone();
        if let Ok(inner) = bracket(&mut inside) {
            *c = inside;
            return Ok(inner);
        }
    }
    comparison(c)
}

fn bracket(c: &mut Cursor) -> Read<Predicate> {
    c.need("(")?;
    let inner = c.nested(predicate)?;
    c.need(")").map(|()| inner)
}

fn comparison(c: &mut Cursor) -> Read<Predicate> {
    let left = plain(c)?;
    if c.is(":") {
        let TreoValue::Variable(word) = left else { return Err(c.expected("`=` or a comparison")) };
        c.take();
        return Ok(Predicate::In(word, argument(c)?));
    }
    let Some(how) = TermComparison::ALL.into_iter().find(|how| c.eat(how.sign())) else {
        return Err(c.expected("`:`, `=` or a comparison"));
    };
    let right = if how == TermComparison::Equal { argument(c)? } else { plain(c)? };
    Ok(Predicate::Compare(how, left, right))
}

impl Reader<'_, '_> {
    fn count(&mut self) -> Read<()> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS { Err(self.c.fault(SyntaxFault::Deep)) } else { Ok(()) }
    }

    fn sum(&mut self, components: bool) -> Read<TreoValue> {
        self.chain(&[Operator::Add, Operator::Subtract], |r| r.product(components))
    }

    fn product(&mut self, components: bool) -> Read<TreoValue> {
        let operators = [Operator::Multiply, Operator::Divide, Operator::Remainder];
        self.chain(&operators, |r| r.signed(components))
    }

    /// Operands with some of `operators` between, from the left.
    fn chain(
        &mut self,
        operators: &[Operator],
        mut operand: impl FnMut(&mut Self) -> Read<TreoValue>,
    ) -> Read<TreoValue> {
        let mut left = operand(self)?;
        while let Some(operator) = operators.iter().find(|o| self.c.eat(o.sign())) {
            self.count()?;
            let right = operand(self)?;
            left = TreoValue::Binary(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn signed(&mut self, components: bool) -> Read<TreoValue> {
        if self.c.eat("-") {
            self.count()?;
            return Ok(TreoValue::Negative(Box::new(self.signed(components)?)));
        }
        match self.c.peek(0) {
            TokenKind::Number(digits) => {
                let value = match digits.parse() {
                    Ok(integer) => TreoValue::Integer(integer),
                    Err(_) if digits.contains('.') => TreoValue::Text(digits.clone()),
                    Err(_) => return Err(self.c.fault(SyntaxFault::Integer(digits.clone()))),
                };
                self.c.take();
                Ok(value)
            }
            TokenKind::Text(text) => {
                self.c.take();
                Ok(TreoValue::Text(text.clone()))
            }
            TokenKind::Sign("(") => {
                self.c.take();
                let value = self.deeper(|r| r.sum(components))?;
                self.c.need(")").map(|()| value)
            }
            TokenKind::Sign("<") => self.list(),
            TokenKind::Word(_) => self.word(components),
            _ => Err(self.c.expected("a value")),
        }
    }

    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Reader<'_, '_>) -> Read<T>) -> Read<T> {
        let mut operators = self.operators;
        let read = self.c.nested(|c| {
            let mut reader = Reader { c, operators };
            let read = inside(&mut reader);
            operators = reader.operators;
            read
        });
        self.operators = operators;
        read
    }

    fn word(&mut self, components: bool) -> Read<TreoValue> {
        let variable = if components { self.dotted()? } else { self.variable()? };
        if !components || !self.c.is("<") {
            return Ok(TreoValue::Variable(variable));
        }
        self.c.take();
        let arguments = self.deeper(|r| r.items(">", |r| r.sum(true)))?;
        Ok(TreoValue::Component(variable, arguments))
    }

    fn list(&mut self) -> Read<TreoValue> {
        self.c.need("<")?;
        let item = |r: &mut Reader<'_, '_>| {
            let first = r.sum(true)?;
            if !r.c.eat("..") {
                return Ok(ListItem::One(first));
            }
            Ok(ListItem::Range(first, r.sum(true)?))
        };
        Ok(TreoValue::List(self.deeper(|r| r.items(">", item))?))
    }

    fn dotted(&mut self) -> Read<TreoVariable> {
        let spot = self.c.spot();
        let mut path = String::new();
        while matches!(self.c.peek(1), TokenKind::Sign(".")) {
            path += &self.c.word("a name")?;
            self.c.need(".")?;
            path.push('.');
        }
        let variable = self.variable()?;
        Ok(TreoVariable { spot, word: path + &variable.word, indices: variable.indices })
    }

    fn variable(&mut self) -> Read<TreoVariable> {
        let spot = self.c.spot();
        let word = self.c.word("a name")?;
        let mut indices = Vec::new();
        while self.c.eat("[") {
            let index = |r: &mut Reader<'_, '_>| {
                let first = r.sum(false)?;
                if !r.c.eat("..") {
                    return Ok(Index::One(first));
                }
                Ok(Index::Range(first, r.sum(false)?))
            };
            indices.extend(self.deeper(|r| r.items("]", index))?);
        }
        Ok(TreoVariable { spot, word, indices })
    }

    /// At least one item, with commas between, up to the sign `end`.
    fn items<T>(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut all = vec![item(self)?];
        while !self.c.eat(end) {
            if !self.c.eat(",") {
                return Err(self.c.expected(&format!("`,` or `{end}`")));
            }
            all.push(item(self)?);
        }
        Ok(all)
    }
}
