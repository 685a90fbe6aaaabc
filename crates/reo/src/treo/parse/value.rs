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
use crate::treo::ast::{Operator, Predicate, TermComparison, TreoSpan, TreoValue, TreoVariable};

/// Most operators in one value: they nest, too.
const MAX_OPERATORS: usize = 256;

/// A value where a component may stand.
pub(super) fn argument(c: &mut Cursor) -> Read<TreoValue> {
    sum(c, &mut 0, true)
}

fn plain(c: &mut Cursor) -> Read<TreoValue> {
    sum(c, &mut 0, false)
}

/// A word with its indices.
pub(super) fn variable(c: &mut Cursor) -> Read<TreoVariable> {
    indexed(c, &mut 0)
}

/// A word of a component, perhaps with those of its folders before it.
pub(super) fn dotted(c: &mut Cursor) -> Read<TreoVariable> {
    path(c, &mut 0)
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
        let is_sign = |how: &TermComparison| *c.peek(1) == TokenKind::Sign(how.sign());
        if !TermComparison::ALL.iter().any(is_sign) && c.eat_word(word) {
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

/// Counts an operator among those of a value.
fn count(c: &Cursor, operators: &mut usize) -> Read<()> {
    *operators += 1;
    if *operators > MAX_OPERATORS { Err(c.fault(SyntaxFault::Deep)) } else { Ok(()) }
}

/// A value with `n` operators so far; with `components` a component may stand in it.
fn sum(c: &mut Cursor, n: &mut usize, components: bool) -> Read<TreoValue> {
    chain(c, n, &[Operator::Add, Operator::Subtract], |c, n| product(c, n, components))
}

fn product(c: &mut Cursor, n: &mut usize, components: bool) -> Read<TreoValue> {
    let operators = [Operator::Multiply, Operator::Divide, Operator::Remainder];
    chain(c, n, &operators, |c, n| signed(c, n, components))
}

/// Operands with some of `operators` between, from the left.
fn chain(
    c: &mut Cursor,
    n: &mut usize,
    operators: &[Operator],
    operand: impl Fn(&mut Cursor, &mut usize) -> Read<TreoValue>,
) -> Read<TreoValue> {
    let mut left = operand(c, n)?;
    while let Some(operator) = operators.iter().find(|o| c.eat(o.sign())) {
        count(c, n)?;
        let right = operand(c, n)?;
        left = TreoValue::Binary(*operator, Box::new(left), Box::new(right));
    }
    Ok(left)
}

fn signed(c: &mut Cursor, n: &mut usize, components: bool) -> Read<TreoValue> {
    if c.eat("-") {
        count(c, n)?;
        return Ok(TreoValue::Negative(Box::new(signed(c, n, components)?)));
    }
    if c.eat("(") {
        let value = c.nested(|c| sum(c, n, components))?;
        return c.need(")").map(|()| value);
    }
    if c.eat("<") {
        return c.nested(|c| c.items(">", |c| span(c, n, true))).map(TreoValue::List);
    }
    let value = match c.peek(0) {
        TokenKind::Number(digits) => match digits.parse() {
            Ok(integer) => TreoValue::Integer(integer),
            Err(_) if digits.contains('.') => TreoValue::Text(digits.clone()),
            Err(_) => return Err(c.fault(SyntaxFault::Integer(digits.clone()))),
        },
        TokenKind::Text(text) => TreoValue::Text(text.clone()),
        TokenKind::Word(_) => return word(c, n, components),
        _ => return Err(c.expected("a value")),
    };
    c.take();
    Ok(value)
}

fn word(c: &mut Cursor, n: &mut usize, components: bool) -> Read<TreoValue> {
    let variable = if components { path(c, n)? } else { indexed(c, n)? };
    if !components || !c.eat("<") {
        return Ok(TreoValue::Variable(variable));
    }
    let arguments = c.nested(|c| c.items(">", |c| sum(c, n, true)))?;
    Ok(TreoValue::Component(variable, arguments))
}

fn span(c: &mut Cursor, n: &mut usize, components: bool) -> Read<TreoSpan> {
    let first = sum(c, n, components)?;
    if !c.eat("..") {
        return Ok(TreoSpan::One(first));
    }
    Ok(TreoSpan::Range(first, sum(c, n, components)?))
}

fn path(c: &mut Cursor, n: &mut usize) -> Read<TreoVariable> {
    let spot = c.spot();
    let mut path = String::new();
    while matches!(c.peek(1), TokenKind::Sign(".")) {
        path += &c.word("a name")?;
        c.need(".")?;
        path.push('.');
    }
    let variable = indexed(c, n)?;
    Ok(TreoVariable { spot, word: path + &variable.word, indices: variable.indices })
}

fn indexed(c: &mut Cursor, n: &mut usize) -> Read<TreoVariable> {
    let spot = c.spot();
    let word = c.word("a name")?;
    let mut indices = Vec::new();
    while c.eat("[") {
        indices.extend(c.nested(|c| c.items("]", |c| span(c, n, false)))?);
    }
    Ok(TreoVariable { spot, word, indices })
}
