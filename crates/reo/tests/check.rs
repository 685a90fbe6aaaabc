//! Runs to deadlocks and to broken invariants against every shortest run, and formulas as text.

use crate::values;

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::check::{AutomatonRun, LtlFormula, deadlock, violation};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::symbol::{NameId, Symbols};

const WORDS: [&str; 3] = ["a", "b", "c"];

pub fn words() -> (Symbols, Vec<NameId>) {
    let mut symbols = Symbols::new();
    let names = WORDS.map(|w| symbols.name(w)).into();
    (symbols, names)
}

pub fn chosen(names: &[NameId], bits: u8) -> Vec<NameId> {
    (0..names.len()).filter(|k| bits >> k & 1 == 1).map(|k| names[k]).collect()
}

/// Some automaton; it often gets stuck.
pub fn automaton() -> impl Strategy<Value = Automaton> {
    (1..8u32, any::<bool>()).prop_flat_map(|(states, two)| {
        let step = (0..states, 0..8u8, any::<bool>(), 0..states);
        vec(step, 0..2 * states as usize + 2).prop_map(move |steps| {
            let (mut symbols, names) = words();
            let cell = symbols.cell("m");
            let put =
                Literal::Equal(DataTerm::Constant(symbols.intern("1")), DataTerm::After(cell));
            let initial = if two && states > 1 { vec![0, 1] } else { vec![0] };
            let mut builder =
                AutomatonBuilder::over(names.iter().copied(), states as usize, initial);
            for (from, fire, plain, to) in steps {
                let constraint = DataConstraint::new((!plain).then(|| put.clone()));
                builder.step(from, &chosen(&names, fire), constraint, to);
            }
            builder.finish().unwrap()
        })
    })
}

/// The states that the steps of a run lead to.
pub fn ends(automaton: &Automaton, steps: &[(Vec<NameId>, DataConstraint)]) -> BTreeSet<u32> {
    let mut now: BTreeSet<u32> = automaton.initial().iter().copied().collect();
    for (names, constraint) in steps {
        let alike = |s: &u32| {
            let steps = automaton.steps(*s);
            steps.filter(|s| automaton.fires(s).eq(names.iter().copied()))
        };
        let onward = now.iter().flat_map(alike).filter(|s| automaton.constraint(s) == constraint);
        now = onward.map(|s| s.to).collect();
    }
    now
}

/// The states that `steps` steps lead to, and the least number of steps after which `found` holds
/// of one of them.
fn least(automaton: &Automaton, found: impl Fn(u32) -> bool) -> Option<usize> {
    let mut now: BTreeSet<u32> = automaton.initial().iter().copied().collect();
    for steps in 0..=automaton.states() {
        if now.iter().any(|s| found(*s)) {
            return Some(steps);
        }
        now = now.iter().flat_map(|s| automaton.steps(*s)).map(|s| s.to).collect();
    }
    None
}

/// A formula as text and as a table: bit k says whether it holds when the names with the bits of k
/// fire.
fn formula() -> impl Strategy<Value = (String, u8)> {
    let table = |name: usize| (0..8u8).filter(|k| k >> name & 1 == 1).map(|k| 1 << k).sum::<u8>();
    let name = (0..WORDS.len()).prop_map(move |k| (WORDS[k].to_owned(), table(k)));
    let constant = any::<bool>().prop_map(|b| (b.to_string(), if b { 255 } else { 0 }));
    prop_oneof![4 => name, 1 => constant].prop_recursive(4, 24, 2, |inner| {
        let two = (inner.clone(), inner.clone(), 0..3u8);
        prop_oneof![
            inner.prop_map(|(text, table)| (format!("!({text})"), !table)),
            two.prop_map(|((a, x), (b, y), sign)| match sign {
                0 => (format!("({a}) & ({b})"), x & y),
                1 => (format!("({a})|({b})"), x | y),
                _ => (format!("({a}) -> ({b})"), !x | y),
            }),
        ]
    })
}

/// For which of the eight combinations of names a formula holds, as bits.
fn table(formula: &LtlFormula) -> u8 {
    let (_, names) = words();
    let holds = |k: u8| formula.holds(&|name| chosen(&names, k).contains(&name));
    (0..8).filter(|k| holds(*k)).map(|k| 1 << k).sum()
}

fn parse(text: &str) -> Result<u8, String> {
    let (symbols, names) = words();
    LtlFormula::parse(text, &names, &symbols).map(|f| table(&f)).map_err(|e| e.to_string())
}

proptest! {
    #![proptest_config(values::cases(500))]

    #[test]
    fn deadlocks_are_nearest(automaton in automaton()) {
        let idle = |k: u32| automaton.steps(k).all(|s| {
            s.to == k && automaton.fires(&s).next().is_none() && automaton.constraint(&s).is_true()
        });
        let run = deadlock(&automaton);
        prop_assert_eq!(run.as_ref().map(|r| r.steps.len()), least(&automaton, idle));
        if let Some(AutomatonRun { steps, state }) = run {
            prop_assert!(idle(state));
            prop_assert!(ends(&automaton, &steps).contains(&state));
        }
    }

    #[test]
    fn violations_are_nearest(automaton in automaton(), (text, _) in formula()) {
        let (symbols, names) = words();
        let invariant = LtlFormula::parse(&text, &names, &symbols).unwrap();
        let breaks = |fire: &[NameId]| !fire.is_empty() && !invariant.holds(&|n| fire.contains(&n));
        let broken = |k: u32| {
            let mut steps = automaton.steps(k);
            steps.any(|s| breaks(&automaton.fires(&s).collect::<Vec<_>>()))
        };
        let run = violation(&automaton, &invariant);
        prop_assert_eq!(
            run.as_ref().map(|r| r.steps.len()),
            least(&automaton, broken).map(|n| n + 1)
        );
        if let Some(AutomatonRun { steps, state }) = run {
            prop_assert!(breaks(&steps[steps.len() - 1].0));
            prop_assert!(ends(&automaton, &steps).contains(&state));
        }
    }

    #[test]
    fn formulas_mean_what_they_say((text, wanted) in formula()) {
        prop_assert_eq!(parse(&text), Ok(wanted), "{}", text);
    }

    #[test]
    fn no_text_is_too_much(text in "[abc!&|() \\->tru\u{e9}0_.,~]{0,40}") {
        _ = parse(&text);
    }
}

