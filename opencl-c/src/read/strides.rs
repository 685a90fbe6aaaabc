//! Distances between the addresses of neighbouring items and of neighbouring iterations.

use std::collections::HashMap;

use super::nodes::{Node, NodeKind, Reach};
use super::symbolic::{Atom, Kind, Leaf, Monomial, Poly, Terms};
use crate::steps::{Dependence, Stride};

/// Between neighbouring items in dimension 0.
pub fn items(terms: &mut Terms, reach: &Reach) -> Stride {
    // What has no name may differ between items, unless it is the same for the whole group.
    match terms.depends(&reach.offset) {
        Dependence::Data => return Stride::Data,
        Dependence::Item if differs_unnamed(terms, &reach.offset) => return Stride::Irregular,
        _ => {}
    }
    let atom = terms.find_name("$lid_0").and_then(|name| name.as_atom());
    stride(terms, reach, atom)
}

/// Whether there is an atom in it that depends on the item and cannot be said.
fn differs_unnamed(terms: &Terms, poly: &Poly) -> bool {
    poly.atoms().any(|atom| {
        let info = terms.info(atom);
        !info.leaves.is_empty() && info.depends != Dependence::Uniform && info.names.is_empty()
    })
}

/// Puts in the distance between iterations wherever no loop further inside has.
pub fn set_iterations(terms: &mut Terms, nodes: &mut [Node], iteration: Leaf) {
    for node in nodes {
        match &mut node.kind {
            NodeKind::Access(reach) if reach.iterations.is_none() => {
                reach.iterations = Some(between_iterations(terms, reach, iteration));
            }
            NodeKind::Repeat { body, .. } => set_iterations(terms, body, iteration),
            NodeKind::If { then, otherwise, .. } => {
                set_iterations(terms, then, iteration);
                set_iterations(terms, otherwise, iteration);
            }
            _ => {}
        }
    }
}

fn between_iterations(terms: &mut Terms, reach: &Reach, iteration: Leaf) -> Stride {
    // Leaves that came after the iteration may have another value in each.
    if terms.leaves(&reach.offset).iter().any(|leaf| *leaf > iteration) {
        let data = terms.depends(&reach.offset) == Dependence::Data;
        return if data { Stride::Data } else { Stride::Irregular };
    }
    let atom = terms.atom_of(iteration);
    stride(terms, reach, atom)
}

/// What the offset grows by, in elements, if the atom grows by one.
fn stride(terms: &mut Terms, reach: &Reach, atom: Option<Atom>) -> Stride {
    let bytes = match atom {
        Some(atom) => growth(terms, &reach.offset, atom),
        None => Poly::int(0),
    };
    let (elements, rest) = bytes.split((&Monomial::new(), i64::from(reach.element.max(1))));
    if rest != Poly::int(0) || !smooth(terms, &elements, atom) {
        return Stride::Irregular;
    }
    terms.number(&elements).map_or(Stride::Irregular, Stride::Elements)
}

/// What a value grows by if the atom grows by one.
fn growth(terms: &mut Terms, poly: &Poly, atom: Atom) -> Poly {
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

fn atom_growth(terms: &mut Terms, of: Atom, atom: Atom) -> Poly {
    match terms.kind(of).clone() {
        Kind::Choice(c, a, b) if !has(terms, &c, atom) => {
            let (a, b) = (growth(terms, &a, atom), growth(terms, &b, atom));
            terms.choice(&c, &a, &b)
        }
        _ => shifted(terms, &Poly::atom(of), atom),
    }
}

/// The value for an atom that is greater by one, less the value as it is.
fn shifted(terms: &mut Terms, poly: &Poly, atom: Atom) -> Poly {
    let next = terms.add(&Poly::atom(atom), &Poly::int(1));
    let moved = terms.substitute(poly, &HashMap::from([(atom, next)]));
    terms.sub(&moved, poly)
}

/// Whether the atom, a name or a leaf, is in the value.
fn has(terms: &Terms, poly: &Poly, atom: Atom) -> bool {
    match terms.kind(atom) {
        Kind::Leaf(leaf) => terms.mentions(poly, *leaf),
        _ => terms.names(poly).contains(&atom),
    }
}

/// Whether the distance is the same from wherever one starts.
fn smooth(terms: &Terms, poly: &Poly, atom: Option<Atom>) -> bool {
    atom.is_none_or(|atom| !has(terms, poly, atom))
}
