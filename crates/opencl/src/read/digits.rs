//! How far the items of a group are apart, by the digits of their count.
//!
//! A digit for each dimension or, where an address has quotients and remainders of the count
//! of items, for each of these: `count % 32 / 4` and `count % 4` make it `warp * 32 + row * 4 +
//! column`.

use std::collections::HashMap;

use tickbound_expr::{BinaryOp, Function};

use super::nodes::Reach;
use super::strides::{Neighbours, interior, stride, unscaled};
use super::symbolic::{Atom, AtomKind, Poly, PolyTerms};
use crate::steps::{Dependence, Digit, Stride, SymbolExpr};

/// Where the items of a group, counted with dimension 0 fastest, are apart; `None` if that is not
/// the same everywhere.
pub fn digits(terms: &mut PolyTerms, reach: &Reach) -> Option<Vec<Digit>> {
    let reach = unscaled(terms, reach);
    let place = |d: usize| {
        let extent = SymbolExpr::Name(format!("$local_{d}"));
        Some(Place { atom: terms.find("lid", d)?, extent })
    };
    let dimensions: Vec<Place> = (0..3).filter_map(place).collect();
    let exact = |terms: &mut PolyTerms, reach: &Reach| {
        plain(terms, reach, &dimensions).or_else(|| divided(terms, reach, &dimensions))
    };
    exact(terms, &reach).or_else(|| {
        let offset = interior(terms, &reach.offset, Neighbours::Items);
        exact(terms, &reach.at(offset))
    })
}

/// A digit of the count of items: the atom that has its value, and how many values there are.
#[derive(Debug, Clone)]
struct Place {
    atom: Atom,
    extent: SymbolExpr,
}

fn plain(terms: &mut PolyTerms, reach: &Reach, places: &[Place]) -> Option<Vec<Digit>> {
    let mut digits = Vec::new();
    for Place { atom, extent } in places {
        let Stride::Elements(stride) = stride(terms, reach, Some(*atom)) else { return None };
        digits.push(Digit { stride, extent: extent.clone() });
    }
    Some(digits)
}

/// A part of the count of items: `count % below / from`.
struct Part {
    from: Poly,
    below: Option<Poly>,
}

/// The digits where the address has parts of the count.
fn divided(terms: &mut PolyTerms, reach: &Reach, dimensions: &[Place]) -> Option<Vec<Digit>> {
    let mut found = Vec::new();
    gather(terms, &reach.offset, &mut found)?;
    let count = found.first()?.1.clone();
    let weights = weights(&found)?;
    let by_item = |by: &Poly| dimensions.iter().any(|place| terms.has(by, place.atom));
    if found.iter().any(|(_, other, _)| *other != count) || weights.iter().any(by_item) {
        return None;
    }
    let (inside, outside) = counted(terms, &count, dimensions)?;
    let digits: Vec<Poly> = weights.iter().map(|_| terms.unknown(Dependence::Item)).collect();
    let mut replaced = HashMap::new();
    for (atom, _, part) in &found {
        replaced.insert(*atom, value(terms, part, &digits, &weights)?);
    }
    // The count itself: dimension 0 is what is left of it.
    let whole = Part { from: Poly::int(1), below: None };
    let whole = value(terms, &whole, &digits, &weights)?;
    let first = inside.first()?.atom;
    let others = terms.sub(&count, &Poly::atom(first));
    let own = terms.sub(&whole, &others);
    let offset = terms.substitute(&reach.offset, &replaced);
    let offset = terms.substitute(&offset, &HashMap::from([(first, own)]));
    if inside.iter().any(|place| terms.has(&offset, place.atom)) {
        return None;
    }
    let items = inside.into_iter().map(|place| place.extent);
    let items = items.reduce(|a, b| SymbolExpr::binary(BinaryOp::Mul, a, b))?;
    let extents = extents(terms, &weights, &items)?;
    let own = digits.iter().zip(extents);
    let own = own.map(|(digit, extent)| Some(Place { atom: digit.as_atom()?, extent }));
    let places: Vec<Place> = own.chain(outside.into_iter().map(Some)).collect::<Option<_>>()?;
    plain(terms, &reach.at(offset), &places)
}

/// The values that each digit has. The last row may not be whole, and may be the only one.
fn extents(terms: &PolyTerms, weights: &[Poly], items: &SymbolExpr) -> Option<Vec<SymbolExpr>> {
    let call = |function, a: SymbolExpr, b: SymbolExpr| SymbolExpr::Call(function, vec![a, b]);
    let each = weights.iter().enumerate().map(|(i, weight)| {
        let own = match weights.get(i + 1) {
            Some(next) => call(Function::Min, terms.number(next)?, items.clone()),
            None => items.clone(),
        };
        match i {
            0 => Some(own),
            _ => Some(call(Function::CeilDiv, own, terms.number(weight)?)),
        }
    });
    each.collect()
}

