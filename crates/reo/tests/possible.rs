//! Steps that no data fulfil are gone before anything is counted.

use crate::expand::expand;
use crate::expand::machines::{Words, guarded, part};
use crate::reachable::alike;
use crate::reductions::{check_composed, family, strongly};
use crate::values;

use proptest::collection::vec;
use proptest::prelude::*;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::{BisimulationVerdict, Equivalence, compare};
use tickbound_reo::connector::Connector;
use tickbound_reo::constraint::simplify::{is_possible, simplify_any};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::reachable::compose;
use tickbound_reo::product::stepwise;
use tickbound_reo::symbol::Symbols;
use tickbound_reo::syntax::{Source, condition};
use tickbound_reo::treo::{self, Shelf, TreoRequest};
use values::Meaning;

const PLENTY: u64 = 1 << 30;

fn connector(text: &str) -> Connector {
    let source = Source::new("g.treo", text);
    treo::connector(&source, &Shelf::default(), &TreoRequest::default())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn parts(connector: &Connector) -> Vec<&Automaton> {
    connector.parts.iter().map(|part| &part.automaton).collect()
}

/// States and transitions.
fn size(text: &str) -> (usize, usize) {
    let connector = connector(text);
    let made = compose(&parts(&connector), &ProductLimits::memory(PLENTY)).unwrap();
    (made.states(), made.transitions())
}

const TRAP: &str = "trap(b?){ #RBA\n$m=null;\n{b} $m=null, !Q(b), $m'=b\n}";

#[test]
fn what_a_filter_lets_through_does_not_reach_what_wants_the_rest() {
    let text = format!("g(a){{ filter<\"Q\">(a,b) trap(b) }} {TRAP}");
    assert_eq!(size(&text), (1, 1));
}

/// A parameter may name the opposite of a predicate.
#[test]
fn what_a_filter_lets_through_does_not_pass_its_opposite() {
    for inner in ["filter<\"!P\">(x,b)", "f<\" ! P\">(x,b)", "f<\"!!!P\">(x,b)"] {
        let text = format!(
            "g(a?,b!){{ filter<\"P\">(a,x) {inner} }}
             f<P>(a?,b!){{ #RBA {{a,b}} P(a), a = b  {{a,~b}} !P(a) }}"
        );
        assert_eq!(size(&text), (1, 2), "{inner}");
    }
}

#[test]
fn two_constants_do_not_meet() {
    let wants = |name: &str, value: &str| format!("{name}(b?){{ #RBA {{b}} b=\"{value}\" }}");
    let (one, two) = (wants("one", "1"), wants("two", "2"));
    assert_eq!(size(&format!("{one} {two} g(b){{ one(b) two(b) }}")), (1, 0));
    assert_eq!(size(&format!("{one} g(b){{ one(b) one(b) }}")), (1, 1));
    assert_eq!(size("g(b){ #RBA {b} b=1, b=2 }"), (1, 0));
    assert_eq!(size("g(a, b){ #RBA {a, b} f(a) != f(b), a = b }"), (1, 0));
}

#[test]
fn parts_that_share_no_name_exclude_each_other_by_what_they_say_of_constants() {
    let text = "p(a?){ #RBA {a} P(1) } q(b?){ #RBA {b} !P(1) } g(a, b){ p(a) q(b) }";
    assert_eq!(size(text), (1, 2));
}

/// Of 2^30 ways through 30 filters with one predicate, the data allow 31: to be lost at the first,
/// or to pass all; the filters behind one that loses it see nothing.
#[test]
fn choices_that_data_exclude_are_not_tried() {
    let filters: String = (0..30).map(|k| format!("filter<\"Q\">(x{k},x{})", k + 1)).collect();
    assert_eq!(size(&format!("g(x0, x30){{ {filters} }}")), (1, 2));
    let drains: String = (0..30)
        .map(|k| format!("filter<\"Q\">(x{k},y{k}) syncdrain(x{k},x{}) sync(y{k},z{k})", k + 1))
        .collect();
    let same: String = (0..30).map(|k| format!("sync(a,x{k})")).collect();
    assert_eq!(size(&format!("g(a){{ {same} {drains} sync(a,x30) }}")), (1, 2));
}

#[test]
fn without_data_is_without_what_data_exclude() {
    let text = format!("g(a){{ filter<\"Q\">(a,b) trap(b) }} {TRAP}");
    let (one, limits) = (connector(&text), ProductLimits::memory(PLENTY));
    let left = stepwise::without_data(&parts(&one), &limits).unwrap();
    assert_eq!(left.iter().map(Automaton::transitions).sum::<usize>(), 1);
    let chain = connector("g(a, c){ fifo1(a, b) fifo1(b, c) }");
    let plain = stepwise::without_data(&parts(&chain), &limits).unwrap();
    assert_eq!(plain.len(), 2, "buffers forbid nothing, so that they stay apart");
    let made = compose(&plain.iter().collect::<Vec<_>>(), &limits).unwrap();
    let whole = compose(&parts(&chain), &limits).unwrap().without_data();
    let same = compare(&made, &whole, Equivalence::Strong, &limits).unwrap();
    assert!(matches!(same, BisimulationVerdict::Same { .. }));
}

/// All terms of a constraint, each behind those that it is made of.
fn terms(constraint: &DataConstraint) -> Vec<DataTerm> {
    fn enter(term: &DataTerm, all: &mut Vec<DataTerm>) {
        if let DataTerm::Call(_, inner) = term {
            inner.iter().for_each(|t| enter(t, all));
        }
        if !all.contains(term) {
            all.push(term.clone());
        }
    }
    let mut all = Vec::new();
    for literal in constraint.literals() {
        match literal {
            Literal::Equal(a, b) | Literal::Different(a, b) => {
                enter(a, &mut all);
                enter(b, &mut all);
            }
            Literal::Predicate(_, _, terms) => terms.iter().for_each(|t| enter(t, &mut all)),
        }
    }
    all
}

/// Whether some values of the terms, functions and predicates fulfil a constraint: all ways to make
/// terms equal are tried, term by term.
fn some_model(constraint: &DataConstraint) -> bool {
    let terms = terms(constraint);
    fn search(constraint: &DataConstraint, terms: &[DataTerm], values: &mut Vec<usize>) -> bool {
        if !agrees(constraint, terms, values) {
            return false;
        }
        if values.len() == terms.len() {
            return true;
        }
        let next = values.iter().max().map_or(0, |most| most + 1);
        (0..=next).any(|value| {
            values.push(value);
            let found = search(constraint, terms, values);
            values.pop();
            found
        })
    }
    search(constraint, &terms, &mut Vec::new())
}

/// Whether the values of the first terms contradict nothing.
fn agrees(constraint: &DataConstraint, terms: &[DataTerm], values: &[usize]) -> bool {
    let value = |t: &DataTerm| values.get(terms.iter().position(|other| other == t)?).copied();
    let list = |all: &[DataTerm]| all.iter().map(value).collect::<Option<Vec<_>>>();
    let known = &terms[..values.len()];
    let pairs = known.iter().flat_map(|a| known.iter().map(move |b| (a, b)));
    let functional = pairs.into_iter().all(|(a, b)| match (a, b) {
        (DataTerm::Constant(_), DataTerm::Constant(_)) => a == b || value(a) != value(b),
        (DataTerm::Call(f, x), DataTerm::Call(g, y)) if f == g && x.len() == y.len() => {
            list(x) != list(y) || value(a) == value(b)
        }
        _ => true,
    });
    let literals = constraint.literals();
    let held = |literal: &Literal| match literal {
        Literal::Equal(a, b) => value(a).zip(value(b)).is_none_or(|(a, b)| a == b),
        Literal::Different(a, b) => value(a).zip(value(b)).is_none_or(|(a, b)| a != b),
        Literal::Predicate(holds, p, x) => literals.iter().all(|other| match other {
            Literal::Predicate(fails, q, y) if fails != holds && p == q && x.len() == y.len() => {
                list(x).is_none() || list(x) != list(y)
            }
            _ => true,
        }),
    };
    functional && literals.iter().all(held)
}

#[test]
fn models_are_found_and_missed() {
    for (text, possible) in [
        ("a = b & b = c & a != c", false),
        ("a = b & f(a) != f(b)", false),
        ("f(f(f(a))) = a & f(f(f(f(f(a))))) = a & f(a) != a", false),
        ("f(f(a)) = a & f(a) != a", true),
        ("P(a) & !P(b)", true),
        ("P(a) & !P(b) & a = b", false),
        ("P(f(1)) & !P(f(x)) & x = 1", false),
        ("P(a) & !P(a, a)", true),
        ("f(a) = 1 & f(b) = 2 & a = b", false),
        ("f(a) = 1 & f(b) = 2", true),
        ("1 != 2", true),
        ("1 != 1", false),
    ] {
        let mut symbols = Symbols::new();
        let cases = condition::parse(text).unwrap_or_else(|e| panic!("{e}"));
        let constraint = condition::constraint(&cases[0], &mut symbols);
        assert_eq!(some_model(&constraint), possible, "the oracle: {text}");
        assert_eq!(is_possible(&constraint), possible, "{text}");
        assert_eq!(simplify_any(&constraint, &Default::default()).is_some(), possible, "{text}");
    }
}

/// The steps of an automaton that some data fulfil, and what they reach.
fn possible(automaton: &Automaton) -> Automaton {
    let names = automaton.alphabet().iter().copied();
    let mut builder = tickbound_reo::automaton::AutomatonBuilder::over(
        names,
        automaton.states(),
        automaton.initial().to_vec(),
    );
    builder.contents(automaton.contents().iter().copied());
    for step in automaton.all_steps().filter(|s| some_model(automaton.constraint(s))) {
        builder.push(step.from, step.label, automaton.constraint(&step).clone(), step.to);
    }
    builder.finish().unwrap().without_idle().reachable().0
}

proptest! {
    #![proptest_config(values::cases(1000))]

    #[test]
    fn families_keep_exactly_the_steps_that_data_fulfil(
        recipes in vec(prop_oneof![4 => guarded(), 1 => part()], 1..=3),
        bits: u8,
        seed: u64,
    ) {
        let words = Words::new();
        let Some((parts, whole)) = family(&recipes) else { return Ok(()) };
        let meaning = Meaning { values: 3, ..words.meaning(seed) };
        prop_assume!(whole.states() * 3_usize.pow(whole.cells().len() as u32) <= 1000);
        let refs: Vec<&Automaton> = parts.iter().collect();
        let made = compose(&refs, &ProductLimits::memory(PLENTY)).unwrap();
        alike(&made, &possible(&whole));
        strongly(&expand(&whole, &meaning), &made, &meaning, "the product");
        let hidden = words.chosen(bits);
        check_composed(&parts, &whole, &hidden, &meaning);
        for kind in [Equivalence::Strong, Equivalence::Weak] {
            let options = stepwise::StepwiseOptions { hidden: hidden.clone(),
                minimise: Some(kind) };
            let Ok(least) = stepwise::compose(&refs, &options,
                &ProductLimits::memory(1 << 17)) else { continue };
            let least = least.automaton;
            for step in least.all_steps() {
                prop_assert!(some_model(least.constraint(&step)), "{}", least.text(&words.symbols));
            }
        }
    }
}
