//! The text of conditions: read in three dialects, written in one.
//!
//! A condition is a list of claims, all of which hold: `x = y`, `x != y`, `P(x, y)`, `!P(x)`,
//! `true`, with brackets around any. Values are names, constants (`"text"` or numbers), calls
//! `f(x, y)`, `_1` (some value) and the content of a cell before and after the step. How the last
//! is written, what separates claims, and whether there is `null` is the [`Dialect`].
//!
//! ```
//! use tickbound_reo::constraint::{Constraint, Literal, Term};
//! use tickbound_reo::symbol::Symbols;
//! use tickbound_reo::syntax::condition;
//!
//! let mut symbols = Symbols::new();
//! let (a, m) = (symbols.name("a"), symbols.cell("m"));
//! let put = Constraint::new([Literal::Equal(Term::Datum(a), Term::After(m))]);
//! assert_eq!(condition::text(&put, &symbols), "a = $m'");
//! let claims = condition::parse("a = $m'").map_err(|e| e.to_string())?;
//! assert_eq!(condition::constraint(&claims, &mut symbols), put);
//! # Ok::<(), String>(())
//! ```

mod write;

use std::fmt::Write;

pub(crate) use write::claims_text;
pub use write::text;

use crate::constraint::{Constraint, Literal, Term};
use crate::symbol::Symbols;
use crate::syntax::lex::{self, Cursor, Kind, OWN, nameless};
use crate::syntax::{At, Fault, Source, Spot};

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

/// Words that are no names.
const RESERVED: [&str; 3] = ["true", "false", "null"];
const FALSE: &str = "`false` never holds; leave the step out";
const OR: &str = "a step has no `or`; write one step for each case";
const NULL: &str = "`null` stands for an empty cell in #RBA alone; write a constant in quotes";
const CELL: &str = "a cell is written `$s.m` (before the step) or `$t.m` (after it)";

