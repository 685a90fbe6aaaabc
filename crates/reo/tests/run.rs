//! Runs: each is a path through the product, and replays as itself.

use crate::connectors::connector;
use crate::expand::machines::{Words, part};
use crate::values;

use proptest::collection::vec;
use proptest::prelude::*;
use tickbound_reo::connector::{Connector, ConnectorPart};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::reachable::compose;
use tickbound_reo::run::{Player, Random, Wanted};
use tickbound_reo::syntax::Source;

fn player(text: &str) -> Player {
    let connector = connector(text, "").unwrap_or_else(|e| panic!("{e}"));
    Player::new(&connector).unwrap_or_else(|e| panic!("{e}"))
}

fn follow(player: &mut Player, steps: &str) -> Result<(), String> {
    let all = Wanted::all(&Source::new("steps", steps)).map_err(|e| e.to_string())?;
    all.iter().try_for_each(|wanted| player.follow(wanted).map_err(|e| e.to_string()))
}

fn texts(player: &mut Player) -> Vec<String> {
    let (choices, more) = player.choices();
    assert!(!more);
    choices.iter().map(|choice| player.text(choice)).collect()
}

#[test]
fn data_flow_through_cells() {
    let mut run = player("two(a, b) { fifo1(a, m) fifo1(m, b) }");
    assert_eq!(texts(&mut run), ["{a = \"d1\"}"]);
    assert_eq!(run.cells(), []);
    follow(&mut run, "{a = 7} {m} {a = \"x\", }").expect_err("a name after a comma");
    follow(&mut run, "{a = 7} {m} {a = \"x\"} {b} {m} {b}").unwrap();
    assert_eq!(
        run.lines(),
        ["1 {a = 7}", "1 {m = 7}", "2 {a = \"x\"}", "1 {b = 7}", "1 {m = \"x\"}", "1 {b = \"x\"}"]
    );
    assert!(run.undo() && run.undo());
    let cells: Vec<String> = run.cells().iter().map(|(c, held)| format!("{c} {held}")).collect();
    assert_eq!(cells, ["fifo1.1/m \"x\""]);
    assert_eq!(run.lines().len(), 4);
    while run.undo() {}
    assert!(run.lines().is_empty() && run.cells().is_empty());
}

#[test]
fn steps_with_one_text_differ_in_what_they_change() {
    let mut run = player("f(a, b) { lossy(a, m) fifo1(m, b) }");
    let (choices, _) = run.choices();
    let effects: Vec<String> = choices.iter().map(|c| run.effect(c).join(", ")).collect();
    assert_eq!(effects, ["", "$fifo1.1/m = \"d1\""]);
    assert!(choices.iter().all(|c| run.text(c) == "{a = \"d1\"}"));
    let refused = follow(&mut run, "{a}").unwrap_err();
    assert!(refused.starts_with("steps:1:1: 2 steps fire {a}; give the number"), "{refused}");
    follow(&mut run, "2 {a = 4}").unwrap();
    assert_eq!(run.cells(), [("fifo1.1/m".to_owned(), "4".to_owned())]);
}

#[test]
fn a_predicate_keeps_its_meaning() {
    let mut run = player("f(a, b) { filter<\"P\">(a, b) }");
    assert_eq!(texts(&mut run), ["{a = \"d1\"}", "{a = \"d1\", b = \"d1\"}"]);
    follow(&mut run, "{a = 1, b}").unwrap();
    assert_eq!(run.facts(), ["P(1)"]);
    let refused = follow(&mut run, "{a = 1}").unwrap_err();
    assert_eq!(refused, "steps:1:1: {a = \"d1\"} is not possible with these data");
    follow(&mut run, "{a = 2} {a = 1, b = 1}").unwrap();
    assert_eq!(run.facts(), ["!P(2)", "P(1)"]);
}

#[test]
fn functions_are_open_and_arithmetic_is_worked_out() {
    let mut run = player("f(a, b) { transformer<\"g\">(a, b) }");
    follow(&mut run, "{a = 1, b}").unwrap();
    assert_eq!(run.lines(), ["1 {a = 1, b = g(1)}"]);
    follow(&mut run, "{a = 2, b = 5} {a = 2, b}").unwrap();
    assert_eq!(run.lines()[1..], ["1 {a = 2, b = 5}", "1 {a = 2, b = 5}"]);
    follow(&mut run, "{a = 2, b = 6}").expect_err("g(2) is 5");
    let count =
        "f(a?, b!) { #RBA $m = 0; $k = \"s\"; {a} $m' = $m + 1, $k' = a {b} b = $m, $k != null }";
    let mut run = player(count);
    follow(&mut run, "{a} {a} {a} {b}").unwrap();
    assert_eq!(run.lines()[3], "2 {b = 3}");
}

