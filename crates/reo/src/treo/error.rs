//! What can be wrong with a Treo text.

use itertools::Itertools;
use thiserror::Error;

use crate::catalog::CatalogError;
use crate::syntax::{SyntaxFault, WithPlace};

/// A fault and its place, on one line: `file:line:column: what; fix`.
pub type TreoError = WithPlace<TreoFault>;

/// Most parts of one connector.
pub const MAX_PARTS: usize = 100_000;
/// Most pieces of work for one connector: uses of components, predicates tried, nodes of lists.
pub const MAX_WORK: usize = 2_000_000;
/// Most values of one range or list.
pub const MAX_RANGE: usize = 100_000;
/// Deepest nesting of components in components, blocks and predicates.
pub const MAX_DEPTH: usize = 200;
/// Most files that one connector comes from.
pub const MAX_FILES: usize = 1_000;
/// Most states that the cells of one atom make.
pub const MAX_ATOM_STATES: usize = 65_536;
/// Most sets of rules of one atom that fire together.
pub const MAX_RULE_SETS: usize = 4_096;
/// Most steps of one atom.
pub const MAX_ATOM_STEPS: usize = 200_000;
/// About the most 64-bit words that all parts of one connector take.
pub const MAX_SIZE: usize = 64 << 20;

/// What is wrong, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TreoFault {
    /// The text is no sentence of Treo.
    #[error(transparent)]
    Syntax(#[from] SyntaxFault),
    /// A word that nothing defines.
    #[error("`{word}` is no {what}; {fix}")]
    Unknown {
        /// The word.
        word: String,
        /// What it should be.
        what: &'static str,
        /// What to do.
        fix: String,
    },
    /// A parameter or word without a value.
    #[error("{} without a value; {fix}", listed(words))]
    Unset {
        /// The words.
        words: Vec<String>,
        /// What to do.
        fix: String,
    },
    /// An import that is nowhere.
    #[error(
        "`{import}` is in no file ({tried} tried); define it, or name its folder with --library"
    )]
    Import {
        /// What is imported.
        import: String,
        /// How many paths were tried.
        tried: usize,
    },
    /// A file that could not be read.
    #[error("cannot read {path}: {why}; fix the file, or import from another")]
    Read {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// Something that this reader knows and leaves out.
    #[error("{what} is outside what is read here; {fix}")]
    Outside {
        /// The feature.
        what: String,
        /// What to do.
        fix: &'static str,
    },
    /// A second definition of one word.
    #[error("`{0}` stands here a second time; rename one of them")]
    Twice(String),
    /// Two imports with one name.
    #[error("`{0}` is imported from `{1}` and from `{2}`; keep one of them")]
    Ambiguous(String, String, String),
    /// Nodes or arguments that do not fit.
    #[error("`{component}` has {has}, here are {given}; {fix}")]
    Misfit {
        /// The component.
        component: String,
        /// What it has.
        has: String,
        /// What is given.
        given: String,
        /// What to do.
        fix: String,
    },
    /// Nodes of the interface that the body does not have.
    #[error(
        "nothing in `{component}` joins its nodes {nodes}; leave them out, or join them ({fix})"
    )]
    Unjoined {
        /// The nodes.
        nodes: String,
        /// The component.
        component: String,
        /// What may be meant.
        fix: String,
    },
    /// A value of the wrong kind.
    #[error("{value} where {expected} should stand")]
    Kind {
        /// The value.
        value: String,
        /// What should be there.
        expected: &'static str,
    },
    /// Arithmetic that has no result.
    #[error("`{0}` has no value that fits 64 bits; use smaller numbers")]
    Arithmetic(String),
    /// No component to begin with.
    #[error("no component to begin with; define one: `name(a?, b!) {{ ... }}`")]
    Empty,
    /// A built-in component used wrongly.
    #[error("{0}; see the list of built-in components")]
    Catalog(#[from] CatalogError),
    /// A setting for what cannot be set.
    #[error("nothing called `{word}` can be set in `{component}`; {fix}")]
    Setting {
        /// The word.
        word: String,
        /// The component.
        component: String,
        /// What to do.
        fix: String,
    },
    /// A rule that says something impossible.
    #[error("{what}; {fix}")]
    Rule {
        /// What is wrong.
        what: String,
        /// What to do.
        fix: &'static str,
    },
    /// More than is allowed.
    #[error("more than {limit} {what}; {fix}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
        /// What to do.
        fix: &'static str,
    },
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

    /// Whether the text is right, but uses what this reader leaves out.
    pub fn is_outside(&self) -> bool {
        matches!(self, TreoFault::Outside { .. })
    }
}
