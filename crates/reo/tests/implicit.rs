//! The product that is not made, against the definition and against closed forms.

use crate::families;

use std::sync::atomic::AtomicBool;

use families::{apart, by_definition, chain, family};
use num_bigint::BigUint;
use proptest::prelude::*;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::product::implicit::{Implicit, ProductStep, StateError};
use tickbound_reo::symbol::{NameId, Symbols};

const MEMORY: ProductLimits<'static> =
    ProductLimits { memory: 1 << 26, stop: &NEVER, progress: &|_| {} };
static NEVER: AtomicBool = AtomicBool::new(false);

fn two_to(n: usize) -> BigUint {
    BigUint::from(1u32) << n
}

/// The state with a number, the last factor's state as ones.
fn state_of(implicit: &Implicit, number: u32) -> Vec<u32> {
    let mut rest = number;
    let mut state: Vec<u32> = Vec::new();
    for factor in implicit.factors().iter().rev() {
        state.insert(0, rest % factor.states() as u32);
        rest /= factor.states() as u32;
    }
    state
}

/// The row of a product state by the definition.
fn defined(product: &Automaton, implicit: &Implicit, state: u32) -> Vec<ProductStep> {
    let steps = product.steps(state).filter(|step| !product.is_idle(step));
    let steps = steps.map(|step| ProductStep {
        label: step.label.to_vec(),
        constraint: product.constraint(&step).clone(),
        to: state_of(implicit, step.to),
    });
    sorted(steps.collect())
}

fn sorted(mut steps: Vec<ProductStep>) -> Vec<ProductStep> {
    steps.sort_unstable();
    steps.dedup();
    steps
}

fn check(family: Vec<Automaton>) {
    let product = by_definition(&family);
    let plain: Vec<Automaton> = family.iter().map(Automaton::without_data).collect();
    let counted = by_definition(&plain).without_idle();
    let implicit = Implicit::new(family);
    assert_eq!(implicit.alphabet(), product.alphabet());
    assert_eq!(implicit.contents(), product.contents());
    assert_eq!(implicit.states(), BigUint::from(product.states()));
    let transitions = implicit.transitions(&MEMORY).unwrap();
    assert_eq!(transitions, BigUint::from(counted.transitions()));
    assert_eq!(implicit.algebraic(&MEMORY).unwrap(), transitions + implicit.states());
    let initial: Vec<Vec<u32>> = implicit.initial().collect();
    let defined_initial = product.initial().iter().map(|number| state_of(&implicit, *number));
    assert_eq!(initial, defined_initial.collect::<Vec<_>>());
    for number in 0..product.states() as u32 {
        let state = state_of(&implicit, number);
        let row = sorted(implicit.row(&state).unwrap().collect());
        assert_eq!(row, defined(&product, &implicit, number), "state {state:?}");
    }
}

#[test]
fn buffers_that_share_nothing() {
    for n in [1, 2, 10, 64, 3000] {
        let product = Implicit::new(apart(&mut Symbols::new(), n));
        assert_eq!(product.states(), two_to(n));
        assert_eq!(product.algebraic(&MEMORY).unwrap(), two_to(2 * n));
        assert_eq!(product.transitions(&MEMORY).unwrap(), two_to(2 * n) - two_to(n));
    }
}

#[test]
fn chains() {
    // Algebraic transitions of the full product of n buffers in a row, T(n): 4, 10, 24, 58, 140,
    // ... Of n buffers, let u steps leave the last name quiet and f fire it. One more buffer idles
    // in either state where the last name was quiet and takes where it fired: u' = 2 u + f; or it
    // gives where the last name was quiet: f' = u.
    let (mut quiet, mut fires) = (BigUint::from(3u32), BigUint::from(1u32));
    for n in 1..=1500 {
        if n <= 5 || n == 1500 {
            let product = Implicit::new(chain(&mut Symbols::new(), n));
            assert_eq!(product.algebraic(&MEMORY).unwrap(), &quiet + &fires, "{n}");
        }
        (quiet, fires) = (&quiet * 2u32 + &fires, quiet);
    }
}

