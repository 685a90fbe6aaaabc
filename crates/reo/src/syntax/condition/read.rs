//! Text as conditions.
//!
//! ```text
//! condition := either (, either)*
//! either    := all ((| or || or the word or) all)*
//! all       := one ((& or && or the word and) one)*
//! one       := ! one | ( condition ) | true | false | value relation value | word ( value, ... )
//! relation  := = | != | < | <= | > | >=
//! value     := product ((+ | -) product)*
//! product   := signed ((* | / | %) signed)*
//! signed    := - signed | ( value ) | number | text | word [( value, ... )] | $ cell [']
//! ```
//!
//! What is read are the *cases* of a condition: conjunctions, one of which holds. Without `|` and
//! negated conjunctions there is one, for `false` there is none.

use std::fmt::Write;

use super::claim::{ClaimValue, Claimed, GuardClaim, RESERVED};
use crate::constant::{OPERATORS, RELATIONS, constant_word};
use crate::syntax::lex::{self, Cursor, MAX_NAMELESS, OWN, TokenKind, nameless};
use crate::syntax::{Read, Source, Spot, SyntaxFault, WithPlace};

/// How a language writes conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `#RBA`: cells `$m` and `$m'`, `null` or `*` for an empty cell, `,` as a loose `&`.
    Rules,
    /// `.cat`: cells `$s.m` (before) and `$t.m` (after); each `?` is any value.
    Cat,
    /// As this crate writes: cells `$m` and `$m'`.
    Own,
}

/// The conjunctions of a condition, one of which holds.
pub type Cases = Vec<Vec<Claimed>>;

const MAX_CASES: usize = 256;

const CASES: &str = "a condition of more than 256 cases; write several steps";
const NULL: &str = "`null` stands for an empty cell in #RBA alone; write a constant in quotes";
const CELL: &str = "a cell is written `$s.m` (before the step) or `$t.m` (after it)";

/// The cases of a text in [`Dialect::Own`].
pub fn parse(text: &str) -> Read<Cases> {
    let source = Source::new("condition", text);
    let tokens = lex::tokens(&source, OWN)?;
    let mut cursor = Cursor::new(&source, &tokens);
    let cases = cases(&mut cursor, Dialect::Own)?;
    if *cursor.peek(0) == TokenKind::End { Ok(cases) } else { Err(cursor.expected("`&` or `|`")) }
}

/// The cases of a condition, up to the first token that cannot go on with it.
pub fn cases(c: &mut Cursor, dialect: Dialect) -> Read<Cases> {
    let mut all = either(c, dialect)?;
    while dialect == Dialect::Rules && c.eat(",") {
        // `a = b, & c = d` is written, too.
        c.eat("&");
        let more = either(c, dialect)?;
        all = both(c, &all, &more)?;
    }
    Ok(all)
}

fn either(c: &mut Cursor, dialect: Dialect) -> Read<Cases> {
    let mut cases = all(c, dialect)?;
    // Behind another `|` the next section of an atom begins: `#WA`, `Java : "..."`.
    let section = |c: &Cursor<'_>| {
        matches!(c.peek(1), TokenKind::Sign("#")) || matches!(c.peek(2), TokenKind::Sign(":"))
    };
    while !(c.is("|") && section(c)) && joined(c, "|", "or") {
        cases.extend(all(c, dialect)?);
    }
    within(c, cases)
}

fn all(c: &mut Cursor, dialect: Dialect) -> Read<Cases> {
    let mut cases = c.nested(|c| one(c, dialect))?;
    while joined(c, "&", "and") {
        let more = c.nested(|c| one(c, dialect))?;
        cases = both(c, &cases, &more)?;
    }
    Ok(cases)
}

/// Takes `sign`, once or twice, or the word for it.
fn joined(c: &mut Cursor, sign: &str, word: &str) -> bool {
    if c.eat(sign) {
        c.eat(sign);
        return true;
    }
    c.eat_word(word)
}

fn within(c: &Cursor, cases: Cases) -> Read<Cases> {
    if cases.len() > MAX_CASES { Err(c.fault(SyntaxFault::Condition(CASES))) } else { Ok(cases) }
}

fn both(c: &Cursor, one: &Cases, other: &Cases) -> Read<Cases> {
    all_of(one, other).ok_or_else(|| c.fault(SyntaxFault::Condition(CASES)))
}

