//! Jobs: both products in blocks, counted, checked and written.

use std::any::Any;
use std::sync::Mutex;

use tickbound_reo::automaton::Automaton;
use tickbound_reo::connector::{ChannelEnd, Connector, Wiring};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{BufferContent, fifo1};
use tickbound_reo::product::dense::{CellData, Matrix};
use tickbound_reo::product::reachable;
use tickbound_reo_opencl::Maker;
use tickbound_reo_stream::{Ranks, StreamJob, StreamObserver, StreamedProduct, verify};

/// Keeps what a job says, and counts what it writes.
#[derive(Default)]
struct Listener(Mutex<Vec<String>>);

impl StreamObserver for Listener {
    fn say(&self, text: String) {
        self.0.lock().expect("no panic").push(text);
    }

    fn writing(&self) -> Box<dyn Any + Send> {
        self.0.lock().expect("no panic").push("writing".into());
        Box::new(())
    }
}

fn chain(n: usize) -> Connector {
    let mut wiring = Wiring::new("chain");
    for k in 0..n {
        let (from, to) = (format!("x{k}"), format!("x{}", k + 1));
        let ends = [ChannelEnd::reads(&from), ChannelEnd::writes(&to)];
        wiring.add("fifo1", &ends, move |names, symbols| {
            let cell = symbols.cell(&format!("m{k}"));
            fifo1(names[0], names[1], cell, BufferContent::Empty)
        });
    }
    wiring.finish(&["x0", "x4"])
}

fn job<'a>(
    connector: &'a Connector,
    limits: &'a ProductLimits<'a>,
    to: &'a Listener,
) -> StreamJob<'a> {
    let (invariants, dataset, filter) = (&[][..], None, None);
    StreamJob { connector, block: 512, invariants, dataset, filter, limits, observer: to }
}

fn matrices(connector: &Connector, limits: &ProductLimits) -> Vec<Matrix> {
    let matrix = |a: &Automaton| Matrix::new(a, CellData::Ignore, limits).expect("fits");
    connector.parts.iter().map(|part| matrix(&part.automaton)).collect()
}

#[test]
fn both_products_are_counted() {
    let (connector, limits, listener) =
        (chain(4), ProductLimits::memory(1 << 30), Listener::default());
    let job = job(&connector, &limits, &listener);
    let parts: Vec<&Automaton> = connector.parts.iter().map(|part| &part.automaton).collect();
    let expected = reachable::compose(&parts, &limits).expect("fits");
    let reached = job.reachable(&mut Ranks(None)).expect("fits");
    assert!(reached.is_good() && !reached.conditional);
    assert_eq!((reached.tally.states, reached.names), (expected.states() as u64, 5));
    assert_eq!(reached.transitions(), expected.transitions() as u64);
    let matrices = matrices(&connector, &limits);
    let dense = job.dense(&matrices, Maker::Threads, &mut Ranks(None)).expect("fits");
    assert!(dense.is_good());
    // All states of a chain of buffers can be reached.
    assert_eq!((dense.tally.states, dense.transitions()), (16, reached.transitions()));
}

#[test]
fn broken_invariants_are_named() {
    let (connector, limits, listener) =
        (chain(2), ProductLimits::memory(1 << 30), Listener::default());
    let invariants = ["x0 -> x2".to_owned()];
    let job = StreamJob { invariants: &invariants, ..job(&connector, &limits, &listener) };
    let reached = job.reachable(&mut Ranks(None)).expect("fits");
    let words = |names: &Vec<_>| -> Vec<String> {
        let word = |name: &tickbound_reo::symbol::NameId| connector.symbols.word(name.0).to_owned();
        names.iter().map(word).collect()
    };
    assert_eq!(reached.broken.as_ref().map(words), Some(vec!["x0".to_owned()]));
    assert!(!reached.is_good() && reached.is_complete());
    let wrong = ["x0 &".to_owned()];
    let error = StreamJob { invariants: &wrong, ..job }.reachable(&mut Ranks(None)).unwrap_err();
    assert!(error.to_string().starts_with("--invariant: `x0 &`: stuck"), "{error}");
}

#[test]
fn datasets_are_written_and_gone_on_with() {
    let (connector, limits, listener) =
        (chain(4), ProductLimits::memory(1 << 30), Listener::default());
    let matrices = matrices(&connector, &limits);
    for product in [StreamedProduct::Dense, StreamedProduct::Reachable] {
        let folder = tempfile::tempdir().expect("a folder");
        let job = StreamJob { dataset: Some(folder.path()), ..job(&connector, &limits, &listener) };
        let make = || match product {
            StreamedProduct::Dense => job.dense(&matrices, Maker::Threads, &mut Ranks(None)),
            StreamedProduct::Reachable => job.reachable(&mut Ranks(None)),
        };
        let first = make().expect("fits");
        let manifest = verify(folder.path(), &|_| true).expect("whole");
        assert_eq!((manifest.head.product, manifest.tally()), (product, first.tally));
        assert!(manifest.written.len() > 1);
        let again = make().expect("fits");
        assert_eq!(again.tally, first.tally);
        assert_eq!(verify(folder.path(), &|_| true).expect("whole"), manifest);
    }
    let said = listener.0.into_inner().expect("no panic");
    assert!(said.iter().any(|text| text == "writing"));
    assert!(said.iter().any(|text| text.starts_with("verifying block")));
    let (little, quiet) = (ProductLimits::memory(1 << 10), Listener::default());
    let folder = tempfile::tempdir().expect("a folder");
    let job = StreamJob { dataset: Some(folder.path()), ..job(&connector, &little, &quiet) };
    let error = job.reachable(&mut Ranks(None)).unwrap_err().to_string();
    assert!(error.ends_with("; --block makes them smaller"), "{error}");
}