#[test]
fn a_ring_and_a_hub() {
    let mut symbols = Symbols::new();
    let mut buffers = |n: usize, ends: &dyn Fn(usize) -> (String, String)| -> Vec<Automaton> {
        let mut buffer = |i: usize| {
            let (a, b) = ends(i);
            let (a, b) = (symbols.name(&a), symbols.name(&b));
            primitive::fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty)
        };
        (0..n).map(&mut buffer).collect()
    };
    // A ring of three, by hand: state 000 or 111 idles; any other can move on what has room.
    let ring = |n: usize| move |i: usize| (format!("r{i}"), format!("r{}", (i + 1) % n));
    check(buffers(3, &ring(3)));
    check(buffers(5, &ring(5)));
    let large = Implicit::new(buffers(1000, &ring(1000)));
    assert_eq!(large.states(), two_to(1000));
    assert!(large.transitions(&MEMORY).unwrap() > two_to(1000));
    // One source that fills n buffers at once: 2^n states of idling buffers, each of which may
    // also give: 3 choices without the source, 1 with it.
    let n = 400;
    let mut all = buffers(n, &|i| (format!("h{i}"), format!("out{i}")));
    let (source, ends): (NameId, Vec<NameId>) =
        (symbols.name("source"), (0..n).map(|i| symbols.name(&format!("h{i}"))).collect());
    all.push(primitive::replicator(source, &ends));
    let hub = Implicit::new(all);
    let expected = BigUint::from(3u32).pow(n as u32) + 1u32;
    assert_eq!(hub.algebraic(&MEMORY).unwrap(), expected);
}

#[test]
fn constraints_are_joined() {
    let mut symbols = Symbols::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|word| symbols.name(word));
    let (even, m) = (symbols.intern("even"), symbols.cell("m"));
    check(vec![
        primitive::filter(a, b, even),
        primitive::fifo1(b, c, m, BufferContent::Constant(even)),
        primitive::lossy_sync(c, d),
    ]);
    let n = symbols.cell("n");
    check(vec![
        primitive::replicator(a, &[b, c]),
        primitive::shift_lossy_fifo1(b, d, m),
        primitive::variable(c, d, n, BufferContent::Unknown),
    ]);
    let product = Implicit::new(vec![primitive::filter(a, b, even), primitive::sync(b, c)]);
    let texts: Vec<String> =
        product.row(&[0, 0]).unwrap().map(|step| step.constraint.text(&symbols)).collect();
    assert_eq!(texts, ["!even(a)", "a = b & b = c & even(a)"]);
}

#[test]
fn what_is_refused() {
    let product = Implicit::new(apart(&mut Symbols::new(), 2));
    let length = StateError::Length { found: 1, factors: 2 };
    assert_eq!(product.row(&[0]).unwrap_err(), length);
    let outside = StateError::State { factor: 1, state: 2, states: 2 };
    assert_eq!(product.row(&[0, 2]).unwrap_err(), outside);
    let shared = Implicit::new(chain(&mut Symbols::new(), 3));
    let small = shared.transitions(&ProductLimits::memory(200)).unwrap_err();
    assert!(matches!(small, Stopped::Memory { limit: 200, .. }), "{small}");
    let stop = AtomicBool::new(true);
    let stopped = shared.transitions(&ProductLimits { stop: &stop, ..MEMORY });
    assert_eq!(stopped, Err(Stopped::Interrupted));
}

#[test]
fn nothing() {
    let product = Implicit::new(Vec::new());
    assert_eq!(product.states(), BigUint::from(1u32));
    assert_eq!(product.transitions(&MEMORY).unwrap(), BigUint::ZERO);
    assert_eq!(product.row(&[]).unwrap().count(), 0);
    assert_eq!(product.initial().collect::<Vec<_>>(), [Vec::<u32>::new()]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn as_defined(family in family(1..=4, true)) {
        check(family);
    }
}
