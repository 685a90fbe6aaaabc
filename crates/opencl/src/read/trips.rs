//! How many iterations a loop has.

use std::collections::HashMap;

use super::Reader;
use super::probe::{Change, Probe};
use super::scan::Loop;
use super::symbolic::{Atom, AtomKind, Leaf, Poly, PolyTerms, WideInterval};
use super::types::Integer;

/// The number of iterations 0, 1, ... before the first one in which the condition, a truth value
/// over the iteration, does not hold; `None` if it is not known.
pub fn trips(terms: &mut PolyTerms, condition: &Poly, iteration: Atom) -> Option<Poly> {
    if condition.constant() == Some(0) {
        return Some(Poly::int(0));
    }
    match terms.kind_of(condition).cloned() {
        Some(AtomKind::Negative(poly)) => {
            let (step, start) = terms.linear(&poly, iteration)?;
            let grows = step != Poly::int(0) && terms.never_negative(&step);
            grows.then(|| iterations_below(terms, &start, &step))
        }
        Some(AtomKind::And(a, b)) => both(terms, &a, &b, iteration),
        Some(AtomKind::Or(a, b)) => either(terms, &a, &b, iteration),
        Some(_) => None,
        None => {
            let zero = terms.not(condition);
            match terms.kind_of(&zero).cloned() {
                Some(AtomKind::Zero(poly)) => iterations_until(terms, &poly, iteration),
                Some(AtomKind::And(a, b)) => {
                    let (a, b) = (terms.not(&a), terms.not(&b));
                    either(terms, &a, &b, iteration)
                }
                _ => None,
            }
        }
    }
}

/// The iterations as long as one of two conditions holds: each of them once it failed stays so. One
/// that the iteration does not change does not hold in a loop that ends.
fn either(terms: &mut PolyTerms, a: &Poly, b: &Poly, iteration: Atom) -> Option<Poly> {
    match (terms.has(a, iteration), terms.has(b, iteration)) {
        (false, true) => trips(terms, b, iteration),
        (true, false) => trips(terms, a, iteration),
        (true, true) => {
            let (a, b) = (trips(terms, a, iteration)?, trips(terms, b, iteration)?);
            Some(terms.max(&a, &b))
        }
        (false, false) => None,
    }
}

/// How many iterations r there are with `start + step * r < 0`, where the step is positive.
fn iterations_below(terms: &mut PolyTerms, start: &Poly, step: &Poly) -> Poly {
    let distance = terms.neg(start);
    let count = terms.ceil_quotient(&distance, step);
    if terms.interval(step).least < 1 {
        // A step of zero is one of a loop that is not entered.
        let enters = terms.negative(start);
        return terms.choice(&enters, &count, &Poly::int(0));
    }
    if terms.never_negative(&distance) { count } else { terms.max(&Poly::int(0), &count) }
}

/// How many iterations r there are until `start + step * r = 0`, for a loop that ends.
fn iterations_until(terms: &mut PolyTerms, poly: &Poly, iteration: Atom) -> Option<Poly> {
    let (step, start) = terms.linear(poly, iteration)?;
    let negated = terms.neg(&step);
    if step == Poly::int(0) {
        return None;
    }
    if terms.never_negative(&step) {
        let distance = terms.neg(&start);
        return Some(terms.quotient(&distance, &step));
    }
    terms.never_negative(&negated).then(|| terms.quotient(&start, &negated))
}

/// The iterations as long as two conditions hold; one of them may not depend on the iteration.
fn both(terms: &mut PolyTerms, a: &Poly, b: &Poly, iteration: Atom) -> Option<Poly> {
    match (terms.has(a, iteration), terms.has(b, iteration)) {
        (true, true) => both_change(terms, a, b, iteration),
        (true, false) => both(terms, b, a, iteration),
        (false, true) => {
            let b = trips(terms, b, iteration)?;
            Some(terms.choice(a, &b, &Poly::int(0)))
        }
        (false, false) => None,
    }
}

/// The iterations as long as two conditions hold that both change with the iteration.
fn both_change(terms: &mut PolyTerms, a: &Poly, b: &Poly, iteration: Atom) -> Option<Poly> {
    for (one, other) in [(b, a), (a, b)] {
        if let Some((free, rest)) = with_free_side(terms, one, iteration) {
            let without = trips(terms, other, iteration)?;
            let with = both(terms, other, &rest, iteration)?;
            return Some(terms.choice(&free, &without, &with));
        }
    }
    let (p, other) = match (is_until(terms, a), is_until(terms, b)) {
        (Some(p), Some(q)) => {
            let (p, q) = (meets(terms, &p, iteration)?, meets(terms, &q, iteration)?);
            let first = up_to(terms, &p.1, &q);
            return Some(terms.choice(&p.0, &first, &q.1));
        }
        (Some(p), None) => (p, b),
        (None, Some(q)) => (q, a),
        (None, None) => return lesser(terms, a, b, iteration),
    };
    let (meets, count) = (meets(terms, &p, iteration)?, trips(terms, other, iteration)?);
    Some(up_to(terms, &count, &meets))
}

/// The lesser of the iterations of two conditions that stay false once they are.
fn lesser(terms: &mut PolyTerms, a: &Poly, b: &Poly, iteration: Atom) -> Option<Poly> {
    let first = HashMap::from([(iteration, Poly::int(0))]);
    let (first_a, first_b) = (terms.substitute(a, &first), terms.substitute(b, &first));
    let enters = terms.and(&first_a, &first_b);
    let (a, b) = (trips(terms, a, iteration)?, trips(terms, b, iteration)?);
    let least = terms.min(&a, &b);
    // Steps of zero are those of a loop that is not entered.
    Some(if safe(terms, &least) { least } else { terms.choice(&enters, &least, &Poly::int(0)) })
}

