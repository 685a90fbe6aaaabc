//! What a program does in each step, in any language.

use indexmap::IndexMap;

use super::error::{GenerateError, MAX_STEPS};
use crate::automaton::{Automaton, Transition as Arrow};
use crate::constant::LESS;
use crate::constraint::simplify::{Gone, simplify};
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::export::ExportSubject;
use crate::export::words::Identifiers;
use crate::hide::live::{self, Live};
use crate::label;
use crate::symbol::{Cell, NameId, SymbolId};

pub(super) struct Plan {
    /// What the connector is called, as an identifier.
    pub name: String,
    /// The same for people.
    pub title: String,
    pub ports: Vec<Port>,
    pub cells: Vec<Memory>,
    pub constants: Vec<Word>,
    pub functions: Vec<Word>,
    pub predicates: Vec<Word>,
    pub initial: u32,
    /// The steps of state s are `rows[s]..rows[s + 1]`.
    pub rows: Vec<usize>,
    pub steps: Vec<Step>,
}

/// A place where the environment meets the connector.
pub(super) struct Port {
    pub word: String,
    pub text: String,
    /// The environment puts data; otherwise it takes them.
    pub put: bool,
}

impl Port {
    /// The variable with what waits at it.
    pub fn variable(&self) -> String {
        format!("{}_{}", if self.put { "put" } else { "take" }, self.word)
    }
}

/// A cell that some run reads.
pub(super) struct Memory {
    pub word: String,
    pub text: String,
    pub start: Start,
}

/// What is in a cell at the start.
pub(super) enum Start {
    Empty,
    /// The constant with this number.
    Constant(usize),
    /// Something that the user has to give.
    Given,
}

/// A constant, function or predicate.
pub(super) struct Word {
    pub word: String,
    pub text: String,
    pub arguments: usize,
}

pub(super) struct Step {
    /// The step for people.
    pub text: String,
    pub to: u32,
    /// Ports that fire, in order.
    pub fires: Vec<usize>,
    /// Cells whose content before the step is needed.
    pub reads: Vec<usize>,
    /// In an order in which each has what it needs.
    pub acts: Vec<Act>,
    /// For each cell what becomes of it.
    pub after: Vec<After>,
}

pub(super) enum Act {
    /// A datum that is taken or a cell after the step gets its value.
    Let(Place, Value),
    /// Both sides are equal, or they differ.
    Equal(bool, Value, Value),
    /// The predicate holds, or it fails.
    Predicate(bool, usize, Vec<Value>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Gone,
    Kept,
    /// It gets the value of its [`Place::New`].
    New,
}

/// A variable of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The datum at a port.
    Port(usize),
    /// A cell before the step.
    Old(usize),
    /// A cell after the step.
    New(usize),
}

pub(super) enum Value {
    Place(Place),
    Constant(usize),
    Call(usize, Vec<Value>),
}

/// Words with their numbers, in the order in which they occur.
#[derive(Default)]
struct Words(IndexMap<(SymbolId, usize), Word>);

impl Plan {
    pub fn variable(&self, place: Place) -> String {
        match place {
            Place::Port(p) => self.ports[p].variable(),
            Place::Old(c) => format!("old_{}", self.cells[c].word),
            Place::New(c) => format!("new_{}", self.cells[c].word),
        }
    }

    /// The plan of an automaton.
    pub fn new(subject: ExportSubject) -> Result<Plan, GenerateError> {
        let automaton = subject.automaton;
        let [initial] = automaton.initial() else {
            return Err(GenerateError::Initial(automaton.initial().len()));
        };
        if automaton.transitions() > MAX_STEPS {
            return Err(GenerateError::Large(automaton.transitions()));
        }
        let mut planner = Planner::new(subject, *initial);
        let (mut rows, mut steps) = (vec![0], Vec::new());
        for state in 0..automaton.states() as u32 {
            for step in automaton.steps(state) {
                steps.extend(planner.step(&step)?);
            }
            rows.push(steps.len());
        }
        if steps.is_empty() {
            return Err(GenerateError::Ports);
        }
        let cells = planner.memory();
        let Planner { ports, constants, functions, predicates, .. } = planner;
        Ok(Plan {
            // Everything else has a prefix that no language knows.
            name: Identifiers::new(tickbound_input::names::c()).fresh("", subject.name),
            title: plain(subject.name),
            ports: ports.into_values().collect(),
            cells,
            constants: constants.done(),
            functions: functions.done(),
            predicates: predicates.done(),
            initial: *initial,
            rows,
            steps,
        })
    }
}

/// Text for a comment: what ends a line, or turns it around, is a space.
fn plain(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns(c) { ' ' } else { c }).collect()
}

