//! The JSON file as data, and what is wrong with a JSON text.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tickbound_input::message::excerpt;

use crate::automaton::AutomatonError;
use crate::catalog::CatalogError;
use crate::syntax::{SyntaxFault, WithPlace};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub format: String,
    pub version: u32,
    #[serde(skip_serializing)]
    pub connector: Option<ConnectorData>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automaton: Option<AutomatonData>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct ConnectorData {
    pub name: String,
    pub parts: Vec<PartData>,
    pub interface: Option<Vec<String>>,
    pub hide: Option<Vec<String>>,
    #[serde(default)]
    pub written: Vec<String>,
    #[serde(default)]
    pub notes: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct PartData {
    pub kind: String,
    pub automaton: Option<AutomatonData>,
    #[serde(default)]
    pub arguments: Vec<String>,
    pub ends: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AutomatonData {
    pub names: Vec<String>,
    pub states: usize,
    pub initial: Vec<u32>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub contents: IndexMap<String, String>,
    pub steps: Vec<StepData>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepData {
    pub from: u32,
    pub fire: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    pub to: u32,
}

pub const FORMAT: &str = "tickbound-reo";
pub const VERSION: u32 = 1;

/// A fault and its place: a line of the text, or a part and step.
pub type JsonError = WithPlace<JsonFault>;

/// What is wrong with a JSON text, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JsonFault {
    #[error("{0}")]
    Syntax(String),
    #[error(transparent)]
    Text(#[from] SyntaxFault),
    #[error("{what} is {found}; write {expected}")]
    Other { what: &'static str, found: String, expected: String },
    #[error("{place}: `{when}`: {fault} (column {column})")]
    Condition { place: String, when: String, column: usize, fault: SyntaxFault },
    #[error("{place}: `{name}` is none of the names; {fix}")]
    Name { place: String, name: String, fix: String },
    #[error("{place}: {error}; fix the numbers")]
    Automaton { place: String, error: AutomatonError },
    #[error("{place}: {error}")]
    Component { place: String, error: CatalogError },
    #[error("more than {limit} {what}; split the file")]
    Limit { what: &'static str, limit: usize },
}

pub(super) type Made<T> = Result<T, JsonFault>;

pub(super) fn other(what: &'static str, found: &str, expected: &str) -> JsonFault {
    JsonFault::Other { what, found: excerpt(found), expected: expected.into() }
}
