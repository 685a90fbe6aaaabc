//! Constraints simplified, joined and put one after another, against all combinations of values.

use crate::values;

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use tickbound_reo::constraint::simplify::{Gone, around, conjunction, simplify, simplify_any};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::hide::sequence;
use tickbound_reo::symbol::{Cell, NameId, SymbolId, Symbols};
use values::{Meaning, Seen, View, one_after_another, relation};

/// The words of all constraints here: three names, two cells, two constants, functions, predicates.
struct Words {
    symbols: Symbols,
    names: Vec<NameId>,
    cells: Vec<Cell>,
    constants: Vec<SymbolId>,
    functions: [SymbolId; 2],
    predicates: [SymbolId; 2],
}

impl Words {
    fn new() -> Words {
        let mut symbols = Symbols::new();
        Words {
            names: ["a", "b", "c"].map(|w| symbols.name(w)).into(),
            cells: ["m", "n"].map(|w| symbols.cell(w)).into(),
            constants: ["0", "1"].map(|w| symbols.intern(w)).into(),
            functions: ["f", "g"].map(|w| symbols.intern(w)),
            predicates: ["P", "Q"].map(|w| symbols.intern(w)),
            symbols,
        }
    }

    /// Three values, so that one is no constant.
    fn meaning(&self, seed: u64) -> Meaning {
        Meaning { values: 3, constants: self.constants.clone(), seed }
    }

    fn text(&self, constraint: &DataConstraint) -> String {
        constraint.text(&self.symbols)
    }
}

/// Which names and cells go, as bits.
type Bits = (u8, u8);

fn chosen<T: Copy>(all: &[T], bits: u8) -> Vec<T> {
    (0..all.len()).filter(|k| bits >> k & 1 == 1).map(|k| all[k]).collect()
}

fn leaf() -> impl Strategy<Value = DataTerm> {
    let words = Words::new();
    let data = words.names.iter().copied().map(DataTerm::Datum);
    let cells = words.cells.iter().flat_map(|c| [DataTerm::Before(*c), DataTerm::After(*c)]);
    let constants = words.constants.iter().copied().map(DataTerm::Constant);
    let nameless = (0..2).map(DataTerm::Some);
    let all: Vec<DataTerm> = data.chain(cells).chain(constants).chain(nameless).collect();
    prop::sample::select(all)
}

fn term() -> impl Strategy<Value = DataTerm> {
    let [f, g] = Words::new().functions;
    let one = (leaf(), 1..3usize).prop_map(move |(leaf, deep)| {
        (0..deep).fold(leaf, |inner, _| DataTerm::Call(f, [inner].into()))
    });
    let two = (leaf(), leaf()).prop_map(move |(a, b)| DataTerm::Call(g, [a, b].into()));
    prop_oneof![6 => leaf(), 2 => one, 1 => two]
}

fn literal() -> impl Strategy<Value = Literal> {
    let [p, q] = Words::new().predicates;
    let one = (any::<bool>(), term()).prop_map(move |(h, t)| Literal::Predicate(h, p, [t].into()));
    let two = (any::<bool>(), leaf(), leaf());
    let two = two.prop_map(move |(h, a, b)| Literal::Predicate(h, q, [a, b].into()));
    prop_oneof![
        6 => (term(), term()).prop_map(|(a, b)| Literal::Equal(a, b)),
        1 => (term(), term()).prop_map(|(a, b)| Literal::Different(a, b)),
        1 => one,
        1 => two,
    ]
}

/// Any conjunction.
fn any_constraint() -> impl Strategy<Value = DataConstraint> {
    vec(literal(), 0..6).prop_map(DataConstraint::new)
}

/// Equations of leaves, as chains of buffers have them: most store a datum or give one.
fn flat_constraint() -> impl Strategy<Value = DataConstraint> {
    let words = Words::new();
    let data: Vec<DataTerm> = words.names.iter().copied().map(DataTerm::Datum).collect();
    let cells = words.cells.iter().flat_map(|c| [DataTerm::Before(*c), DataTerm::After(*c)]);
    let cells: Vec<DataTerm> = cells.collect();
    let moves = (prop::sample::select(data), prop::sample::select(cells));
    let equation = prop_oneof![2 => moves, 1 => (leaf(), leaf())];
    vec(equation.prop_map(|(a, b)| Literal::Equal(a, b)), 0..7).prop_map(DataConstraint::new)
}