/// A part of the count by its digits, each of which counts for its weight.
fn value(terms: &mut PolyTerms, part: &Part, digits: &[Poly], weights: &[Poly]) -> Option<Poly> {
    let place = |of: &Poly| weights.iter().position(|weight| weight == of);
    let from = place(&part.from)?;
    let end = part.below.as_ref().map_or(Some(weights.len()), place)?;
    let mut sum = Poly::int(0);
    for i in from..end {
        let digit = terms.mul(&over(&weights[i], &part.from)?, &digits[i]);
        sum = terms.add(&sum, &digit);
    }
    Some(sum)
}

/// 1 and what the count is divided by, each a multiple of the one before.
fn weights(found: &[(Atom, Poly, Part)]) -> Option<Vec<Poly>> {
    let mut weights = vec![Poly::int(1)];
    for by in found.iter().flat_map(|(_, _, part)| [Some(&part.from), part.below.as_ref()]) {
        let Some(by) = by.filter(|by| !weights.contains(by)) else { continue };
        let greater = weights.iter().position(|weight| over(weight, by).is_some());
        weights.insert(greater.unwrap_or(weights.len()), by.clone());
    }
    weights.windows(2).all(|pair| over(&pair[1], &pair[0]).is_some()).then_some(weights)
}

/// `a / b`, if nothing is left.
fn over(a: &Poly, b: &Poly) -> Option<Poly> {
    if a == b {
        return Some(Poly::int(1));
    }
    let (quotient, rest) = a.split(b.as_term()?);
    (rest == Poly::int(0)).then_some(quotient)
}

/// Quotients and remainders of what differs between items: of which count, and which part.
fn gather(terms: &PolyTerms, poly: &Poly, found: &mut Vec<(Atom, Poly, Part)>) -> Option<()> {
    for atom in poly.atoms() {
        let is_item =
            |d: usize| terms.find("lid", d).is_some_and(|lid| terms.has(&Poly::atom(atom), lid));
        if terms.info(atom).depends != Dependence::Item && !(0..3).any(is_item) {
            continue;
        }
        match terms.kind(atom) {
            AtomKind::Quotient(..) | AtomKind::Remainder(..) => {
                let (count, part) = part(terms, &Poly::atom(atom))?;
                found.push((atom, count, part));
            }
            AtomKind::Choice(a, b, c) => {
                [a, b, c].into_iter().try_for_each(|p| gather(terms, p, found))?;
            }
            _ => {}
        }
    }
    Some(())
}

/// The count and the part of it that a value is; `None` where parts do not fit into each other.
fn part(terms: &PolyTerms, value: &Poly) -> Option<(Poly, Part)> {
    match terms.kind_of(value) {
        Some(AtomKind::Quotient(inner, by)) => {
            let (count, Part { from, below }) = part(terms, inner)?;
            let from = from.mul(by)?;
            let fits = below.as_ref().is_none_or(|below| over(below, &from).is_some());
            fits.then_some((count, Part { from, below }))
        }
        Some(AtomKind::Remainder(inner, by)) => {
            let (count, Part { from, below }) = part(terms, inner)?;
            let own = from.mul(by)?;
            let fits = below.is_none_or(|below| over(&below, &own).is_some());
            fits.then_some((count, Part { from, below: Some(own) }))
        }
        _ => Some((value.clone(), Part { from: Poly::int(1), below: None })),
    }
}

/// The dimensions that a value counts, `lid_0 + local_0 * lid_1 ...`, and the others.
fn counted(
    terms: &mut PolyTerms,
    count: &Poly,
    dimensions: &[Place],
) -> Option<(Vec<Place>, Vec<Place>)> {
    let mut rest = count.clone();
    let mut weight = Poly::int(1);
    for (d, place) in dimensions.iter().enumerate() {
        let (factor, others) = rest.linear_in(place.atom)?;
        if factor == Poly::int(0) {
            let inside = dimensions[..d].to_vec();
            return (d > 0 && rest == Poly::int(0)).then(|| (inside, dimensions[d..].to_vec()));
        }
        if factor != weight {
            return None;
        }
        rest = others;
        let size = terms.local_size(d)?;
        weight = terms.mul(&weight, &size);
    }
    (rest == Poly::int(0)).then(|| (dimensions.to_vec(), Vec::new()))
}