struct Planner<'a> {
    subject: ExportSubject<'a>,
    initial: u32,
    live: Live,
    words: Identifiers,
    ports: IndexMap<NameId, Port>,
    /// Cells that some run reads, in order.
    cells: Vec<Cell>,
    constants: Words,
    functions: Words,
    predicates: Words,
}

impl<'a> Planner<'a> {
    fn new(subject: ExportSubject<'a>, initial: u32) -> Self {
        let automaton = subject.automaton;
        let live = live::cells(automaton);
        let read = |c: &Cell| (0..automaton.states() as u32).any(|s| live.is_live(*c, s));
        let cells = automaton.cells().iter().copied().filter(read).collect();
        let (constants, functions, predicates) = <_>::default();
        let mut words = Identifiers::new([]);
        let ports = ports(subject, automaton, &mut words);
        Planner { subject, initial, live, words, ports, cells, constants, functions, predicates }
    }

    /// What a step does; nothing if no data fulfil its constraint.
    fn step(&mut self, step: &Arrow) -> Result<Option<Step>, GenerateError> {
        let automaton = self.subject.automaton;
        let given = automaton.constraint(step);
        let dead = self.live.dead(given, step.to);
        let Some(simple) = simplify(given, &Gone { names: &[], cells: &dead }) else {
            return Ok(None);
        };
        let text = self.text(step, &simple);
        if label::is_silent(step.label) {
            return Err(GenerateError::Silent(text));
        }
        let names: Vec<NameId> = automaton.fires(step).collect();
        // Data that are put by the environment.
        let put = |name: &&NameId| self.ports.get(*name).is_some_and(|port| port.put);
        let put = names.iter().filter(put).map(|name| DataTerm::Datum(*name));
        let mut known: Vec<DataTerm> = put.collect();
        let mut left: Vec<&Literal> = simple.literals().iter().collect();
        let mut acts = Vec::new();
        loop {
            let waiting = left.len();
            left.retain(|literal| match self.act(literal, &mut known) {
                Some(act) => {
                    acts.push(act);
                    false
                }
                None => true,
            });
            if left.len() == waiting {
                break;
            }
        }
        let untold = |name: &&NameId| !known.contains(&DataTerm::Datum(**name));
        let open = match (left.first(), names.iter().find(untold)) {
            (Some(literal), _) => {
                Some(DataConstraint::new([(*literal).clone()]).text(self.subject.symbols))
            }
            (None, Some(name)) => Some(self.subject.symbols.word(name.0).to_owned()),
            (None, None) => None,
        };
        if let Some(what) = open {
            return Err(GenerateError::Open(text, plain(&what)));
        }
        let mut fires: Vec<usize> =
            names.iter().filter_map(|n| self.ports.get_index_of(n)).collect();
        fires.sort_unstable();
        let reads = self.reads(&simple);
        Ok(Some(Step { text, to: step.to, fires, reads, acts, after: self.after(step.to, &known) }))
    }

    fn text(&self, step: &Arrow, constraint: &DataConstraint) -> String {
        let symbols = self.subject.symbols;
        let names = self.subject.automaton.words_of(step, symbols).join(", ");
        let constraint = constraint.text(symbols);
        plain(&format!("{} {{{names}}} {constraint} -> {}", step.from, step.to))
    }

    /// What a literal demands, if all that it needs is known; it may make one place known.
    fn act(&mut self, literal: &Literal, known: &mut Vec<DataTerm>) -> Option<Act> {
        match literal {
            Literal::Equal(a, b) => match (is_known(a, known), is_known(b, known)) {
                (true, true) => Some(Act::Equal(true, self.value(a)?, self.value(b)?)),
                (true, false) => self.given(b, a, known),
                (false, true) => self.given(a, b, known),
                (false, false) => None,
            },
            Literal::Different(a, b) if is_known(a, known) && is_known(b, known) => {
                Some(Act::Equal(false, self.value(a)?, self.value(b)?))
            }
            Literal::Predicate(holds, p, terms) if terms.iter().all(|t| is_known(t, known)) => {
                let values = terms.iter().map(|t| self.value(t)).collect::<Option<Vec<_>>>()?;
                let word = self.subject.symbols.word(*p);
                let p =
                    self.predicates.number("predicate_", *p, terms.len(), word, &mut self.words);
                Some(Act::Predicate(*holds, p, values))
            }
            Literal::Different(..) | Literal::Predicate(..) => None,
        }
    }