fn constraint() -> impl Strategy<Value = DataConstraint> {
    prop_oneof![any_constraint(), flat_constraint()]
}

/// Of cells and constants only, as silent steps have it.
fn without_data(constraint: &DataConstraint) -> DataConstraint {
    let cells = Words::new().cells;
    constraint.map(|t| match t {
        DataTerm::Datum(name) => DataTerm::Before(cells[name.0.0 as usize % cells.len()]),
        other => other.clone(),
    })
}

fn mentions(constraint: &DataConstraint, wanted: impl Fn(&DataTerm) -> bool) -> bool {
    let mut found = false;
    constraint.visit(|leaf| found |= wanted(leaf));
    found
}

/// What is seen of a step in which the names and cells of `gone` are not.
fn view(words: &Words, constraint: &DataConstraint, gone: Bits) -> View {
    let kept = chosen(&words.names, !gone.0);
    let names = kept.into_iter().filter(|n| mentions(constraint, |t| *t == DataTerm::Datum(*n)));
    let of = |c: Cell| move |t: &DataTerm| *t == DataTerm::Before(c) || *t == DataTerm::After(c);
    let cells = words.cells.iter().copied().filter(|c| mentions(constraint, of(*c)));
    View { names: names.collect(), cells: cells.collect(), dead: chosen(&words.cells, gone.1) }
}

/// Asserts that `made` says of what is left exactly what `given` says.
fn same_meaning(given: &DataConstraint, made: Option<&DataConstraint>, gone: Bits, seed: u64) {
    let words = Words::new();
    let view = view(&words, given, gone);
    for seed in [seed, seed.wrapping_add(1)] {
        let meaning = words.meaning(seed);
        let wanted = relation(given, &view, &meaning);
        let found = made.map(|m| relation(m, &view, &meaning)).unwrap_or_default();
        let text = made.map(|m| words.text(m));
        assert_eq!(found, wanted, "{} without {gone:?} is {text:?}", words.text(given));
    }
}

/// Whether it says that a value is a function of one without a name. Such equations may go around,
/// as in `_0 = f(_1) & _1 = f(_0)`, and be written in more than one way.
fn is_open(literal: &Literal) -> bool {
    let Literal::Equal(a, b) = literal else { return false };
    let mut nameless = false;
    for call in [a, b].into_iter().filter(|t| matches!(t, DataTerm::Call(..))) {
        call.visit(&mut |leaf| nameless |= matches!(leaf, DataTerm::Some(_)));
    }
    nameless
}

fn nothing_gone(constraint: &DataConstraint, gone: &Gone<'_>) {
    let gone_from = |t: &DataTerm| match t {
        DataTerm::Datum(name) => gone.names.contains(name),
        DataTerm::After(cell) => gone.cells.contains(cell),
        _ => false,
    };
    assert!(!mentions(constraint, gone_from), "{}", Words::new().text(constraint));
}

proptest! {
    #![proptest_config(values::cases(800))]

    #[test]
    fn equations_are_simplified_alike_with_and_without_the_graph(
        constraint in flat_constraint(), gone: Bits,
    ) {
        let words = Words::new();
        let (names, cells) = (chosen(&words.names, gone.0), chosen(&words.cells, gone.1));
        let gone = Gone { names: &names, cells: &cells };
        let (short, long) = (simplify(&constraint, &gone), simplify_any(&constraint, &gone));
        let text = |c: &Option<DataConstraint>| c.as_ref().map(|c| words.text(c));
        prop_assert_eq!(text(&short), text(&long), "of {} without {:?}", words.text(&constraint),
            gone);
        prop_assert_eq!(short, long);
    }

    #[test]
    fn what_is_simplified_is_simple(constraint in constraint(), gone: Bits) {
        let words = Words::new();
        let (names, cells) = (chosen(&words.names, gone.0), chosen(&words.cells, gone.1));
        let gone = Gone { names: &names, cells: &cells };
        if let Some(once) = simplify(&constraint, &gone) {
            nothing_gone(&once, &gone);
            if once.literals().iter().any(is_open) {
                return Ok(());
            }
            for gone in [gone, Gone::default()] {
                let twice = simplify(&once, &gone).map(|c| words.text(&c));
                prop_assert_eq!(twice, Some(words.text(&once)), "of {}", words.text(&constraint));
            }
        }
    }
}

