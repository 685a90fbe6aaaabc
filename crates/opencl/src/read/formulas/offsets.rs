//! Where offsets are the same, and where they never are.

use std::collections::HashMap;

use super::super::symbolic::{Atom, Leaf, Poly, PolyTerms, gcd};

/// Whether two offsets always differ.
pub(super) fn apart(terms: &PolyTerms, a: &Poly, b: &Poly) -> bool {
    a.sub(b).is_some_and(|difference| {
        let range = terms.interval(&difference);
        range.least > 0 || range.greatest < 0
    })
}

/// Whether two offsets in a private array, whose sizes are above 0, always differ.
pub(super) fn apart_inside(terms: &PolyTerms, a: &Poly, b: &Poly) -> bool {
    a.sub(b).is_some_and(|difference| {
        let range = terms.interval(&difference);
        let sizes = difference != Poly::int(0) && terms.leaves(&difference).is_empty();
        range.least > 0
            || range.greatest < 0
            || sizes && (range.least == 0 || range.greatest == 0)
            || !may_be_zero(&difference)
    })
}

/// Whether multiples of the factors of a polynomial may make up for its constant.
fn may_be_zero(difference: &Poly) -> bool {
    let constant = difference.constant_term();
    match difference.factors().fold(0, gcd) {
        0 => constant == 0,
        step => constant % step == 0,
    }
}

/// Values of counters of closed loops with which one offset is another, by what they add to it.
pub(super) fn matched(
    terms: &mut PolyTerms,
    leaves: &[Leaf],
    at: &Poly,
    offset: &Poly,
) -> Option<HashMap<Atom, Poly>> {
    let mut by = HashMap::new();
    for leaf in leaves {
        let atom = terms.atom_of(*leaf)?;
        let (factor, _) = terms.linear(at, atom)?;
        if factor == Poly::int(0) {
            continue;
        }
        let counter = terms.leaves(offset).into_iter().find_map(|other| {
            let other = terms.atom_of(other)?;
            let (own, _) = terms.linear(offset, other)?;
            (own == factor && !by.values().any(|used| *used == Poly::atom(other)))
                .then(|| Poly::atom(other))
        });
        let value = match counter {
            Some(counter) => counter,
            // An offset without a counter: the iteration is what is left of it.
            None => {
                let (_, rest) = terms.linear(at, atom)?;
                let distance = terms.sub(offset, &rest);
                Poly::int(distance.constant()?.checked_div(factor.constant()?)?)
            }
        };
        by.insert(atom, value);
    }
    (terms.substitute(at, &by) == *offset).then_some(by)
}

/// Whether a place is another one in each iteration of a loop.
pub(super) fn moves_evenly(terms: &PolyTerms, offset: &Poly, leaf: Leaf) -> bool {
    let factor = terms.atom_of(leaf).and_then(|atom| terms.linear(offset, atom));
    factor.is_some_and(|(factor, _)| factor != Poly::int(0))
}
