//! JSON: what is written reads back as the same data; what is refused.

use crate::connectors;

use connectors::{composed, connector, example};
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::json;
use tickbound_reo::symbol::{Cell, NameId, SymbolId, Symbols};
use tickbound_reo::syntax::{Source, condition};

/// Words of all kinds: plain, with parts and indices, and such that are none by their characters.
const WORDS: [&str; 14] = [
    "a",
    "b",
    "p[1]",
    "seqc.1/x[2]",
    "c~~4",
    "m",
    "12",
    "a b",
    "",
    "true",
    "_1",
    "q`r\\s",
    "\n\u{e9}\"",
    "null",
];

fn symbol() -> impl Strategy<Value = SymbolId> {
    (0..WORDS.len() as u32).prop_map(SymbolId)
}

fn term() -> impl Strategy<Value = DataTerm> {
    let leaf = prop_oneof![
        symbol().prop_map(DataTerm::Constant),
        (0..4u32).prop_map(|n| DataTerm::Datum(NameId(SymbolId(n)))),
        symbol().prop_map(|s| DataTerm::Before(Cell(s))),
        symbol().prop_map(|s| DataTerm::After(Cell(s))),
        (0..3u32).prop_map(DataTerm::Some),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        (symbol(), prop::collection::vec(inner, 0..3))
            .prop_map(|(f, args)| DataTerm::Call(f, args.into()))
    })
}

fn constraint() -> impl Strategy<Value = DataConstraint> {
    let literal = prop_oneof![
        (term(), term()).prop_map(|(a, b)| Literal::Equal(a, b)),
        (term(), term()).prop_map(|(a, b)| Literal::Different(a, b)),
        (any::<bool>(), symbol(), prop::collection::vec(term(), 0..3))
            .prop_map(|(holds, p, terms)| Literal::Predicate(holds, p, terms.into())),
    ];
    prop::collection::vec(literal, 0..4).prop_map(DataConstraint::new)
}

fn automaton() -> impl Strategy<Value = Automaton> {
    let step =
        (0..5u32, prop::sample::subsequence(vec![0u32, 1, 2, 3], 0..=4), constraint(), 0..5u32);
    let contents = prop::option::of((symbol(), symbol()));
    let initial = prop::sample::subsequence(vec![0u32, 1, 2, 3, 4], 0..3);
    (initial, contents, prop::collection::vec(step, 0..8)).prop_map(|(initial, contents, steps)| {
        let mut builder = AutomatonBuilder::over((0..4).map(|n| NameId(SymbolId(n))), 5, initial);
        builder.contents(contents.map(|(cell, held)| (Cell(cell), held)));
        for (from, fire, constraint, to) in steps {
            let fire: Vec<NameId> = fire.into_iter().map(|n| NameId(SymbolId(n))).collect();
            builder.step(from, &fire, constraint, to);
        }
        builder.finish().expect("numbers in range")
    })
}

fn symbols() -> Symbols {
    let mut symbols = Symbols::new();
    WORDS.iter().for_each(|word| _ = symbols.intern(word));
    symbols
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn automata_read_back(automaton in automaton()) {
        let text = json::write_automaton(&automaton, &symbols());
        let read = json::connector(&Source::new("a.json",
            &text)).map_err(|e| format!("{e}\n{text}"));
        let mut read = read.map_err(TestCaseError::fail)?;
        prop_assert_eq!(read.parts.remove(0).automaton, automaton);
        prop_assert_eq!(read.symbols, symbols());
    }

    #[test]
    fn conditions_read_back(constraint in constraint()) {
        let mut symbols = symbols();
        let text = condition::text(&constraint, &symbols);
        let failed = |e| TestCaseError::fail(format!("{e}: {text}"));
        let cases = condition::parse(&text).map_err(failed)?;
        prop_assert_eq!(condition::constraint(&cases[0], &mut symbols), constraint);
    }
}

#[test]
fn composed_connectors_read_back() {
    for (text, settings) in [
        (
            "f(a, b) { fifo<3>(a, m[1]) filter<even>(m[1], b) fifofull<\"x y\">(c, b) | even = \
             \"> 2\" }",
            "",
        ),
        ("f(a[1..n]) { { syncdrain(a[i], a[i+1]) lossy(a[i], b) | i : <1..n-1> } }", "n=3"),
    ] {
        let connector = connector(text, settings).unwrap_or_else(|e| panic!("{e}"));
        let whole = composed(&connector);
        let text = json::write_automaton(&whole, &connector.symbols);
        let again = json::connector(&Source::new("a.json", &text));
        assert_eq!(
            again.map(|mut c| c.parts.remove(0).automaton).map_err(|e| e.to_string()),
            Ok(whole)
        );
    }
}