/// Each case of one with each of the other, unless there are too many.
pub(crate) fn all_of(one: &Cases, other: &Cases) -> Option<Cases> {
    if one.len().saturating_mul(other.len()) > MAX_CASES {
        return None;
    }
    let with = |a: &Vec<Claimed>| {
        let a = a.clone();
        other.iter().map(move |b| a.iter().chain(b).cloned().collect())
    };
    Some(one.iter().flat_map(with).collect())
}

fn one(c: &mut Cursor, dialect: Dialect) -> Read<Cases> {
    let spot = c.spot();
    if c.eat("!") {
        let inner = c.nested(|c| one(c, dialect))?;
        return negated(c, spot, &inner);
    }
    if !c.is("(") {
        return claim(c, dialect, spot);
    }
    // A bracket may hold a condition, or begin a value. Of two faults the later one is reported.
    let mut inside = c.clone();
    let inner = bracket(&mut inside, dialect);
    let Err(fault) = inner else {
        *c = inside;
        return inner;
    };
    let at = |fault: &WithPlace<SyntaxFault>| (fault.place.line, fault.place.column);
    claim(c, dialect, spot).map_err(|other| if at(&other) > at(&fault) { other } else { fault })
}

fn bracket(c: &mut Cursor, dialect: Dialect) -> Read<Cases> {
    c.need("(")?;
    let inner = cases(c, dialect)?;
    c.need(")").map(|()| inner)
}

/// One claim, or a word for one.
fn claim(c: &mut Cursor, dialect: Dialect, spot: Spot) -> Read<Cases> {
    let alone = !matches!(c.peek(1), TokenKind::Sign("=" | "!=" | "<" | "<=" | ">" | ">="));
    for (word, cases) in [("true", vec![Vec::new()]), ("false", Vec::new())] {
        if alone && c.eat_word(word) {
            return Ok(cases);
        }
    }
    let left = value(c, dialect)?;
    if let Some(sign) = RELATIONS.into_iter().find(|sign| c.eat(sign)) {
        let right = value(c, dialect)?;
        return Ok(vec![vec![(spot, GuardClaim::relation(sign, left, right))]]);
    }
    let different = c.is("!=");
    if !different && !c.is("=") {
        return match left {
            ClaimValue::Call(word, values) if !OPERATORS.contains(&word.as_str()) => {
                Ok(vec![vec![(spot, GuardClaim::Predicate(true, word, values.into()))]])
            }
            _ => Err(c.expected("`=`, `!=` or `<`")),
        };
    }
    c.take();
    // `.cat` files tell tests, `==`, from what is put somewhere; both say the same.
    _ = dialect == Dialect::Cat && !different && c.eat("=");
    let right = value(c, dialect)?;
    let claim =
        if different { GuardClaim::Different(left, right) } else { GuardClaim::Equal(left, right) };
    Ok(vec![vec![(spot, claim)]])
}

/// The cases in which none of `cases` holds: of each case some claim fails.
fn negated(c: &Cursor, spot: Spot, cases: &Cases) -> Read<Cases> {
    let mut none = vec![Vec::new()];
    for case in cases {
        let fails = case.iter().map(|(_, claim)| vec![(spot, claim.clone().negated())]).collect();
        none = absorbed(both(c, &none, &fails)?);
    }
    Ok(none)
}

/// Without claims that are there twice, and without cases in which another one holds as well.
fn absorbed(mut cases: Cases) -> Cases {
    for case in &mut cases {
        let mut seen: Vec<GuardClaim> = Vec::new();
        case.retain(|(_, claim)| {
            let new = !seen.contains(claim);
            seen.push(claim.clone());
            new
        });
    }
    let mut kept: Cases = Vec::new();
    for case in cases {
        if !kept.iter().any(|other| other.iter().all(|claim| case.contains(claim))) {
            kept.retain(|other| !case.iter().all(|claim| other.contains(claim)));
            kept.push(case);
        }
    }
    kept
}

/// A value.
pub fn value(c: &mut Cursor, dialect: Dialect) -> Read<ClaimValue> {
    chain(c, &["+", "-"], |c| chain(c, &["*", "/", "%"], |c| signed(c, dialect)))
}

