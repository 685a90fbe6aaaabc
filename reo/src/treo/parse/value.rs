//! Values, variables and predicates.
//!
//! ```text
//! predicate := variable : value | value (= | != | < | <= | > | >=) value
//! value     := product ((+ | -) product)*
//! product   := signed ((* | / | %) signed)*
//! signed    := - signed | integer | text | ( value ) | < item, ... > | variable [< value, ... >]
//! variable  := word ([ value [.. value], ... ])*
//! ```
//!
//! `name<...>` is a component with arguments where an argument can stand, and a comparison in a
//! predicate.

use crate::syntax::lex::{Cursor, Kind};
use crate::syntax::{Fault, Read};
use crate::treo::ast::{Comparison, Index, ListItem, Operator, Predicate, Value, Variable};

/// Most operators in one value: they nest, too.
const MAX_OPERATORS: usize = 256;

/// How a value is read.
struct Reader<'c, 't> {
    c: &'c mut Cursor<'t>,
    operators: usize,
}

/// A value where a component may stand.
pub(super) fn argument(c: &mut Cursor<'_>) -> Read<Value> {
    Reader { c, operators: 0 }.sum(true)
}

fn plain(c: &mut Cursor<'_>) -> Read<Value> {
    Reader { c, operators: 0 }.sum(false)
}

/// A word with its indices.
pub(super) fn variable(c: &mut Cursor<'_>) -> Read<Variable> {
    Reader { c, operators: 0 }.variable()
}

/// A condition on words.
pub(super) fn predicate(c: &mut Cursor<'_>) -> Read<Predicate> {
    let left = plain(c)?;
    if c.is(":") {
        let Value::Variable(word) = left else { return Err(c.expected("`=` or a comparison")) };
        c.take();
        return Ok(Predicate::In(word, argument(c)?));
    }
    let Some(how) = Comparison::ALL.into_iter().find(|how| c.eat(how.sign())) else {
        return Err(c.expected("`:`, `=` or a comparison"));
    };
    let right = if how == Comparison::Equal { argument(c)? } else { plain(c)? };
    Ok(Predicate::Compare(how, left, right))
}

impl Reader<'_, '_> {
    fn count(&mut self) -> Read<()> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS { Err(self.c.fault(Fault::Deep)) } else { Ok(()) }
    }

    fn sum(&mut self, components: bool) -> Read<Value> {
        self.chain(&[Operator::Add, Operator::Subtract], |r| r.product(components))
    }

    fn product(&mut self, components: bool) -> Read<Value> {
        let operators = [Operator::Multiply, Operator::Divide, Operator::Remainder];
        self.chain(&operators, |r| r.signed(components))
    }

    /// Operands with some of `operators` between, from the left.
    fn chain(
        &mut self,
        operators: &[Operator],
        mut operand: impl FnMut(&mut Self) -> Read<Value>,
    ) -> Read<Value> {
        let mut left = operand(self)?;
        while let Some(operator) = operators.iter().find(|o| self.c.eat(o.sign())) {
            self.count()?;
            let right = operand(self)?;
            left = Value::Binary(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn signed(&mut self, components: bool) -> Read<Value> {
        if self.c.eat("-") {
            self.count()?;
            return Ok(Value::Negative(Box::new(self.signed(components)?)));
        }
        match self.c.peek(0) {
            Kind::Number(digits) => {
                let value = match digits.parse() {
                    Ok(integer) => Value::Integer(integer),
                    Err(_) if digits.contains('.') => Value::Text(digits.clone()),
                    Err(_) => return Err(self.c.fault(Fault::Integer(digits.clone()))),
                };
                self.c.take();
                Ok(value)
            }
            Kind::Text(text) => {
                self.c.take();
                Ok(Value::Text(text.clone()))
            }
            Kind::Sign("(") => {
                self.c.take();
                let value = self.deeper(|r| r.sum(components))?;
                self.c.need(")").map(|()| value)
            }
            Kind::Sign("<") => self.list(),
            Kind::Word(_) => self.word(components),
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

    fn word(&mut self, components: bool) -> Read<Value> {
        let variable = self.variable()?;
        if !components || !self.c.is("<") {
            return Ok(Value::Variable(variable));
        }
        self.c.take();
        let arguments = self.deeper(|r| r.items(">", |r| r.sum(true)))?;
        Ok(Value::Component(variable, arguments))
    }

    fn list(&mut self) -> Read<Value> {
        self.c.need("<")?;
        let item = |r: &mut Reader<'_, '_>| {
            let first = r.sum(true)?;
            if !r.c.eat("..") {
                return Ok(ListItem::One(first));
            }
            Ok(ListItem::Range(first, r.sum(true)?))
        };
        Ok(Value::List(self.deeper(|r| r.items(">", item))?))
    }

    fn variable(&mut self) -> Read<Variable> {
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
        Ok(Variable { spot, word, indices })
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
