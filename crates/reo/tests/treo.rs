//! Treo files: the standard library and the examples of the Reo tools (where they are at hand), and
//! our own examples.

use crate::connectors;
use crate::expand::machines::{Words, part};
use crate::expand::{expand, strongly_alike};
use crate::families::by_definition;
use crate::values;

use std::collections::BTreeSet;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

use connectors::{Disk, composed, connector, example, files, request, shared, source};
use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::{BisimulationVerdict, Equivalence, compare};
use tickbound_reo::connector::Connector;
use tickbound_reo::export::{ExportSubject, Format, write};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::stepwise::{self, StepwiseOptions};
use tickbound_reo::symbol::{NameId, Symbols};
use tickbound_reo::syntax::Source;
use tickbound_reo::treo::{self, TreoRequest};

/// File, settings, parts, names that the environment sees. All of them compose; bodies that are
/// left as an exercise have no parts, foreign code neither.
const SHARED: [(&str, &str, usize, usize); 82] = [
    ("examples/exercises/exercise1/alternator.treo", "", 0, 3),
    ("examples/exercises/exercise1/alternatorN.treo", "N=3", 0, 4),
    ("examples/exercises/exercise2/xrouter.treo", "", 0, 3),
    ("examples/exercises/exercise2/xrouterN.treo", "N=3", 0, 4),
    ("examples/exercises/exercise3/cons.treo", "", 0, 1),
    ("examples/exercises/exercise3/main.treo", "", 0, 0),
    ("examples/exercises/exercise3/prod.treo", "", 0, 1),
    ("examples/exercises/exercise4/chess/chess.treo", "", 0, 0),
    ("examples/exercises/exercise4/helloWorld/main.treo", "", 0, 0),
    ("examples/slides/Nalternator/Nalternator.treo", "N=3", 9, 4),
    ("examples/slides/alternator/alternator.treo", "", 5, 3),
    ("examples/slides/alternator/alternatorN.treo", "n=3", 10, 4),
    ("examples/slides/barrier/barrier.treo", "", 5, 4),
    ("examples/slides/circulator/circ1.treo", "", 6, 4),
    ("examples/slides/filter/filterTest.treo", "", 1, 2),
    ("examples/slides/lossyfifo/lossyfifo1.treo", "", 2, 2),
    ("examples/slides/main/blue.treo", "", 0, 1),
    ("examples/slides/main/green.treo", "", 0, 1),
    ("examples/slides/main/main1.treo", "", 5, 3),
    ("examples/slides/main/main10.treo", "", 28, 5),
    ("examples/slides/main/main11.treo", "", 93, 7),
    ("examples/slides/main/main12.treo", "", 17, 3),
    ("examples/slides/main/main2.treo", "", 13, 3),
    ("examples/slides/main/main3.treo", "", 13, 3),
    ("examples/slides/main/main4.treo", "", 13, 3),
    ("examples/slides/main/main5.treo", "", 13, 3),
    ("examples/slides/main/main6.treo", "", 15, 3),
    ("examples/slides/main/main7.treo", "", 47, 3),
    ("examples/slides/main/main8.treo", "", 97, 3),
    ("examples/slides/main/main9.treo", "", 30, 3),
    ("examples/slides/main/red.treo", "", 0, 1),
    ("examples/slides/ovflfifo/ovflfifo.treo", "", 2, 2),
    ("examples/slides/regulatorwrr/regulatorwrr.treo", "", 3, 3),
    ("examples/slides/regulatorwwr/regulatorwwr.treo", "", 3, 3),
    ("examples/slides/sequencer/seqc.treo", "n=3", 10, 3),
    ("examples/slides/sequencer/seqp.treo", "n=3", 7, 3),
    ("examples/slides/shiftlossyfifo/shiftlossyfifo.treo", "", 18, 2),
    ("examples/slides/transformer/transformerTest.treo", "", 1, 2),
    ("examples/slides/variable/variable.treo", "", 43, 2),
    ("examples/slides/xrouter/xrouter.treo", "n=3", 12, 4),
    ("library/reo/State.treo", "t=3 j=3", 17, 6),
    ("library/reo/StateFull.treo", "t=3 j=3", 17, 6),
    ("library/reo/Transition.treo", "E=3 e=3 t=3", 3, 3),
    ("library/reo/alternator.treo", "n=3", 9, 4),
    ("library/reo/asyncdrain.rba.treo", "", 1, 2),
    ("library/reo/asyncdrain.treo", "", 1, 2),
    ("library/reo/barrier.treo", "n=3", 8, 6),
    ("library/reo/binop.pr.treo", "k=f", 1, 3),
    ("library/reo/binop.rba.treo", "k=f", 1, 3),
    ("library/reo/fifo.treo", "k=3", 3, 2),
    ("library/reo/fifo1.pr.treo", "", 1, 2),
    ("library/reo/fifo1.rba.treo", "", 1, 2),
    ("library/reo/fifo1.sca.treo", "", 1, 2),
    ("library/reo/fifo1.wa.treo", "", 1, 2),
    ("library/reo/fifofull.pr.treo", "k=1", 1, 2),
    ("library/reo/fifofull.rba.treo", "k=f", 1, 2),
    ("library/reo/fifofull.wa.treo", "", 1, 2),
    ("library/reo/filter.pr.treo", "k=f", 1, 2),
    ("library/reo/filter.rba.treo", "P=f", 1, 2),
    ("library/reo/lossy.pr.treo", "", 1, 2),
    ("library/reo/lossy.rba.treo", "", 1, 2),
    ("library/reo/lossy.wa.treo", "", 1, 2),
    ("library/reo/lossyfifo1.treo", "", 2, 2),
    ("library/reo/merger.pr.treo", "", 1, 3),
    ("library/reo/merger.rba.treo", "n=3", 5, 4),
    ("library/reo/pred.rba.treo", "P=f e=3 t=3", 1, 2),
    ("library/reo/pred.treo", "P=f e=3 t=3", 1, 2),
    ("library/reo/readwrite.treo", "write=3", 1, 2),
    ("library/reo/sca1.treo", "t=3", 50, 3),
    ("library/reo/sequencer.treo", "n=3", 8, 3),
    ("library/reo/shiftlossyfifo1.treo", "", 18, 2),
    ("library/reo/sync.pr.treo", "", 1, 2),
    ("library/reo/sync.rba.treo", "", 1, 2),
    ("library/reo/syncdrain.pr.treo", "", 1, 2),
    ("library/reo/syncdrain.rba.treo", "", 1, 2),
    ("library/reo/syncdrain.wa.treo", "", 1, 2),
    ("library/reo/syncfifo1.rba.treo", "", 1, 2),
    ("library/reo/syncfifo1full.rba.treo", "k=f", 1, 2),
    ("library/reo/syncfifo1full.treo", "k=f", 1, 2),
    ("library/reo/transformer.pr.treo", "k=f", 1, 2),
    ("library/reo/transformer.rba.treo", "k=f", 1, 2),
    ("library/reo/xrouter.treo", "n=3", 12, 4),
];

