//! What an atom does: rules, automata, primitives, and foreign code, which is passed over.
//!
//! ```text
//! #RBA  ($ cell = value ;)* (rule [;])*
//! #WA   (word [*] -> word [*] : { variable, ... } [, guard] [, { jobs }])*
//! #SCA  the same, and word : initial
//! #PR   word [[ value, ... ]] ( variable, ... ; variable, ... )
//! #JAVA text, and the same with the other languages; Java : text
//! rule  := { [~] variable, ... } [condition] | condition
//! ```

use tickbound_input::message::suggest;

use super::value;
use crate::syntax::condition::{self, Dialect};
use crate::syntax::lex::{Cursor, TokenKind};
use crate::syntax::{CLOCKS, Read, Spot, SyntaxFault};
use crate::treo::ast::{Meaning, PrimitiveUse, Rules, StateStep, States, TreoRule, TreoVariable};

/// The kinds of atoms that are read.
const READ: [&str; 4] = ["RBA", "WA", "SCA", "PR"];
/// The languages of foreign code that Treo names.
const LANGUAGES: [&str; 5] = ["JAVA", "PROMELA", "MAUDE", "C", "C11"];
/// Kinds of atoms that Treo knows and this reader does not.
const OUTSIDE: [&str; 6] = ["CAM", "SA", "P", "PA", "SBA", "MCRL2"];

/// Whether an atom begins here, and no block.
pub(super) fn begins(c: &Cursor) -> bool {
    c.is("#") || begins_reference(c)
}

/// Whether `Java : "..."` stands here, the newer way to name foreign code.
fn begins_reference(c: &Cursor) -> bool {
    language(c) && matches!((c.peek(1), c.peek(2)), (TokenKind::Sign(":"), TokenKind::Text(_)))
}

fn language(c: &Cursor) -> bool {
    matches!(c.peek(0), TokenKind::Word(w) if LANGUAGES.iter().any(|l| l.eq_ignore_ascii_case(w)))
}

/// `#TAG ...` any number of times, with `|` between or without.
pub(super) fn meanings(c: &mut Cursor) -> Read<Vec<Meaning>> {
    let mut all = Vec::new();
    loop {
        c.eat("|");
        if begins_reference(c) {
            let tag = c.word("a language")?.to_uppercase();
            c.need(":")?;
            all.push(foreign(c, tag));
        } else if c.eat("#") {
            all.push(meaning(c)?);
        } else {
            return Ok(all);
        }
    }
}

fn meaning(c: &mut Cursor) -> Read<Meaning> {
    if language(c) {
        let tag = c.word("a language")?.to_uppercase();
        return Ok(foreign(c, tag));
    }
    let unknown = |c: &Cursor<'_>| {
        let TokenKind::Word(tag) = c.peek(0) else {
            return c.expected("the kind of an atom, `RBA`");
        };
        if ["TA", "TCA"].contains(&tag.as_str()) {
            return c.fault(SyntaxFault::Section(tag.clone(), CLOCKS.to_owned()));
        }
        if OUTSIDE.contains(&tag.as_str()) {
            return c
                .fault(SyntaxFault::Section(tag.clone(), "write the atom with #RBA".to_owned()));
        }
        let known = READ.into_iter().chain(LANGUAGES);
        c.fault(SyntaxFault::Section(tag.clone(), suggest(tag, known)))
    };
    let refused = unknown(c);
    let tag = c.word("the kind of an atom, such as RBA")?;
    match tag.as_str() {
        "RBA" => rules(c).map(Meaning::Rules),
        "WA" | "SCA" => states(c, tag).map(Meaning::States),
        "PR" => primitive(c).map(Meaning::Primitive),
        _ => Err(refused),
    }
}

/// Foreign code: all up to the next section, or the brace that ends the body.
fn foreign(c: &mut Cursor, tag: String) -> Meaning {
    let start = c.spot();
    let mut brackets = 0usize;
    loop {
        match c.peek(0) {
            TokenKind::End | TokenKind::Sign("#") => break,
            TokenKind::Sign("}" | "|") if brackets == 0 => break,
            TokenKind::Word(_) if brackets == 0 && begins_reference(c) => break,
            TokenKind::Sign("{") => brackets += 1,
            TokenKind::Sign("}") => brackets -= 1,
            _ => {}
        }
        c.take();
    }
    Meaning::Foreign(tag, c.text_from(start).to_owned())
}

