//! Automata and connectors as JSON: read and written.
//!
//! ```json
//! { "format": "tickbound-reo", "version": 1,
//!   "connector": {
//!     "name": "two places",
//!     "parts": [
//!       { "kind": "fifo1", "ends": ["a", "m"] },
//!       { "kind": "lossysync", "automaton": {
//!           "names": ["m", "b"], "states": 1, "initial": [0],
//!           "steps": [ { "from": 0, "fire": ["m", "b"], "when": "m = b", "to": 0 },
//!                      { "from": 0, "fire": ["m"], "to": 0 } ] } } ],
//!     "interface": ["a", "b"] } }
//! ```
//!
//! A part is an `automaton` or, with `ends`, a built-in component ([`crate::catalog`]) with
//! `arguments`; ends meet at nodes as channels do, so that several that write to a node get a merger.
//! `when` is a condition ([`crate::syntax::condition`]), `true` if left out; `contents` tells the
//! constants in cells at the start. The environment sees the names of `interface`, or all but those
//! of `hide`, or all; `written` lists names that the parts write to, beside those that follow from
//! ends. With `automaton` in place of `connector` it is a single automaton. `words` lists all words
//! in the order of their numbers, so that what is written reads back as the same data; it may be
//! left out.
//!
//! ```
//! use tickbound_reo::json;
//! use tickbound_reo::syntax::Source;
//!
//! let text = r#"{ "format": "tickbound-reo", "version": 1, "connector": { "name": "f",
//!     "parts": [ { "kind": "fifo1", "ends": ["a", "b"] } ] } }"#;
//! let connector = json::connector(&Source::new("f.json", text))?;
//! let written = json::write_connector(&connector);
//! assert_eq!(json::connector(&Source::new("again.json", &written))?, connector);
//!
//! let error = json::connector(&Source::new("f.json", &text.replace("ends", "end")));
//! let expected = "f.json:2:39: unknown field `end`; did you mean `ends`?";
//! assert_eq!(error.map_err(|e| e.to_string()).err(), Some(expected.to_owned()));
//! # Ok::<(), json::JsonError>(())
//! ```

mod data;
mod layout;
mod read;

use thiserror::Error;
use tickbound_message::{excerpt, suggest};

use self::data::{AutomatonData, ConnectorData, Document, PartData, StepData};
use crate::automaton::{Automaton, AutomatonError};
use crate::catalog::CatalogError;
use crate::connector::Connector;
use crate::symbol::{Name, Symbol, Symbols};
use crate::syntax::condition;
use crate::syntax::{At, Fault, MAX_TEXT, Place, Source};

/// What `format` says.
pub const FORMAT: &str = "tickbound-reo";
/// What `version` says.
pub const VERSION: u32 = 1;
/// Most states of all automata of a file.
pub const MAX_STATES: usize = 1 << 24;
/// Most 64-bit words of all labels of a file.
pub const MAX_LABELS: usize = 1 << 25;

/// A fault and its place: a line of the text, or a part and step.
pub type JsonError = At<JsonFault>;

/// What is wrong with a JSON text, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JsonFault {
    /// It is no JSON, or its fields are others.
    #[error("{0}")]
    Shape(String),
    /// The text is too long.
    #[error(transparent)]
    Text(#[from] Fault),
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
        fault: Fault,
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

type Made<T> = Result<T, JsonFault>;

/// The connector of a JSON text.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn connector(source: &Source) -> Result<Connector, JsonError> {
    let document = document(source)?;
    let found = match document {
        Document { connector: Some(data), automaton: None, words, .. } => {
            read::connector(data, &words)
        }
        Document { connector: None, automaton: Some(data), words, .. } => read::alone(data, &words),
        _ => Err(other("the file", "none or several", "`connector` or `automaton`")),
    };
    found.map_err(|fault| at_start(source, fault))
}

/// The automaton of a JSON text, over `symbols`.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn automaton(source: &Source, symbols: &mut Symbols) -> Result<Automaton, JsonError> {
    let document = document(source)?;
    let found = match document {
        Document { connector: None, automaton: Some(data), words, .. } => {
            words.iter().for_each(|w| _ = symbols.intern(w));
            read::automaton(&data, "automaton", symbols, &mut read::Sizes::default())
        }
        _ => Err(other("the file", "something else", "one `automaton`")),
    };
    found.map_err(|fault| at_start(source, fault))
}

