//! Distances between the addresses of neighbouring items and of neighbouring iterations.
//!
//! Where distances differ, [`interior`] takes addresses as most items have them, away from borders,
//! without what concerns at most a ninth of the values: `x[max(i - 1, 0)]`, `x[(i + 1) % n]` and
//! `x[i == 0 ? 0 : i - 1]` are `x[i - 1]` and `x[i + 1]` but for one item of a row. It serves
//! distances between neighbours, which are estimates; counts of accesses do not rest on it.

use std::collections::HashMap;

use super::nodes::Reach;
use super::symbolic::{Atom, AtomKind, Leaf, Monomial, Poly, PolyTerms, WideInterval};
use crate::ast::AddressSpace;
use crate::steps::{Dependence, Stride, SymbolExpr};

/// Between neighbouring items in dimension 0.
pub fn items(terms: &mut PolyTerms, reach: &Reach) -> Stride {
    // What has no name may differ between items, unless it is the same for the whole group.
    match terms.depends(&reach.offset) {
        Dependence::Data => return Stride::Data,
        Dependence::Item if differs_unnamed(terms, &reach.offset) => return Stride::Irregular,
        _ => {}
    }
    let atom = terms.find("lid", 0);
    regular(terms, reach, Neighbours::Items, |terms, reach| stride(terms, reach, atom))
}

/// A distance, as most items have it where it is not the same for all of them.
fn regular(
    terms: &mut PolyTerms,
    reach: &Reach,
    of: Neighbours,
    between: impl Fn(&mut PolyTerms, &Reach) -> Stride,
) -> Stride {
    match between(terms, reach) {
        Stride::Irregular => {
            let offset = interior(terms, &reach.offset, of);
            between(terms, &reach.at(offset))
        }
        stride => stride,
    }
}

/// Of a private array: 0 if the place follows from macros and from the counters of loops around, so
/// that the compiler knows it where these are unrolled.
pub fn own(terms: &PolyTerms, reach: &Reach) -> Stride {
    let at_run_time =
        |atom: &Atom| matches!(terms.kind(*atom), AtomKind::Name(name) if name.starts_with('$'));
    let counter = |leaf: &Leaf| reach.iterations.iter().any(|(own, _)| own == leaf);
    let known = terms.leaves(&reach.offset).iter().all(counter)
        && !terms.names(&reach.offset).iter().any(at_run_time);
    if known { Stride::Elements(SymbolExpr::Int(0)) } else { Stride::Irregular }
}

/// Whether an address is the same for all items of the group, or of the launch.
pub fn is_shared(terms: &PolyTerms, space: AddressSpace, offset: &Poly) -> bool {
    let of_group = |atom: &Atom| (0..3).any(|d| terms.find("group", d) == Some(*atom));
    // What has no name may differ between groups.
    let of_launch = || terms.leaves(offset).is_empty() && !terms.names(offset).iter().any(of_group);
    terms.depends(offset) == Dependence::Uniform && (space == AddressSpace::Local || of_launch())
}

/// Whether the distances are the same everywhere: no borders, and nothing that comes from data.
pub fn is_exact(terms: &mut PolyTerms, reach: &Reach) -> bool {
    let counter = |leaf: &Leaf| reach.iterations.iter().any(|(own, _)| own == leaf);
    // A summand that is not known is any constant.
    let known = |(monomial, _): &&(Monomial, i64)| match monomial.as_slice() {
        [one] => !matches!(terms.kind(*one), AtomKind::Leaf(leaf) if !counter(leaf)),
        _ => true,
    };
    let known = reach.offset.terms().iter().filter(known);
    let known: Option<Poly> = known
        .map(|(monomial, factor)| Poly::term(monomial.clone(), *factor))
        .try_fold(Poly::int(0), |sum, term| sum.add(&term));
    let Some(known) = known else { return false };
    let offset = unwrapped(terms, &known);
    !reach.maybe
        && terms.leaves(&offset).iter().all(counter)
        && interior(terms, &offset, Neighbours::Any) == offset
}

/// An offset without remainders of all numbers of a type: what wraps around is in no buffer.
fn unwrapped(terms: &mut PolyTerms, offset: &Poly) -> Poly {
    let wraps = |by: &Poly| by.constant().is_some_and(|by| by >= 1 << 31);
    let plain = |atom: Atom| match terms.kind(atom) {
        AtomKind::Remainder(inner, by) if wraps(by) => Some((atom, inner.clone())),
        _ => None,
    };
    let plain: HashMap<Atom, Poly> = offset.atoms().filter_map(plain).collect();
    if plain.is_empty() { offset.clone() } else { terms.substitute(offset, &plain) }
}

