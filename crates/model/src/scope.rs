//! Names: which ones a problem knows, where each may be used, and in which slot its value lies.
//!
//! Slots are laid out inputs, platform numbers, parameters, definitions, then the three names that
//! differ between work items: `lid` (index in the group), `gid` (index in the launch) and `group`.

use std::ops::Range;

use indexmap::IndexMap;
use tickbound_input::message::suggest;

use super::error::ModelError;
use tickbound_expr::parse::parse;
use tickbound_expr::{Expr, Slot};

/// The names that differ between work items, in slot order.
pub const ITEM_NAMES: [&str; 3] = ["lid", "gid", "group"];

/// What a name represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// An input of the problem.
    Input,
    /// A number of the platform.
    Platform,
    /// A tuning parameter.
    Parameter,
    /// A definition.
    Definition,
    /// One of [`ITEM_NAMES`].
    Item,
}

/// The names of a problem in slot order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    names: IndexMap<String, NameKind>,
}

impl Scope {
    /// Adds a name in the next slot.
    ///
    /// # Errors
    /// A name that is not an identifier, or that is reserved or taken.
    pub(crate) fn add(&mut self, at: &str, name: &str, kind: NameKind) -> Result<(), ModelError> {
        let reserved = ["if", "else", "and", "or", "not", "True", "False"].contains(&name)
            || (kind != NameKind::Item && ITEM_NAMES.contains(&name));
        if !is_identifier(name) || reserved {
            return Err(ModelError::new(
                at,
                format!("`{name}` cannot be a name"),
                "use letters, digits and `_`, and no reserved word",
            ));
        }
        if let Some(other) = self.names.get(name) {
            return Err(ModelError::new(
                at,
                format!("`{name}` is already the name of {}", other.phrase()),
                "rename one of them",
            ));
        }
        self.names.insert(name.to_owned(), kind);
        Ok(())
    }

    /// Adds a definition in this slot, at most the number of slots; what is there moves on.
    ///
    /// # Errors
    /// As for [`Scope::add`].
    pub(crate) fn insert(&mut self, slot: Slot, definition: &str) -> Result<(), ModelError> {
        self.add("definitions", definition, NameKind::Definition)?;
        self.names.move_index(self.names.len() - 1, slot);
        Ok(())
    }

    /// Removes the names in some slots; those behind move up.
    pub(crate) fn remove(&mut self, slots: Range<Slot>) {
        self.names.drain(slots);
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True before any name was added.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The slot of a name.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.names.get_index_of(name)
    }

    /// The name in a slot.
    pub fn name(&self, slot: Slot) -> &str {
        self.names.get_index(slot).map_or("?", |(n, _)| n)
    }

    /// What the name in a slot represents.
    pub fn kind(&self, slot: Slot) -> Option<NameKind> {
        self.names.get_index(slot).map(|(_, k)| *k)
    }

    /// True if the value in this slot differs between work items.
    pub fn is_item(&self, slot: Slot) -> bool {
        self.kind(slot) == Some(NameKind::Item)
    }

    /// Reads an expression over the names known so far.
    ///
    /// # Errors
    /// A syntax error or an unknown name.
    pub(crate) fn expression(&self, at: &str, text: &str) -> Result<Expr, ModelError> {
        self.parsed(at, text)?.resolve(&mut |n| self.slot(n)).map_err(|n| self.unknown(at, &n))
    }

    /// Reads an expression whose names need not be known.
    ///
    /// # Errors
    /// A syntax error.
    pub(crate) fn parsed(&self, at: &str, text: &str) -> Result<Expr<String>, ModelError> {
        parse(text).map_err(|e| ModelError::new(at, e.to_string(), ""))
    }

    /// The error for a name that is not known, with the nearest one that is.
    pub(crate) fn unknown(&self, at: &str, name: &str) -> ModelError {
        ModelError::new(at, format!("unknown name `{name}`"), suggest(name, self.own_first()))
    }

    /// The names, with those of the platform last, as a reader looks for those of the file first.
    fn own_first(&self) -> impl Iterator<Item = &str> {
        let of_platform = |is: bool| {
            let kept = move |(_, kind): &(&String, &NameKind)| (**kind == NameKind::Platform) == is;
            self.names.iter().filter(kept).map(|(name, _)| name.as_str())
        };
        of_platform(false).chain(of_platform(true))
    }

    /// `expr` with the names written out.
    pub fn show(&self, expr: &Expr) -> String {
        expr.resolve(&mut |slot| Some(self.name(*slot).to_owned()))
            .map_or_else(|_| "?".into(), |e: Expr<String>| e.to_string())
    }
}

/// Letters, digits and `_`, with no digit first, as Python and C have it.
pub(crate) fn is_identifier(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(word) && name.starts_with(|c: char| word(c) && !c.is_ascii_digit())
}

impl NameKind {
    fn phrase(self) -> &'static str {
        match self {
            NameKind::Input => "an input",
            NameKind::Platform => "a platform number",
            NameKind::Parameter => "a parameter",
            NameKind::Definition => "a definition",
            NameKind::Item => "a value of each work item",
        }
    }
}
