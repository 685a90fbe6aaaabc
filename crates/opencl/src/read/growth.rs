//! What values grow by where something in them grows by one.

use std::collections::HashMap;

use super::symbolic::{Atom, AtomKind, Poly, PolyTerms};

/// The atom of a name that was made before.
pub fn name(terms: &PolyTerms, name: &str) -> Option<Atom> {
    terms.find_name(name).and_then(|name| name.as_atom())
}

/// What a value grows by if the atom grows by one.
pub fn growth(terms: &mut PolyTerms, poly: &Poly, atom: Atom) -> Poly {
    let mut sum = Poly::int(0);
    for (monomial, coefficient) in poly.terms() {
        let mut moving = monomial.clone();
        moving.retain(|a| has(terms, &Poly::atom(*a), atom));
        let term = Poly::term(monomial.clone(), *coefficient);
        let more = match moving.as_slice() {
            [] => continue,
            [one] => {
                let step = atom_growth(terms, *one, atom);
                match term.linear_in(*one) {
                    Some((factor, _)) => terms.mul(&factor, &step),
                    None => shifted(terms, &term, atom),
                }
            }
            _ => shifted(terms, &term, atom),
        };
        sum = terms.add(&sum, &more);
    }
    sum
}

fn atom_growth(terms: &mut PolyTerms, of: Atom, atom: Atom) -> Poly {
    match terms.kind(of).clone() {
        AtomKind::Choice(c, a, b) if !has(terms, &c, atom) => {
            let (a, b) = (growth(terms, &a, atom), growth(terms, &b, atom));
            terms.choice(&c, &a, &b)
        }
        _ => shifted(terms, &Poly::atom(of), atom),
    }
}

/// The value for an atom that is greater by one, less the value as it is.
fn shifted(terms: &mut PolyTerms, poly: &Poly, atom: Atom) -> Poly {
    let next = terms.add(&Poly::atom(atom), &Poly::int(1));
    let moved = terms.substitute(poly, &HashMap::from([(atom, next)]));
    terms.sub(&moved, poly)
}

/// Whether the atom, a name or a leaf, is in the value.
pub fn has(terms: &PolyTerms, poly: &Poly, atom: Atom) -> bool {
    match terms.kind(atom) {
        AtomKind::Leaf(leaf) => terms.mentions(poly, *leaf),
        _ => terms.names(poly).contains(&atom),
    }
}
