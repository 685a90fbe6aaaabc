//! The state of the work and its limits, a component that is put together, and what is left of it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tickbound_input::message::{excerpt, suggest};

use super::scope::{Scope, Unresolved, Value};
use crate::catalog::Primitive;
use crate::connector::{ChannelEnd, Notes};
use crate::syntax::{Source, Spot};
use crate::treo::ast::{Definition, Direction, TreoVariable};
use crate::treo::atom::Template;
use crate::treo::error::{MAX_DEPTH, MAX_WORK, TreoError, TreoFault, TreoResult};
use crate::treo::files::{Files, Loaded};
use crate::treo::library::Library;

pub(super) type Done = TreoResult<()>;

pub(super) struct Expander<'l> {
    pub files: Files<'l>,
    pub leaves: Vec<Leaf>,
    pub notes: Notes,
    pub templates: HashMap<Key, Arc<Template>>,
    /// The first type that a component gives a node, with the component.
    pub types: HashMap<String, (String, String)>,
    /// Definitions, by file and number, whose interfaces have been compared with their bodies.
    pub compared: HashSet<(usize, usize)>,
    pub worked: usize,
    pub depth: usize,
    pub size: usize,
}

impl<'l> Expander<'l> {
    pub fn new(source: &Source, library: &'l dyn Library) -> TreoResult<Self> {
        let files = Files::new(source, library)?;
        let (leaves, notes, templates, types, compared) = <_>::default();
        let (worked, depth, size) = (0, 0, 0);
        Ok(Expander { files, leaves, notes, templates, types, compared, worked, depth, size })
    }

    pub fn work(&mut self, f: &Frame, spot: Spot, pieces: usize) -> Done {
        self.worked = self.worked.saturating_add(pieces);
        if self.worked <= MAX_WORK {
            return Ok(());
        }
        Err(f.fault(spot, TreoFault::limit("pieces of work", MAX_WORK)))
    }

    pub fn deeper(
        &mut self,
        f: &mut Frame,
        inside: impl FnOnce(&mut Self, &mut Frame) -> Done,
    ) -> Done {
        if self.depth >= MAX_DEPTH {
            return Err(f.fault(f.spot, TreoFault::limit("components in components", MAX_DEPTH)));
        }
        self.depth += 1;
        let done = inside(self, f);
        self.depth -= 1;
        done
    }
}

/// What a template depends on: the definition, the values of its words, its number of ports.
pub(super) type Key = (usize, usize, Vec<(String, String)>, usize);

/// A part, or foreign code.
pub(super) struct Leaf {
    pub kind: String,
    /// What it is made with.
    pub arguments: Vec<String>,
    pub prefix: String,
    pub ends: Vec<ChannelEnd>,
    pub make: Make,
    /// The names of its ports, if foreign code takes part at them: the environment sees them.
    pub open: Option<Vec<String>>,
}

pub(super) enum Make {
    Primitive(Primitive),
    Template(Arc<Template>),
    Foreign,
}

/// One use of a component that a file defines.
pub(super) struct Frame {
    pub loaded: Arc<Loaded>,
    pub file: usize,
    pub definition: usize,
    /// What stands before the names of its inner nodes and cells.
    pub prefix: String,
    /// The nodes of its interface, in order, as it calls them.
    pub ports: Vec<(String, Option<Direction>)>,
    /// The types of those that have one.
    pub types: Vec<(String, String)>,
    /// What they are called outside.
    pub outer: HashMap<String, String>,
    /// How often it has used each component.
    pub uses: HashMap<Arc<str>, usize>,
    pub spot: Spot,
    /// Whether it is the requested component, whose parameters are settings.
    pub top: bool,
}

impl Frame {
    pub fn new(loaded: Arc<Loaded>, file: usize, definition: usize, prefix: String) -> Frame {
        let spot = loaded.all[definition].spot;
        let (ports, types, outer, uses) = <_>::default();
        Frame { loaded, file, definition, prefix, ports, types, outer, uses, spot, top: false }
    }

    pub fn definition(&self) -> &Definition {
        &self.loaded.all[self.definition]
    }

    /// The variables of its interface.
    pub fn formals(&self) -> Vec<&TreoVariable> {
        self.definition().nodes.iter().filter_map(|n| n.name.as_ref()).collect()
    }

    /// What a node is called in the whole connector.
    pub fn node(&self, name: &str) -> String {
        self.outer.get(name).cloned().unwrap_or_else(|| format!("{}{name}", self.prefix))
    }

    /// The name of a new use of a component.
    pub fn next_use(&mut self, word: &Arc<str>) -> String {
        let uses = self.uses.entry(Arc::clone(word)).or_default();
        *uses += 1;
        format!("{}{word}.{uses}/", self.prefix)
    }

    pub fn fault(&self, spot: Spot, fault: TreoFault) -> TreoError {
        self.loaded.source.fault(spot, fault)
    }

    pub fn kind(&self, spot: Spot, value: &Value, expected: &'static str) -> TreoError {
        self.fault(spot, TreoFault::Kind { value: value.text(), expected })
    }

    /// The error for a word without a value where one is needed.
    pub fn unset(&self, scope: &Scope, unresolved: Unresolved) -> TreoError {
        let (spot, word) = match unresolved {
            Unresolved::Fault(error) => return error,
            Unresolved::Missing(spot, word) => (spot, word),
        };
        let definition = self.definition();
        let name = &definition.name;
        let parameter = definition.parameters.iter().any(|p| p.name.word == word);
        let known: Vec<&str> = scope.words();
        let fix = if self.top && parameter {
            format!("give --set {}=VALUE", excerpt(&word))
        } else if parameter {
            format!("give it where `{name}` is used: `{name}<...>(...)`")
        } else if known.is_empty() {
            format!("make it a parameter of `{name}`, or add `| {} = ...`", excerpt(&word))
        } else {
            format!(
                "make it a parameter of `{name}`, or add `| {} = ...` ({})",
                excerpt(&word),
                suggest(&word, known)
            )
        };
        self.fault(spot, TreoFault::Unset { words: vec![excerpt(&word)], fix })
    }
}

/// Words in back quotes, with commas between, the first few of them.
pub(super) fn listed<T: ToString>(words: impl Iterator<Item = T>) -> String {
    let quote = |w: T| format!("`{}`", excerpt(&w.to_string()));
    let mut words = words.map(quote);
    let first: Vec<String> = words.by_ref().take(8).collect();
    first.join(", ") + if words.next().is_some() { ", ..." } else { "" }
}

/// `1 node`, `2 nodes`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
