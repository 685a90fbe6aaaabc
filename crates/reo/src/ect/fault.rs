//! Why a `.reo` or `.ea` file cannot be read.

use thiserror::Error;

use crate::cat::CatFault;
use crate::catalog::CatalogError;
use crate::syntax::{CLOCKS, WithPlace};

/// A fault and its place, on one line.
pub type EctError = WithPlace<EctFault>;

/// What is wrong with a `.reo` or `.ea` file, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EctFault {
    /// It is no XML that is read here.
    #[error("{0}")]
    Xml(String),
    /// Nothing to read.
    #[error("the file has no `{0}`; give a file that the editor has saved")]
    Empty(&'static str),
    /// Several connectors or automata, or none of this name.
    #[error("the file has the {0} {1}; give --component and one of them")]
    Several(&'static str, String),
    /// No automaton that begins somewhere.
    #[error("the automaton `{0}` has no start state; mark one in the editor")]
    Start(String),
    /// A part of an automaton that means nothing here.
    #[error(
        "the extension `{0}` is not read here; leave it out, or use port names, start states, \
         state memory and constraints"
    )]
    Extension(String),
    /// A part of a timed automaton.
    #[error("the extension `{0}` is about time: {CLOCKS}")]
    Clocks(String),
    /// A piece of a condition that means nothing here.
    #[error(
        "`{0}` in a constraint is not read here; use equations, predicates, literals, functions, \
         conjunctions and disjunctions"
    )]
    Element(String),
    /// A transition that hangs in the air.
    #[error("the {0} of a transition is `{1}`, which is no state of its automaton; draw it anew")]
    State(&'static str, String),
    /// Names or cells that do not fit.
    #[error(transparent)]
    Automaton(#[from] CatFault),
    /// A channel that has no meaning here.
    #[error(
        "`{0}` is no channel that is read here; use Sync, LossySync, FIFO, LossyFIFO, drains, \
         spouts, Filter, Transform or Timer"
    )]
    Kind(String),
    /// The word of a channel in a namespace of something else.
    #[error(
        "`{0}` is of the namespace `{1}`, which is not that of channels; declare its prefix as \
         xmlns:channels=\"http://www.cwi.nl/reo/channels\""
    )]
    Namespace(String, String),
    /// An end without a node.
    #[error("an end joins {0}; connect it to a node")]
    End(String),
    /// Something that a channel or node needs.
    #[error("{0}")]
    Value(&'static str),
    /// Arguments or ends that do not fit.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}