/// The polynomial of a condition that holds unless it is zero.
fn is_until(terms: &mut PolyTerms, condition: &Poly) -> Option<Poly> {
    let zero = terms.not(condition);
    match terms.kind_of(&zero) {
        Some(AtomKind::Zero(poly)) => Some(poly.clone()),
        _ => None,
    }
}

/// Whether there is an iteration in which the polynomial is zero, and which one.
fn meets(terms: &mut PolyTerms, poly: &Poly, iteration: Atom) -> Option<(Poly, Poly)> {
    let (step, start) = terms.linear(poly, iteration)?;
    let step = step.constant().filter(|step| *step != 0 && *step != i64::MIN)?;
    let distance = terms.mul(&start, &Poly::int(-step.signum()));
    let size = Poly::int(step.abs());
    let rest = terms.remainder(&distance, &size);
    let (whole, negative) = (terms.zero(&rest), terms.negative(&distance));
    let not_negative = terms.not(&negative);
    Some((terms.and(&not_negative, &whole), terms.quotient(&distance, &size)))
}

/// A number of iterations, unless another iteration that there may be ends the loop before.
fn up_to(terms: &mut PolyTerms, count: &Poly, (is, which): &(Poly, Poly)) -> Poly {
    let least = terms.min(count, which);
    terms.choice(is, &least, count)
}

/// `(a, b)` for a condition `a or b` whose first side does not depend on the iteration.
fn with_free_side(
    terms: &mut PolyTerms,
    condition: &Poly,
    iteration: Atom,
) -> Option<(Poly, Poly)> {
    let (a, b) = match terms.kind_of(condition).cloned() {
        Some(AtomKind::Or(a, b)) => (a, b),
        Some(_) => return None,
        None => {
            let negated = terms.not(condition);
            let Some(AtomKind::And(a, b)) = terms.kind_of(&negated).cloned() else { return None };
            (terms.not(&a), terms.not(&b))
        }
    };
    match (terms.has(&a, iteration), terms.has(&b, iteration)) {
        (false, true) => Some((a, b)),
        (true, false) => Some((b, a)),
        _ => None,
    }
}

/// Whether no quotient in the number has a divisor that may be zero.
fn safe(terms: &PolyTerms, poly: &Poly) -> bool {
    poly.atoms().all(|atom| match terms.kind(atom) {
        AtomKind::Quotient(a, d) | AtomKind::Remainder(a, d) => {
            terms.interval(d).least >= 1 && safe(terms, a) && safe(terms, d)
        }
        AtomKind::Min(a, b) | AtomKind::Max(a, b) => safe(terms, a) && safe(terms, b),
        AtomKind::Choice(_, a, b) => safe(terms, a) && safe(terms, b),
        _ => true,
    })
}

impl<'a> Reader<'a> {
    pub fn count(&mut self, l: &Loop<'a>, probe: &Probe) -> Option<Poly> {
        let range = WideInterval::new(0, i64::MAX);
        let leaf = self.terms.counter(range, WideInterval::new(0, 1 << 16), Vec::new());
        let iteration = leaf.as_atom()?;
        let condition = self.at_iteration(probe, &probe.condition, &leaf)?;
        let mut count = trips(&mut self.terms, &condition, iteration)?;
        if l.after {
            count = self.terms.add(&count, &Poly::int(1));
        }
        let fits = !self.terms.mentions_since(&count, probe.mark);
        (fits && self.ends_above_zero(probe, &count)).then_some(count)
    }

    /// The value with `start + step * iteration` for placeholders; `None` with other variables.
    fn at_iteration(&mut self, probe: &Probe, value: &Poly, iteration: &Poly) -> Option<Poly> {
        let mut by = HashMap::new();
        for (id, atom) in &probe.placeholders {
            let Some(start) = probe.start.values.get(id)?.number() else { continue };
            let value = match probe.changes.get(id) {
                Some(Change::By(step)) => {
                    let distance = self.terms.mul(step, iteration);
                    self.terms.add(start, &distance)
                }
                None => start.clone(),
                Some(_) => continue,
            };
            by.insert(*atom, value);
        }
        let value = self.terms.substitute(value, &by);
        let iteration = self.terms.leaves(iteration);
        let own = |leaf: &Leaf| *leaf >= probe.mark && !iteration.contains(leaf);
        (!self.terms.leaves(&value).iter().any(own)).then_some(value)
    }

    /// Whether no unsigned counter that the condition asks for falls below zero.
    fn ends_above_zero(&mut self, probe: &Probe, count: &Poly) -> bool {
        for (id, atom) in &probe.placeholders {
            let Some(Change::By(step)) = probe.changes.get(id) else { continue };
            let unsigned = self.type_of(*id).and_then(Integer::of).is_some_and(|i| !i.signed);
            let Some(start) = probe.start.int(*id) else { continue };
            let asked = self.terms.has(&probe.condition, *atom);
            if !unsigned || !asked || self.terms.never_negative(step) {
                continue;
            }
            let distance = self.terms.mul(step, count);
            let end = self.terms.add(start, &distance);
            if !self.terms.never_negative(&end) {
                return false;
            }
        }
        true
    }
}
