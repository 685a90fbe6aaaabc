//! Text as conditions.

use std::fmt::Write;

use super::claim::{Claim, Claimed, RESERVED, Value};
use crate::syntax::lex::{self, Cursor, Kind, OWN, nameless};
use crate::syntax::{Fault, Read, Source, Spot};

/// How a language writes conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `#RBA`: claims with `,` or `&` between, cells `$m` and `$m'`, `null` for an empty cell.
    Rules,
    /// `.cat`: claims with `&` between, cells `$s.m` (before) and `$t.m` (after).
    Cat,
    /// As this crate writes: claims with ` & ` between, cells `$m` and `$m'`.
    Own,
}

const FALSE: &str = "`false` never holds; leave the step out";
const OR: &str = "a step has no `or`; write one step for each case";
const NULL: &str = "`null` stands for an empty cell in #RBA alone; write a constant in quotes";
const CELL: &str = "a cell is written `$s.m` (before the step) or `$t.m` (after it)";

/// The claims of a text in [`Dialect::Own`].
///
/// # Errors
/// What is wrong with the text and where.
pub fn parse(text: &str) -> Read<Vec<Claimed>> {
    let source = Source::new("condition", text);
    let tokens = lex::tokens(&source, OWN)?;
    let mut cursor = Cursor::new(&source, &tokens);
    let claims = claims(&mut cursor, Dialect::Own)?;
    if *cursor.peek(0) == Kind::End { Ok(claims) } else { Err(cursor.expected("`&`")) }
}

/// Claims up to the first token that cannot go on the list.
///
/// # Errors
/// What is wrong with the text and where.
pub fn claims(cursor: &mut Cursor<'_>, dialect: Dialect) -> Read<Vec<Claimed>> {
    let mut all = Vec::new();
    loop {
        cursor.nested(|c| claim(c, dialect, &mut all))?;
        let comma = dialect == Dialect::Rules && cursor.eat(",");
        if comma || cursor.eat("&") {
            cursor.eat("&");
        } else if cursor.is("|") {
            return Err(cursor.fault(Fault::Condition(OR)));
        } else {
            return Ok(all);
        }
    }
}

fn claim(c: &mut Cursor<'_>, dialect: Dialect, all: &mut Vec<Claimed>) -> Read<()> {
    let spot = c.spot();
    if c.eat("!") {
        return negated(c, dialect, spot, all);
    }
    if c.eat("(") {
        all.extend(claims(c, dialect)?);
        return c.need(")");
    }
    let alone = !matches!(c.peek(1), Kind::Sign("=" | "!="));
    if alone && c.is_word("true") {
        c.take();
        return Ok(());
    }
    if alone && c.is_word("false") {
        return Err(c.fault(Fault::Condition(FALSE)));
    }
    let left = value(c, dialect)?;
    let different = c.is("!=");
    if !different && !c.is("=") {
        let Value::Call(word, values) = left else { return Err(c.expected("`=` or `!=`")) };
        all.push((spot, Claim::Predicate(true, word, values)));
        return Ok(());
    }
    c.take();
    let right = value(c, dialect)?;
    let claim = if different { Claim::Different(left, right) } else { Claim::Equal(left, right) };
    all.push((spot, claim));
    Ok(())
}

/// What stands behind `!`: one claim.
fn negated(c: &mut Cursor<'_>, dialect: Dialect, spot: Spot, all: &mut Vec<Claimed>) -> Read<()> {
    let mut inner = Vec::new();
    c.nested(|c| claim(c, dialect, &mut inner))?;
    let not = match (inner.pop(), inner.is_empty()) {
        (Some((_, Claim::Equal(a, b))), true) => Claim::Different(a, b),
        (Some((_, Claim::Different(a, b))), true) => Claim::Equal(a, b),
        (Some((_, Claim::Predicate(holds, p, terms))), true) => Claim::Predicate(!holds, p, terms),
        (None, _) => return Err(c.fault(Fault::Condition(FALSE))),
        (Some(_), false) => return Err(c.fault(Fault::Condition(OR))),
    };
    all.push((spot, not));
    Ok(())
}

/// A value.
///
/// # Errors
/// What is wrong with the text and where.
pub fn value(c: &mut Cursor<'_>, dialect: Dialect) -> Read<Value> {
    let here = c.fault(Fault::Condition(NULL));
    if c.eat("$") {
        return cell(c, dialect);
    }
    if c.is("-") && matches!(c.peek(1), Kind::Number(_)) {
        c.take();
        let Kind::Number(digits) = c.take() else { return Err(here) };
        return Ok(Value::Constant(format!("-{digits}")));
    }
    match c.peek(0) {
        Kind::Number(constant) | Kind::Text(constant) => {
            c.take();
            Ok(Value::Constant(constant.clone()))
        }
        Kind::Word(word) => {
            c.take();
            if c.is("(") && !RESERVED.contains(&word.as_str()) {
                return call(c, dialect, word);
            }
            if c.is("[") {
                return indexed(c, word.clone());
            }
            match word.as_str() {
                "true" | "false" => Ok(Value::Constant(word.clone())),
                "null" if dialect == Dialect::Rules => Ok(Value::Null),
                "null" if dialect == Dialect::Own => Err(here),
                _ => Ok(nameless(word).map_or_else(|| Value::Word(word.clone()), Value::Some)),
            }
        }
        Kind::Quoted(word) => {
            c.take();
            if c.is("(") { call(c, dialect, word) } else { Ok(Value::Word(word.clone())) }
        }
        _ => Err(c.expected("a value (a name, a constant, `$cell` or `f(...)`)")),
    }
}

fn call(c: &mut Cursor<'_>, dialect: Dialect, word: &str) -> Read<Value> {
    c.need("(")?;
    let values = c.nested(|c| c.list(")", |c| value(c, dialect)))?;
    Ok(Value::Call(word.to_owned(), values))
}

/// A word with indices that are numbers: `a[1]`.
fn indexed(c: &mut Cursor<'_>, mut word: String) -> Read<Value> {
    while c.eat("[") {
        let Kind::Number(at) = c.peek(0) else { return Err(c.expected("a number")) };
        _ = write!(word, "[{at}]");
        c.take();
        c.need("]")?;
    }
    Ok(Value::Word(word))
}

fn cell(c: &mut Cursor<'_>, dialect: Dialect) -> Read<Value> {
    let wrong = c.fault(Fault::Condition(CELL));
    let word = c.word("the name of a cell")?;
    if dialect != Dialect::Cat {
        return Ok(if c.eat("'") { Value::After(word) } else { Value::Before(word) });
    }
    match word.split_once('.') {
        Some(("s", cell)) if !cell.is_empty() => Ok(Value::Before(cell.to_owned())),
        Some(("t", cell)) if !cell.is_empty() => Ok(Value::After(cell.to_owned())),
        _ => Err(wrong),
    }
}