/// Between neighbouring groups, for each dimension.
pub fn groups(terms: &mut PolyTerms, reach: &Reach) -> Vec<Stride> {
    let reach = unscaled(terms, reach);
    let dimension = |d: usize| {
        let atom = terms.find("group", d);
        regular(terms, &reach, Neighbours::Any, |terms, reach| stride(terms, reach, atom))
    };
    (0..3).map(dimension).collect()
}

/// An access with 1 for each real number that a part of its address is multiplied by, as neighbours
/// of such a part are the same or next to each other, more or less.
pub fn unscaled(terms: &mut PolyTerms, reach: &Reach) -> Reach {
    let offset = unwrapped(terms, &reach.offset);
    reach.at(terms.unscaled(&offset))
}

/// Whether there is an atom in it that depends on the item and has no name.
fn differs_unnamed(terms: &PolyTerms, poly: &Poly) -> bool {
    poly.atoms().any(|atom| {
        let info = terms.info(atom);
        !info.leaves.is_empty() && info.depends != Dependence::Uniform && info.names.is_empty()
    })
}

/// The distance between iterations of a loop around.
pub fn between_iterations(terms: &mut PolyTerms, reach: &Reach, iteration: Leaf) -> Stride {
    // Leaves that came after the iteration may have another value in each, but for the counters of
    // loops further inside.
    let inside = |leaf: &Leaf| reach.iterations.iter().any(|(counter, _)| counter == leaf);
    if terms.leaves(&reach.offset).iter().any(|leaf| *leaf > iteration && !inside(leaf)) {
        if terms.depends(&reach.offset) != Dependence::Data {
            return Stride::Irregular;
        }
        let atom = terms.atom_of(iteration);
        let reach = unscaled(terms, reach);
        return match stride(terms, &reach, atom) {
            Stride::Elements(known) if known != SymbolExpr::Int(0) => Stride::Shifted(known),
            _ => Stride::Data,
        };
    }
    let atom = terms.atom_of(iteration);
    regular(terms, reach, Neighbours::Any, |terms, reach| stride(terms, reach, atom))
}

/// What the offset grows by, in elements, if the atom grows by one.
pub fn stride(terms: &mut PolyTerms, reach: &Reach, atom: Option<Atom>) -> Stride {
    let bytes = match atom {
        Some(atom) => terms.growth(&reach.offset, atom),
        None => Poly::int(0),
    };
    let element = (&Monomial::new(), i64::from(reach.element.max(1)));
    let (mut elements, mut rest) = bytes.split(element);
    if rest != Poly::int(0) {
        // A pitch in bytes is a multiple of elements for the values that it has.
        (elements, rest) = terms.with_only_values(&bytes).split(element);
    }
    // The distance is the same from wherever one starts.
    if rest != Poly::int(0) || atom.is_some_and(|atom| terms.has(&elements, atom)) {
        return Stride::Irregular;
    }
    terms.number(&elements).map_or(Stride::Irregular, Stride::Elements)
}

/// A border concerns at most one of this number of values beside those inside.
const BORDER: i128 = 8;

/// Which neighbours an offset is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbours {
    /// Items of a group: what is the same for all of them does not count.
    Items,
    /// Groups, or iterations.
    Any,
}

/// The offset with the value that most items have for each part that differs at a border.
pub fn interior(terms: &mut PolyTerms, offset: &Poly, of: Neighbours) -> Poly {
    let usual = offset.atoms().filter_map(|atom| Some((atom, usual_value(terms, atom, of)?)));
    let usual: HashMap<Atom, Poly> = usual.collect();
    if usual.is_empty() { offset.clone() } else { terms.substitute(offset, &usual) }
}

fn usual_value(terms: &mut PolyTerms, atom: Atom, of: Neighbours) -> Option<Poly> {
    match terms.kind(atom).clone() {
        AtomKind::Max(a, b) => unclamped(terms, (&a, &b), true, of),
        AtomKind::Min(a, b) => unclamped(terms, (&a, &b), false, of),
        AtomKind::Choice(condition, a, b) => {
            let side = if usual_truth(terms, &condition)? { a } else { b };
            Some(interior(terms, &side, of))
        }
        AtomKind::Zero(_) | AtomKind::Negative(_) | AtomKind::And(..) | AtomKind::Or(..) => {
            let truth = usual_truth(terms, &Poly::atom(atom))?;
            Some(Poly::int(i64::from(truth)))
        }
        AtomKind::Remainder(a, by) => {
            let inside = interior(terms, &a, of);
            (fits(terms, &a, &by) || same_row(terms, &inside, &by, of)).then_some(inside)
        }
        AtomKind::Quotient(a, by) => {
            let inside = interior(terms, &a, of);
            match fits(terms, &a, &by) {
                true => Some(Poly::int(0)),
                false if same_row(terms, &inside, &by, of) => {
                    Some(terms.unknown(Dependence::Uniform))
                }
                false => None,
            }
        }
        _ => None,
    }
}