    /// `leaf` gets the value of `term`.
    fn given(
        &mut self,
        leaf: &DataTerm,
        term: &DataTerm,
        known: &mut Vec<DataTerm>,
    ) -> Option<Act> {
        let place = self.place(leaf)?;
        let value = self.value(term)?;
        known.push(leaf.clone());
        Some(Act::Let(place, value))
    }

    fn place(&self, leaf: &DataTerm) -> Option<Place> {
        let cell = |c: &Cell| self.cells.binary_search(c).ok();
        match leaf {
            DataTerm::Datum(name) => self.ports.get_index_of(name).map(Place::Port),
            DataTerm::Before(c) => cell(c).map(Place::Old),
            DataTerm::After(c) => cell(c).map(Place::New),
            DataTerm::Constant(_) | DataTerm::Some(_) | DataTerm::Call(..) => None,
        }
    }

    fn value(&mut self, term: &DataTerm) -> Option<Value> {
        let symbols = self.subject.symbols;
        match term {
            DataTerm::Constant(c) => Some(Value::Constant(self.constant(*c))),
            DataTerm::Call(f, terms) => {
                let values = terms.iter().map(|t| self.value(t)).collect::<Option<Vec<_>>>()?;
                let (n, word) = (terms.len(), symbols.word(*f));
                let f = self.functions.number("function_", *f, n, word, &mut self.words);
                Some(Value::Call(f, values))
            }
            leaf => self.place(leaf).map(Value::Place),
        }
    }

    fn constant(&mut self, constant: SymbolId) -> usize {
        let text = DataTerm::Constant(constant).text(self.subject.symbols);
        self.constants.number("constant_", constant, 0, &text, &mut self.words)
    }

    fn reads(&self, constraint: &DataConstraint) -> Vec<usize> {
        let cells = crate::constraint::simplify::read(constraint);
        cells.iter().filter_map(|c| self.cells.binary_search(c).ok()).collect()
    }

    fn after(&self, to: u32, known: &[DataTerm]) -> Vec<After> {
        let after = |cell: &Cell| match () {
            () if !self.live.is_live(*cell, to) => After::Gone,
            () if known.contains(&DataTerm::After(*cell)) => After::New,
            () => After::Kept,
        };
        self.cells.iter().map(after).collect()
    }

    /// The cells, and what is in them at the start.
    fn memory(&mut self) -> Vec<Memory> {
        let mut all = Vec::new();
        for cell in self.cells.clone() {
            let contents = self.subject.automaton.contents();
            let held = contents.iter().find(|(c, _)| *c == cell).map(|(_, held)| *held);
            let start = match (self.live.is_live(cell, self.initial), held) {
                (false, _) => Start::Empty,
                (true, Some(held)) => Start::Constant(self.constant(held)),
                (true, None) => Start::Given,
            };
            let text = self.subject.symbols.word(cell.0);
            all.push(Memory { word: self.words.fresh("", text), text: plain(text), start });
        }
        all
    }
}

/// The ports: names of the interface in its order, then the others.
fn ports(
    subject: ExportSubject,
    automaton: &Automaton,
    words: &mut Identifiers,
) -> IndexMap<NameId, Port> {
    let all = automaton.alphabet();
    let seen = subject.interface.iter().filter(|n| all.binary_search(n).is_ok());
    let mut ports = IndexMap::new();
    for name in seen.chain(all) {
        ports.entry(*name).or_insert_with(|| {
            let text = subject.symbols.word(name.0);
            let put = subject.inputs.contains(name);
            Port { word: words.fresh("", text), text: plain(text), put }
        });
    }
    ports
}

/// Whether the value of a term follows from leaves whose values are known so far in a step.
fn is_known(term: &DataTerm, known: &[DataTerm]) -> bool {
    let open = |leaf: &DataTerm| {
        !matches!(leaf, DataTerm::Constant(_) | DataTerm::Before(_)) && !known.contains(leaf)
    };
    term.leaf(&open).is_none()
}

impl Words {
    /// The number of a word with that many arguments.
    fn number(
        &mut self,
        prefix: &str,
        symbol: SymbolId,
        arguments: usize,
        text: &str,
        words: &mut Identifiers,
    ) -> usize {
        let entry = self.0.entry((symbol, arguments));
        let at = entry.index();
        entry.or_insert_with(|| {
            let word = match (text, arguments) {
                ("+", 2) => "add",
                ("-", 1) => "negate",
                ("-", 2) => "subtract",
                ("*", 2) => "multiply",
                ("/", 2) => "divide",
                ("%", 2) => "remainder",
                (LESS, 2) => "less",
                _ => text,
            };
            Word { word: words.fresh(prefix, word), text: plain(text), arguments }
        });
        at
    }

    fn done(self) -> Vec<Word> {
        self.0.into_values().collect()
    }
}
