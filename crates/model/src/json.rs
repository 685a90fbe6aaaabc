//! A JSON value together with the path that leads to it, so that every error names its field.

use serde_json::{Map, Value};
use tickbound_input::message::{one_line, suggest};

use super::error::ModelError;

/// A JSON value and its path from the root of the file.
#[derive(Debug, Clone)]
pub(crate) struct Field<'v> {
    pub path: String,
    pub value: &'v Value,
}

/// A JSON object whose known keys are taken one by one; what is left over is unknown.
#[derive(Debug)]
pub(crate) struct Object<'v> {
    path: String,
    map: &'v Map<String, Value>,
    known: Vec<&'static str>,
}

pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

impl<'v> Field<'v> {
    pub fn new(path: impl Into<String>, value: &'v Value) -> Self {
        Field { path: path.into(), value }
    }

    /// The fault that this field is not `expected`.
    pub fn expected(&self, expected: &str) -> ModelError {
        let mut found = self.value.to_string();
        if found.chars().count() > 40 {
            found = found.chars().take(40).chain("...".chars()).collect();
        }
        let at = if self.path.is_empty() { "the file" } else { &self.path };
        ModelError::new(at, format!("found {found}"), format!("write {expected}"))
    }

    pub fn object(self) -> Result<Object<'v>, ModelError> {
        match self.value {
            Value::Object(map) => Ok(Object { path: self.path, map, known: Vec::new() }),
            _ => Err(self.expected("an object { ... }")),
        }
    }

    pub fn array(&self) -> Result<Vec<Field<'v>>, ModelError> {
        match self.value {
            Value::Array(items) => Ok(items
                .iter()
                .enumerate()
                .map(|(i, v)| Field::new(format!("{}[{i}]", self.path), v))
                .collect()),
            _ => Err(self.expected("a list [ ... ]")),
        }
    }

    pub fn text(&self) -> Result<&'v str, ModelError> {
        self.value.as_str().ok_or_else(|| self.expected("a text in quotes"))
    }

    /// A text that is only shown, on one line and with nothing in it that acts on a terminal.
    pub fn label(&self) -> Result<String, ModelError> {
        self.text().map(one_line)
    }

    pub fn integer(&self) -> Result<i64, ModelError> {
        self.value.as_i64().ok_or_else(|| self.expected("a whole number of at most 63 bits"))
    }

    /// The text of an expression: a string, or a bare whole number.
    pub fn expression(&self) -> Result<String, ModelError> {
        match self.value {
            Value::String(s) => Ok(s.clone()),
            Value::Number(n) if n.is_i64() => Ok(n.to_string()),
            _ => Err(self.expected("an expression in quotes, or a whole number")),
        }
    }
}

impl<'v> Object<'v> {
    pub fn take(&mut self, key: &'static str) -> Option<Field<'v>> {
        self.known.push(key);
        self.map.get(key).map(|v| Field::new(join(&self.path, key), v))
    }

    pub fn need(&mut self, key: &'static str, what: &str) -> Result<Field<'v>, ModelError> {
        self.take(key).ok_or_else(|| {
            ModelError::new(join(&self.path, key), "is missing", format!("add {what}"))
        })
    }

    /// All entries, for objects whose keys are names.
    pub fn entries(&self) -> impl Iterator<Item = (&'v str, Field<'v>)> + use<'_, 'v> {
        self.map.iter().map(|(k, v)| (k.as_str(), Field::new(join(&self.path, k), v)))
    }

    /// Refuses keys that were not read.
    pub fn finish(self) -> Result<(), ModelError> {
        match self.map.keys().find(|k| !self.known.contains(&k.as_str())) {
            None => Ok(()),
            Some(k) => Err(ModelError::new(
                join(&self.path, k),
                "unknown field",
                suggest(k, self.known.iter().copied()),
            )),
        }
    }
}