#[test]
fn components_meet_at_nodes() {
    let connector = json::connector(&example("two_places.json")).unwrap_or_else(|e| panic!("{e}"));
    let seen = connector.interface.iter().map(|n| connector.symbols.word(n.0));
    assert_eq!(seen.collect::<Vec<_>>(), ["in", "out"]);
    let whole = composed(&connector);
    assert_eq!((whole.states(), whole.transitions()), (4, 7));
    let text = r#"{"format": "tickbound-reo", "version": 1, "connector": {"name": "m", "parts": [
        {"kind": "sync", "ends": ["a", "c"]},
        {"kind": "fifofull", "arguments": ["x"], "ends": ["b", "c"]}]}}"#;
    let connector = json::connector(&Source::new("m.json", text)).unwrap_or_else(|e| panic!("{e}"));
    let kinds: Vec<&str> = connector.parts.iter().map(|p| p.kind.as_str()).collect();
    assert_eq!(kinds, ["sync", "fifofull", "merger"]);
    assert_eq!(connector.interface.len(), 3);
}

#[test]
fn faults_say_where_what_and_the_mend() {
    let automaton = |inner: &str| {
        format!("{{\"format\": \"tickbound-reo\", \"version\": 1, \"automaton\": {{{inner}}}}}")
    };
    let connector = |inner: &str| {
        format!(
            "{{\"format\": \"tickbound-reo\", \"version\": 1, \"connector\": {{\"name\": \"n\", \
             {inner}}}}}"
        )
    };
    let step = |inner: &str| {
        automaton(&format!(
            "\"names\": [\"a\", \"b\"], \"states\": 1, \"initial\": [0], \"steps\": [{{\"from\": \
             0, \"to\": 0, {inner}}}]"
        ))
    };
    for (text, error) in [
        (String::new(), "1:0: EOF while parsing a value; see the format `tickbound-reo`"),
        (
            "{\"format\": 1}".into(),
            "1:12: invalid type: integer `1`, expected a string; see the format `tickbound-reo`",
        ),
        (
            "{\"format\": \"x\", \"version\": 1}".into(),
            "1:1: `format` is `x`; write `tickbound-reo`",
        ),
        ("{\"format\": \"tickbound-reo\", \"version\": 2}".into(), "1:1: `version` is 2; write 1"),
        (
            "{\"format\": \"tickbound-reo\", \"version\": 1}".into(),
            "1:1: the file is neither a `connector` nor an `automaton`, or both; write one of them",
        ),
        ("{}".into(), "1:2: missing field `format`; add it, such as \"format\": \"tickbound-reo\""),
        (
            automaton("\"states\": 1, \"initial\": [0], \"steps\": []"),
            "1:97: missing field `names`; add it, such as \"names\": [\"a\", \"b\"], all that fire \
             in some step",
        ),
        (
            automaton("\"clocks\": []"),
            "1:64: unknown field `clocks`; clocks are not read; say what waits with the component \
             `timer` in a .treo or .reo file",
        ),
        (
            connector(
                "\"parts\": [{\"kind\": \"sync\", \"ends\": [\"a\", \"b\"]}], \"interface\": \
                 [\"in\", \"b\"]",
            ),
            "1:1: `interface`: `in` is none of the names; known here: a, b",
        ),
        (automaton("\"state\": 1"), "1:63: unknown field `state`; did you mean `states`?"),
        (
            automaton("\"names\": [], \"states\": 1, \"initial\": [1], \"steps\": []"),
            "1:1: part 0 (`automaton`): state 1 is mentioned, but there are only 1 (numbered from \
             0); fix the numbers",
        ),
        (
            automaton("\"names\": [], \"states\": 99999999, \"initial\": [], \"steps\": []"),
            "1:1: more than 16777216 states; split the file",
        ),
        (
            step("\"fire\": [\"c\"]"),
            "1:1: part 0 (`automaton`), step 0: `c` is none of the names; known here: a, b",
        ),
        (
            step("\"fire\": [\"a\"], \"when\": \"c = a\""),
            "1:1: part 0 (`automaton`), step 0: `c` is none of the names; known here: a, b",
        ),
        (
            step("\"fire\": [\"a\"], \"when\": \"a = \""),
            "1:1: part 0 (`automaton`), step 0: `a = `: the end of the text where a value (a name, \
             a constant, `$cell` or `f(...)`) should stand (column 5)",
        ),
        (
            connector("\"parts\": [{\"kind\": \"sync\"}]"),
            "1:1: a part is part 0 (`sync`) with neither or both; write either `automaton`, or \
             `ends` and perhaps `arguments`",
        ),
        (
            connector("\"parts\": [{\"kind\": \"synk\", \"ends\": []}]"),
            "1:1: part 0 (`synk`): no built-in component is called `synk`; did you mean `sync`?",
        ),
        (
            connector("\"parts\": [{\"kind\": \"sync\", \"ends\": [\"a\"]}]"),
            "1:1: part 0 (`sync`): `sync` has 2 ends, here are 1",
        ),
        (
            connector("\"parts\": [], \"hide\": [\"x\"]"),
            "1:1: `hide`: `x` is none of the names; there is none here",
        ),
        (
            connector("\"parts\": [], \"hide\": [], \"interface\": []"),
            "1:1: the interface is given by `interface` and `hide`; write one of them",
        ),
    ] {
        let found =
            json::connector(&Source::new("f.json", &text)).map(|_| ()).map_err(|e| e.to_string());
        assert_eq!(found, Err(format!("f.json:{error}")), "{text}");
    }
}
