//! What the writers write, as snapshots, and what they refuse.

use crate::families::textbook;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::export::{ExportError, ExportSubject, Format, write};
use tickbound_reo::hide::{confluence, hide};
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::symbol::{NameId, Symbols};

/// A full buffer, a filter behind it, and the name between them hidden: data, contents, a
/// predicate, a function.
fn sample() -> (Symbols, Automaton, Vec<NameId>) {
    let mut symbols = Symbols::new();
    let [a, x, y, b] = ["in", "x", "y", "out[1]"].map(|w| symbols.name(w));
    let (cell, full) = (symbols.cell("m"), symbols.intern("first \"one\""));
    let (even, double) = (symbols.intern("even"), symbols.intern("double"));
    let parts = [
        primitive::fifo1(a, x, cell, BufferContent::Constant(full)),
        primitive::filter(x, y, even),
        primitive::transform(y, b, double),
    ];
    let product = textbook::product(&textbook::product(&parts[0], &parts[1]), &parts[2]);
    let hidden = hide(&product.reachable().0, &[x, y]);
    (symbols, confluence::reduce(&hidden), vec![a])
}

fn written(format: Format) -> String {
    let (symbols, automaton, inputs) = sample();
    let subject = ExportSubject {
        name: "even doubles",
        automaton: &automaton,
        symbols: &symbols,
        inputs: &inputs,
        interface: automaton.alphabet(),
    };
    write(subject, format).unwrap()
}

#[test]
fn dot() {
    insta::assert_snapshot!(written(Format::Dot));
}

#[test]
fn aut() {
    insta::assert_snapshot!(written(Format::Aut));
}

#[test]
fn mcrl2() {
    insta::assert_snapshot!(written(Format::Mcrl2));
}

#[test]
fn promela() {
    insta::assert_snapshot!(written(Format::Promela));
}

#[test]
fn promela_keeps_clear_of_words_that_are_taken() {
    let mut symbols = Symbols::new();
    let long = "x".repeat(600);
    let words = ["main", "register", "chan", "connector", "S1", "INT_MAX", "exit", &long, "a"];
    let names = words.map(|word| symbols.name(word));
    let mut builder = AutomatonBuilder::over(names, 1, vec![0]);
    builder.step(0, &names, DataConstraint::default(), 0);
    let automaton = builder.finish().unwrap();
    let (name, interface) = ("x", automaton.alphabet());
    let subject =
        ExportSubject { name, automaton: &automaton, symbols: &symbols, inputs: &[], interface };
    let text = write(subject, Format::Promela).unwrap();
    let bits = text.lines().filter_map(|line| line.strip_prefix("bit ")?.strip_suffix(';'));
    let bits: Vec<&str> = bits.collect();
    let kept = ["main_2", "register_2", "chan_2", "connector_2", "n_S1", "INT_MAX_2", "exit"];
    assert_eq!(bits, [&kept[..], &[&long[..200], "a"]].concat());
    // All are read, or SPIN makes C variables of them.
    assert!(bits.iter().all(|bit| text.contains(&format!("{bit} == 0"))), "{text}");
}

fn chain(data: bool) -> (Symbols, Automaton, Vec<NameId>) {
    let mut symbols = Symbols::new();
    let (a, x, b) = (symbols.name("a"), symbols.name("x"), symbols.name("b"));
    let (m, n) = (symbols.cell("m"), symbols.cell("n"));
    let first = primitive::fifo1(a, x, m, BufferContent::Empty);
    let both = textbook::product(&first, &primitive::fifo1(x, b, n, BufferContent::Empty));
    let reduced = confluence::reduce(&hide(&both.reachable().0, &[x]));
    (symbols, if data { reduced } else { reduced.without_data() }, vec![a])
}

#[test]
fn treo_with_and_without_data() {
    for data in [false, true] {
        let (symbols, automaton, inputs) = chain(data);
        let subject = ExportSubject {
            name: "queue-2",
            automaton: &automaton,
            symbols: &symbols,
            inputs: &inputs,
            interface: automaton.alphabet(),
        };
        let name = if data { "treo_rules" } else { "treo_states" };
        insta::assert_snapshot!(name, write(subject, Format::Treo).unwrap());
    }
}

#[test]
fn svg_has_every_state_and_step() {
    let (symbols, automaton, inputs) = chain(true);
    let subject = ExportSubject {
        name: "queue",
        automaton: &automaton,
        symbols: &symbols,
        inputs: &inputs,
        interface: automaton.alphabet(),
    };
    let svg = write(subject, Format::Svg).unwrap();
    if let Ok(folder) = std::env::var("TICKBOUND_PICTURES") {
        std::fs::write(format!("{folder}/queue.svg"), &svg).unwrap();
    }
    assert!(svg.trim_start().starts_with("<?xml") || svg.trim_start().starts_with("<svg"));
    assert_eq!(svg.matches(">{a, b}<").count(), 1, "{svg}");
    for state in 0..automaton.states() {
        assert!(svg.contains(&format!(">{state}</")), "state {state} in {svg}");
    }
}

#[test]
fn refused() {
    let mut symbols = Symbols::new();
    let a = symbols.name("a");
    let mut two = AutomatonBuilder::over([a], 2, vec![0, 1]);
    two.step(0, &[a], DataConstraint::default(), 1);
    let mut silent = AutomatonBuilder::over([a], 2, vec![0]);
    silent.step(0, &[], DataConstraint::default(), 1);
    let mut open = AutomatonBuilder::over([a], 1, vec![0]);
    let even = symbols.intern("even");
    let some = Literal::Predicate(true, even, [DataTerm::Some(0)].into());
    open.step(0, &[a], DataConstraint::new([some]), 0);
    let mut full = AutomatonBuilder::over([a], 1, vec![0]);
    let held = Literal::Equal(DataTerm::Datum(a), DataTerm::Before(symbols.cell("m")));
    full.step(0, &[a], DataConstraint::new([held]), 0);
    let mut large = AutomatonBuilder::over([a], 400, vec![0]);
    (0..399).for_each(|s| _ = large.step(s, &[a], DataConstraint::default(), s + 1));
    let cases = [
        (two.clone(), Format::Aut, ExportError::Initial(2, "Aldebaran")),
        (two, Format::Treo, ExportError::Initial(2, "Treo")),
        (silent, Format::Treo, ExportError::Silent),
        (open, Format::Treo, ExportError::Nameless),
        (full, Format::Treo, ExportError::Unknown("m".into())),
        (large, Format::Svg, ExportError::Large { what: "a drawing", size: 400, most: 300 }),
    ];
    for (builder, format, error) in cases {
        let automaton = builder.finish().unwrap();
        let subject = ExportSubject {
            name: "x",
            automaton: &automaton,
            symbols: &symbols,
            inputs: &[],
            interface: automaton.alphabet(),
        };
        assert_eq!(write(subject, format), Err(error));
    }
}
