//! Automata as text for people and other tools.
//!
//! | format | for | data |
//! |---|---|---|
//! | [`Format::Dot`], [`Format::Svg`] | people | as text at the steps |
//! | [`Format::Aut`] | Aldebaran's format: CADP, mCRL2, merc | in the labels, as text |
//! | [`Format::Mcrl2`] | mCRL2: labels are multi-actions with data | kept, functions undefined |
//! | [`Format::Promela`] | SPIN: names are bits, for LTL | left out, with a comment |
//! | [`Format::Treo`] | Treo: states as `#WA`, with data rules as `#RBA` | kept |
//! | [`Format::Json`] | ourselves, see [`crate::json`] | kept |
//!
//! Every writer refuses what its format cannot express, with advice. [`mcrl2_network`] writes the
//! parts of a connector in place of one automaton.

mod aut;
mod dot;
mod mcrl2;
mod promela;
mod subject;
mod treo;
pub(crate) mod words;

pub use mcrl2::mcrl2_network;
pub use subject::{ExportError, ExportSubject};

use crate::draw::{self, GraphPicture};

/// Most steps or states that are readable.
const MAX_STEPS: usize = 300;

tickbound_input::named! {
    /// What to write.
    pub enum Format {
        /// A Treo component
        Treo = "treo",
        /// Graphviz
        Dot = "dot",
        /// A drawing
        Svg = "svg",
        /// Aldebaran, as CADP and mCRL2 read it
        Aut = "aut",
        /// JSON
        Json = "json",
        /// An mCRL2 specification
        Mcrl2 = "mcrl2",
        /// A Promela model
        Promela = "promela",
    }
}

/// The text.
pub fn write(subject: ExportSubject, format: Format) -> Result<String, ExportError> {
    match format {
        Format::Dot => Ok(dot::write(subject)),
        Format::Svg => picture(subject, None).map(|p| draw::svg(subject.name, &[(vec![&p], None)])),
        Format::Aut => aut::write(subject),
        Format::Mcrl2 => Ok(mcrl2::write(subject)),
        Format::Promela => Ok(promela::write(subject)),
        Format::Treo => treo::write(subject),
        Format::Json => Ok(crate::json::write_automaton(subject.automaton, subject.symbols)),
    }
}

/// An automaton as a picture, in several rows if it is wider than `width` pixels.
///
/// # Errors
/// An automaton too large to be readable.
pub fn picture(subject: ExportSubject, width: Option<f64>) -> Result<GraphPicture, ExportError> {
    let automaton = subject.automaton;
    let size = automaton.transitions().max(automaton.states());
    if size > MAX_STEPS {
        return Err(ExportError::Large { what: "a drawing", size, most: MAX_STEPS });
    }
    Ok(draw::automaton(automaton, subject.symbols, width))
}