/// Needs the examples as a library: it imports one of them.
const APART: &str = "library/reo/variable.rba.treo";

#[test]
fn shared_files_compose() {
    let Some(folder) = shared() else { return };
    let mut seen: Vec<String> = vec![APART.to_owned()];
    for (file, settings, parts, visible) in SHARED {
        let source = source(&folder, Path::new(file));
        let connector = treo::connector(&source, &Disk(Vec::new()), &request(settings));
        let connector = connector.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((connector.parts.len(), connector.interface.len()), (parts, visible), "{file}");
        if !settings.is_empty() {
            let bare = treo::connector(&source, &Disk(Vec::new()), &request(""));
            let error = bare.map(|_| ()).map_err(|e| e.to_string());
            assert!(error.is_err_and(|e| e.contains("without a value; give --set ")), "{file}");
        }
        seen.push(file.to_owned());
    }
    seen.sort();
    let all = files(&folder, "treo");
    let all = all.iter().filter_map(|f| f.strip_prefix(&folder).ok()?.to_str());
    assert_eq!(seen, all.collect::<Vec<_>>());
}

#[test]
fn an_import_that_is_elsewhere_asks_for_the_library() {
    let Some(folder) = shared() else { return };
    let source = source(&folder, Path::new(APART));
    let error = treo::connector(&source, &Disk(Vec::new()), &request("")).map(|_| ());
    let error = error.map_err(|e| e.to_string()).expect_err("not in the library");
    assert!(error.starts_with(
        "library/reo/variable.rba.treo:4:8: `slides.shiftlossyfifo.shiftlossyfifo` is in no file ("
    ));
    assert!(error.ends_with(" tried); define it, or name its folder with --library"));
    let examples = folder.join("examples").to_string_lossy().into_owned();
    let found = treo::connector(&source, &Disk(vec![examples]), &request(""));
    assert_eq!(found.map(|c| c.parts.len()), Ok(43));
}

