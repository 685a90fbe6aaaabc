//! Random automata with data: parts that share names, and ones with silent steps that move data.

use proptest::collection::vec;
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::symbol::{Cell, NameId, SymbolId, Symbols};

use super::super::values::Meaning;

/// Names that parts may share.
pub const NAMES: usize = 5;
/// Cells of a part.
const CELLS: usize = 2;

/// The words of all automata here.
pub struct Words {
    pub symbols: Symbols,
    pub names: Vec<NameId>,
    pub cells: Vec<Cell>,
    pub constants: Vec<SymbolId>,
    functions: [SymbolId; 2],
    predicate: SymbolId,
}

impl Words {
    pub fn new() -> Words {
        let mut symbols = Symbols::new();
        Words {
            names: (0..NAMES).map(|k| symbols.name(&format!("n{k}"))).collect(),
            cells: (0..4 * CELLS).map(|k| symbols.cell(&format!("m{k}"))).collect(),
            constants: ["0", "1"].map(|w| symbols.intern(w)).into(),
            functions: ["f", "g"].map(|w| symbols.intern(w)),
            predicate: symbols.intern("P"),
            symbols,
        }
    }

    /// Two values, both of them constants.
    pub fn meaning(&self, seed: u64) -> Meaning {
        Meaning { values: 2, constants: self.constants.clone(), seed }
    }

    /// The names with these bits.
    pub fn chosen(&self, bits: u8) -> Vec<NameId> {
        (0..NAMES).filter(|k| bits >> k & 1 == 1).map(|k| self.names[k]).collect()
    }
}

/// A literal as numbers: what kind, and which terms.
type Claim = (u8, u8, u8);

/// An automaton as numbers.
#[derive(Debug, Clone)]
pub struct Machine {
    states: u32,
    names: u8,
    initial: u8,
    contents: [u8; CELLS],
    steps: Vec<(u32, u8, Vec<Claim>, u32)>,
}

/// Some automaton of at most `states` states; `silent`: some of its steps fire nothing.
pub fn machine(states: u32, silent: bool) -> impl Strategy<Value = Machine> {
    let fire = move || {
        if silent { prop_oneof![Just(0), any::<u8>()].boxed() } else { any::<u8>().boxed() }
    };
    (1..=states, 1..1u8 << NAMES, 0..4u8, any::<[u8; CELLS]>()).prop_flat_map(
        move |(states, names, initial, contents)| {
            let claims = prop_oneof![2 => vec(any::<Claim>(), 1), 1 => vec(any::<Claim>(), 0..4)];
            let step = (0..states, fire(), claims, 0..states);
            vec(step, 0..4 * states as usize).prop_map(move |steps| {
                let steps = steps.into_iter().map(|(p, fire, c, q)| (p, fire & names, c, q));
                let steps = steps.filter(|(_, fire, _, _)| silent || *fire != 0).collect();
                Machine { states, names, initial, contents, steps }
            })
        },
    )
}

impl Machine {
    /// The automaton, with the cells of the part with this number.
    pub fn automaton(&self, words: &Words, part: usize) -> Automaton {
        self.automaton_of(words, part, claim)
    }

    /// The automaton, with the cells of the part with this number; `claim` reads what its steps
    /// say.
    fn automaton_of(&self, words: &Words, part: usize, claim: Reader) -> Automaton {
        let cells = &words.cells[part * CELLS..(part + 1) * CELLS];
        // Now and then there are two initial states.
        let mut initial = vec![0];
        initial.extend((self.initial == 0 && self.states > 1).then_some(1));
        let mut builder =
            AutomatonBuilder::over(words.chosen(self.names), self.states as usize, initial);
        let mut mentioned = Vec::new();
        for (from, fire, claims, to) in &self.steps {
            let fire = words.chosen(*fire);
            let constraint =
                DataConstraint::new(claims.iter().map(|c| claim(words, cells, &fire, *c)));
            constraint.visit(|t| {
                if let DataTerm::Before(c) | DataTerm::After(c) = t {
                    mentioned.push(*c);
                }
            });
            builder.step(*from, &fire, constraint, *to);
        }
        for (cell, content) in cells.iter().zip(self.contents) {
            if content % 4 < 2 && mentioned.contains(cell) {
                builder.contents([(*cell, words.constants[content as usize % 4])]);
            }
        }
        builder.finish().unwrap()
    }
}

/// How numbers become a literal over the data that are seen and the cells of the part.
type Reader = fn(&Words, &[Cell], &[NameId], Claim) -> Literal;

