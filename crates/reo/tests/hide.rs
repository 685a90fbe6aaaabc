//! Hiding, with and without data, against known answers.

use crate::families::textbook;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::{BisimulationVerdict, Equivalence, compare, minimise};
use tickbound_reo::hide::{close, confluence, hide};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::symbol::{Cell, NameId, Symbols};

const PLENTY: u64 = 1 << 32;

fn chain(n: usize, symbols: &mut Symbols) -> (Vec<Automaton>, Vec<NameId>, Vec<Cell>) {
    let names: Vec<NameId> = (0..=n).map(|i| symbols.name(&format!("n{i:02}"))).collect();
    let cells: Vec<Cell> = (0..n).map(|i| symbols.cell(&format!("m{i:02}"))).collect();
    let fifo = |i: usize| primitive::fifo1(names[i], names[i + 1], cells[i], BufferContent::Empty);
    ((0..n).map(fifo).collect(), names, cells)
}

fn whole(parts: &[Automaton]) -> Automaton {
    let product = |a: Automaton, b: &Automaton| textbook::product(&a, b).reachable().0;
    let first = parts[0].clone();
    parts[1..].iter().fold(first, product)
}

#[test]
fn a_hidden_chain_is_a_queue() {
    let limits = ProductLimits::memory(PLENTY);
    for n in 2..=6 {
        let mut symbols = Symbols::new();
        let (parts, names, cells) = chain(n, &mut symbols);
        let hidden = hide(&whole(&parts), &names[1..n]);
        let reduced = confluence::reduce(&hidden);
        let least = minimise(reduced.clone(), Equivalence::Weak, &limits).unwrap();
        assert_eq!((least.states(), least.transitions()), (n + 1, 3 * n - 1), "{n} with data");
        // Data and all, it is the queue that the primitive describes.
        let queue = primitive::fifo(names[0], names[n], &cells);
        let same = compare(&least, &queue, Equivalence::Strong, &limits).unwrap();
        let blocks = n + 1;
        assert_eq!(
            same,
            BisimulationVerdict::Same { blocks },
            "{}\n{}",
            least.text(&symbols),
            queue.text(&symbols)
        );
        let plain = hidden.without_data();
        let weak = minimise(plain.clone(), Equivalence::Weak, &limits).unwrap();
        assert_eq!((weak.states(), weak.transitions()), (n + 1, 3 * n - 1), "{n} without data");
        let closed =
            minimise(close(&plain, &limits).unwrap(), Equivalence::Strong, &limits).unwrap();
        assert_eq!((closed.states(), closed.transitions()), (n + 1, 3 * n - 1), "{n} closed");
    }
}

#[test]
fn a_difference_is_a_play() {
    let limits = ProductLimits::memory(PLENTY);
    let mut symbols = Symbols::new();
    let (parts, names, _) = chain(3, &mut symbols);
    let three = hide(&whole(&parts), &names[1..3]).without_data();
    let two = primitive::fifo(names[0], names[3], &[symbols.cell("x"), symbols.cell("y")]);
    let verdict = compare(&three, &two.without_data(), Equivalence::Weak, &limits).unwrap();
    let BisimulationVerdict::Different(difference) = verdict else { panic!("3 places are not 2") };
    assert!(difference.left_only);
    let fired: Vec<Vec<NameId>> = difference.trace.into_iter().map(|(names, _)| names).collect();
    assert_eq!(fired, [[names[0]], [names[0]], [names[0]]]);
}