/// A connector as JSON text.
#[must_use]
pub fn write_connector(connector: &Connector) -> String {
    let symbols = &connector.symbols;
    let parts = connector.parts.iter().map(|part| PartData {
        kind: part.kind.clone(),
        automaton: Some(data(&part.automaton, symbols)),
        arguments: Vec::new(),
        ends: None,
    });
    let names = |all: &[Name]| all.iter().map(|n| symbols.word(n.0).to_owned()).collect();
    let connector = ConnectorData {
        name: connector.name.clone(),
        parts: parts.collect(),
        interface: Some(names(&connector.interface)),
        hide: None,
        written: names(&connector.written),
        notes: connector.notes.clone(),
    };
    layout::text(&Document { connector: Some(connector), ..blank(symbols) }, 6)
}

/// An automaton as JSON text.
#[must_use]
pub fn write_automaton(automaton: &Automaton, symbols: &Symbols) -> String {
    layout::text(&Document { automaton: Some(data(automaton, symbols)), ..blank(symbols) }, 3)
}

fn blank(symbols: &Symbols) -> Document {
    let words = (0..symbols.len() as u32).map(|k| symbols.word(Symbol(k)).to_owned());
    let (connector, automaton) = (None, None);
    Document {
        format: FORMAT.into(),
        version: VERSION,
        connector,
        automaton,
        words: words.collect(),
    }
}

fn data(automaton: &Automaton, symbols: &Symbols) -> AutomatonData {
    let word = |s: Symbol| symbols.word(s).to_owned();
    let step = |step: crate::automaton::Step<'_>| {
        let constraint = automaton.constraint(&step);
        StepData {
            from: step.from,
            fire: automaton.fires(&step).map(|n| word(n.0)).collect(),
            when: (!constraint.is_true()).then(|| condition::text(constraint, symbols)),
            to: step.to,
        }
    };
    AutomatonData {
        names: automaton.alphabet().iter().map(|n| word(n.0)).collect(),
        states: automaton.states(),
        initial: automaton.initial().to_vec(),
        contents: automaton.contents().iter().map(|(c, held)| (word(c.0), word(*held))).collect(),
        steps: automaton.all_steps().map(step).collect(),
    }
}

fn at_start(source: &Source, fault: JsonFault) -> JsonError {
    let place = Place { file: source.name.clone(), line: 1, column: 1 };
    At { place, fault: Box::new(fault) }
}

fn other(what: &'static str, found: &str, expected: &str) -> JsonFault {
    JsonFault::Other { what, found: excerpt(found), expected: expected.into() }
}

fn document(source: &Source) -> Result<Document, JsonError> {
    if source.text.len() > MAX_TEXT {
        let fault = Fault::Long("text", source.text.len(), MAX_TEXT);
        return Err(at_start(source, fault.into()));
    }
    let document: Document = serde_json::from_str(&source.text).map_err(|error| {
        let place = Place { file: source.name.clone(), line: error.line(), column: error.column() };
        At { place, fault: Box::new(JsonFault::Shape(shape(&error.to_string()))) }
    })?;
    if document.format != FORMAT {
        let fault = other("`format`", &format!("`{}`", document.format), &format!("`{FORMAT}`"));
        return Err(at_start(source, fault));
    }
    if document.version != VERSION {
        let found = document.version.to_string();
        return Err(at_start(source, other("`version`", &found, &VERSION.to_string())));
    }
    Ok(document)
}

/// What serde says, without the place, and with the nearest known field.
fn shape(message: &str) -> String {
    let message = message.rsplit_once(" at line ").map_or(message, |(m, _)| m);
    let Some(rest) = message.strip_prefix("unknown field `") else {
        return format!("{}; see the format `{FORMAT}`", excerpt(message));
    };
    let mut words = rest.split('`').step_by(2);
    let field = words.next().unwrap_or_default();
    format!(
        "unknown field `{}`; {}",
        excerpt(field),
        suggest(field, words.filter(|w| !w.is_empty()))
    )
}