/// A literal that tests data rather than to move it: several of them often exclude each other.
fn test(words: &Words, cells: &[Cell], fire: &[NameId], (kind, x, y): Claim) -> Literal {
    let constants = words.constants.iter().copied().map(DataTerm::Constant);
    let data: Vec<DataTerm> = fire.iter().copied().map(DataTerm::Datum).collect();
    let before = DataTerm::Before(cells[x as usize % cells.len()]);
    let after = DataTerm::After(cells[y as usize % cells.len()]);
    let pick = |k: u8| match data.len() {
        0 => before.clone(),
        many => data[k as usize % many].clone(),
    };
    let constant = || constants.clone().nth(y as usize % 2).unwrap_or(DataTerm::Some(0));
    let [f, g] = words.functions;
    match kind % 12 {
        0..=3 => Literal::Predicate(y % 2 == 0, words.predicate, [pick(x)].into()),
        4 | 5 => Literal::Equal(pick(x), constant()),
        6 => Literal::Different(pick(x), constant()),
        7 => Literal::Different(pick(x), pick(y)),
        8 => Literal::Equal(pick(x), pick(y)),
        9 => Literal::Equal(DataTerm::Call(f, [pick(x)].into()), pick(y)),
        10 => Literal::Different(DataTerm::Call(g, [pick(x), constant()].into()), before),
        _ => Literal::Equal(pick(x), after),
    }
}

/// A literal over the data that are seen and the cells of the part. Most move a datum.
fn claim(words: &Words, cells: &[Cell], fire: &[NameId], (kind, x, y): Claim) -> Literal {
    let pick = |all: &[DataTerm], k: u8| all[k as usize % all.len()].clone();
    let constants = words.constants.iter().copied().map(DataTerm::Constant);
    let before: Vec<DataTerm> = cells.iter().copied().map(DataTerm::Before).collect();
    let after: Vec<DataTerm> = cells.iter().copied().map(DataTerm::After).collect();
    let data = fire.iter().copied().map(DataTerm::Datum);
    let sources: Vec<DataTerm> = data.clone().chain(before.clone()).chain(constants).collect();
    let seen: Vec<DataTerm> = data.chain(before.clone()).collect();
    let any: Vec<DataTerm> = sources.iter().chain(&after).cloned().collect();
    let [f, g] = words.functions;
    match kind % 16 {
        0..=4 => Literal::Equal(pick(&after, x), pick(&sources, y)),
        5..=7 => Literal::Equal(pick(&seen, x), pick(&before, y)),
        8 | 9 => Literal::Equal(pick(&after, x), pick(&before, y)),
        10 => Literal::Equal(pick(&any, x), pick(&any, y)),
        11 => Literal::Equal(pick(&after, x), DataTerm::Call(f, [pick(&sources, y)].into())),
        12 => {
            Literal::Equal(pick(&any, x), DataTerm::Call(g, [pick(&any, y), pick(&any, x)].into()))
        }
        13 => Literal::Different(pick(&any, x), pick(&any, y)),
        14 => Literal::Equal(pick(&any, x), DataTerm::Some(u32::from(y % 2))),
        _ => Literal::Predicate(y % 2 == 0, words.predicate, [pick(&any, x)].into()),
    }
}

/// A part of a connector.
#[derive(Debug, Clone)]
pub enum Part {
    /// A channel or component of Reo: which, between which names, with what in it.
    Known(u8, u8, u8, u8),
    /// Any automaton without silent steps.
    Any(Machine),
    /// One whose steps test data.
    Guarded(Machine),
}

/// Some part whose steps test data.
pub fn guarded() -> impl Strategy<Value = Part> {
    machine(2, false).prop_map(Part::Guarded)
}

/// Some part; two of three are of Reo.
pub fn part() -> impl Strategy<Value = Part> {
    let known = any::<(u8, u8, u8, u8)>().prop_map(|(k, a, b, c)| Part::Known(k, a, b, c));
    prop_oneof![2 => known, 1 => machine(3, false).prop_map(Part::Any)]
}

impl Part {
    /// The automaton of the part with this number.
    pub fn automaton(&self, words: &Words, number: usize) -> Automaton {
        let (kind, a, b, c) = match self {
            Part::Any(machine) => return machine.automaton(words, number),
            Part::Guarded(machine) => return machine.automaton_of(words, number, test),
            Part::Known(kind, a, b, c) => (*kind, *a as usize, *b as usize, *c as usize),
        };
        let name = |k: usize| words.names[k % NAMES];
        // Names of one part differ.
        let (a, b, c) = (a % NAMES, a + 1 + b % (NAMES - 1), c);
        let rest: Vec<usize> = (0..NAMES).filter(|k| *k != a && *k != b % NAMES).collect();
        let (a, b, third) = (name(a), name(b), name(rest[c % rest.len()]));
        let cell = words.cells[number * CELLS];
        let content = match c % 4 {
            0 | 1 => BufferContent::Empty,
            2 => BufferContent::Unknown,
            _ => BufferContent::Constant(words.constants[c / 4 % 2]),
        };
        match kind % 16 {
            0..=5 => primitive::fifo1(a, b, cell, content),
            6 => primitive::sync(a, b),
            7 => primitive::lossy_sync(a, b),
            8 => primitive::filter(a, b, words.predicate),
            9 => primitive::transform(a, b, words.functions[0]),
            10 => primitive::variable(a, b, cell, content),
            11 => primitive::shift_lossy_fifo1(a, b, cell),
            12 => primitive::fifo(a, b, &words.cells[number * CELLS..(number + 1) * CELLS]),
            13 => primitive::merger(&[a, third], b),
            14 => primitive::replicator(a, &[b, third]),
            _ => primitive::router(a, &[b, third]),
        }
    }
}