/// The claims of a text in [`Dialect::Own`].
///
/// # Errors
/// What is wrong with the text and where.
pub fn parse(text: &str) -> Result<Vec<Claimed>, At<Fault>> {
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
pub fn claims(cursor: &mut Cursor<'_>, dialect: Dialect) -> Result<Vec<Claimed>, At<Fault>> {
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

fn claim(c: &mut Cursor<'_>, dialect: Dialect, all: &mut Vec<Claimed>) -> Result<(), At<Fault>> {
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
fn negated(
    c: &mut Cursor<'_>,
    dialect: Dialect,
    spot: Spot,
    all: &mut Vec<Claimed>,
) -> Result<(), At<Fault>> {
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
pub fn value(c: &mut Cursor<'_>, dialect: Dialect) -> Result<Value, At<Fault>> {
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

fn call(c: &mut Cursor<'_>, dialect: Dialect, word: &str) -> Result<Value, At<Fault>> {
    c.need("(")?;
    let values = c.nested(|c| c.list(")", |c| value(c, dialect)))?;
    Ok(Value::Call(word.to_owned(), values))
}

/// A word with indices that are numbers: `a[1]`.
fn indexed(c: &mut Cursor<'_>, mut word: String) -> Result<Value, At<Fault>> {
    while c.eat("[") {
        let Kind::Number(at) = c.peek(0) else { return Err(c.expected("a number")) };
        _ = write!(word, "[{at}]");
        c.take();
        c.need("]")?;
    }
    Ok(Value::Word(word))
}

fn cell(c: &mut Cursor<'_>, dialect: Dialect) -> Result<Value, At<Fault>> {
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

/// Claims as a constraint: words are names, all of them as they stand.
#[must_use]
pub fn constraint(claims: &[Claimed], symbols: &mut Symbols) -> Constraint {
    Constraint::new(claims.iter().map(|(_, c)| literal(c, symbols)).collect::<Vec<_>>())
}

fn literal(claim: &Claim, symbols: &mut Symbols) -> Literal {
    match claim {
        Claim::Equal(a, b) => Literal::Equal(term(a, symbols), term(b, symbols)),
        Claim::Different(a, b) => Literal::Different(term(a, symbols), term(b, symbols)),
        Claim::Predicate(holds, p, values) => {
            let p = symbols.intern(p);
            Literal::Predicate(*holds, p, values.iter().map(|v| term(v, symbols)).collect())
        }
    }
}

fn term(value: &Value, symbols: &mut Symbols) -> Term {
    match value {
        Value::Word(word) => Term::Datum(symbols.name(word)),
        Value::Constant(word) => Term::Constant(symbols.intern(word)),
        Value::Null => Term::Constant(symbols.intern("null")),
        Value::Some(k) => Term::Some(*k),
        Value::Before(word) => Term::Before(symbols.cell(word)),
        Value::After(word) => Term::After(symbols.cell(word)),
        Value::Call(f, values) => {
            let f = symbols.intern(f);
            Term::Call(f, values.iter().map(|v| term(v, symbols)).collect())
        }
    }
}

impl Claim {
    /// The values on its sides, or its arguments.
    #[must_use]
    pub fn values(&self) -> Vec<&Value> {
        match self {
            Claim::Equal(a, b) | Claim::Different(a, b) => vec![a, b],
            Claim::Predicate(_, _, values) => values.iter().collect(),
        }
    }
}

impl Value {
    /// Calls `see` with every value in it that is no call.
    pub fn visit<'v>(&'v self, see: &mut impl FnMut(&'v Value)) {
        match self {
            Value::Call(_, values) => values.iter().for_each(|v| v.visit(see)),
            leaf => see(leaf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let claims = parse(text).map_err(|e| e.to_string())?;
        Ok(claims_text(&claims, false))
    }

    #[test]
    fn conditions_read_back_as_written() {
        for text in [
            "true",
            "a = $m'",
            "$seqc.1/m = p[1] & _3 != \"x\\\"y\"",
            "!P(a, f(g(12), $m)) & Q()",
            "`a b` = `true`",
            "`f f`(a) = \"\"",
        ] {
            assert_eq!(read(text), Ok(text.into()));
        }
        assert_eq!(read("(a=b && !(P(x)))&(true)"), Ok("a = b & !P(x)".into()));
        assert_eq!(
            read("!(a = b) & !(a != c) & p(true)"),
            Ok("a != b & a = c & p(\"true\")".into())
        );
    }

    #[test]
    fn refused_conditions_say_where() {
        for (text, error) in [
            (
                "",
                "1:1: the end of the text where a value (a name, a constant, `$cell` or `f(...)`) should stand",
            ),
            ("a", "1:2: the end of the text where `=` or `!=` should stand"),
            ("a = b c", "1:7: `c` where `&` should stand"),
            ("a = b, c = d", "1:6: `,` where `&` should stand"),
            ("P(a) | Q(a)", "1:6: a step has no `or`; write one step for each case"),
            ("!(P(a) & Q(a))", "1:15: a step has no `or`; write one step for each case"),
            ("false", "1:1: `false` never holds; leave the step out"),
            (
                "a = null",
                "1:5: `null` stands for an empty cell in #RBA alone; write a constant in quotes",
            ),
            ("f(a = b", "1:5: `=` where `,` or `)` should stand"),
        ] {
            assert_eq!(read(text), Err(format!("condition:{error}")), "{text}");
        }
        let deep = format!("{}a = b", "(".repeat(65));
        assert_eq!(read(&deep).map_err(|e| e.contains("deeper than 64")), Err(true));
        let deep = format!("a = {}a", "f(".repeat(65));
        assert_eq!(read(&deep).map_err(|e| e.contains("deeper than 64")), Err(true));
    }

    #[test]
    fn plain_words_are_written_as_constraints_are() {
        let mut symbols = Symbols::new();
        for text in ["a = $m'", "$m = b & P(f(a), 3)", "_0 != \"x\"", "true"] {
            let claims = parse(text).unwrap_or_else(|e| panic!("{e}"));
            let constraint = constraint(&claims, &mut symbols);
            assert_eq!(super::text(&constraint, &symbols), constraint.text(&symbols));
        }
    }
}