/// Whether a value differs between items, groups or iterations, and not because of data.
fn moves(terms: &PolyTerms, poly: &Poly) -> bool {
    let place = |atom: &Atom| {
        let AtomKind::Name(name) = terms.kind(*atom) else { return false };
        name.starts_with("$lid_") || name.starts_with("$group_")
    };
    let moving = !terms.leaves(poly).is_empty() || terms.names(poly).iter().any(place);
    moving && terms.depends(poly) != Dependence::Data
}

/// Where a value lies in the launch.
fn range(terms: &PolyTerms, poly: &Poly) -> WideInterval {
    terms.in_launch(poly, &terms.launch)
}

/// Of the greater or the lesser of two, the moving one, if the other bounds it at a border only.
fn unclamped(
    terms: &mut PolyTerms,
    (a, b): (&Poly, &Poly),
    greater: bool,
    of: Neighbours,
) -> Option<Poly> {
    let (moving, bound) = match (moves(terms, a), moves(terms, b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return None,
    };
    let (of_moving, of_bound) = (range(terms, moving), range(terms, bound));
    let clamped = match greater {
        true => of_bound.greatest - of_moving.least,
        false => of_moving.greatest - of_bound.least,
    };
    is_border(clamped, of_moving).then(|| interior(terms, moving, of))
}

/// Whether `values` values of a range are few.
fn is_border(values: i128, of: WideInterval) -> bool {
    values.saturating_mul(BORDER) <= of.greatest - of.least
}

/// How a condition comes out but for a border.
pub fn usual_truth(terms: &mut PolyTerms, condition: &Poly) -> Option<bool> {
    if !moves(terms, condition) {
        return None;
    }
    match terms.kind_of(condition).cloned() {
        Some(AtomKind::Zero(p)) => is_border(1, range(terms, &p)).then_some(false),
        Some(AtomKind::Negative(p)) => {
            let within = range(terms, &p);
            let below = (-within.least).clamp(0, within.greatest - within.least + 1);
            let others = within.greatest - within.least + 1 - below;
            match (is_border(below, within), is_border(others, within)) {
                (true, _) => Some(false),
                (_, true) => Some(true),
                _ => None,
            }
        }
        Some(ref kind @ (AtomKind::And(ref a, ref b) | AtomKind::Or(ref a, ref b))) => {
            // One that fails decides `and`, one that holds `or`.
            let decides = matches!(kind, AtomKind::Or(..));
            match (usual_truth(terms, a), usual_truth(terms, b)) {
                (Some(one), _) | (_, Some(one)) if one == decides => Some(one),
                (Some(_), Some(_)) => Some(!decides),
                _ => None,
            }
        }
        Some(_) => None,
        None => {
            let negated = terms.not(condition);
            terms.kind_of(&negated)?;
            usual_truth(terms, &negated).map(|truth| !truth)
        }
    }
}

/// Whether a dividend is from 0 to below the divisor, but for a border.
fn fits(terms: &PolyTerms, dividend: &Poly, by: &Poly) -> bool {
    let (within, by) = (range(terms, dividend), terms.interval(by));
    let border = by.least / BORDER;
    let moving = moves(terms, dividend);
    moving && by.least > 1 && within.least >= -border && within.greatest < by.least + border
}

/// Whether the items of a group have dividends that are less than the divisor apart, so that they
/// lie in one row, or in two neighbouring ones.
fn same_row(terms: &mut PolyTerms, dividend: &Poly, by: &Poly, of: Neighbours) -> bool {
    if of != Neighbours::Items || !moves(terms, dividend) || terms.launch.is_empty() {
        return false;
    }
    let mut apart: i128 = 0;
    for d in 0..terms.launch.len() {
        let Some(lid) = terms.find("lid", d) else { continue };
        let step = terms.growth(dividend, lid);
        let step = terms.interval(&step);
        let step = step.greatest.abs().max(step.least.abs());
        apart += step.saturating_mul(i128::from(terms.launch[d].local - 1));
    }
    apart > 0 && apart < terms.interval(by).least
}