/// Values with some of `signs` between, from the left.
fn chain(
    c: &mut Cursor,
    signs: &[&'static str],
    mut operand: impl FnMut(&mut Cursor) -> Read<ClaimValue>,
) -> Read<ClaimValue> {
    let mut left = operand(c)?;
    while let Some(sign) = signs.iter().find(|s| c.is(s)) {
        // `$m = *` may stand before anything.
        if left == ClaimValue::Null {
            break;
        }
        c.take();
        let right = operand(c)?;
        left = ClaimValue::of_sign(sign, vec![left, right]);
    }
    Ok(left)
}

fn signed(c: &mut Cursor, dialect: Dialect) -> Read<ClaimValue> {
    if c.eat("-") {
        if let TokenKind::Number(digits) = c.peek(0) {
            c.take();
            return Ok(ClaimValue::Constant(format!("-{digits}")));
        }
        let inner = c.nested(|c| signed(c, dialect))?;
        return Ok(ClaimValue::of_sign("-", vec![inner]));
    }
    if c.eat("(") {
        let inner = c.nested(|c| value(c, dialect))?;
        return c.need(")").map(|()| inner);
    }
    if dialect == Dialect::Rules && c.eat("*") {
        return Ok(ClaimValue::Null);
    }
    leaf(c, dialect)
}

fn leaf(c: &mut Cursor, dialect: Dialect) -> Read<ClaimValue> {
    let here = c.fault(SyntaxFault::Condition(NULL));
    if c.eat("$") {
        return cell(c, dialect);
    }
    let value = match c.peek(0) {
        TokenKind::Sign("?") if dialect == Dialect::Cat => {
            ClaimValue::Some(MAX_NAMELESS.saturating_add(c.spot().0 as u32))
        }
        TokenKind::Number(constant) => ClaimValue::Constant(constant.clone()),
        TokenKind::Text(constant) => ClaimValue::Constant(constant_word(constant)),
        TokenKind::Word(word) => {
            c.take();
            let mut word = word.clone();
            // The function of a class of foreign code.
            while dialect == Dialect::Rules && c.is(".") && matches!(c.peek(1), TokenKind::Word(_))
            {
                c.take();
                word = format!("{word}.{}", c.word("a word")?);
            }
            if c.is("(") && !RESERVED.contains(&word.as_str()) {
                return call(c, dialect, &word);
            }
            if c.is("[") {
                return indexed(c, word);
            }
            return match word.as_str() {
                "true" | "false" => Ok(ClaimValue::Constant(word)),
                "null" if dialect == Dialect::Rules => Ok(ClaimValue::Null),
                "null" if dialect == Dialect::Own => Err(here),
                _ => Ok(nameless(&word).map_or_else(|| ClaimValue::Word(word), ClaimValue::Some)),
            };
        }
        TokenKind::Quoted(word) if matches!(c.peek(1), TokenKind::Sign("(")) => {
            c.take();
            return call(c, dialect, word);
        }
        TokenKind::Quoted(word) => ClaimValue::Word(word.clone()),
        _ => return Err(c.expected("a value (a name, a constant, `$cell` or `f(...)`)")),
    };
    c.take();
    Ok(value)
}

fn call(c: &mut Cursor, dialect: Dialect, word: &str) -> Read<ClaimValue> {
    c.need("(")?;
    let values = c.nested(|c| c.list(")", |c| value(c, dialect)))?;
    Ok(ClaimValue::Call(word.to_owned(), values))
}

/// A word with indices that are numbers: `a[1]`.
fn indexed(c: &mut Cursor, mut word: String) -> Read<ClaimValue> {
    while c.eat("[") {
        let TokenKind::Number(at) = c.peek(0) else { return Err(c.expected("a number")) };
        _ = write!(word, "[{at}]");
        c.take();
        c.need("]")?;
    }
    Ok(ClaimValue::Word(word))
}

fn cell(c: &mut Cursor, dialect: Dialect) -> Read<ClaimValue> {
    let wrong = c.fault(SyntaxFault::Condition(CELL));
    let word = c.word("the name of a cell")?;
    if dialect != Dialect::Cat {
        return Ok(if c.eat("'") { ClaimValue::After(word) } else { ClaimValue::Before(word) });
    }
    match word.split_once('.') {
        Some(("s", cell)) if !cell.is_empty() => Ok(ClaimValue::Before(cell.to_owned())),
        Some(("t", cell)) if !cell.is_empty() => Ok(ClaimValue::After(cell.to_owned())),
        _ => Err(wrong),
    }
}
