//! `.aut` files: what is written is read back, what other tools write is read, and what is refused.

use crate::connectors;
use crate::families::family;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tickbound_reo::aut::connector;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::bisimulation::{BisimulationVerdict, Equivalence, compare};
use tickbound_reo::connector::Connector;
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::export::{ExportSubject, Format, write};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::symbol::{NameId, Symbols};
use tickbound_reo::syntax::Source;

fn read(text: &str) -> Result<Connector, String> {
    connector(&Source::new("folder/t.aut", text)).map_err(|e| e.to_string())
}

/// The steps, sorted as lines.
fn steps(read: &Connector) -> Vec<String> {
    let text = read.parts[0].automaton.text(&read.symbols);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn written(automaton: &Automaton, symbols: &Symbols) -> String {
    let interface = automaton.alphabet();
    let subject = ExportSubject { name: "t", automaton, symbols, inputs: &[], interface };
    write(subject, Format::Aut).unwrap()
}

#[test]
fn what_other_tools_write_is_read() {
    let text = "des(1, 7 ,3)\r\n\r\n(0,\"a|b(1,2)\",1)\n (1, i, 2)\n(2,tau,1)\n\
                (1,PUT !1 !\"x\",0)\n(0, \"a [x]\" , 0)\n(0, \"c||d\", 2)\n(0,\"e|e\",2)";
    let expected = [
        "0 {a [x]} true -> 0",
        "0 {a, b(1,2)} true -> 1",
        "0 {c||d} true -> 2",
        "0 {e|e} true -> 2",
        "1 {PUT !1 !\"x\"} true -> 0",
        "1 {} true -> 2",
        "2 {} true -> 1",
    ];
    let read = read(text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(steps(&read), expected);
    assert_eq!((read.parts.len(), read.name.as_str()), (1, "t"));
    assert_eq!(read.parts[0].automaton.initial(), [1]);
    assert_eq!(read.interface, read.parts[0].automaton.alphabet());
    assert!(read.notes.is_empty() && read.written.is_empty());
}

#[test]
fn conditions_and_what_is_said_of_cells() {
    let text = "des (0, 4, 2)\n(0, \"a [a = $m & P(a, 'it\\u{27}s')]\", 1)\n\
                (0, \"a [a = $m | a = 'x']\", 1)\n(1, \"`i`|`b c` [`b c` = $m']\", 0)\n\
                (1, \"tau [$m = b]\", 0)\n";
    let read = read(text).unwrap_or_else(|e| panic!("{e}"));
    // In the last label `b` does not fire: the whole of it is one name.
    let expected = [
        "0 {a} \"x\" = a -> 1",
        "0 {a} a = $m & P(a, \"it's\") -> 1",
        "0 {a} a = $m -> 1",
        "1 {i, b c} b c = $m' -> 0",
        "1 {tau [$m = b]} true -> 0",
    ];
    assert_eq!(steps(&read), expected);
    assert_eq!(read.notes, ["folder/t.aut: `.aut` does not say what `$m` holds at the start"]);
}

#[test]
fn refused() {
    for (text, error) in [
        (
            "",
            "1:1: the end of the text where `des (FIRST, TRANSITIONS, STATES)` should stand, such \
             as `des (0, 2, 3)`",
        ),
        (
            "\n  des (0, 1)\n",
            "2:1: `des (0, 1)` where `des (FIRST, TRANSITIONS, STATES)` should stand, such as \
             `des (0, 2, 3)`",
        ),
        (
            "des (0, 1, 1)\n(0, \"a, 0)\n",
            "2:1: `(0, \"a, 0)` is no transition; write `(FROM, \"LABEL\", TO)`, such as `(0, \
             \"a\", 1)`",
        ),
        (
            "des (0, 1, 1)\n(0, +1, +0)\n",
            "2:1: `(0, +1, +0)` is no transition; write `(FROM, \"LABEL\", TO)`, such as `(0, \
             \"a\", 1)`",
        ),
        (
            "des (1, 0, 1)\n",
            "1:1: state 1, but there are 1, numbered from 0; fix the number, or the first line",
        ),
        (
            "des (0, 1, 2)\n\n  (1, a, 2)",
            "3:1: state 2, but there are 2, numbered from 0; fix the number, or the first line",
        ),
        (
            "des (0, 3, 2)\n(0, a, 1)\n",
            "1:1: 3 transitions by the first line, and there are 1; fix the count, or the lines",
        ),
        (
            "des (0, 2, 2)\n(0, a, 1)\n(0, \"a\", 1)\n",
            "3:1: the transition of line 2 again; remove one of them, and count it once",
        ),
        ("des (0, 0, 16777217)\n", "1:1: more than 16777216 states; minimise it, or split it"),
    ] {
        let found = read(text).map(|read| read.name).unwrap_err();
        assert_eq!(found, format!("folder/t.aut:{error}"), "{text:?}");
    }
    let long = format!("des (0, 1, 1)\n(0, \"`{}`\", 0)\n", "x".repeat(1001));
    let expected = "folder/t.aut:2:1: a word of 1001 bytes; the longest allowed is 1000";
    assert_eq!(read(&long).map(|read| read.name), Err(expected.into()));
}

/// The examples: written, read, and equal, step by step; without data where cells begin with
/// contents, which are not in the file.
#[test]
fn examples_read_back() {
    for (file, settings) in [
        ("alternator.treo", "n=3"),
        ("lossy_fifo.treo", ""),
        ("sequencer.treo", "n=3 start=go"),
        ("token_ring.treo", "n=3 station=polite"),
    ] {
        let (disk, example) = (connectors::Disk(Vec::new()), connectors::example(file));
        let request = connectors::request(settings);
        let connector = tickbound_reo::treo::connector(&example, &disk, &request).unwrap();
        let product = connectors::composed(&connector);
        let full = !product.contents().is_empty();
        let product = if full { product.without_data() } else { product };
        let back = read(&written(&product, &connector.symbols)).unwrap().over(&connector.symbols);
        let limits = ProductLimits::memory(1 << 26);
        let verdict =
            compare(&product, &back.parts[0].automaton, Equivalence::Strong, &limits).unwrap();
        assert!(matches!(verdict, BisimulationVerdict::Same { .. }), "{file}");
    }
}

/// Words that are no plain names.
const WORDS: [&str; 14] = [
    "a",
    "in[1]",
    "tau",
    "i",
    "x|y",
    "it's",
    "say \"a\"",
    "`q`",
    "d(1)",
    "_1",
    "p [",
    "\n",
    "\\",
    "true",
];
const CONSTANTS: [&str; 9] =
    ["1", "\"1\"", "x", "it's", "say \"hi\"", "a]|b", "\\", "\n$m'", "$m'"];
const CELLS: [&str; 4] = ["m", "n-", "it's", "\"m\""];

/// A term that number `n` chooses, of some name that fires.
fn term(n: u32, fire: &[NameId], symbols: &mut Symbols) -> DataTerm {
    let at = |n: u32, all: &[&'static str]| all[n as usize % all.len()];
    match n % 6 {
        0 if !fire.is_empty() => DataTerm::Datum(fire[n as usize / 6 % fire.len()]),
        1 => DataTerm::Before(symbols.cell(at(n / 6, &CELLS))),
        2 => DataTerm::After(symbols.cell(at(n / 6, &CELLS))),
        3 => DataTerm::Some(n / 6 % 3),
        4 => {
            let inner = [term(n / 7, fire, symbols), term(n / 11, fire, symbols)];
            DataTerm::Call(symbols.intern(at(n / 13, &["f", "g h", "it's"])), inner.into())
        }
        _ => DataTerm::Constant(symbols.intern(at(n / 6, &CONSTANTS))),
    }
}

fn literal(n: (u32, u32, u32), fire: &[NameId], symbols: &mut Symbols) -> Literal {
    let (a, b) = (term(n.1, fire, symbols), term(n.2, fire, symbols));
    match n.0 % 3 {
        0 => Literal::Equal(a, b),
        1 => Literal::Different(a, b),
        _ => Literal::Predicate(n.0.is_multiple_of(2), symbols.intern("P'"), [a, b].into()),
    }
}

type Drawn = (u32, Vec<&'static str>, Vec<(u32, u32, u32)>, u32);

/// Steps with any words, as `(from, names, literals, to)`, over four states.
fn any_steps() -> impl Strategy<Value = Vec<Drawn>> {
    let number = || 0..100_000_u32;
    let literals = vec((number(), number(), number()), 0..4);
    vec((0..4_u32, vec(select(&WORDS[..]), 0..4), literals, 0..4_u32), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None,
        ..ProptestConfig::default() })]

    /// Names, conditions, states: all are read back as they were written.
    #[test]
    fn whatever_is_written_reads_back(drawn in any_steps(), first in 0..4_u32) {
        let mut symbols = Symbols::new();
        let all: Vec<&str> = drawn.iter().flat_map(|step| step.1.iter().copied()).collect();
        let names: Vec<NameId> = all.iter().map(|word| symbols.name(word)).collect();
        let mut builder = AutomatonBuilder::over(names, 4, vec![first]);
        for (from, fire, literals, to) in drawn {
            let fire: Vec<NameId> = fire.iter().map(|word| symbols.name(word)).collect();
            let all: Vec<Literal> =
                literals.iter().map(|n| literal(*n, &fire, &mut symbols)).collect();
            builder.step(from, &fire, DataConstraint::new(all), to);
        }
        let automaton = builder.finish().unwrap();
        let text = written(&automaton, &symbols);
        let back = read(&text).map_err(TestCaseError::fail)?.over(&symbols);
        prop_assert_eq!(&back.parts[0].automaton, &automaton, "{}", text);
    }

    /// Random automata as all engines have them; names that no step fires are not in the file.
    #[test]
    fn families_read_back(parts in family(1..4, true)) {
        let mut symbols = Symbols::new();
        (0..5).for_each(|n| _ = symbols.name(&n.to_string()));
        let product = crate::families::by_definition(&parts).reachable().0;
        let back = read(&written(&product, &symbols)).map_err(TestCaseError::fail)?;
        let back = back.over(&symbols).parts.remove(0).automaton;
        prop_assert_eq!(back.text(&symbols), product.text(&symbols));
        prop_assert_eq!(back.states(), product.states());
    }
}
