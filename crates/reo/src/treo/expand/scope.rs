//! Values, and the words that have them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tickbound_input::message::excerpt;

use crate::constant::constant_word;
use crate::syntax::Spot;
use crate::treo::error::TreoError;
use crate::treo::files::Target;

#[derive(Debug, Clone)]
pub(super) enum Value {
    Integer(i64),
    Text(Arc<str>),
    Component(Component),
    List(Arc<[Value]>),
}

/// A component and the arguments that it has so far.
#[derive(Debug, Clone)]
pub(super) struct Component {
    pub target: Target,
    pub word: Arc<str>,
    pub arguments: Arc<[Value]>,
    /// Words of the block that defines it.
    pub words: Arc<BTreeMap<String, Value>>,
}

impl Value {
    /// The word of the constant that a number or text is.
    pub fn scalar(&self) -> Option<String> {
        match self {
            Value::Integer(k) => Some(k.to_string()),
            Value::Text(text) => Some(constant_word(text)),
            Value::Component(_) | Value::List(_) => None,
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        match self {
            Value::Integer(k) => format!("`{k}`"),
            Value::Text(text) => format!("`\"{}\"`", excerpt(text)),
            Value::Component(component) => format!("the component `{}`", component.word),
            Value::List(items) => format!("a list of {}", items.len()),
        }
    }

    /// Whether two numbers or texts are the same.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => a == b,
            _ => self.scalar().is_some() && self.scalar() == other.scalar(),
        }
    }
}

/// Words with values, and those of the blocks around.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope<'p> {
    parent: Option<&'p Scope<'p>>,
    values: BTreeMap<String, Value>,
}

impl<'p> Scope<'p> {
    pub fn inside(parent: &'p Scope<'p>) -> Scope<'p> {
        Scope { parent: Some(parent), values: BTreeMap::new() }
    }

    pub fn get(&self, word: &str) -> Option<&Value> {
        let mut at = Some(self);
        while let Some(scope) = at {
            if let Some(value) = scope.values.get(word) {
                return Some(value);
            }
            at = scope.parent;
        }
        None
    }

    pub fn set(&mut self, word: String, value: Value) {
        self.values.insert(word, value);
    }

    pub fn all(&self) -> BTreeMap<String, Value> {
        let mut all = self.parent.map(Scope::all).unwrap_or_default();
        all.extend(self.values.iter().map(|(word, value)| (word.clone(), value.clone())));
        all
    }

    /// The words of this scope alone.
    pub fn own(&self) -> &BTreeMap<String, Value> {
        &self.values
    }

    pub fn words(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.parent.map(Scope::words).unwrap_or_default();
        all.extend(self.values.keys().map(String::as_str));
        all
    }
}

/// Why there is no value.
#[derive(Debug)]
pub(super) enum Unresolved {
    /// A word has none, so far.
    Missing(Spot, String),
    Fault(TreoError),
}

pub(super) type Tried<T> = Result<T, Unresolved>;

impl From<TreoError> for Unresolved {
    fn from(error: TreoError) -> Unresolved {
        Unresolved::Fault(error)
    }
}
