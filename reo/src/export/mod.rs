//! Automata as text for people and other tools.
//!
//! | format | for | data |
//! |---|---|---|
//! | [`Format::Dot`], [`Format::Svg`] | people | as text at the steps |
//! | [`Format::Aut`] | Aldebaran's format: CADP, mCRL2, merc | in the labels, as text |
//! | [`Format::Mcrl2`] | mCRL2: labels are multi-actions with data | kept; functions stay open |
//! | [`Format::Promela`] | SPIN: names are bits, for LTL | left out, as a comment says |
//! | [`Format::Treo`] | Treo: states as `#WA`, with data rules as `#RBA` | kept |
//! | [`Format::Json`] | ourselves, see [`crate::json`] | kept |
//!
//! Every writer refuses what its format cannot say and tells what else to do.

mod aut;
mod dot;
mod mcrl2;
mod promela;
mod svg;
mod treo;
mod words;

use thiserror::Error;

use crate::automaton::{Automaton, Step};
use crate::symbol::{Name, Symbols};

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Graphviz.
    Dot,
    /// A drawing.
    Svg,
    /// Aldebaran's `.aut`.
    Aut,
    /// An mCRL2 specification.
    Mcrl2,
    /// A Promela model.
    Promela,
    /// A Treo component.
    Treo,
    /// Our JSON.
    Json,
}

/// Why an automaton cannot be written in a format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExportError {
    /// It begins in several states.
    #[error("{format} has one initial state, the automaton {0}; write it as json or dot", format = .1)]
    Initial(usize, &'static str),
    /// It is too large to be of use.
    #[error(
        "{what} of {size} steps would not be readable (at most {most}); minimise it, or write it as aut or json"
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
        "a step leaves a value open that Treo cannot name; write it as json, or compose without data"
    )]
    Open,
    /// A silent step, which the format does not have.
    #[error(
        "Treo has no silent steps; use --minimize strong, which takes them away, or write it as aut or json"
    )]
    Silent,
    /// The drawing could not be made.
    #[error("the drawing could not be made: {0}; write it as dot and draw it with Graphviz")]
    Drawing(String),
}

/// An automaton and what it is called.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// A title, for people and as the name of what is defined.
    pub name: &'a str,
    /// The automaton.
    pub automaton: &'a Automaton,
    /// Its words.
    pub symbols: &'a Symbols,
    /// Names into which the environment writes; the others it reads. For formats that tell.
    pub inputs: &'a [Name],
}

/// The text.
///
/// # Errors
/// What the format cannot say.
pub fn write(subject: Subject<'_>, format: Format) -> Result<String, ExportError> {
    match format {
        Format::Dot => Ok(dot::write(subject)),
        Format::Svg => svg::write(subject),
        Format::Aut => aut::write(subject),
        Format::Mcrl2 => Ok(mcrl2::write(subject)),
        Format::Promela => Ok(promela::write(subject)),
        Format::Treo => treo::write(subject),
        Format::Json => Ok(crate::json::write_automaton(subject.automaton, subject.symbols)),
    }
}

impl<'a> Subject<'a> {
    /// The names that fire in a step, as words.
    fn fires(&self, step: &Step<'_>) -> Vec<&'a str> {
        let symbols = self.symbols;
        self.automaton.fires(step).map(|n| symbols.word(n.0)).collect()
    }

    /// The one initial state.
    fn initial(&self, format: &'static str) -> Result<u32, ExportError> {
        match self.automaton.initial() {
            [one] => Ok(*one),
            several => Err(ExportError::Initial(several.len(), format)),
        }
    }
}