fn rules(c: &mut Cursor) -> Read<Rules> {
    let mut rules = Rules::default();
    while !matches!(c.peek(0), TokenKind::End | TokenKind::Sign("}" | "#" | "|"))
        && !begins_reference(c)
    {
        let spot = c.spot();
        if rules.rules.is_empty()
            && let Some((cell, value)) = initial(c)?
        {
            rules.initial.push((spot, cell, value));
        } else {
            let nodes = if c.eat("{") { Some(c.list("}", signed)?) } else { None };
            let bare = matches!(c.peek(0), TokenKind::Sign("{" | "}" | "#" | "|" | ";"))
                || begins_reference(c);
            let cases = match &nodes {
                Some(_) if bare => vec![Vec::new()],
                _ => condition::cases(c, Dialect::Rules)?,
            };
            let rule = |condition| TreoRule { spot, nodes: nodes.clone(), condition };
            rules.rules.extend(cases.into_iter().map(rule));
        }
        c.eat(";");
    }
    Ok(rules)
}

/// `$cell = value`, unless a rule without braces begins so.
fn initial(c: &mut Cursor) -> Read<Option<(String, condition::ClaimValue)>> {
    let mut ahead = c.clone();
    if !ahead.eat("$") {
        return Ok(None);
    }
    let cell = ahead.word("the name of a cell")?;
    if !ahead.eat("=") {
        return Ok(None);
    }
    let value = condition::value(&mut ahead, Dialect::Rules)?;
    if [",", "&", "|"].iter().any(|sign| ahead.is(sign)) {
        return Ok(None);
    }
    *c = ahead;
    Ok(Some((cell, value)))
}

/// A node in the braces of a rule, and whether it fires.
fn signed(c: &mut Cursor) -> Read<(Spot, TreoVariable, bool)> {
    let spot = c.spot();
    let fires = !c.eat("~");
    Ok((spot, value::variable(c)?, fires))
}

fn states(c: &mut Cursor, tag: String) -> Read<States> {
    let mut states = States { tag, initial: Vec::new(), steps: Vec::new() };
    while matches!(c.peek(0), TokenKind::Word(_)) {
        let spot = c.spot();
        let from = state(c, &mut states)?;
        if c.eat(":") {
            if !c.eat_word("initial") {
                return Err(c.expected("`initial`"));
            }
            mark(&mut states, spot, &from);
            continue;
        }
        c.need("->")?;
        let to = state(c, &mut states)?;
        c.need(":")?;
        c.need("{")?;
        let nodes = c.list("}", value::variable)?;
        let guarded = !matches!(c.peek(1), TokenKind::Sign("{")) && c.eat(",");
        let guard = if guarded { guard(c)? } else { None };
        let jobs = if c.eat(",") { jobs(c)? } else { None };
        states.steps.push(StateStep { spot, from, to, nodes, guard, jobs });
    }
    Ok(states)
}

fn mark(states: &mut States, spot: Spot, state: &str) {
    if !states.initial.iter().any(|(_, s)| s == state) {
        states.initial.push((spot, state.to_owned()));
    }
}

fn state(c: &mut Cursor, states: &mut States) -> Read<String> {
    let spot = c.spot();
    let state = c.word("a state")?;
    if c.eat("*") {
        mark(states, spot, &state);
    }
    Ok(state)
}

/// The text up to the next comma outside brackets; none for `true`.
fn guard(c: &mut Cursor) -> Read<Option<String>> {
    let start = c.spot();
    let mut brackets = 0usize;
    loop {
        match c.peek(0) {
            TokenKind::End | TokenKind::Sign("{" | "}" | "#") => break,
            TokenKind::Sign(",") if brackets == 0 => break,
            TokenKind::Sign("(") => brackets += 1,
            TokenKind::Sign(")") => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        c.take();
    }
    let guard = c.text_from(start).to_owned();
    if brackets > 0 {
        c.need(")")?;
    }
    Ok(Some(guard).filter(|g| g != "true" && !g.is_empty()))
}

fn jobs(c: &mut Cursor) -> Read<Option<String>> {
    c.need("{")?;
    let start = c.spot();
    while !matches!(c.peek(0), TokenKind::End | TokenKind::Sign("{" | "}" | "#")) {
        c.take();
    }
    let jobs = c.text_from(start).to_owned();
    c.need("}")?;
    Ok(Some(jobs).filter(|j| !j.is_empty()))
}

fn primitive(c: &mut Cursor) -> Read<PrimitiveUse> {
    let spot = c.spot();
    let word = c.word("the name of a primitive")?;
    let arguments = if c.eat("[") { c.list("]", value::argument)? } else { Vec::new() };
    c.need("(")?;
    let mut nodes = Vec::new();
    let mut half = |c: &mut Cursor<'_>| -> Read<()> {
        while matches!(c.peek(0), TokenKind::Word(_)) {
            nodes.push(value::variable(c)?);
            if !c.eat(",") {
                break;
            }
        }
        Ok(())
    };
    half(c)?;
    if c.eat(";") {
        half(c)?;
    }
    c.need(")")?;
    Ok(PrimitiveUse { spot, word, arguments, nodes })
}
