//! What a program does in each step, in any language.

use indexmap::IndexMap;
use itertools::Itertools;

use super::error::{GenerateError, MAX_STEPS};
use crate::automaton::Transition as Arrow;
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
    /// The initial state of each region; states of all regions are numbered one after another.
    pub initial: Vec<usize>,
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
    /// The region that takes it.
    pub region: usize,
    pub to: usize,
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

    pub fn new(regions: &[ExportSubject]) -> Result<Plan, GenerateError> {
        let transitions = regions.iter().map(|region| region.automaton.transitions()).sum();
        if transitions > MAX_STEPS {
            return Err(GenerateError::Large(transitions));
        }
        let mut planner = Planner::new(regions)?;
        let (mut rows, mut steps) = (vec![0], Vec::new());
        let mut initial = Vec::new();
        for (at, region) in regions.iter().enumerate() {
            (planner.region, planner.begin) = (at, rows.len() - 1);
            initial.push(planner.begin + planner.initial[at] as usize);
            for state in 0..region.automaton.states() as u32 {
                for step in region.automaton.steps(state) {
                    steps.extend(planner.step(&step)?);
                }
                rows.push(steps.len());
            }
        }
        let Some(first) = regions.first().filter(|_| !steps.is_empty()) else {
            return Err(GenerateError::Ports);
        };
        let cells = planner.memory();
        let Planner { ports, constants, functions, predicates, .. } = planner;
        Ok(Plan {
            // Everything else has a prefix that no language knows.
            name: Identifiers::new(tickbound_input::names::c()).fresh("", first.name),
            title: plain(first.name),
            ports: ports.into_values().collect(),
            cells,
            constants: constants.done(),
            functions: functions.done(),
            predicates: predicates.done(),
            initial,
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
    regions: &'a [ExportSubject<'a>],
    initial: Vec<u32>,
    live: Vec<Live>,
    /// The region in work, and where its states begin.
    region: usize,
    begin: usize,
    words: Identifiers,
    ports: IndexMap<NameId, Port>,
    /// Cells that some run reads, in order, with the regions that they belong to.
    cells: Vec<(Cell, usize)>,
    constants: Words,
    functions: Words,
    predicates: Words,
}

impl<'a> Planner<'a> {
    fn new(regions: &'a [ExportSubject<'a>]) -> Result<Self, GenerateError> {
        let initial = |region: &ExportSubject| match region.automaton.initial() {
            [initial] => Ok(*initial),
            all => Err(GenerateError::Initial(all.len())),
        };
        let initial = regions.iter().map(initial).collect::<Result<_, _>>()?;
        let live: Vec<Live> = regions.iter().map(|region| live::cells(region.automaton)).collect();
        let mut cells = Vec::new();
        for (at, (region, live)) in regions.iter().zip(&live).enumerate() {
            let states = 0..region.automaton.states() as u32;
            let read = |cell: &&Cell| states.clone().any(|state| live.is_live(**cell, state));
            cells.extend(region.automaton.cells().iter().filter(read).map(|cell| (*cell, at)));
        }
        cells.sort_unstable();
        let (constants, functions, predicates) = <_>::default();
        let mut words = Identifiers::new([]);
        let ports = ports(regions, &mut words);
        let (region, begin) = (0, 0);
        Ok(Planner {
            regions,
            initial,
            live,
            region,
            begin,
            words,
            ports,
            cells,
            constants,
            functions,
            predicates,
        })
    }

    /// The region in work.
    fn subject(&self) -> ExportSubject<'a> {
        self.regions[self.region]
    }

    /// The place of a cell that some run reads.
    fn cell(&self, cell: &Cell) -> Option<usize> {
        self.cells.binary_search_by_key(cell, |(cell, _)| *cell).ok()
    }

    /// What a step does; nothing if no data fulfil its constraint.
    fn step(&mut self, step: &Arrow) -> Result<Option<Step>, GenerateError> {
        let automaton = self.subject().automaton;
        let given = automaton.constraint(step);
        let dead = self.live[self.region].dead(given, step.to);
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
                Some(DataConstraint::new([(*literal).clone()]).text(self.subject().symbols))
            }
            (None, Some(name)) => Some(self.subject().symbols.word(name.0).to_owned()),
            (None, None) => None,
        };
        if let Some(what) = open {
            return Err(GenerateError::Open(text, plain(&what)));
        }
        let mut fires: Vec<usize> =
            names.iter().filter_map(|n| self.ports.get_index_of(n)).collect();
        fires.sort_unstable();
        let reads = self.reads(&simple);
        let (region, to) = (self.region, self.begin + step.to as usize);
        let after = self.after(step.to, &known);
        Ok(Some(Step { text, region, to, fires, reads, acts, after }))
    }

    fn text(&self, step: &Arrow, constraint: &DataConstraint) -> String {
        let symbols = self.subject().symbols;
        let names = self.subject().automaton.words_of(step, symbols).join(", ");
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
                let word = self.subject().symbols.word(*p);
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
        match leaf {
            DataTerm::Datum(name) => self.ports.get_index_of(name).map(Place::Port),
            DataTerm::Before(c) => self.cell(c).map(Place::Old),
            DataTerm::After(c) => self.cell(c).map(Place::New),
            DataTerm::Constant(_) | DataTerm::Some(_) | DataTerm::Call(..) => None,
        }
    }

    fn value(&mut self, term: &DataTerm) -> Option<Value> {
        let symbols = self.subject().symbols;
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
        let text = DataTerm::Constant(constant).text(self.subject().symbols);
        self.constants.number("constant_", constant, 0, &text, &mut self.words)
    }

    fn reads(&self, constraint: &DataConstraint) -> Vec<usize> {
        let cells = crate::constraint::simplify::read(constraint);
        cells.iter().filter_map(|c| self.cell(c)).collect()
    }

    fn after(&self, to: u32, known: &[DataTerm]) -> Vec<After> {
        let after = |(cell, region): &(Cell, usize)| match () {
            () if *region != self.region => After::Kept,
            () if !self.live[self.region].is_live(*cell, to) => After::Gone,
            () if known.contains(&DataTerm::After(*cell)) => After::New,
            () => After::Kept,
        };
        self.cells.iter().map(after).collect()
    }

    /// The cells, and what is in them at the start.
    fn memory(&mut self) -> Vec<Memory> {
        let mut all = Vec::new();
        for (cell, region) in self.cells.clone() {
            self.region = region;
            let contents = self.subject().automaton.contents();
            let held = contents.iter().find(|(c, _)| *c == cell).map(|(_, held)| *held);
            let start = match (self.live[region].is_live(cell, self.initial[region]), held) {
                (false, _) => Start::Empty,
                (true, Some(held)) => Start::Constant(self.constant(held)),
                (true, None) => Start::Given,
            };
            let text = self.subject().symbols.word(cell.0);
            all.push(Memory { word: self.words.fresh("", text), text: plain(text), start });
        }
        all
    }
}

/// The ports: names of the interface in its order, then the others.
fn ports(regions: &[ExportSubject], words: &mut Identifiers) -> IndexMap<NameId, Port> {
    let mut ports = IndexMap::new();
    let all = regions.iter().flat_map(|region| region.automaton.alphabet()).sorted_unstable();
    let all: Vec<NameId> = all.copied().collect();
    let Some(ExportSubject { interface, inputs, symbols, .. }) = regions.first() else {
        return ports;
    };
    let seen = interface.iter().filter(|n| all.binary_search(n).is_ok());
    for name in seen.chain(&all) {
        ports.entry(*name).or_insert_with(|| {
            let text = symbols.word(name.0);
            let put = inputs.contains(name);
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
