//! How far apart the items of a group are in a number.
//!
//! What goes in: a number that rises or falls with local ids, as a sum or inside one quotient:
//! `ceil((n - lid) / TS)`. What comes out: its least and its greatest value in a group, which are
//! the same for all items of it, and how far these are apart at most; or nothing, where that cannot
//! be said, or is more than a few.

use std::collections::HashMap;

use super::symbolic::{Atom, AtomKind, Poly, PolyTerms};
use crate::steps::Dependence;

/// Farthest that the items of a group may be apart.
const FARTHEST: i128 = 8;

/// Between which numbers the items of a group are.
pub struct Band {
    /// The least.
    pub first: Poly,
    /// The greatest.
    pub last: Poly,
    /// How far the greatest is above the least at most.
    pub most: i64,
}

/// The band of a number.
pub fn band(terms: &mut PolyTerms, number: &Poly) -> Option<Band> {
    let differs = |terms: &PolyTerms, poly: &Poly| terms.depends(poly) != Dependence::Uniform;
    let mut parts: Vec<Atom> = number.atoms().filter(|a| differs(terms, &Poly::atom(*a))).collect();
    parts.sort_unstable();
    parts.dedup();
    // A quotient that is all that differs, or a plain sum.
    let (numerator, divisor, falls) = match parts.as_slice() {
        [one] => match terms.kind(*one).clone() {
            AtomKind::Quotient(a, d) => {
                let (factor, _) = number.linear_in(*one)?;
                let sign = factor.constant().filter(|f| f.abs() == 1)?;
                (a, d, sign < 0)
            }
            _ => (number.clone(), Poly::int(1), false),
        },
        _ => (number.clone(), Poly::int(1), false),
    };
    if differs(terms, &divisor) || terms.interval(&divisor).least < 1 {
        return None;
    }
    let (low, high) = ends(terms, &numerator)?;
    let value = |terms: &mut PolyTerms, by: &HashMap<Atom, Poly>| terms.substitute(number, by);
    let (first, last) = match falls {
        true => (value(terms, &high), value(terms, &low)),
        false => (value(terms, &low), value(terms, &high)),
    };
    // floor(a / d) - floor(b / d) is at most ceil((a - b) / d).
    let (a, b) = (terms.substitute(&numerator, &high), terms.substitute(&numerator, &low));
    let apart = terms.sub(&a, &b);
    let raised = terms.add(&apart, &divisor);
    let raised = terms.sub(&raised, &Poly::int(1));
    let steps = terms.quotient(&raised, &divisor);
    let most = terms.interval(&steps).greatest;
    let uniform = !differs(terms, &first) && !differs(terms, &last);
    let most = i64::try_from(most).ok().filter(|n| i128::from(*n) <= FARTHEST && uniform)?;
    Some(Band { first, last, most: most.max(0) })
}

/// Local ids for which a sum is least in a group, and for which it is greatest.
fn ends(terms: &PolyTerms, sum: &Poly) -> Option<(HashMap<Atom, Poly>, HashMap<Atom, Poly>)> {
    let (mut low, mut high) = (HashMap::new(), HashMap::new());
    let mut ids: Vec<Atom> = sum.atoms().collect();
    ids.sort_unstable();
    ids.dedup();
    for id in ids.into_iter().filter(|id| terms.info(*id).depends != Dependence::Uniform) {
        let AtomKind::Name(name) = terms.kind(id) else { return None };
        // A local id has one bound: the size of its group, less one.
        let greatest = terms.info(id).uppers.first().filter(|_| name.starts_with("$lid_"))?;
        let (factor, _) = sum.linear_in(id)?;
        let falling = factor.scale(-1)?;
        let (zero, greatest) = (Poly::int(0), greatest.clone());
        let (least, most) = match (terms.never_negative(&factor), terms.never_negative(&falling)) {
            (true, _) => (zero, greatest),
            (_, true) => (greatest, zero),
            _ => return None,
        };
        low.insert(id, least);
        high.insert(id, most);
    }
    Some((low, high))
}
