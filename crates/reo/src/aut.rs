//! Automata in Aldebaran's `.aut` text, as CADP, mCRL2 and [`crate::export`] write it: read.
//!
//! ```text
//! file  := des ( first , transitions , states ) transition*
//! transition := ( from , label , to )
//! ```
//!
//! One line each; states are numbered from 0. A label may stand in quotes; `tau` and `i` are
//! silent. Names with `|` between, as mCRL2 writes multi-actions, fire together; a condition on
//! their data may follow in brackets ([`crate::syntax::condition`], texts in `'`). Any other label
//! is one name. The format has neither names that no step fires nor what cells hold at the start.
//!
//! ```
//! use tickbound_reo::aut::connector;
//! use tickbound_reo::syntax::Source;
//!
//! let text = "des (0, 2, 2)\n(0, \"a|b [b = $m']\", 1)\n(1, PUT !3, 0)\n";
//! let read = connector(&Source::new("f.aut", text))?;
//! let steps = read.parts[0].automaton.text(&read.symbols);
//! assert_eq!(steps, "0 {a, b} b = $m' -> 1\n1 {PUT !3} true -> 0\n");
//! # Ok::<(), tickbound_reo::aut::AutError>(())
//! ```

pub(crate) mod label;

use std::path::Path;

use indexmap::IndexMap;
use itertools::Itertools;
use thiserror::Error;
use tickbound_input::message::excerpt;

use self::label::Label;
use crate::automaton::AutomatonBuilder;
use crate::connector::{Connector, Notes};
use crate::hide::live;
use crate::label::words_for;
use crate::symbol::{Cell, NameId, Symbols};
use crate::syntax::{
    MAX_LABELS, MAX_STATES, MAX_TEXT, Place, Source, SyntaxFault, WithPlace, condition,
};

/// A fault and its place, on one line.
pub type AutError = WithPlace<AutFault>;

/// What is wrong with an `.aut` text, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AutFault {
    /// The first line.
    #[error("{0} where `des (FIRST, TRANSITIONS, STATES)` should stand, such as `des (0, 2, 3)`")]
    Header(String),
    /// Another line.
    #[error("{0} is no transition; write `(FROM, \"LABEL\", TO)`, such as `(0, \"a\", 1)`")]
    Line(String),
    /// A state that is not there.
    #[error("state {0}, but there are {1}, numbered from 0; fix the number, or the first line")]
    State(u64, u64),
    /// As many transitions are announced, as many are there.
    #[error("{0} transitions by the first line, and there are {1}; fix the count, or the lines")]
    Count(u64, usize),
    /// A transition that stands on an earlier line.
    #[error("the transition of line {0} again; remove one of them, and count it once")]
    Twice(usize),
    /// Too much.
    #[error("more than {1} {0}; minimise it, or split it")]
    Large(&'static str, usize),
    /// A text or word that is too long.
    #[error(transparent)]
    Text(#[from] SyntaxFault),
}

/// Where transitions start, the numbers of their labels, where they end; and their lines.
type Lines = IndexMap<(u32, usize, u32), usize>;

/// The automaton of an `.aut` text, as a connector of one part, called as the file.
///
/// # Errors
/// A line that is not of the format or that the counts of the first line contradict.
pub fn connector(source: &Source) -> Result<Connector, AutError> {
    let fault = |line: usize, fault| {
        let place = Place { file: source.name.clone(), line, column: 1 };
        WithPlace { place, fault: Box::new(fault) }
    };
    if source.text.len() > MAX_TEXT {
        return Err(fault(1, SyntaxFault::Long("text", source.text.len(), MAX_TEXT).into()));
    }
    let lines = (1..).zip(source.text.lines().map(str::trim));
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    let (start, line) = lines.next().unwrap_or((1, ""));
    let Some([first, count, states]) = header(line) else {
        return Err(fault(start, AutFault::Header(found(line))));
    };
    if states > MAX_STATES as u64 {
        return Err(fault(start, AutFault::Large("states", MAX_STATES)));
    }
    let within = |line, state: u64| match u32::try_from(state) {
        Ok(number) if state < states => Ok(number),
        _ => Err(fault(line, AutFault::State(state, states))),
    };
    let first = within(start, first)?;
    let (mut labels, mut steps) = (IndexMap::<&str, Label>::new(), Lines::new());
    for (number, line) in lines {
        let Some((from, text, to)) = transition(line) else {
            return Err(fault(number, AutFault::Line(found(line))));
        };
        let label = match labels.get_index_of(text) {
            Some(known) => known,
            None => {
                let label = label::read(text).map_err(|long| fault(number, long.into()))?;
                labels.insert_full(text, label).0
            }
        };
        let step = (within(number, from)?, label, within(number, to)?);
        if let Some(other) = steps.insert(step, number) {
            return Err(fault(number, AutFault::Twice(other)));
        }
    }
    if count != steps.len() as u64 {
        return Err(fault(start, AutFault::Count(count, steps.len())));
    }
    let labels: Vec<Label> = labels.into_values().collect();
    made(source, first, states as usize, &labels, &steps).map_err(|large| fault(start, large))
}

fn found(line: &str) -> String {
    if line.is_empty() { "the end of the text".into() } else { format!("`{}`", excerpt(line)) }
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The first state, and how many transitions and states there are.
fn header(line: &str) -> Option<[u64; 3]> {
    let counts = line.strip_prefix("des")?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
    let numbers = counts.split(',').map(number);
    numbers.collect::<Option<Vec<u64>>>()?.try_into().ok()
}

/// Where a transition starts, its label, and where it ends.
fn transition(line: &str) -> Option<(u64, &str, u64)> {
    let (from, rest) = line.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    let (label, to) = rest.rsplit_once(',')?;
    let label = label.trim();
    let label = match label.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"')?,
        None => label,
    };
    if label.is_empty() { None } else { Some((number(from)?, label, number(to)?)) }
}

/// The connector of what was read.
fn made(
    source: &Source,
    first: u32,
    states: usize,
    labels: &[Label],
    steps: &Lines,
) -> Result<Connector, AutFault> {
    let mut symbols = Symbols::new();
    let fire = |label: &Label| label.names.iter().map(|name| symbols.name(name)).collect();
    let fire: Vec<Vec<NameId>> = labels.iter().map(fire).collect();
    let names: Vec<NameId> = fire.iter().flatten().copied().sorted_unstable().dedup().collect();
    let cases: usize = steps.keys().map(|(_, label, _)| labels[*label].cases.len()).sum();
    if cases.saturating_mul(words_for(names.len())) > MAX_LABELS {
        return Err(AutFault::Large("words of 64 bits for all labels", MAX_LABELS));
    }
    let mut builder = AutomatonBuilder::over(names.iter().copied(), states, vec![first]);
    for &(from, label, to) in steps.keys() {
        for claims in &labels[label].cases {
            let constraint = condition::constraint(claims, &mut symbols);
            builder.step(from, &fire[label], constraint, to);
        }
    }
    let automaton = builder.done();
    let live = live::cells(&automaton);
    let unknown = automaton.cells().iter().filter(|cell| live.is_live(**cell, first));
    let note = |cell: &Cell| {
        let cell = excerpt(symbols.word(cell.0));
        format!("{}: `.aut` does not say what `${cell}` holds at the start", source.name)
    };
    let mut notes = Notes::default();
    unknown.for_each(|cell| notes.add(note(cell)));
    let name = Path::new(&source.path).file_stem().and_then(|name| name.to_str());
    Ok(Connector::alone(name.unwrap_or("automaton"), automaton, symbols, notes))
}