#[test]
fn steps_that_are_not_there_are_refused() {
    let mut run = player("f(a, b, c) { router(a, b, c) }");
    for (steps, error) in [
        (
            "3",
            "steps:1:1: there is no step 3; 2 can be taken here: {a = \"d1\", b = \"d1\"}; \
             {a = \"d1\", c = \"d1\"}",
        ),
        (
            "{a}",
            "steps:1:1: no step fires exactly {a} here; give the number of a step and its names: \
             {a = \"d1\", b = \"d1\"}; {a = \"d1\", c = \"d1\"}",
        ),
        (
            "1 {a, c}",
            "steps:1:1: step 1 fires other names than {a, c}; give the number of a step and its \
             names: {a = \"d1\", b = \"d1\"}; {a = \"d1\", c = \"d1\"}",
        ),
        ("x", "steps:1:1: `x` where the number of a step, or `{` should stand"),
        ("{a = b}", "steps:1:6: `b` where a constant, or a function of constants should stand"),
        ("{a = 1, b = 2}", "steps:1:1: {a = \"d1\", b = \"d1\"} is not possible with these data"),
    ] {
        assert_eq!(follow(&mut run, steps), Err(error.into()));
    }
    let mut stuck = player(
        "f(a, b, c) { filter<\"P\">(a, b) filter<\"P\">(c, b2) syncdrain(b, c) syncdrain(b2, a) }",
    );
    assert!(!texts(&mut stuck).is_empty());
    let mut never = player("f(a?) { #RBA {a} a = 1, a = 2 }");
    assert!(texts(&mut never).is_empty() && !never.stray(&mut Random::new(1)));
}

#[test]
fn a_chain_of_a_thousand_buffers_runs() {
    let text = "f(x[0], x[1000]) { { fifo1(x[i], x[i+1]) | i : <0..999> } }";
    let mut run = player(text);
    let mut random = Random::new(3);
    assert!((0..50).all(|_| run.stray(&mut random)));
    assert_eq!(run.lines().len(), 50);
}

#[test]
fn fresh_data_are_none_of_the_connectors() {
    let mut run = player("f(a, b, c) { fifofull<\"d1\">(a, b) fifo1(a, c) }");
    assert_eq!(texts(&mut run), ["{b = \"d1\"}"]);
    follow(&mut run, "{b}").unwrap();
    assert_eq!(texts(&mut run)[0], "{a = \"d2\"}");
    follow(&mut run, "{a = \"d9\"} {b} {c}").unwrap();
    assert_eq!(texts(&mut run)[0], "{a = \"d10\"}");
}

proptest! {
    #![proptest_config(values::cases(300))]

    /// A random run is a path through the product: there is a step with these names between the
    /// same states each time. What is saved of it replays as itself.
    #[test]
    fn runs_are_paths_and_replay(recipes in vec(part(), 1..=3), seed: u64) {
        let words = Words::new();
        let parts = recipes.iter().enumerate();
        let parts = parts.map(|(k, p)| ConnectorPart { kind: "p".into(),
            automaton: p.automaton(&words, k) });
        let parts: Vec<ConnectorPart> = parts.collect();
        prop_assume!(parts.iter().all(|p| !p.automaton.initial().is_empty()));
        let connector = Connector {
            name: "c".into(),
            symbols: words.symbols.clone(),
            parts,
            interface: words.names.clone(),
            written: Vec::new(),
            notes: Vec::new(),
            circuit: Vec::new(),
        };
        let mut run = Player::new(&connector).unwrap();
        let mut random = Random::new(seed);
        let taken = (0..12).take_while(|_| run.stray(&mut random)).count();
        let refs: Vec<_> = connector.parts.iter().map(|p| &p.automaton).collect();
        let product = compose(&refs, &ProductLimits::memory(1 << 28)).unwrap();
        let mut states: Vec<u32> = product.initial().to_vec();
        for line in run.lines() {
            let wanted = Wanted::all(&Source::new("l", line)).unwrap();
            let mut names: Vec<String> =
                wanted[0].names.iter().flatten().map(|(w, _)| w.clone()).collect();
            names.sort();
            let mut next = Vec::new();
            for step in states.iter().flat_map(|s| product.steps(*s)) {
                let mut fire: Vec<String> =
                    product.fires(&step).map(|n| words.symbols.word(n.0).to_owned()).collect();
                fire.sort();
                if fire == names {
                    next.push(step.to);
                }
            }
            prop_assert!(!next.is_empty(), "{line}");
            states = next;
        }
        prop_assert_eq!(run.lines().len(), taken);
        let text = run.lines().join("\n");
        let mut again = Player::new(&connector).unwrap();
        for wanted in Wanted::all(&Source::new("saved", &text)).unwrap() {
            again.follow(&wanted).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        }
        prop_assert_eq!(again.lines(), run.lines());
        prop_assert_eq!(again.cells(), run.cells());
    }
}
