//! Random families of small automata over shared names, and their product by the definition.

#![allow(dead_code)]

pub mod textbook;

use proptest::collection::vec;
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::constraint::DataConstraint;
use tickbound_reo::primitive::{BufferContent, fifo1};
use tickbound_reo::symbol::{NameId, Symbols};

/// Names of a family.
const NAMES: u32 = 5;

/// An automaton as plain numbers: states, names as bits, steps (from, names as bits, to).
#[derive(Debug, Clone)]
pub struct Spec {
    states: u32,
    names: u32,
    steps: Vec<(u32, u32, u32)>,
}

/// Some automaton of 1 to 3 states over some of five names. `silent`: with silent steps too.
fn spec(silent: bool) -> impl Strategy<Value = Spec> {
    (1..=3u32, 0..1u32 << NAMES).prop_flat_map(move |(states, names)| {
        let step = (0..states, any::<u32>(), 0..states);
        vec(step, 0..7).prop_map(move |steps| {
            let cut = steps.into_iter().map(|(p, fire, q)| (p, fire & names, q));
            let steps = cut.filter(|(_, fire, _)| silent || *fire != 0).collect();
            Spec { states, names, steps }
        })
    })
}

/// Some automata over shared names.
pub fn family(
    size: impl Into<proptest::collection::SizeRange>,
    silent: bool,
) -> impl Strategy<Value = Vec<Automaton>> {
    vec(spec(silent), size).prop_map(|specs| specs.iter().map(build).collect())
}

/// The same automaton each time.
fn build(spec: &Spec) -> Automaton {
    let mut symbols = Symbols::new();
    let all: Vec<NameId> = (0..NAMES).map(|n| symbols.name(&n.to_string())).collect();
    let some = |bits: u32| -> Vec<NameId> {
        (0..NAMES).filter(|n| bits >> n & 1 == 1).map(|n| all[n as usize]).collect()
    };
    let mut builder = AutomatonBuilder::over(some(spec.names), spec.states as usize, vec![0]);
    for (from, fire, to) in &spec.steps {
        builder.step(*from, &some(*fire), DataConstraint::default(), *to);
    }
    builder.finish().unwrap()
}

/// The product by the definition, from the left.
pub fn by_definition(family: &[Automaton]) -> Automaton {
    let mut parts = family.iter();
    let first = parts.next().unwrap().clone();
    parts.fold(first, |left, right| textbook::product(&left, right))
}

/// Buffers that share nothing.
pub fn apart(symbols: &mut Symbols, n: usize) -> Vec<Automaton> {
    let mut buffer = |i: usize| {
        let (a, b) = (symbols.name(&format!("a{i}")), symbols.name(&format!("b{i}")));
        fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty)
    };
    (0..n).map(&mut buffer).collect()
}

/// Buffers in a row: what leaves one enters the next in the same step.
pub fn chain(symbols: &mut Symbols, n: usize) -> Vec<Automaton> {
    let mut buffer = |i: usize| {
        let (a, b) = (symbols.name(&format!("c{i}")), symbols.name(&format!("c{}", i + 1)));
        fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty)
    };
    (0..n).map(&mut buffer).collect()
}
