//! Addresses as most items have them, away from borders.
//!
//! At a border, clamped and wrapped indices differ from those of all other items.
//! `x[max(i - 1, 0)]`, `x[(i + 1) % n]` and `x[i == 0 ? 0 : i - 1]` are `x[i - 1]` and `x[i + 1]`
//! but for one item of a row. What goes in: an offset, and the bounds of the launch. What comes
//! out: the offset without what concerns at most a ninth of the values. It serves distances between
//! neighbours, which are estimates; counts of accesses do not rest on it.

use std::collections::HashMap;

use super::symbolic::{Atom, AtomKind, Poly, PolyTerms, WideInterval};
use crate::steps::Dependence;

/// A border concerns at most one of so many values beside those inside.
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
    let mut usual = HashMap::new();
    for atom in offset.atoms() {
        if let Some(value) = usual_value(terms, atom, of) {
            usual.insert(atom, value);
        }
    }
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

/// Of the greater or the lesser of two, the one that moves, if the other bounds it at a border
/// only.
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

/// Whether so many values of a range are few.
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
        Some(AtomKind::And(a, b)) => match (usual_truth(terms, &a), usual_truth(terms, &b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Some(AtomKind::Or(a, b)) => match (usual_truth(terms, &a), usual_truth(terms, &b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
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
