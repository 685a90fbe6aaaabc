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
//! A part is an `automaton` or, with `ends`, a built-in component (`catalog.rs`) with
//! `arguments`; ends meet at nodes as channels do, so that several that write to a node get a
//! merger. `when` is a condition ([`crate::syntax::condition`]), `true` if left out; `contents`
//! has the constants in cells at the start. The environment sees the names of `interface`, or all
//! but those of `hide`, or all; `written` lists names that the parts write to, beside those that
//! follow from ends. With `automaton` in place of `connector` it is a single automaton. `words`
//! lists all words in the order of their numbers, so that what is written reads back as the same
//! data; it may be left out.
//!
//! ```
//! use tickbound_reo::json;
//! use tickbound_reo::syntax::Source;
//!
//! let text = r#"{ "format": "tickbound-reo", "version": 1, "connector": { "name": "f",
//!     "parts": [ { "kind": "fifo1", "ends": ["a", "b"] } ] } }"#;
//! let connector = json::connector(&Source::new("f.json", text))?;
//! assert_eq!((connector.name.as_str(), connector.parts.len()), ("f", 1));
//!
//! let error = json::connector(&Source::new("f.json", &text.replace("ends", "end")));
//! let expected = "f.json:2:39: unknown field `end`; did you mean `ends`?";
//! assert_eq!(error.map_err(|e| e.to_string()).err(), Some(expected.to_owned()));
//! # Ok::<(), json::JsonError>(())
//! ```

mod data;
mod layout;
mod read;

use tickbound_input::message::{excerpt, suggest};

pub use self::data::JsonError;

use self::data::{AutomatonData, Document, FORMAT, JsonFault, StepData, VERSION, other};
use crate::automaton::Automaton;
use crate::connector::Connector;
use crate::symbol::{SymbolId, Symbols};
use crate::syntax::condition;
use crate::syntax::{CLOCKS, MAX_TEXT, Place, Source, Spot, SyntaxFault, WithPlace};

/// The connector of a JSON text.
pub fn connector(source: &Source) -> Result<Connector, JsonError> {
    let document = document(source)?;
    let found = match document {
        Document { connector: Some(data), automaton: None, words, .. } => {
            read::connector(data, &words)
        }
        Document { connector: None, automaton: Some(data), words, .. } => read::alone(data, &words),
        _ => Err(other("the file", NEITHER, "one of them")),
    };
    found.map_err(|fault| source.fault(Spot(0), fault))
}

const NEITHER: &str = "neither a `connector` nor an `automaton`, or both";

/// An automaton as JSON text.
pub fn write_automaton(automaton: &Automaton, symbols: &Symbols) -> String {
    let words = (0..symbols.len() as u32).map(|k| symbols.word(SymbolId(k)).to_owned());
    let document = Document {
        format: FORMAT.into(),
        version: VERSION,
        connector: None,
        automaton: Some(data(automaton, symbols)),
        words: words.collect(),
    };
    layout::text(&document)
}

fn data(automaton: &Automaton, symbols: &Symbols) -> AutomatonData {
    let word = |s: SymbolId| symbols.word(s).to_owned();
    let step = |step: crate::automaton::Transition<'_>| {
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

fn document(source: &Source) -> Result<Document, JsonError> {
    if source.text.len() > MAX_TEXT {
        let fault = SyntaxFault::Long("text", source.text.len(), MAX_TEXT);
        return Err(source.fault(Spot(0), fault.into()));
    }
    let document: Document = tickbound_input::json(&source.text).map_err(|error| {
        let place = Place { file: source.name.clone(), line: error.line(), column: error.column() };
        WithPlace { place, fault: Box::new(JsonFault::Syntax(syntax(&error.to_string()))) }
    })?;
    if document.format != FORMAT {
        let fault = other("`format`", &format!("`{}`", document.format), &format!("`{FORMAT}`"));
        return Err(source.fault(Spot(0), fault));
    }
    if document.version != VERSION {
        let found = document.version.to_string();
        let fault = other("`version`", &found, &VERSION.to_string());
        return Err(source.fault(Spot(0), fault));
    }
    Ok(document)
}

/// Fields that have to be there, and how they may be written.
const EXAMPLES: [(&str, &str); 12] = [
    ("format", r#""format": "tickbound-reo""#),
    ("version", r#""version": 1"#),
    ("name", r#""name": "buffer""#),
    ("parts", r#""parts": [{ "kind": "fifo1", "ends": ["a", "b"] }]"#),
    ("kind", r#""kind": "fifo1""#),
    ("names", r#""names": ["a", "b"], all that fire in some step"#),
    ("states", r#""states": 2, how many there are"#),
    ("initial", r#""initial": [0], states counted from 0"#),
    ("steps", r#""steps": [{ "from": 0, "fire": ["a"], "to": 1 }]"#),
    ("fire", r#""fire": ["a"], the names that fire, or []"#),
    ("from", r#""from": 0, a state counted from 0"#),
    ("to", r#""to": 1, a state counted from 0"#),
];

/// Serde's message, without the place, and with the nearest known field or an example.
fn syntax(message: &str) -> String {
    let message = message.rsplit_once(" at line ").map_or(message, |(m, _)| m);
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    if let Some((_, example)) = EXAMPLES.iter().find(|(field, _)| missing == Some(field)) {
        return format!("{message}; add it, such as {example}");
    }
    let Some(rest) = message.strip_prefix("unknown field `") else {
        return format!("{}; see the format `{FORMAT}`", excerpt(message));
    };
    let mut words = rest.split('`').step_by(2);
    let field = words.next().unwrap_or_default();
    if field.to_lowercase().contains("clock") {
        return format!("unknown field `{}`; {CLOCKS}", excerpt(field));
    }
    format!(
        "unknown field `{}`; {}",
        excerpt(field),
        suggest(field, words.filter(|w| !w.is_empty()))
    )
}
