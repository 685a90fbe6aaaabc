//! Treo text as a tree: files, components and blocks.
//!
//! ```text
//! file       := [section path ;] (import path ;)* definition*
//! definition := word [=] [< parameter, ... >] ( node, ... ) body
//! parameter  := variable [: type | ( node, ... )]
//! node       := [variable] [? | ! | :] [type]
//! type       := [$] word | ( type ) | type (* | ^) type
//! body       := { block } | { atom }
//! block      := (item [* | + | ;])* [| (predicate | definition), ...]
//! item       := instance | definition | { block } | for word = value .. value item
//!             | if predicate item (else predicate item)* [else item]
//! instance   := variable [< value, ... >] ( variable, ... )
//! ```
//!
//! `*`, `+` and `;` between the parts of a block name the operator with which Treo composes them.
//! Rules and automata have only one, so that they mean nothing here. Among the parts of a
//! block, `=` or the `?` and `!` of its nodes distinguish a definition from an instance.

mod atom;
mod value;

use std::sync::Arc;

use tickbound_input::message::{excerpt, suggest_or};

use super::ast::{
    BlockItem, Body, ComponentInstance, ComponentParameter, Definition, Direction, File,
    ParameterKind, Predicate, TermBlock, TreoNode, TreoSpan, TreoValue, TreoVariable,
};
use crate::syntax::lex::{self, Cursor, TREO, TokenKind};
use crate::syntax::{Read, Source, SyntaxFault, WithPlace};
use crate::treo::error::TreoResult;

/// The tree of a text.
pub fn file(source: &Source) -> TreoResult<File> {
    read(source).map_err(|error| error.map(Into::into))
}

/// The value of a setting: a text that stands where an argument could.
pub(super) fn setting(source: &Source) -> TreoResult<TreoValue> {
    let read = || {
        let tokens = lex::tokens(source, TREO)?;
        let c = &mut Cursor::new(source, &tokens);
        let value = value::argument(c)?;
        if *c.peek(0) == TokenKind::End {
            Ok(value)
        } else {
            Err(c.expected("the end of the value"))
        }
    };
    read().map_err(|error: WithPlace<SyntaxFault>| error.map(Into::into))
}

fn read(source: &Source) -> Read<File> {
    let tokens = lex::tokens(source, TREO)?;
    let c = &mut Cursor::new(source, &tokens);
    let mut file = File::default();
    if c.eat_word("section") {
        file.section = path(c)?;
        c.need(";")?;
    }
    while c.eat_word("import") {
        let spot = c.spot();
        file.imports.push((spot, path(c)?));
        c.need(";")?;
    }
    while *c.peek(0) != TokenKind::End {
        file.definitions.push(Arc::new(definition(c)?));
    }
    Ok(file)
}

fn path(c: &mut Cursor) -> Read<Vec<String>> {
    let mut path = vec![c.word("a name")?];
    while c.eat(".") {
        path.push(c.word("a name")?);
    }
    Ok(path)
}

fn definition(c: &mut Cursor) -> Read<Definition> {
    let spot = c.spot();
    if let (
        TokenKind::Word(word),
        TokenKind::Word(_) | TokenKind::Text(_) | TokenKind::Sign("." | ";"),
    ) = (c.peek(0), c.peek(1))
    {
        let fix = match word.as_str() {
            "section" | "import" => "`section`, then `import` stand before components".into(),
            _ => suggest_or(word, ["section", "import"], || "write `name(a?, b!) { ... }`".into()),
        };
        return Err(c.fault(SyntaxFault::Begin(excerpt(word), fix)));
    }
    let name = c.word("`section`, `import` or the name of a component")?;
    c.eat("=");
    let parameters = if c.eat("<") { c.list(">", parameter)? } else { Vec::new() };
    c.need("(")?;
    let nodes = c.list(")", node)?;
    c.need("{")?;
    let body = if atom::begins(c) {
        Body::Atom(atom::meanings(c)?)
    } else {
        Body::Block(c.nested(block)?)
    };
    c.need("}")?;
    Ok(Definition { spot, name, parameters, nodes, body })
}

fn parameter(c: &mut Cursor) -> Read<ComponentParameter> {
    let name = value::variable(c)?;
    let kind = if c.eat(":") {
        Some(ParameterKind::Type(kind(c)?))
    } else if c.eat("(") {
        Some(ParameterKind::Component(c.list(")", node)?))
    } else {
        None
    };
    Ok(ComponentParameter { name, kind })
}

fn node(c: &mut Cursor) -> Read<TreoNode> {
    let name = match c.peek(0) {
        TokenKind::Word(_) => Some(value::variable(c)?),
        TokenKind::Sign("?" | "!" | ":") => None,
        _ => return Err(c.expected("a node")),
    };
    let direction = if c.eat("?") {
        Some(Direction::In)
    } else if c.eat("!") {
        Some(Direction::Out)
    } else {
        c.eat(":");
        None
    };
    let has_type = matches!(c.peek(0), TokenKind::Word(_) | TokenKind::Sign("$" | "("));
    let ty = if has_type { Some(kind(c)?) } else { None };
    Ok(TreoNode { name, direction, ty })
}

/// The text of a type.
fn kind(c: &mut Cursor) -> Read<String> {
    let start = c.spot();
    loop {
        if c.eat("(") {
            c.nested(kind)?;
            c.need(")")?;
        } else {
            c.eat("$");
            c.word("a type")?;
        }
        if !c.eat("*") && !c.eat("^") {
            return Ok(c.text_from(start).to_owned());
        }
    }
}

