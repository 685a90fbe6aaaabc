//! What can be wrong with a Treo text.

use itertools::Itertools;
use thiserror::Error;

use crate::catalog::CatalogError;
use crate::syntax::{SyntaxFault, WithPlace};

/// A fault and its place, on one line: `file:line:column: what; fix`.
pub type TreoError = WithPlace<TreoFault>;

/// A result that may be a [`TreoError`].
pub type TreoResult<T> = Result<T, TreoError>;

pub const MAX_PARTS: usize = 100_000;
/// Most pieces of work for one connector: uses of components, predicates tried, nodes of lists.
pub const MAX_WORK: usize = 2_000_000;
/// Most values of one range or list.
pub const MAX_RANGE: usize = 100_000;
/// Deepest nesting of components in components, blocks and predicates.
pub const MAX_DEPTH: usize = 200;
pub const MAX_FILES: usize = 1_000;
pub const MAX_ATOM_STATES: usize = 65_536;
/// Most sets of rules of one atom that fire together.
pub const MAX_RULE_SETS: usize = 4_096;
pub const MAX_ATOM_STEPS: usize = 200_000;
/// About the most 64-bit words that all parts of one connector take.
pub const MAX_SIZE: usize = 64 << 20;

/// What is wrong, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TreoFault {
    #[error(transparent)]
    Syntax(#[from] SyntaxFault),
    #[error("`{word}` is no {what}; {fix}")]
    Unknown { word: String, what: &'static str, fix: String },
    #[error("{} without a value; {fix}", listed(words))]
    Unset { words: Vec<String>, fix: String },
    #[error(
        "`{import}` is in no file ({tried} tried); define it, or name its folder with --library"
    )]
    Import { import: String, tried: usize },
    #[error("cannot read {path}: {why}; fix the file, or import from another")]
    Read { path: String, why: String },
    #[error("{what} is outside what is read here; {fix}")]
    Outside { what: String, fix: &'static str },
    #[error("`{0}` stands here a second time; rename one of them")]
    Twice(String),
    #[error("`{0}` is imported from `{1}` and from `{2}`; keep one of them")]
    Ambiguous(String, String, String),
    #[error("`{component}` has {has}, here are {given}; {fix}")]
    Misfit { component: String, has: String, given: String, fix: String },
    #[error(
        "nothing in `{component}` joins its nodes {nodes}; leave them out, or join them ({fix})"
    )]
    Unjoined { nodes: String, component: String, fix: String },
    #[error("{value} where {expected} should stand")]
    Kind { value: String, expected: &'static str },
    #[error("`{0}` has no value that fits 64 bits; use smaller numbers")]
    Arithmetic(String),
    #[error("no component to begin with; define one: `name(a?, b!) {{ ... }}`")]
    Empty,
    #[error("{0}; see the list of built-in components")]
    Catalog(#[from] CatalogError),
    #[error("nothing called `{word}` can be set in `{component}`; {fix}")]
    Setting { word: String, component: String, fix: String },
    #[error("{what}; {fix}")]
    Rule { what: String, fix: &'static str },
    #[error("more than {limit} {what}; {fix}")]
    Limit { what: &'static str, limit: usize, fix: &'static str },
}

fn listed(words: &[String]) -> String {
    words.iter().take(8).map(|w| format!("`{w}`")).join(", ")
}

impl TreoFault {
    /// The limit that a count passed.
    pub(super) fn limit(what: &'static str, limit: usize) -> TreoFault {
        let fix = match what {
            "parts" | "pieces of work" | "values in one range" => "use smaller numbers",
            "components in components" => "a component may not contain itself; name another",
            _ => "split the component",
        };
        TreoFault::Limit { what, limit, fix }
    }
}
