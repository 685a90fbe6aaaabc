//! Connectors put together piece by piece: known sizes, and the same as hiding at the end.

use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::{BisimulationVerdict, Equivalence, compare};
use tickbound_reo::connector::{ChannelEnd, Connector, Wiring};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::product::stepwise::{Composed, StepwiseOptions, compose};

const PLENTY: u64 = 1 << 32;

fn sync(wiring: &mut Wiring<'_>, from: &str, to: &str) {
    let ends = [ChannelEnd::reads(from), ChannelEnd::writes(to)];
    wiring.add("sync", &ends, |n, _| primitive::sync(n[0], n[1]));
}

fn fifo1(wiring: &mut Wiring<'_>, from: &str, to: &str, content: BufferContent) {
    let cell = format!("{from}-{to}");
    let ends = [ChannelEnd::reads(from), ChannelEnd::writes(to)];
    wiring.add("fifo1", &ends, move |n, symbols| {
        primitive::fifo1(n[0], n[1], symbols.fresh_cell(&cell), content)
    });
}

fn chain(n: usize) -> Connector {
    let mut wiring = Wiring::new("chain");
    (0..n).for_each(|i| {
        fifo1(&mut wiring, &format!("a{i}"), &format!("a{}", i + 1), BufferContent::Empty)
    });
    wiring.finish(&["a0", &format!("a{n}")])
}

fn alternator(n: usize) -> Connector {
    let mut wiring = Wiring::new("alternator");
    sync(&mut wiring, "p1", "x1");
    for i in 2..=n {
        let ends = [ChannelEnd::reads(&format!("p{}", i - 1)), ChannelEnd::reads(&format!("p{i}"))];
        wiring.add("syncdrain", &ends, |n, _| primitive::sync_drain(n[0], n[1]));
        sync(&mut wiring, &format!("p{i}"), &format!("x{i}"));
        fifo1(&mut wiring, &format!("x{i}"), &format!("x{}", i - 1), BufferContent::Empty);
    }
    let interface: Vec<String> = (1..=n).map(|i| format!("p{i}")).chain(["x1".into()]).collect();
    wiring.finish(&interface.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A ring of buffers, one of them full: p1 .. pn take turns.
fn sequencer(n: usize) -> Connector {
    let mut wiring = Wiring::new("sequencer");
    for i in 1..=n {
        fifo1(&mut wiring, &format!("x{i}"), &format!("x{}", i + 1), BufferContent::Empty);
        sync(&mut wiring, &format!("x{i}"), &format!("p{i}"));
    }
    fifo1(&mut wiring, &format!("x{}", n + 1), "x1", BufferContent::Unknown);
    let interface: Vec<String> = (1..=n).map(|i| format!("p{i}")).collect();
    wiring.finish(&interface.iter().map(String::as_str).collect::<Vec<_>>())
}

fn composed(connector: &Connector, minimise: Option<Equivalence>) -> Composed {
    let parts: Vec<&Automaton> = connector.parts.iter().map(|p| &p.automaton).collect();
    let options = StepwiseOptions { hidden: connector.inner(), minimise };
    compose(&parts, &options, &ProductLimits::memory(PLENTY)).unwrap()
}

fn size(composed: &Composed) -> (usize, usize) {
    (composed.automaton.states(), composed.automaton.transitions())
}

#[test]
fn chains_are_queues_and_never_large() {
    for n in [2, 3, 8, 64] {
        let composed = composed(&chain(n), Some(Equivalence::Weak));
        assert_eq!(size(&composed), (n + 1, 3 * n - 1), "{n}");
        assert!(composed.most_states <= 2 * n, "{} states on the way", composed.most_states);
    }
}

#[test]
fn the_alternator_has_as_many_states_as_inputs() {
    for n in [2, 3, 4, 8, 64] {
        let composed = composed(&alternator(n), Some(Equivalence::Weak));
        assert_eq!(size(&composed), (n, n), "{n}");
        assert!(composed.most_states <= 4 * n, "{} states on the way", composed.most_states);
    }
}

#[test]
fn the_sequencer_is_a_ring() {
    for n in [1, 2, 5, 30] {
        let composed = composed(&sequencer(n), Some(Equivalence::Weak));
        assert_eq!(size(&composed), (n, n), "{n}: {}", composed.automaton.transitions());
    }
}

#[test]
fn the_same_as_hiding_at_the_end() {
    for connector in [chain(4), alternator(4), sequencer(3)] {
        let end = composed(&connector, None).automaton.without_data();
        for kind in [Equivalence::Strong, Equivalence::Weak] {
            let pieces = composed(&connector, Some(kind)).automaton.without_data();
            let same = compare(&end, &pieces, kind, &ProductLimits::memory(PLENTY)).unwrap();
            assert!(
                matches!(same, BisimulationVerdict::Same { .. }),
                "{} {kind:?}: {same:?}",
                connector.name
            );
        }
    }
}
