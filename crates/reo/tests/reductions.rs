//! What hiding, closing, confluence and composing piece by piece keep, compared with the data
//! written out over two values.

use crate::expand;
use crate::values;

use crate::families::textbook;
use expand::machines::{Part, Words, machine, part};
use expand::{Expanded, expand, strongly_alike, weakly_alike};
use proptest::collection::vec;
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::bisimulation::{Equivalence, minimise};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::hide::{close, confluence, hide, hide_between};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::product::stepwise::{StepwiseOptions, compose};
use tickbound_reo::symbol::NameId;
use values::Meaning;

const PLENTY: u64 = 1 << 30;

/// Enough for what ends at all.
const SOME: u64 = 1 << 17;

/// States of the largest automaton whose data are written out.
const MOST: usize = 300;

/// Whether an automaton is small enough to be compared.
fn small(automaton: &Automaton) -> bool {
    automaton.states() << automaton.cells().len() <= MOST
}

/// Asserts that an automaton does weakly the same as `wanted`.
fn weakly(wanted: &Expanded, made: &Automaton, meaning: &Meaning, what: &str) {
    let alike = weakly_alike(wanted, &expand(made, meaning));
    assert!(
        alike,
        "{what}:\n{}{:?} {:?}",
        made.text(&Words::new().symbols),
        made.initial(),
        made.contents()
    );
}

/// Asserts that an automaton does the same step by step as `wanted`.
pub fn strongly(wanted: &Expanded, made: &Automaton, meaning: &Meaning, what: &str) {
    let alike = strongly_alike(wanted, &expand(made, meaning));
    assert!(
        alike,
        "{what}:\n{}{:?} {:?}",
        made.text(&Words::new().symbols),
        made.initial(),
        made.contents()
    );
}

/// Oracles everything that is done about hidden names of one automaton.
fn oracle(given: &Automaton, names: &[NameId], meaning: &Meaning) {
    let words = Words::new();
    let given_text = given.text(&words.symbols);
    let about = |what: &str| {
        format!(
            "{what} of\n{given_text}{:?} {:?} without {names:?} is",
            given.initial(),
            given.contents()
        )
    };
    let limits = ProductLimits::memory(SOME);
    let wanted = expand(given, meaning).hidden(names);
    let closed = wanted.closed();
    let hidden = hide(given, names);
    for (how, hidden) in [("hide", &hidden), ("hide_between", &hide_between(given, names))] {
        weakly(&wanted, hidden, meaning, &about(how));
        assert!(strongly_alike(&closed, &expand(hidden, meaning).closed()), "{}", about(how));
        weakly(&wanted, &confluence::reduce(hidden), meaning, &about("reduce"));
        // Silent cycles with conditions may have more paths than there is memory for.
        if let Ok(made) = close(hidden, &limits) {
            strongly(&closed, &made, meaning, &about("close"));
        }
    }
    let plenty = ProductLimits::memory(PLENTY);
    for reduced in [&hidden, &confluence::reduce(&hidden)] {
        let least = minimise(reduced.clone(), Equivalence::Weak, &plenty).unwrap();
        weakly(&wanted, &least, meaning, &about("weakly minimised"));
    }
    let least = minimise(hidden.clone(), Equivalence::Strong, &plenty).unwrap();
    assert!(strongly_alike(&expand(&hidden, meaning), &expand(&least, meaning)));
}

proptest! {
    #![proptest_config(values::cases(150))]

    #[test]
    fn one_automaton(machine in machine(4, false), bits: u8, seed: u64) {
        let words = Words::new();
        oracle(&machine.automaton(&words, 0), &words.chosen(bits), &words.meaning(seed));
    }

    #[test]
    fn one_automaton_with_silent_steps(machine in machine(4, true), bits: u8, seed: u64) {
        let words = Words::new();
        oracle(&machine.automaton(&words, 0), &words.chosen(bits), &words.meaning(seed));
    }
}

/// The automata of a family, and their product by the definition; nothing if it is too large.
pub fn family(parts: &[Part]) -> Option<(Vec<Automaton>, Automaton)> {
    let words = Words::new();
    let parts: Vec<Automaton> =
        parts.iter().enumerate().map(|(k, p)| p.automaton(&words, k)).collect();
    let mut whole = parts[0].clone();
    for part in &parts[1..] {
        whole = textbook::product(&whole, part).reachable().0;
        if !small(&whole) {
            return None;
        }
    }
    Some((parts, whole))
}

/// Oracles [`compose`] in each of its ways.
pub fn check_composed(
    parts: &[Automaton],
    whole: &Automaton,
    hidden: &[NameId],
    meaning: &Meaning,
) {
    let words = Words::new();
    let texts: Vec<String> = parts.iter().map(|p| p.text(&words.symbols)).collect();
    let all: Vec<&Automaton> = parts.iter().collect();
    let wanted = expand(whole, meaning).hidden(hidden);
    for kind in [None, Some(Equivalence::Strong), Some(Equivalence::Weak)] {
        let options = StepwiseOptions { hidden: hidden.to_vec(), minimise: kind };
        // Closing may take more memory than there is: see `oracle`.
        let limits =
            ProductLimits::memory(if kind == Some(Equivalence::Weak) { PLENTY } else { SOME });
        let made = match compose(&all, &options, &limits) {
            Ok(made) => made.automaton,
            Err(why) if kind != Some(Equivalence::Weak) && why.to_string().contains("closure") => {
                continue;
            }
            Err(why) => panic!("{why}"),
        };
        let what = format!("{kind:?} without {hidden:?} of\n{}", texts.join("and\n"));
        match kind {
            Some(Equivalence::Weak) => weakly(&wanted, &made, meaning, &what),
            _ => strongly(&wanted.closed(), &made, meaning, &what),
        }
    }
}

