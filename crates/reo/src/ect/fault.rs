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
    #[error("{0}")]
    Xml(String),
    #[error("the file has no `{0}`; give a file that the editor has saved")]
    Empty(&'static str),
    #[error("the file has the {0} {1}; give --component and one of them")]
    Several(&'static str, String),
    #[error("the automaton `{0}` has no start state; mark one in the editor")]
    Start(String),
    #[error(
        "the extension `{0}` is not read here; leave it out, or use port names, start states, \
         state memory and constraints"
    )]
    Extension(String),
    #[error("the extension `{0}` is about time: {CLOCKS}")]
    Clocks(String),
    #[error(
        "`{0}` in a constraint is not read here; use equations, predicates, literals, functions, \
         conjunctions and disjunctions"
    )]
    Element(String),
    #[error("the {0} of a transition is `{1}`, which is no state of its automaton; draw it anew")]
    State(&'static str, String),
    #[error(transparent)]
    Automaton(#[from] CatFault),
    #[error(
        "`{0}` is no channel that is read here; use Sync, LossySync, FIFO, LossyFIFO, drains, \
         spouts, Filter, Transform or Timer"
    )]
    Kind(String),
    #[error(
        "`{0}` is of the namespace `{1}`, which is not that of channels; declare its prefix as \
         xmlns:channels=\"http://www.cwi.nl/reo/channels\""
    )]
    Namespace(String, String),
    #[error("an end joins {0}; connect it to a node")]
    End(String),
    #[error("{0}")]
    Value(&'static str),
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}
