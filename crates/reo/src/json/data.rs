//! The JSON file as data.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

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