/// Tables of `a`, `b` and `c`.
const A: u8 = 0b1010_1010;
const B: u8 = 0b1100_1100;
const C: u8 = 0b1111_0000;

#[test]
fn accepted_formulas() {
    for (text, wanted) in [
        ("a", A),
        (" a ", A),
        ("true", 255),
        ("false", 0),
        ("!a", !A),
        ("! !a", A),
        ("a & b", A & B),
        ("a&b&c", A & B & C),
        ("a | b & c", A | B & C),
        ("a & b | c", A & B | C),
        ("(a | b) & c", (A | B) & C),
        ("!a & b", !A & B),
        ("!(a & b)", !(A & B)),
        ("a -> b", !A | B),
        ("a -> b -> c", !A | !B | C),
        ("(a -> b) -> c", (A & !B) | C),
        ("a | b -> c", !(A | B) | C),
        ("a -> !b & c", !A | !B & C),
        ("\ta\n->\n(b)", !A | B),
    ] {
        assert_eq!(parse(text), Ok(wanted), "{text}");
    }
}

#[test]
fn names_with_signs_and_names_that_are_words_of_the_language() {
    let mut symbols = Symbols::new();
    let names = ["p[1,2]", "x~", "q.1/m", "true"].map(|w| symbols.name(w));
    for (at, text) in ["p[1,2]", "x~", "q.1/m", "true"].into_iter().enumerate() {
        assert_eq!(LtlFormula::parse(text, &names, &symbols), Ok(LtlFormula::Fires(names[at])));
    }
    assert_eq!(LtlFormula::parse("false", &names, &symbols), Ok(LtlFormula::False));
    // A word that is there, but is no name of the automaton.
    let error = LtlFormula::parse("x~", &names[..1], &symbols).unwrap_err();
    assert_eq!(error.to_string(), "`x~` is not a name of the connector; known here: p[1,2]");
}

#[test]
fn refused_formulas() {
    let stuck = |text: &str, column: usize| {
        format!(
            "`{text}`: stuck at column {column}; write names with ! & | -> and brackets, such as \
             `a -> !b`, and in --ltl also X F G U R, such as `G (a -> F b)`"
        )
    };
    for (text, column) in [
        ("", 1),
        ("  ", 3),
        ("a b", 3),
        ("a &", 4),
        ("a & & b", 5),
        ("(a b", 4),
        ("!)", 2),
        ("a -> (b |", 10),
        ("a ->", 5),
        ("!", 2),
        ("(a", 3),
        ("a)", 2),
        ("a - b", 3),
        ("a = b", 3),
        ("\u{e9} & \u{e9}$", 6),
    ] {
        assert_eq!(parse(text), Err(stuck(text, column)));
    }
    let refused = |text: &str| parse(text).unwrap_err();
    for (text, ours) in [
        ("[] a", "`[]` is written `G a`"),
        ("[]a", "`[]` is written `G a`"),
        ("[]<>a", "`[]` is written `G a`"),
        ("!([] a)", "`[]` is written `G a`"),
        ("<> a", "`<>` is written `F a`"),
        ("a & always b", "`always` is written `G a`"),
        ("AG a", "`AG` is written `G a`"),
        ("a and b", "`and` is written `a & b`"),
        ("a W b", "`W` is written `(a U b) | G a`"),
        ("~a", "`~` is written `!a`"),
        ("a <-> b", "`<->` is written `(a -> b) & (b -> a)`"),
        ("a => b", "`=>` is written `a -> b`"),
    ] {
        assert!(refused(text).contains(ours), "{text}: {}", refused(text));
    }
    assert_eq!(parse("a && b || c"), Ok(A & B | C));
    let unknown = "is not a name of the connector; known here: a, b, c";
    assert_eq!(parse("a & d"), Err(format!("`d` {unknown}")));
    assert_eq!(parse("True"), Err(format!("`True` {unknown}")));
}

#[test]
fn depth_is_bounded_and_length_is_not() {
    let deep = Err("nested deeper than 64".to_owned());
    for (open, close) in [("!", ""), ("(", ")"), ("a -> ", ""), ("!(", ")"), ("(a | ", ")")] {
        let signs = open.matches(['!', '(', '>']).count();
        let text = |n: usize| format!("{}a{}", open.repeat(n), close.repeat(n));
        assert!(parse(&text(64 / signs)).is_ok(), "{open}");
        assert_eq!(parse(&text(64 / signs + 1)), deep, "{open}");
        assert_eq!(parse(&text(100_000)), deep, "{open}");
    }
    for (text, wanted) in [("!a", !A), ("(a)", A), ("(!(a))", !A), ("a", A)] {
        for sign in [" & ", " | "] {
            let long = vec![text; 50_000].join(sign);
            assert_eq!(parse(&long), Ok(wanted), "{text}{sign}...");
        }
    }
    // Arrows in brackets are as deep as the brackets.
    let arrows = vec!["(a -> b)"; 1_000].join(" & ");
    assert_eq!(parse(&arrows), Ok(!A | B));
}
