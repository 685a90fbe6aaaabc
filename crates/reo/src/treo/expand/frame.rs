//! A component that is being put together.

use std::collections::HashMap;
use std::sync::Arc;

use tickbound_input::message::{excerpt, suggest};

use super::scope::{Scope, Unresolved, Value};
use crate::syntax::Spot;
use crate::treo::ast::{Definition, Direction, TreoVariable};
use crate::treo::error::{TreoError, TreoFault};
use crate::treo::files::Loaded;

/// One use of a component that a file defines.
pub(super) struct Frame {
    pub loaded: Arc<Loaded>,
    pub file: usize,
    pub definition: usize,
    /// What stands before the names of its inner nodes and cells.
    pub prefix: String,
    /// The nodes of its interface, in order, as it calls them.
    pub ports: Vec<(String, Option<Direction>)>,
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
        let (ports, outer, uses) = <_>::default();
        Frame { loaded, file, definition, prefix, ports, outer, uses, spot, top: false }
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