#[test]
fn all_files_are_read() {
    let ours = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/connectors"));
    for folder in shared().iter().map(|f| f.as_path()).chain([ours]) {
        for file in files(folder, "treo") {
            let source = source(folder, &file);
            treo::parse(&source).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

#[test]
fn known_sizes_are_met() {
    let Some(folder) = shared() else { return };
    let alternators = [(2, 2, 2), (3, 4, 4), (4, 8, 10), (5, 16, 26), (6, 32, 68)];
    let chains = [(2, 4, 6), (3, 8, 16), (4, 16, 42), (5, 32, 108), (6, 64, 274)];
    let files =
        [("library/reo/alternator.treo", "n", alternators), ("library/reo/fifo.treo", "k", chains)];
    for (file, word, sizes) in files {
        let source = source(&folder, Path::new(file));
        for (value, states, transitions) in sizes {
            let request = request(&format!("{word}={value}"));
            let connector = treo::connector(&source, &Disk(Vec::new()), &request);
            let automaton = composed(&connector.unwrap_or_else(|e| panic!("{e}")));
            let size = (automaton.states(), automaton.transitions());
            assert_eq!(size, (states, transitions), "{file} {word}={value}");
        }
    }
}

/// File, component, settings; states and transitions of the reachable product.
const OURS: [(&str, &str, &str, usize, usize); 13] = [
    ("alternator.treo", "alternator", "n=3", 4, 4),
    ("sequencer.treo", "sequencer", "n=3 start=go", 3, 3),
    ("sequencer.treo", "rounds", "", 3, 3),
    ("lossy_fifo.treo", "lossy_fifo", "", 2, 5),
    ("lossy_fifo.treo", "newest", "", 2, 3),
    ("router.treo", "router", "n=3", 1, 3),
    ("producer_consumer.treo", "producer_consumer", "k=2", 3, 10),
    ("token_ring.treo", "ring", "n=3", 3, 6),
    ("token_ring.treo", "token_ring", "n=2 station=polite", 2, 4),
    ("turnstile.treo", "turnstile", "", 2, 3),
    ("barrier.treo", "barrier", "n=3", 1, 1),
    // 4^3 with idling.
    ("buffers.treo", "buffers", "n=3", 8, 56),
    ("chain.treo", "chain", "n=3", 8, 16),
];

#[test]
fn our_examples_compose() {
    for (file, component, settings, states, transitions) in OURS {
        let request = request(settings).of(component);
        let connector = treo::connector(&example(file), &Disk(Vec::new()), &request);
        let automaton = composed(&connector.unwrap_or_else(|e| panic!("{e}")));
        let size = (automaton.states(), automaton.transitions());
        assert_eq!(size, (states, transitions), "{file} {component}");
    }
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/connectors"));
    for file in files(folder, "treo") {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        assert!(OURS.iter().any(|row| row.0 == name), "{name}");
    }
}

/// The ways to write an atom agree, as far as they speak of data.
#[test]
fn the_variants_of_the_library_agree() {
    let Some(folder) = shared() else { return };
    let variants = [
        ("fifo1", &["rba", "wa", "sca", "pr"][..]),
        ("lossy", &["rba", "wa", "pr"]),
        ("syncdrain", &["rba", "wa", "pr"]),
        ("sync", &["rba", "pr"]),
    ];
    for (word, ends) in variants {
        let texts = ends.iter().map(|end| {
            let file = format!("library/reo/{word}.{end}.treo");
            let source = source(&folder, Path::new(&file));
            let connector = treo::connector(&source, &Disk(Vec::new()), &request(""));
            let connector = connector.unwrap_or_else(|e| panic!("{e}"));
            connector.parts[0].automaton.without_data().text(&connector.symbols)
        });
        let texts: Vec<String> = texts.collect();
        assert!(texts.iter().all(|t| *t == texts[0]), "{word}: {texts:?}");
    }
}

#[test]
fn inner_names_tell_the_way_to_them() {
    let text = "
        two(a, b) { one(a, x[1]) one(x[1], b) }
        one(a?, b!) { { fifo1(a, m[k]) sync(m[k], b) | k : <7..7> } }
        top(a, b) { two(a, b) }";
    let connector = connector(text, "").unwrap_or_else(|e| panic!("{e}"));
    let words = |names: &[tickbound_reo::symbol::NameId]| {
        names.iter().map(|n| connector.symbols.word(n.0)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words(&connector.interface), "a b");
    assert_eq!(words(&connector.inner()), "two.1/one.1/m[7] two.1/x[1] two.1/one.2/m[7]");
    let cells = connector.parts.iter().flat_map(|p| p.automaton.cells());
    let cells: Vec<&str> = cells.map(|c| connector.symbols.word(c.0)).collect();
    assert_eq!(cells, ["two.1/one.1/fifo1.1/m", "two.1/one.2/fifo1.1/m"]);
}

#[test]
fn foreign_code_is_left_to_the_environment() {
    let text = "
        main() { red(x) red(x) blue(x) }
        red(a!) { #JAVA \"Red\" #PROMELA \"red { }\" }
        blue(a?) { #PR identity(a;) | Java : \"Blue\" }";
    let source = Source::new("main.treo", text);
    let connector = treo::connector(&source, &Disk(Vec::new()), &request(""));
    let connector = connector.unwrap_or_else(|e| panic!("{e}"));
    let seen = connector.interface.iter().map(|n| connector.symbols.word(n.0));
    assert_eq!(seen.collect::<Vec<_>>(), ["red.1/a", "red.2/a", "x"]);
    let kinds: Vec<&str> = connector.parts.iter().map(|p| p.kind.as_str()).collect();
    assert_eq!(kinds, ["sync", "sync", "merger"]);
    let notes = [
        "`red` is foreign code (#JAVA, #PROMELA); what it does at `x` is left to the environment",
        "`blue` is foreign code (#JAVA); what it does at `x` is left to the environment",
    ];
    assert_eq!(connector.notes, notes);
}

/// Composed without hiding and written as Treo, each connector is read back as one that does the
/// same.
#[test]
fn what_is_composed_reads_back_as_equal() {
    let limits = ProductLimits::memory(1 << 30);
    let mut texts: Vec<(Source, TreoRequest)> =
        OURS.iter().map(|row| (example(row.0), request(row.2).of(row.1))).collect();
    if let Some(folder) = shared() {
        let files = SHARED.iter().filter(|row| row.2 < 25);
        texts.extend(files.map(|row| (source(&folder, Path::new(row.0)), request(row.1))));
    }
    for (source, request) in texts {
        let read = treo::connector(&source, &Disk(Vec::new()), &request);
        let read = read.unwrap_or_else(|e| panic!("{e}"));
        if read.parts.is_empty() {
            continue;
        }
        let automaton = composed(&read);
        let (name, inputs) = (read.name.as_str(), read.inputs());
        let (symbols, interface) = (&read.symbols, &read.interface[..]);
        let subject =
            ExportSubject { name, automaton: &automaton, symbols, inputs: &inputs, interface };
        let written = match write(subject, Format::Treo) {
            Ok(written) => written,
            Err(e) => panic!("{}: {e}", source.name),
        };
        let again = Source::new("again.treo", &written);
        let again = treo::connector(&again, &Disk(Vec::new()), &TreoRequest::default());
        let again = again.unwrap_or_else(|e| panic!("{e}\n{written}")).over(symbols);
        let words = |names: &[NameId], symbols: &Symbols| -> BTreeSet<String> {
            names.iter().map(|n| symbols.word(n.0).to_owned()).collect()
        };
        let known = automaton.alphabet();
        let seen: Vec<NameId> = interface.iter().filter(|n| known.contains(n)).copied().collect();
        let plain = seen.iter().all(|n| !symbols.word(n.0).contains(['/', '~']));
        if !plain {
            continue;
        }
        assert_eq!(words(&seen, symbols), words(&again.interface, &again.symbols), "{written}");
        for kind in [Equivalence::Strong, Equivalence::Weak] {
            let hidden = |c: &Connector| {
                let parts: Vec<Automaton> =
                    c.parts.iter().map(|p| p.automaton.without_data()).collect();
                let options = StepwiseOptions { hidden: c.inner(), minimise: Some(kind) };
                let parts: Vec<&Automaton> = parts.iter().collect();
                stepwise::compose(&parts, &options, &limits).unwrap().automaton
            };
            let verdict = compare(&hidden(&read), &hidden(&again), kind, &limits).unwrap();
            assert!(
                matches!(verdict, BisimulationVerdict::Same { .. }),
                "{kind:?} {}\n{written}",
                source.name
            );
        }
    }
}

proptest! {
    #![proptest_config(values::cases(300))]

    /// Random parts, composed without hiding and written as Treo, are read back as the same, data
    /// and all.
    #[test]
    fn what_is_random_reads_back_as_equal(recipes in vec(part(), 1..=2), inputs: u8, seed: u64) {
        let words = Words::new();
        let parts = recipes.iter().enumerate().map(|(k, p)| p.automaton(&words, k));
        let automaton = by_definition(&parts.collect::<Vec<_>>()).reachable().0;
        let subject = ExportSubject {
            name: "f",
            automaton: &automaton,
            symbols: &words.symbols,
            inputs: &words.chosen(inputs & 31),
            interface: automaton.alphabet(),
        };
        let written = write(subject, Format::Treo);
        prop_assume!(written.is_ok());
        let written = written.unwrap_or_default();
        let again = Source::new("again.treo", &written);
        let again = treo::connector(&again, &Disk(Vec::new()), &TreoRequest::default());
        let again = again.map_err(|e| TestCaseError::fail(format!("{e}\n{written}")))?;
        let again = composed(&again.over(&words.symbols));
        prop_assert_eq!(again.alphabet(), automaton.alphabet(), "{}", written);
        let meaning = words.meaning(seed);
        let (one, other) = (expand(&automaton, &meaning), expand(&again, &meaning));
        prop_assert!(strongly_alike(&one, &other), "{}\n{}", automaton.text(&words.symbols),
            written);
    }
}
