//! Where offsets are the same, and where they never are.

use std::collections::{HashMap, HashSet};

use super::super::symbolic::{Atom, AtomKind, Leaf, Poly, PolyTerms, gcd};

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
    constant.checked_rem(difference.content()).unwrap_or(constant) == 0
}

/// Values of counters of closed loops with which one offset is another, by what they add to it.
pub(super) fn matched(
    terms: &mut PolyTerms,
    leaves: &[Leaf],
    at: &Poly,
    offset: &Poly,
) -> Option<HashMap<Atom, Poly>> {
    let (mut by, mut used) = (HashMap::new(), HashSet::<Atom>::new());
    for (k, leaf) in leaves.iter().enumerate() {
        let atom = terms.atom_of(*leaf)?;
        let (factor, _) = terms.linear(at, atom)?;
        if factor == Poly::int(0) {
            continue;
        }
        // A counter that moves it as much; for the last one that does, all of them.
        let like = |other: &&Leaf| {
            let other = terms.atom_of(**other).and_then(|other| terms.linear(at, other));
            other.is_some_and(|(own, _)| own == factor)
        };
        let more = leaves.iter().skip(k + 1).any(|other| like(&other));
        let most = if more { 1 } else { usize::MAX };
        let counters = terms.leaves(offset).into_iter().filter_map(|other| {
            let other = terms.atom_of(other)?;
            let (own, _) = terms.linear(offset, other)?;
            (own == factor && !used.contains(&other)).then_some(other)
        });
        let counters: Vec<Atom> = counters.take(most).collect();
        used.extend(&counters);
        let value = match counters.as_slice() {
            // An offset without a counter: the iteration is what is left of it.
            [] => {
                let (_, rest) = terms.linear(at, atom)?;
                let distance = terms.sub(offset, &rest);
                Poly::int(distance.constant()?.checked_div(factor.constant()?)?)
            }
            all => all.iter().fold(Poly::int(0), |sum, atom| terms.add(&sum, &Poly::atom(*atom))),
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

/// By how much a counter moves an offset, with its greatest value: as it is, or as its quotient by
/// a constant and the remainder, of which each pair is another counter.
pub(super) fn steps(
    terms: &mut PolyTerms,
    offset: &Poly,
    counter: Atom,
) -> Option<Vec<(Poly, i128)>> {
    let last = terms.interval(&Poly::atom(counter)).greatest;
    let growth = terms.growth(offset, counter);
    if !terms.has(&growth, counter) {
        return Some(vec![(growth, last)]);
    }
    if let Some(step) = step_of_quotient(terms, offset, counter) {
        return Some(vec![(step, last)]);
    }
    let (mut factors, mut divisor) = ([Poly::int(0), Poly::int(0), Poly::int(0)], None);
    let mut rest = offset.clone();
    let moving = offset.distinct_atoms();
    for atom in moving.into_iter().filter(|atom| terms.has(&Poly::atom(*atom), counter)) {
        let (kind, by) = match terms.kind(atom) {
            _ if atom == counter => (0, None),
            AtomKind::Quotient(of, by) if of.as_atom() == Some(counter) => (1, by.constant()),
            AtomKind::Remainder(of, by) if of.as_atom() == Some(counter) => (2, by.constant()),
            _ => return None,
        };
        if kind > 0 && (by.is_none_or(|by| by < 1) || divisor.is_some_and(|own| Some(own) != by)) {
            return None;
        }
        divisor = divisor.or(by);
        (factors[kind], rest) = rest.linear_in(atom)?;
    }
    let [whole, quotient, remainder] = factors;
    if [&whole, &quotient, &remainder].iter().any(|factor| terms.has(factor, counter)) {
        return None;
    }
    let divisor = divisor?;
    let of_quotient = quotient.add(&whole.scale(divisor)?)?;
    let divisor = i128::from(divisor);
    Some(vec![(whole.add(&remainder)?, last.min(divisor - 1)), (of_quotient, last / divisor)])
}

/// By how much a counter moves an offset that has it in one quotient by a constant alone, of what
/// it moves by a number that is not known before the launch; but for rounding, times the constant.
fn step_of_quotient(terms: &PolyTerms, offset: &Poly, counter: Atom) -> Option<Poly> {
    let atoms = offset.distinct_atoms().into_iter();
    let mut moving = atoms.filter(|atom| terms.has(&Poly::atom(*atom), counter));
    let (Some(quotient), None) = (moving.next(), moving.next()) else { return None };
    let AtomKind::Quotient(of, by) = terms.kind(quotient) else { return None };
    let ((factor, _), (step, rest)) = (offset.linear_in(quotient)?, of.linear_in(counter)?);
    let at_launch =
        |atom| matches!(terms.kind(atom), AtomKind::Name(name) if name.starts_with('$'));
    let evenly = by.constant()? > 0
        && step.atoms().any(at_launch)
        && ![&step, &rest, &factor].iter().any(|part| terms.has(part, counter));
    evenly.then(|| factor.mul(&step))?
}

/// A polynomial but for a factor of all its coefficients, and that factor; 0 of 0.
pub(super) fn unit(poly: &Poly) -> (Poly, i128) {
    let common = poly.terms().iter().fold(0, |common, (_, factor)| gcd(common, *factor));
    let negative = poly.terms().first().is_some_and(|(_, factor)| *factor < 0);
    let by = if negative { -common } else { common };
    let terms = poly.terms().iter().map(|(monomial, factor)| {
        Poly::term(monomial.clone(), factor.checked_div(by).unwrap_or(0))
    });
    let unit = terms.fold(Poly::int(0), |sum, term| sum.add(&term).unwrap_or(sum));
    (unit, common.into())
}