/// Oracles that a piece may be replaced by its least form before the last part comes.
fn check_piece(parts: &[Automaton], whole: &Automaton, hidden: &[NameId], meaning: &Meaning) {
    let [before @ .., last] = parts else { return };
    let Some((first, rest)) = before.split_first() else { return };
    let piece = rest.iter().fold(first.clone(), |all, part| textbook::product(&all, part));
    let own = |n: &&NameId| last.alphabet().binary_search(n).is_err();
    let early: Vec<NameId> = hidden.iter().filter(own).copied().collect();
    let piece = hide_between(&piece.reachable().0, &early);
    let limits = ProductLimits::memory(PLENTY);
    let wanted = expand(whole, meaning).hidden(hidden);
    let weak = minimise(confluence::reduce(&piece), Equivalence::Weak, &limits).unwrap();
    let with_last = hide(&textbook::product(&weak, last).reachable().0, hidden);
    weakly(&wanted, &with_last, meaning, "a weakly minimised piece with the last part");
    let strong = minimise(piece.clone(), Equivalence::Strong, &limits).unwrap();
    let with_last = hide(&textbook::product(&strong, last).reachable().0, hidden);
    if let Ok(made) = close(&with_last, &ProductLimits::memory(SOME)) {
        strongly(&wanted.closed(), &made, meaning, "a strongly minimised piece with the last part");
    }
}

proptest! {
    #![proptest_config(values::cases(150))]

    #[test]
    fn a_product(parts in vec(part(), 2..=4), bits: u8, seed: u64) {
        let words = Words::new();
        if let Some((_, whole)) = family(&parts) {
            oracle(&whole, &words.chosen(bits), &words.meaning(seed));
        }
    }

    #[test]
    fn piece_by_piece(parts in vec(part(), 2..=4), bits: u8, seed: u64) {
        let words = Words::new();
        if let Some((parts, whole)) = family(&parts) {
            let (hidden, meaning) = (words.chosen(bits), words.meaning(seed));
            check_composed(&parts, &whole, &hidden, &meaning);
            check_piece(&parts, &whole, &hidden, &meaning);
        }
    }
}

/// A full buffer of which nothing is known gives its datum to two others, silently. Before that has
/// happened they cannot be said to hold the same.
#[test]
fn an_unknown_datum_in_two_places_is_one_datum() {
    let words = Words::new();
    let [a, x, b, c] = [0, 1, 2, 3].map(|k| words.names[k]);
    let fifo = |from, to, k: usize, content| primitive::fifo1(from, to, words.cells[k], content);
    for content in [BufferContent::Unknown, BufferContent::Constant(words.constants[1])] {
        let parts = [
            fifo(a, x, 0, content),
            fifo(x, b, 1, BufferContent::Empty),
            fifo(x, c, 2, BufferContent::Empty),
        ];
        let first = textbook::product(&parts[0], &parts[1]);
        let whole = textbook::product(&first, &parts[2]).reachable().0;
        oracle(&whole, &[a, x], &words.meaning(1));
        check_composed(&parts, &whole, &[a, x], &words.meaning(1));
    }
}

/// Two silent paths to one state that leave different data there: neither may be taken at once.
#[test]
fn ways_to_one_state_with_different_data_are_a_choice() {
    let words = Words::new();
    let (cell, name) = (words.cells[0], words.names[0]);
    let put =
        |k: usize| Literal::Equal(DataTerm::Constant(words.constants[k]), DataTerm::After(cell));
    for (one, other) in [(0, 0), (0, 1), (1, 0)] {
        let mut builder = AutomatonBuilder::over([name], 3, vec![0]);
        builder.step(0, &[], DataConstraint::new([put(one)]), 2);
        builder.step(0, &[], DataConstraint::default(), 1);
        builder.step(1, &[], DataConstraint::new([put(other)]), 2);
        let give = Literal::Equal(DataTerm::Datum(name), DataTerm::Before(cell));
        builder.step(2, &[name], DataConstraint::new([give]), 2);
        let automaton = builder.finish().unwrap();
        oracle(&automaton, &[], &words.meaning(1));
        let states = confluence::reduce(&hide(&automaton, &[])).states();
        assert_eq!(states, if one == other { 1 } else { 2 });
    }
}

/// The path through a silent cycle that changes memory each time has no end: it is given up.
#[test]
fn cycles_that_go_on_changing_memory_end_at_the_limit() {
    let words = Words::new();
    let (cell, f) = (words.cells[0], words.constants[0]);
    let again = DataTerm::Call(f, [DataTerm::Before(cell)].into());
    let mut builder = AutomatonBuilder::over([words.names[0]], 1, vec![0]);
    builder.step(0, &[], DataConstraint::new([Literal::Equal(again, DataTerm::After(cell))]), 0);
    let given = Literal::Equal(DataTerm::Datum(words.names[0]), DataTerm::Before(cell));
    builder.step(0, &[words.names[0]], DataConstraint::new([given]), 0);
    let automaton = builder.finish().unwrap();
    let stopped = close(&automaton, &ProductLimits::memory(SOME)).unwrap_err();
    assert!(stopped.to_string().starts_with("silent closure: "), "{stopped}");
}
