//! Automata in the `.cat` text of the Extensible Coordination Tools: read.
//!
//! ```text
//! file  := automaton*
//! automaton := "name" [ name [:: (IN | OUT | UNKNOWN)], ... ] state, ...
//! state := name [*] [[ cell [:: constant], ... ]] [[ step, ... ]]
//! step  := [ name [:: (IN | OUT)], ... ] :: condition :: state
//! ```
//!
//! `OUT` and `IN` are seen from the environment, as in the samples: what it puts out the automaton
//! takes, and what it takes in the automaton gives; so does a name of which nothing is known. `*`
//! marks initial states. Each state lists the cells that hold something in it, the initial state
//! perhaps with what they hold at the start. Conditions are those of [`crate::syntax::condition`],
//! with `$s.m` for cell m in the state before and `$t.m` for the state after. A cell of the state
//! after that a step does not mention keeps what it held, or holds anything if the state before
//! lacks it.
//!
//! Several automata in one file are the parts of one connector, called as the first: a name that
//! two of them list fires in both at once, and each has its own cells. Where one of them gives a
//! datum (`IN`), the environment takes it.
//!
//! Files in use say more than they mean: claims about cells that a state lacks and about names that
//! do not fire are left out, words that are no names are taken as constants, with a note.
//!
//! ```
//! use tickbound_reo::cat::connector;
//! use tickbound_reo::syntax::Source;
//!
//! let text = "\"fifo1\"[A::OUT, B::IN] empty*[[A]::$t.m=A::full], full[m][[B]::B=$s.m::empty]";
//! let fifo = connector(&Source::new("fifo1.cat", text))?;
//! let steps = fifo.parts[0].automaton.text(&fifo.symbols);
//! assert_eq!(steps, "0 {A} A = $m' -> 1\n1 {B} B = $m -> 0\n");
//! # Ok::<(), tickbound_reo::cat::CatError>(())
//! ```

use std::convert::Infallible;

use indexmap::{IndexMap, IndexSet};
use thiserror::Error;
use tickbound_input::message::suggest;

use crate::automaton::{Automaton, AutomatonBuilder};
use crate::connector::{Channel, ChannelEnd, Connector, ConnectorPart, Notes};
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::symbol::{Cell, NameId, SymbolId, Symbols};
use crate::syntax::condition::{self, ClaimValue, Claimed, Dialect, GuardClaim};
use crate::syntax::lex::{self, CAT, Cursor, TokenKind};
use crate::syntax::{MAX_LABELS, Read, Source, Spot, SyntaxFault, WithPlace};

/// A fault and its place, on one line.
pub type CatError = WithPlace<CatFault>;

