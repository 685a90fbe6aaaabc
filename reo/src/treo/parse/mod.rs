//! Treo text as a tree: files, components and blocks.
//!
//! ```text
//! file       := [section path ;] (import path ;)* definition*
//! definition := word [=] [< parameter, ... >] ( node, ... ) body
//! parameter  := variable [: word | ( node, ... )]
//! node       := [variable] [? | ! | :] [word]
//! body       := { block } | { atom }
//! block      := (instance | { block })* [| predicate, ...]
//! instance   := variable [< value, ... >] ( variable, ... )
//! ```

mod atom;
mod value;

use super::ast::{
    Block, Body, Definition, Direction, File, Instance, Item, Node, Parameter, ParameterKind, Value,
};
use crate::syntax::lex::{self, Cursor, Kind, TREO};
use crate::syntax::{At, Fault, Read, Source};
use crate::treo::error::TreoError;

/// The tree of a text.
pub(super) fn file(source: &Source) -> Result<File, TreoError> {
    read(source).map_err(|error| error.map(Into::into))
}

/// The value of a setting: a text that stands where an argument could.
pub(super) fn setting(source: &Source) -> Result<Value, TreoError> {
    let read = || {
        let tokens = lex::tokens(source, TREO)?;
        let c = &mut Cursor::new(source, &tokens);
        let value = value::argument(c)?;
        if *c.peek(0) == Kind::End { Ok(value) } else { Err(c.expected("the end of the value")) }
    };
    read().map_err(|error: At<Fault>| error.map(Into::into))
}

fn read(source: &Source) -> Read<File> {
    let tokens = lex::tokens(source, TREO)?;
    let c = &mut Cursor::new(source, &tokens);
    let mut file = File::default();
    if c.is_word("section") {
        c.take();
        file.section = path(c)?;
        c.need(";")?;
    }
    while c.is_word("import") {
        c.take();
        let spot = c.spot();
        file.imports.push((spot, path(c)?));
        c.need(";")?;
    }
    while *c.peek(0) != Kind::End {
        file.definitions.push(definition(c)?);
    }
    Ok(file)
}

fn path(c: &mut Cursor<'_>) -> Read<Vec<String>> {
    let mut path = vec![c.word("a name")?];
    while c.eat(".") {
        path.push(c.word("a name")?);
    }
    Ok(path)
}

fn definition(c: &mut Cursor<'_>) -> Read<Definition> {
    let spot = c.spot();
    let name = c.word("`section`, `import` or the name of a component")?;
    c.eat("=");
    let parameters = if c.eat("<") { c.list(">", parameter)? } else { Vec::new() };
    c.need("(")?;
    let nodes = c.list(")", node)?;
    c.need("{")?;
    let body = if c.is("#") { Body::Atom(atom::meanings(c)?) } else { Body::Block(block(c)?) };
    c.need("}")?;
    Ok(Definition { spot, name, parameters, nodes, body })
}

fn parameter(c: &mut Cursor<'_>) -> Read<Parameter> {
    let name = value::variable(c)?;
    let kind = if c.eat(":") {
        Some(ParameterKind::Type(c.word("a type")?))
    } else if c.eat("(") {
        Some(ParameterKind::Component(c.list(")", node)?))
    } else {
        None
    };
    Ok(Parameter { name, kind })
}

fn node(c: &mut Cursor<'_>) -> Read<Node> {
    let name = match c.peek(0) {
        Kind::Word(_) => Some(value::variable(c)?),
        Kind::Sign("?" | "!" | ":") => None,
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
    let kind = if matches!(c.peek(0), Kind::Word(_)) { Some(c.word("a type")?) } else { None };
    Ok(Node { name, direction, kind })
}

/// What stands in braces, without them.
fn block(c: &mut Cursor<'_>) -> Read<Block> {
    let mut block = Block::default();
    loop {
        match c.peek(0) {
            Kind::Word(_) => block.items.push(Item::Instance(instance(c)?)),
            Kind::Sign("{") => {
                c.take();
                block.items.push(Item::Block(c.nested(self::block)?));
                c.need("}")?;
            }
            _ => break,
        }
    }
    if c.eat("|") {
        block.predicates.push((c.spot(), value::predicate(c)?));
        while c.eat(",") {
            block.predicates.push((c.spot(), value::predicate(c)?));
        }
    } else if !c.is("}") {
        return Err(c.expected("a component, `{`, `|` or `}`"));
    }
    Ok(block)
}

fn instance(c: &mut Cursor<'_>) -> Read<Instance> {
    let component = value::variable(c)?;
    let arguments = if c.eat("<") { c.list(">", value::argument)? } else { Vec::new() };
    c.need("(")?;
    let nodes = c.list(")", value::variable)?;
    Ok(Instance { component, arguments, nodes })
}
