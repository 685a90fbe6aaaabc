//! The product of two automata as it is defined: the oracle of the engines.
//!
//! All pairs of states, each pair of steps compared name by name; no cleverness, so that one can
//! see that it is right. Quadratic in everything.

use tickbound_reo::automaton::{Automaton, AutomatonBuilder, Transition};
use tickbound_reo::symbol::NameId;

/// The full product of two automata: state (p, q) has number `p * right.states() + q`.
///
/// Joint steps of silent steps are left out: the same is done in sequence.
pub fn product(left: &Automaton, right: &Automaton) -> Automaton {
    let names = left.alphabet().iter().chain(right.alphabet()).copied();
    let number = |p: u32, q: u32| p * right.states() as u32 + q;
    let initial = left.initial().iter().flat_map(|p| right.initial().iter().map(move |q| (p, q)));
    let initial = initial.map(|(p, q)| number(*p, *q)).collect();
    let mut builder = AutomatonBuilder::over(names, left.states() * right.states(), initial);
    builder.contents(left.contents().iter().chain(right.contents()).copied());
    for p in 0..left.states() as u32 {
        for q in 0..right.states() as u32 {
            for a in left.steps(p).filter(|a| fires_none_of(left, a, right.alphabet())) {
                let fire: Vec<NameId> = left.fires(&a).collect();
                builder.step(number(p, q), &fire, left.constraint(&a).clone(), number(a.to, q));
            }
            for b in right.steps(q).filter(|b| fires_none_of(right, b, left.alphabet())) {
                let fire: Vec<NameId> = right.fires(&b).collect();
                builder.step(number(p, q), &fire, right.constraint(&b).clone(), number(p, b.to));
            }
            for a in left.steps(p) {
                for b in right.steps(q).filter(|b| agree(left, &a, right, b)) {
                    let fire: Vec<NameId> = left.fires(&a).chain(right.fires(&b)).collect();
                    let both = left.constraint(&a).and(right.constraint(&b));
                    builder.step(number(p, q), &fire, both, number(a.to, b.to));
                }
            }
        }
    }
    builder.finish().expect("fits together")
}

fn fires_none_of(automaton: &Automaton, step: &Transition, names: &[NameId]) -> bool {
    automaton.fires(step).all(|name| names.binary_search(&name).is_err())
}

fn agree(left: &Automaton, a: &Transition, right: &Automaton, b: &Transition) -> bool {
    let in_left: Vec<NameId> = left.fires(a).collect();
    let in_right: Vec<NameId> = right.fires(b).collect();
    if in_left.is_empty() || in_right.is_empty() {
        return false;
    }
    let shared = |name: &&NameId| right.alphabet().contains(name);
    left.alphabet().iter().filter(shared).all(|n| in_left.contains(n) == in_right.contains(n))
}