proptest! {
    #![proptest_config(values::cases(400))]

    #[test]
    fn simplifying_keeps_the_meaning(constraint in constraint(), gone: Bits, seed: u64) {
        let words = Words::new();
        let (names, cells) = (chosen(&words.names, gone.0), chosen(&words.cells, gone.1));
        let made = simplify(&constraint, &Gone { names: &names, cells: &cells });
        same_meaning(&constraint, made.as_ref(), gone, seed);
        let made = simplify_any(&constraint, &Gone { names: &names, cells: &cells });
        same_meaning(&constraint, made.as_ref(), gone, seed);
    }

    #[test]
    fn going_around_what_is_settled_keeps_the_meaning(
        constraint in constraint(), gone: Bits, seed: u64,
    ) {
        let words = Words::new();
        let (names, cells) = (chosen(&words.names, gone.0), chosen(&words.cells, gone.1));
        let gone_things = Gone { names: &names, cells: &cells };
        let made = around(constraint.literals().to_vec(), &gone_things, &[]);
        same_meaning(&constraint, made.as_ref(), gone, seed);
        if let Some(settled) = simplify(&constraint, &Gone::default()) {
            let literals = settled.literals();
            let text = |c: Option<DataConstraint>| c.map(|c| words.text(&c));
            prop_assert_eq!(
                text(around(literals.to_vec(), &gone_things, &[])),
                text(conjunction(literals, &gone_things)),
                "of {} without {:?}", words.text(&settled), gone
            );
        }
    }

    #[test]
    fn both_is_both(one in constraint(), other in constraint(), seed: u64) {
        let words = Words::new();
        // Nothing is written, so that what each of them keeps is kept by both.
        let reads = |c: &DataConstraint| c.map(|t| match t {
            DataTerm::After(cell) => DataTerm::Before(*cell),
            other => other.clone(),
        });
        let (one, other) = (reads(&one), reads(&other));
        let both = one.and(&other);
        let view = view(&words, &both, (0, 0));
        let of = |c: &DataConstraint| relation(c, &view, &words.meaning(seed));
        let wanted: BTreeSet<Seen> = of(&one).intersection(&of(&other)).cloned().collect();
        prop_assert_eq!(of(&both), wanted, "{} and {}", words.text(&one), words.text(&other));
    }
}

/// Asserts that [`sequence`] is the composition of what its parts do to data and memory.
fn composed(first: &DataConstraint, second: &DataConstraint, dead: u8, seed: u64) {
    let words = Words::new();
    let (f, s) = (view(&words, first, (0, 0)), view(&words, second, (0, 0)));
    let cells: Vec<Cell> = words
        .cells
        .iter()
        .copied()
        .filter(|c| f.cells.contains(c) || s.cells.contains(c))
        .collect();
    let dead = chosen(&words.cells, dead);
    let of = |names: &[NameId], dead: &[Cell]| View {
        names: names.to_vec(),
        cells: cells.clone(),
        dead: dead.to_vec(),
    };
    let names = [&f.names[..], &s.names[..]].concat();
    let made = sequence(first, second, &dead);
    let meaning = words.meaning(seed);
    let wanted = one_after_another(
        &relation(first, &of(&f.names, &[]), &meaning),
        &relation(second, &of(&s.names, &dead), &meaning),
    );
    let found =
        made.as_ref().map(|m| relation(m, &of(&names, &dead), &meaning)).unwrap_or_default();
    let text = made.map(|m| words.text(&m));
    let (first, second) = (words.text(first), words.text(second));
    assert_eq!(found, wanted, "{first} then {second}, {dead:?} dead: {text:?}");
}

proptest! {
    #![proptest_config(values::cases(300))]

    #[test]
    fn one_step_after_another(
        one in constraint(), other in constraint(), which in 0..3u8, dead: u8, seed: u64,
    ) {
        // At most one of the two speaks of data.
        let one = if which == 1 { one } else { without_data(&one) };
        let other = if which == 2 { other } else { without_data(&other) };
        composed(&one, &other, dead, seed);
        let simple = |c: &DataConstraint| simplify(c, &Gone::default());
        if let (Some(one), Some(other)) = (simple(&one), simple(&other)) {
            composed(&one, &other, dead, seed);
        }
    }
}
