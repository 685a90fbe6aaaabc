//! What is written, and why it cannot be.

use thiserror::Error;

use crate::automaton::Automaton;
use crate::symbol::{NameId, Symbols};

/// Why an automaton cannot be written in a format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExportError {
    /// It begins in several states.
    #[error("{1} has one initial state, the automaton {0}; write it as json or dot")]
    Initial(usize, &'static str),
    /// It is too large to be of use.
    #[error(
        "{what} of {size} steps would not be readable (at most {most}); minimise it, or write it \
         as aut or json"
    )]
    Large {
        /// What was to be made.
        what: &'static str,
        /// Its steps.
        size: usize,
        /// Most steps.
        most: usize,
    },
    /// A value that no text of the format can describe.
    #[error(
        "a step leaves a value open that Treo cannot name; write it as json, or compose without \
         data"
    )]
    Nameless,
    /// A cell whose content at the start is not known.
    #[error(
        "`${0}` holds something at the start that Treo cannot name; give it a constant, such as \
         fifofull<\"x\">, or write it as json"
    )]
    Unknown(String),
    /// A silent step, which the format does not have.
    #[error(
        "Treo has no silent steps; use --minimize strong, which takes them away, or write it as \
         aut or json"
    )]
    Silent,
}

/// An automaton and what it is called.
#[derive(Debug, Clone, Copy)]
pub struct ExportSubject<'a> {
    /// A title, for people and as the name of what is defined.
    pub name: &'a str,
    /// The automaton.
    pub automaton: &'a Automaton,
    /// Its words.
    pub symbols: &'a Symbols,
    /// Names into which the environment writes; the others it reads. For formats that tell.
    pub inputs: &'a [NameId],
    /// Names that the environment sees, in the order of the interface. For formats that can hide.
    pub interface: &'a [NameId],
}

impl ExportSubject<'_> {
    pub(super) fn initial(&self, format: &'static str) -> Result<u32, ExportError> {
        match self.automaton.initial() {
            [one] => Ok(*one),
            several => Err(ExportError::Initial(several.len(), format)),
        }
    }
}
