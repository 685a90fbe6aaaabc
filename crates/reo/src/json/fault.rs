//! What is wrong with a JSON text.

use thiserror::Error;
use tickbound_input::message::excerpt;

use crate::automaton::AutomatonError;
use crate::catalog::CatalogError;
use crate::syntax::{SyntaxFault, WithPlace};

/// What `format` says.
pub const FORMAT: &str = "tickbound-reo";
/// What `version` says.
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
    /// It is no JSON, or its fields are others.
    #[error("{0}")]
    Syntax(String),
    /// The text is too long.
    #[error(transparent)]
    Text(#[from] SyntaxFault),
    /// It is something else.
    #[error("{what} is {found}; write {expected}")]
    Other {
        /// The field.
        what: &'static str,
        /// What it is.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// A condition that cannot be read.
    #[error("{place}: `{when}`: {fault} (column {column})")]
    Condition {
        /// Which step.
        place: String,
        /// The condition.
        when: String,
        /// The character in it.
        column: usize,
        /// What is wrong.
        fault: SyntaxFault,
    },
    /// A name that is not listed.
    #[error("{place}: `{name}` is none of the names; {fix}")]
    Name {
        /// Which step or field.
        place: String,
        /// The name.
        name: String,
        /// What to do.
        fix: String,
    },
    /// Parts of an automaton that do not fit.
    #[error("{place}: {error}; fix the numbers")]
    Automaton {
        /// Which part.
        place: String,
        /// What is wrong.
        error: AutomatonError,
    },
    /// A part that is neither an automaton nor a component.
    #[error("{place}: {error}")]
    Component {
        /// Which part.
        place: String,
        /// What is wrong.
        error: CatalogError,
    },
    /// More than is allowed.
    #[error("more than {limit} {what}; split the file")]
    Limit {
        /// Of what.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
    },
}

pub(super) type Made<T> = Result<T, JsonFault>;

pub(super) fn other(what: &'static str, found: &str, expected: &str) -> JsonFault {
    JsonFault::Other { what, found: excerpt(found), expected: expected.into() }
}