/// What is wrong with a `.cat` text, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CatFault {
    /// It is no sentence of the language.
    #[error(transparent)]
    Syntax(#[from] SyntaxFault),
    /// A word that is not listed, what it should be, and what to do.
    #[error("`{0}` is no {1} of the automaton; {2}")]
    Unknown(String, &'static str, String),
    /// A second state or name with one word.
    #[error("`{0}` stands here a second time; rename one of them")]
    Twice(String),
    /// No initial state.
    #[error("no state is marked as initial; write `{0}*`")]
    Initial(String),
    /// Too much.
    #[error("the labels of its steps need more than {MAX_LABELS} words of 64 bits; split it")]
    Large,
}

#[derive(Default)]
pub(crate) struct State {
    pub spot: Spot,
    pub cells: IndexSet<String>,
    pub contents: Vec<(Spot, String, String)>,
    pub initial: bool,
    pub steps: Vec<Step>,
}

/// A step as written, in one case of its condition.
#[derive(Clone)]
pub(crate) struct Step {
    pub fire: Vec<(Spot, String)>,
    pub claims: Vec<Claimed>,
    pub to: (Spot, String),
}

pub(crate) struct File {
    pub name: String,
    pub names: IndexSet<String>,
    /// Names that are `IN`: the automaton writes there.
    pub written: Vec<String>,
    pub states: IndexMap<String, State>,
}

/// The automata of a `.cat` text, as the parts of a connector.
pub fn connector(source: &Source) -> Result<Connector, CatError> {
    let tokens = lex::tokens(source, CAT).map_err(|e| e.map(CatFault::from))?;
    let cursor = &mut Cursor::new(source, &tokens);
    let mut files = vec![file(source, cursor)?];
    while *cursor.peek(0) != TokenKind::End {
        files.push(file(source, cursor)?);
    }
    of_automata(source, &files)
}

/// The connector of some automata, called as the first.
pub(crate) fn of_automata(source: &Source, files: &[File]) -> Result<Connector, CatError> {
    let (mut symbols, mut notes) = (Symbols::new(), Notes::default());
    let (mut parts, mut circuit) = (Vec::new(), Vec::new());
    for (k, file) in files.iter().enumerate() {
        let own =
            if files.len() == 1 { String::new() } else { format!("{}.{}/", file.name, k + 1) };
        let mut maker = Maker { source, file, own, symbols: &mut symbols, notes: &mut notes };
        parts.push(ConnectorPart { kind: file.name.clone(), automaton: maker.automaton()? });
        let end =
            |name: &String| ChannelEnd { node: name.clone(), writes: file.written.contains(name) };
        circuit.push(Channel {
            kind: file.name.clone(),
            ends: file.names.iter().map(end).collect(),
            names: file.names.iter().map(|n| symbols.name(n)).collect(),
            ..Channel::default()
        });
    }
    let interface: IndexSet<&String> = files.iter().flat_map(|f| &f.names).collect();
    let written: IndexSet<&String> = files.iter().flat_map(|f| &f.written).collect();
    Ok(Connector {
        name: files.first().map(|file| file.name.clone()).unwrap_or_default(),
        interface: interface.into_iter().map(|n| symbols.name(n)).collect(),
        written: written.into_iter().map(|n| symbols.name(n)).collect(),
        symbols,
        parts,
        notes: notes.0.into_iter().collect(),
        circuit,
    })
}

fn file(source: &Source, c: &mut Cursor) -> Result<File, CatError> {
    let syntax = |e: WithPlace<SyntaxFault>| e.map(CatFault::from);
    let TokenKind::Text(name) = c.peek(0) else {
        return Err(syntax(c.expected("the name of the automaton in quotes")));
    };
    c.take();
    c.need("[").map_err(syntax)?;
    let ports = c.list("]", port).map_err(syntax)?;
    let written = ports.iter().filter(|p| p.1).map(|p| p.0.1.clone()).collect();
    let names = once(source, ports.into_iter().map(|p| p.0).collect())?;
    let mut states = IndexMap::new();
    loop {
        let (word, cells, mut state) = state(c).map_err(syntax)?;
        let spot = state.spot;
        state.cells = once(source, cells)?;
        if states.insert(word.clone(), state).is_some() {
            return Err(source.fault(spot, CatFault::Twice(word)));
        }
        if !c.eat(",") {
            break;
        }
    }
    if !matches!(c.peek(0), TokenKind::End | TokenKind::Text(_)) {
        return Err(syntax(c.expected("`,`, another automaton, or the end of the text")));
    }
    Ok(File { name: name.clone(), names, written, states })
}

fn once(source: &Source, words: Vec<(Spot, String)>) -> Result<IndexSet<String>, CatError> {
    let mut all = IndexSet::new();
    for (spot, word) in words {
        if !all.insert(word.clone()) {
            return Err(source.fault(spot, CatFault::Twice(word)));
        }
    }
    Ok(all)
}

fn word(c: &mut Cursor) -> Read<Placed> {
    Ok((c.spot(), c.word("a name")?))
}

/// A name, and whether it is `IN`.
fn port(c: &mut Cursor) -> Read<((Spot, String), bool)> {
    let port = word(c)?;
    if !c.eat("::") {
        return Ok((port, false));
    }
    if !["IN", "OUT", "UNKNOWN"].iter().any(|way| c.is_word(way)) {
        return Err(c.expected("`IN` or `OUT`"));
    }
    let takes = c.is_word("IN");
    c.take();
    Ok((port, takes))
}

type Placed = (Spot, String);

/// A state but for its cells, which are listed, and its name.
fn state(c: &mut Cursor) -> Read<(String, Vec<Placed>, State)> {
    let (spot, name) = word(c)?;
    let mut initial = c.eat("*");
    let (mut cells, mut contents) = (Vec::new(), Vec::new());
    let empty =
        matches!((c.peek(1), c.peek(2)), (TokenKind::Sign("]"), TokenKind::Sign("[" | "*")));
    if empty || matches!(c.peek(1), TokenKind::Word(_)) {
        c.need("[")?;
        cells = c.list("]", |c| cell(c, &mut contents))?;
        initial |= c.eat("*");
    }
    let listed = c.is("[") || cells.is_empty();
    if listed {
        c.need("[")?;
    }
    let steps = if listed { c.list("]", steps)?.concat() } else { Vec::new() };
    Ok((name, cells, State { spot, cells: IndexSet::new(), contents, initial, steps }))
}

/// A cell, and what it holds at the start.
fn cell(c: &mut Cursor, contents: &mut Vec<(Spot, String, String)>) -> Read<(Spot, String)> {
    let (spot, name) = word(c)?;
    if c.eat("::") {
        let fault = c.expected("a constant");
        let ClaimValue::Constant(held) = condition::value(c, Dialect::Cat)? else {
            return Err(fault);
        };
        contents.push((spot, name.clone(), held));
    }
    Ok((spot, name))
}

fn steps(c: &mut Cursor) -> Read<Vec<Step>> {
    c.need("[")?;
    let fire = c.list("]", |c| port(c).map(|port| port.0))?;
    c.need("::")?;
    let cases = condition::cases(c, Dialect::Cat)?;
    c.need("::")?;
    let to = word(c)?;
    let step = |claims| Step { fire: fire.clone(), claims, to: to.clone() };
    Ok(cases.into_iter().map(step).collect())
}

struct Maker<'f, 'm> {
    source: &'f Source,
    file: &'f File,
    /// What stands before the names of its cells.
    own: String,
    symbols: &'m mut Symbols,
    notes: &'m mut Notes,
}

impl<'f> Maker<'f, '_> {
    fn automaton(&mut self) -> Result<Automaton, CatError> {
        let file = self.file;
        let states = &file.states;
        let names: Vec<NameId> = self.file.names.iter().map(|n| self.symbols.name(n)).collect();
        let marked = states.values().enumerate().filter(|(_, s)| s.initial);
        let initial: Vec<u32> = marked.map(|(at, _)| at as u32).collect();
        let steps: usize = states.values().map(|s| s.steps.len()).sum();
        let first = states.first().map(|(word, state)| (word.clone(), state.spot));
        let (word, spot) = first.unwrap_or_default();
        if initial.is_empty() {
            return Err(self.source.fault(spot, CatFault::Initial(word)));
        }
        if steps.saturating_mul(crate::label::words_for(names.len())) > MAX_LABELS {
            return Err(self.source.fault(spot, CatFault::Large));
        }
        let mut builder = AutomatonBuilder::over(names, states.len(), initial);
        builder.contents(self.contents()?);
        for (from, (word, state)) in states.iter().enumerate() {
            for step in &state.steps {
                let (to, target) = self.target(step)?;
                let fire = self.fire(step)?;
                let constraint = self.constraint((word, state), target, step);
                builder.step(from as u32, &fire, constraint, to);
            }
        }
        Ok(builder.done())
    }

    fn contents(&mut self) -> Result<Vec<(Cell, SymbolId)>, CatError> {
        let mut held: IndexMap<&str, &str> = IndexMap::new();
        for state in self.file.states.values() {
            for (spot, cell, constant) in &state.contents {
                if !state.initial {
                    let why = format!("`{cell}` holds something at the start of no run");
                    self.note(*spot, &format!("{why}; what it holds is left out"));
                } else if held.insert(cell, constant).is_some_and(|other| other != constant) {
                    return Err(self.source.fault(*spot, CatFault::Twice(cell.clone())));
                }
            }
        }
        let pair = |(cell, held): (&str, &str)| (self.cell(cell), self.symbols.intern(held));
        Ok(held.into_iter().map(pair).collect())
    }

    fn cell(&mut self, word: &str) -> Cell {
        self.symbols.cell(&format!("{}{word}", self.own))
    }

    fn target(&self, step: &Step) -> Result<(u32, &'f State), CatError> {
        let file = self.file;
        match file.states.get_full(&step.to.1) {
            Some((at, _, state)) => Ok((at as u32, state)),
            None => Err(self.unknown(&step.to, "state", file.states.keys())),
        }
    }

    fn fire(&mut self, step: &Step) -> Result<Vec<NameId>, CatError> {
        let names = &self.file.names;
        if let Some(placed) = step.fire.iter().find(|(_, word)| !names.contains(word)) {
            return Err(self.unknown(placed, "name", names.iter()));
        }
        Ok(step.fire.iter().map(|(_, word)| self.symbols.name(word)).collect())
    }

    fn unknown<'w>(
        &self,
        (spot, word): &Placed,
        what: &'static str,
        known: impl Iterator<Item = &'w String>,
    ) -> CatError {
        let fix = suggest(word, known.map(String::as_str));
        self.source.fault(*spot, CatFault::Unknown(word.clone(), what, fix))
    }

    fn note(&mut self, spot: Spot, note: &str) {
        self.notes.add(format!("{}: {note}", self.source.place(spot)));
    }

    fn constraint(&mut self, from: (&str, &State), to: &State, step: &Step) -> DataConstraint {
        let mut literals = Vec::new();
        let mut mentioned: IndexSet<&str> = IndexSet::new();
        let mut nameless: IndexSet<u32> = IndexSet::new();
        for (spot, claim) in &step.claims {
            if let Some(why) = self.senseless(from, to, step, claim) {
                self.note(*spot, &format!("{why}; what is said about it is left out"));
                continue;
            }
            mentioned.extend(claim.after_cells());
            let claim = self.with_constants(*spot, claim, &mut nameless);
            literals.push((*spot, claim));
        }
        let constraint = condition::constraint(&literals, self.symbols);
        let known = |c: &&String| from.1.cells.contains(*c) || mentioned.contains(c.as_str());
        let new = to.cells.iter().filter(|cell| !known(cell));
        let any = |(k, cell): (usize, &String)| {
            Literal::Equal(DataTerm::After(self.cell(cell)), DataTerm::Some(k as u32))
        };
        constraint.and(&DataConstraint::new(new.enumerate().map(any).collect::<Vec<_>>()))
    }

    /// Why a claim speaks about something that is not there.
    fn senseless(
        &self,
        from: (&str, &State),
        to: &State,
        step: &Step,
        claim: &GuardClaim,
    ) -> Option<String> {
        let mut why: Option<String> = None;
        let mut see = |value: &ClaimValue| match value {
            ClaimValue::Before(cell) if !from.1.cells.contains(cell) => {
                why.get_or_insert(format!("`{}` has no cell `{cell}`", from.0));
            }
            ClaimValue::After(cell) if !to.cells.contains(cell) => {
                why.get_or_insert(format!("`{}` has no cell `{cell}`", step.to.1));
            }
            ClaimValue::Word(word)
                if self.file.names.contains(word) && !step.fire.iter().any(|(_, f)| f == word) =>
            {
                why.get_or_insert(format!("`{word}` does not fire"));
            }
            _ => {}
        };
        claim.terms().for_each(|v| v.visit(&mut see));
        why
    }

    /// The claim with constants for unknown words, and values without a name numbered from 0.
    fn with_constants(
        &mut self,
        spot: Spot,
        claim: &GuardClaim,
        nameless: &mut IndexSet<u32>,
    ) -> GuardClaim {
        let Ok(claim) = claim.map(|v| Ok::<_, Infallible>(self.value(spot, v, nameless)));
        claim
    }

    fn value(
        &mut self,
        spot: Spot,
        value: &ClaimValue,
        nameless: &mut IndexSet<u32>,
    ) -> ClaimValue {
        match value {
            ClaimValue::Word(word) if !self.file.names.contains(word) => {
                self.note(spot, &format!("`{word}` is no name; it is taken as a constant"));
                ClaimValue::Constant(word.clone())
            }
            ClaimValue::Call(f, values) => {
                let values = values.iter().map(|v| self.value(spot, v, nameless));
                ClaimValue::Call(f.clone(), values.collect())
            }
            ClaimValue::Before(cell) => ClaimValue::Before(format!("{}{cell}", self.own)),
            ClaimValue::After(cell) => ClaimValue::After(format!("{}{cell}", self.own)),
            ClaimValue::Some(k) => ClaimValue::Some(nameless.insert_full(*k).0 as u32),
            other => other.clone(),
        }
    }
}