/// The content of braces.
fn block(c: &mut Cursor) -> Read<TermBlock> {
    let mut block = TermBlock::default();
    while matches!(c.peek(0), TokenKind::Word(_) | TokenKind::Sign("{")) {
        if begins_definition(c) {
            block.definitions.push(Arc::new(definition(c)?));
        } else {
            block.items.extend(item(c)?);
        }
        _ = ["*", "+", ";"].into_iter().any(|sign| c.eat(sign));
    }
    if c.eat("|") {
        said(c, &mut block)?;
        while c.eat(",") || c.is("&") && c.eat("&") && c.eat("&") {
            said(c, &mut block)?;
        }
    } else if !c.is("}") {
        return Err(c.expected("a component, `{`, `|` or `}`"));
    }
    Ok(block)
}

/// A predicate, or a component that is known in the block.
fn said(c: &mut Cursor, block: &mut TermBlock) -> Read<()> {
    let open = matches!(c.peek(0), TokenKind::Word(_)) && matches!(c.peek(1), TokenKind::Sign("("));
    if open || begins_definition(c) {
        block.definitions.push(Arc::new(definition(c)?));
    } else {
        block.predicates.push((c.spot(), value::predicate(c)?));
    }
    Ok(())
}

/// Whether a definition begins here: `word =` or marked nodes, in a signature with a body.
fn begins_definition(c: &Cursor) -> bool {
    if !matches!(c.peek(0), TokenKind::Word(_)) {
        return false;
    }
    let named = matches!(c.peek(1), TokenKind::Sign("="));
    let mut at = if named { 2 } else { 1 };
    if matches!(c.peek(at), TokenKind::Sign("<")) {
        at = behind(c, at, "<", ">").0;
    }
    if !matches!(c.peek(at), TokenKind::Sign("(")) {
        return false;
    }
    let (end, marked) = behind(c, at, "(", ")");
    (named || marked) && matches!(c.peek(end), TokenKind::Sign("{"))
}

/// Where the bracket that opens `at` tokens ahead has been closed, and whether `?` or `!` is in it.
fn behind(c: &Cursor, mut at: usize, open: &str, close: &str) -> (usize, bool) {
    let (mut depth, mut marked) = (0usize, false);
    loop {
        match c.peek(at) {
            TokenKind::Sign(sign) if *sign == open => depth += 1,
            TokenKind::Sign(sign) if *sign == close => depth -= 1,
            TokenKind::Sign("?" | "!") => marked = true,
            // Neither is in a signature.
            TokenKind::Sign("{" | "}") | TokenKind::End => return (at, false),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return (at, marked);
        }
    }
}

/// A part of a block; `if` gives one for each of its cases.
fn item(c: &mut Cursor) -> Read<Vec<BlockItem>> {
    if c.eat("{") {
        let block = c.nested(block)?;
        c.need("}")?;
        return Ok(vec![BlockItem::Block(block)]);
    }
    let spelled = !matches!(c.peek(1), TokenKind::Sign("(" | "<" | "["));
    if spelled && c.eat_word("for") {
        return c.nested(repeated).map(|block| vec![BlockItem::Block(block)]);
    }
    if c.is_word("if") && (spelled || !is_instance(c)) {
        c.take();
        return c.nested(chosen);
    }
    Ok(vec![BlockItem::Instance(instance(c)?)])
}

/// Whether `if (` is a component called so, and no condition in brackets.
fn is_instance(c: &Cursor) -> bool {
    let mut ahead = c.clone();
    instance(&mut ahead).is_ok() && !matches!(ahead.peek(0), TokenKind::Sign("{"))
}

/// What stands behind `for`: `word = value .. value item`.
fn repeated(c: &mut Cursor) -> Read<TermBlock> {
    let spot = c.spot();
    let word = TreoVariable { spot, word: c.word("a word")?, indices: Vec::new() };
    c.need("=")?;
    let from = value::argument(c)?;
    c.need("..")?;
    let range = TreoValue::List(vec![TreoSpan::Range(from, value::argument(c)?)]);
    let predicates = vec![(spot, Predicate::In(word, range))];
    Ok(TermBlock { items: item(c)?, predicates, ..TermBlock::default() })
}

/// What stands behind `if`: the items under each condition, in none of the cases before.
fn chosen(c: &mut Cursor) -> Read<Vec<BlockItem>> {
    let (mut cases, mut before) = (Vec::new(), Vec::new());
    loop {
        let spot = c.spot();
        let test = if c.is("{") { Predicate::All(Vec::new()) } else { value::predicate(c)? };
        let last = matches!(&test, Predicate::All(all) if all.is_empty());
        let not = |test| Predicate::Not(Box::new(test));
        let mut predicates: Vec<(_, Predicate)> = before.clone();
        before.push((spot, not(test.clone())));
        if !last {
            // Negated twice it only tests: no word gets its value from a condition.
            predicates.push((spot, not(not(test))));
        }
        cases.push(BlockItem::Block(TermBlock {
            items: item(c)?,
            predicates,
            ..TermBlock::default()
        }));
        if last || !c.eat_word("else") {
            return Ok(cases);
        }
    }
}

fn instance(c: &mut Cursor) -> Read<ComponentInstance> {
    let component = value::dotted(c)?;
    let arguments = if c.eat("<") { c.list(">", value::argument)? } else { Vec::new() };
    c.need("(")?;
    let nodes = c.list(")", value::variable)?;
    Ok(ComponentInstance { component, arguments, nodes })
}
