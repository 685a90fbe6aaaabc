//! What an atom does: rules, automata, primitives, and foreign code, which is passed over.
//!
//! ```text
//! #RBA  ($ cell = value ;)* ({ [~] variable, ... } [condition])*
//! #WA   (word [*] -> word [*] : { variable, ... } [, guard] [, { jobs }])*
//! #SCA  the same, and word : initial
//! #PR   word [[ value, ... ]] ( variable, ... ; variable, ... )
//! ```

use super::value;
use crate::syntax::condition::{self, Dialect};
use crate::syntax::lex::{Cursor, Kind};
use crate::syntax::{Read, Spot};
use crate::treo::ast::{Meaning, PrimitiveUse, Rule, Rules, StateStep, States, Variable};

/// `#TAG ...` any number of times.
pub(super) fn meanings(c: &mut Cursor<'_>) -> Read<Vec<Meaning>> {
    let mut all = Vec::new();
    while c.eat("#") {
        let tag = c.word("the kind of an atom, such as RBA")?;
        all.push(match tag.as_str() {
            "RBA" => Meaning::Rules(rules(c)?),
            "WA" | "SCA" => Meaning::States(states(c, tag)?),
            "PR" => Meaning::Primitive(primitive(c)?),
            _ => {
                let start = c.spot();
                foreign(c);
                Meaning::Foreign(tag, c.text_from(start).to_owned())
            }
        });
    }
    Ok(all)
}

/// Passes over all up to the next `#` or the brace that ends the body.
fn foreign(c: &mut Cursor<'_>) {
    let mut brackets = 0usize;
    loop {
        match c.peek(0) {
            Kind::End | Kind::Sign("#") => return,
            Kind::Sign("}") if brackets == 0 => return,
            Kind::Sign("{") => brackets += 1,
            Kind::Sign("}") => brackets -= 1,
            _ => {}
        }
        c.take();
    }
}

fn rules(c: &mut Cursor<'_>) -> Read<Rules> {
    let mut rules = Rules::default();
    loop {
        let spot = c.spot();
        if c.eat("$") {
            let cell = c.word("the name of a cell")?;
            c.need("=")?;
            rules.initial.push((spot, cell, condition::value(c, Dialect::Rules)?));
            c.eat(";");
        } else if c.eat("{") {
            let nodes = c.list("}", |c| {
                let spot = c.spot();
                let fires = !c.eat("~");
                Ok((spot, value::variable(c)?, fires))
            })?;
            let bare = matches!(c.peek(0), Kind::Sign("{" | "}" | "#"));
            let condition = if bare { Vec::new() } else { condition::claims(c, Dialect::Rules)? };
            rules.rules.push(Rule { spot, nodes, condition });
        } else {
            return Ok(rules);
        }
    }
}

fn states(c: &mut Cursor<'_>, tag: String) -> Read<States> {
    let mut states = States { tag, initial: Vec::new(), steps: Vec::new() };
    while matches!(c.peek(0), Kind::Word(_)) {
        let spot = c.spot();
        let from = state(c, &mut states)?;
        if c.eat(":") {
            if !c.is_word("initial") {
                return Err(c.expected("`initial`"));
            }
            c.take();
            mark(&mut states, spot, &from);
            continue;
        }
        c.need("->")?;
        let to = state(c, &mut states)?;
        c.need(":")?;
        c.need("{")?;
        let nodes = c.list("}", value::variable)?;
        let guard = if c.is(",") && !matches!(c.peek(1), Kind::Sign("{")) {
            c.take();
            guard(c)
        } else {
            None
        };
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

fn state(c: &mut Cursor<'_>, states: &mut States) -> Read<String> {
    let spot = c.spot();
    let state = c.word("a state")?;
    if c.eat("*") {
        mark(states, spot, &state);
    }
    Ok(state)
}

/// The text up to the next comma that no bracket holds; none for `true`.
fn guard(c: &mut Cursor<'_>) -> Option<String> {
    let start = c.spot();
    let mut brackets = 0usize;
    loop {
        match c.peek(0) {
            Kind::End | Kind::Sign("{" | "}" | "#") => break,
            Kind::Sign(",") if brackets == 0 => break,
            Kind::Sign("(") => brackets += 1,
            Kind::Sign(")") => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        c.take();
    }
    let guard = c.text_from(start);
    (guard != "true" && !guard.is_empty()).then(|| guard.to_owned())
}

fn jobs(c: &mut Cursor<'_>) -> Read<Option<String>> {
    c.need("{")?;
    let start = c.spot();
    while !matches!(c.peek(0), Kind::End | Kind::Sign("{" | "}" | "#")) {
        c.take();
    }
    let jobs = c.text_from(start).to_owned();
    c.need("}")?;
    Ok(Some(jobs).filter(|j| !j.is_empty()))
}

fn primitive(c: &mut Cursor<'_>) -> Read<PrimitiveUse> {
    let spot = c.spot();
    let word = c.word("the name of a primitive")?;
    let arguments = if c.eat("[") { c.list("]", value::argument)? } else { Vec::new() };
    c.need("(")?;
    let nodes = |c: &mut Cursor<'_>| -> Read<Vec<Variable>> {
        let mut nodes = Vec::new();
        while matches!(c.peek(0), Kind::Word(_)) {
            nodes.push(value::variable(c)?);
            if !c.eat(",") {
                break;
            }
        }
        Ok(nodes)
    };
    let inputs = nodes(c)?;
    let outputs = if c.eat(";") { nodes(c)? } else { Vec::new() };
    c.need(")")?;
    Ok(PrimitiveUse { spot, word, arguments, inputs, outputs })
}
