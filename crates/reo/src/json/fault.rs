//! What is wrong with a JSON text.

use thiserror::Error;
use tickbound_input::message::excerpt;

use crate::automaton::AutomatonError;
use crate::catalog::CatalogError;
use crate::syntax::{SyntaxFault, WithPlace};

/// The value of `format`.
pub const FORMAT: &str = "tickbound-reo";
/// The value of `version`.
pub const VERSION: u32 = 1;
/// Most states of all automata of a file.
pub const MAX_STATES: usize = 1 << 24;
/// Most 64-bit words of all labels of a file.
pub const MAX_LABELS: usize = 1 << 25;

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
