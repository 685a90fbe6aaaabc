//! What is known to hold.
//!
//! Facts of the path, bounds of atoms, and what follows from them; where values lie in the launches
//! of a problem whose sizes are known.

use std::collections::BTreeSet;

use super::terms::DEPTH;
use super::{Atom, AtomKind, Monomial, Poly, PolyTerms, WideInterval};
use crate::request::LaunchBound;

/// Most atoms of a value whose sign is sought by bounds of its atoms: that takes as long as the
/// number of atoms to the power of the depth. What hash functions compute has hundreds.
const MAX_ATOMS: usize = 32;

impl PolyTerms {
    /// How many facts there are; for [`PolyTerms::forget`].
    pub fn facts(&self) -> usize {
        self.facts.len()
    }

    /// Takes for granted that a value is less than zero, unless that is clear.
    fn fact(&mut self, below_zero: Poly) {
        if !self.negative_always(&below_zero) {
            self.last_fact += 1;
            self.facts.push((below_zero, self.last_fact));
        }
    }

    /// Takes a truth value for granted from here on.
    pub fn assume(&mut self, condition: &Poly) {
        match self.kind_of(condition).cloned() {
            Some(AtomKind::Negative(poly)) => self.fact(poly),
            Some(AtomKind::And(a, b)) => {
                self.assume(&a);
                self.assume(&b);
            }
            Some(AtomKind::Zero(poly)) => {
                // poly - 1 < 0 and -poly - 1 < 0
                let below = poly.sub(&Poly::int(1));
                let above = poly.scale(-1).and_then(|p| p.sub(&Poly::int(1)));
                [below, above].into_iter().flatten().for_each(|p| self.fact(p));
            }
            Some(_) => {}
            None => self.assume_not_all(condition),
        }
    }

    /// `1 - atom`: neither of the sides of an `or`, and a number that is not zero next to zero.
    fn assume_not_all(&mut self, condition: &Poly) {
        let negated = Poly::int(1).sub(condition);
        match negated.and_then(|n| self.kind_of(&n).cloned()) {
            Some(AtomKind::Or(a, b)) => {
                let (a, b) = (self.not(&a), self.not(&b));
                self.assume(&a);
                self.assume(&b);
            }
            Some(AtomKind::Zero(poly)) => {
                let negative = poly.scale(-1);
                if self.never_negative(&poly) {
                    negative.into_iter().for_each(|p| self.fact(p)); // poly > 0
                } else if negative.as_ref().is_some_and(|n| self.never_negative(n)) {
                    self.fact(poly);
                }
            }
            _ => {}
        }
    }

    /// Forgets all but the first `keep` facts.
    pub fn forget(&mut self, keep: usize) {
        self.facts.truncate(keep);
    }

    pub fn negative_always(&self, poly: &Poly) -> bool {
        if self.below_zero(poly, DEPTH) {
            return true;
        }
        let Some((_, last)) = self.facts.last() else { return false };
        // The last fact determines which others there are: they come and go like a stack.
        let known =
            self.under_facts.borrow().get(poly).and_then(|(at, is)| (at == last).then_some(*is));
        known.unwrap_or_else(|| {
            let is = self.follows(poly);
            self.under_facts.borrow_mut().insert(poly.clone(), (*last, is));
            is
        })
    }

    /// Whether the value is below zero by a fact: from p < 0 follows q < 0 if q - p <= 0.
    fn follows(&self, poly: &Poly) -> bool {
        let near = self.near(poly);
        self.facts.iter().rev().any(|(fact, _)| {
            let related = fact.atoms().any(|atom| near.contains(&atom));
            related && {
                let rest = poly.sub(fact).and_then(|d| d.sub(&Poly::int(1)));
                rest.is_some_and(|rest| self.below_zero(&rest, 2))
            }
        })
    }

    /// The atoms of a value and of their bounds, and of the bounds of these.
    fn near(&self, poly: &Poly) -> BTreeSet<Atom> {
        let mut near: BTreeSet<Atom> = poly.atoms().collect();
        for _ in 0..2 {
            let uppers = near.iter().flat_map(|atom| &self.info(*atom).uppers);
            let more: Vec<Atom> = uppers.flat_map(Poly::atoms).collect();
            near.extend(more);
        }
        near
    }

    pub fn never_negative(&self, poly: &Poly) -> bool {
        let complement = poly.scale(-1).and_then(|p| p.sub(&Poly::int(1)));
        complement.is_some_and(|p| self.negative_always(&p))
    }

    pub fn less_always(&self, a: &Poly, b: &Poly) -> bool {
        a.sub(b).is_some_and(|d| self.negative_always(&d))
    }

    /// By intervals, and by putting bounds in the place of atoms.
    fn below_zero(&self, poly: &Poly, depth: usize) -> bool {
        if self.interval(poly).greatest < 0 {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let known = self.signs.borrow().get(poly).and_then(|signs| signs[depth]);
        known.unwrap_or_else(|| {
            let below = self.below_zero_by_bounds(poly, depth);
            self.signs.borrow_mut().entry(poly.clone()).or_default()[depth] = Some(below);
            below
        })
    }

    fn below_zero_by_bounds(&self, poly: &Poly, depth: usize) -> bool {
        let atoms = poly.distinct_atoms();
        if atoms.len() > MAX_ATOMS {
            return false;
        }
        atoms.iter().rev().any(|atom| {
            let Some((factor, rest)) = poly.linear_in(*atom) else { return false };
            if self.interval(&factor).least < 0 {
                return false;
            }
            self.info(*atom).uppers.iter().any(|upper| {
                let bound = factor.mul(upper).and_then(|p| p.add(&rest));
                bound.is_some_and(|bound| self.below_zero(&bound, depth - 1))
            })
        }) || atoms.iter().any(|atom| self.below_zero_by_division(poly, *atom, depth))
    }

    /// By putting `a` in the place of `(a // d) * d`, which does not exceed it.
    fn below_zero_by_division(&self, poly: &Poly, atom: Atom, depth: usize) -> bool {
        let AtomKind::Quotient(a, d) = self.kind(atom) else { return false };
        let Some((divisor, coefficient)) = d.as_term() else { return false };
        let mut product = divisor.clone();
        product.push(atom);
        product.sort_unstable();
        let (factor, rest) = poly.split((&product, coefficient));
        if factor == Poly::int(0) || self.interval(&factor).least < 0 || self.interval(d).least < 1
        {
            return false;
        }
        let bound = factor.mul(a).and_then(|p| p.add(&rest));
        bound.is_some_and(|bound| self.below_zero(&bound, depth - 1))
    }

    /// Where a value lies in a launch within these bounds. Numbers made of ids in another way than
    /// by sums and products are taken to be those of a launch of 2^16 items.
    pub fn in_launch(&self, poly: &Poly, bounds: &[LaunchBound]) -> WideInterval {
        let mut rest = poly.clone();
        let mut sum = WideInterval::point(0);
        for (d, bound) in bounds.iter().enumerate() {
            let Some(group) = self.find("group", d).map(Poly::atom) else { continue };
            let first = self.local_size(d).and_then(|local| group.mul(&local));
            // The first item of a group: the product is below the items of the launch, which its
            // factors by themselves are not.
            if let Some((monomial, coefficient)) = first.as_ref().and_then(Poly::as_term) {
                let (factor, left) = rest.split((monomial, coefficient));
                let items = WideInterval::new(0, (bound.items - 1).max(0));
                sum = sum.add(self.likely_in(&factor, bounds).mul(items));
                rest = left;
            }
        }
        sum.add(self.likely_in(&rest, bounds))
    }

    fn likely_in(&self, poly: &Poly, bounds: &[LaunchBound]) -> WideInterval {
        let term = |sum: WideInterval, (monomial, coefficient): &(Monomial, i64)| {
            let factors = monomial.iter().map(|atom| {
                let of = |(d, bound): (usize, &LaunchBound)| {
                    let names = [("group", bound.groups - 1), ("lid", bound.local - 1)];
                    let found =
                        names.into_iter().find(|(name, _)| self.find(name, d) == Some(*atom));
                    found.map(|(_, greatest)| WideInterval::new(0, greatest.max(0)))
                };
                let known = bounds.iter().enumerate().find_map(of);
                known.unwrap_or_else(|| self.likely(&Poly::atom(*atom)))
            });
            sum.add(factors.fold(WideInterval::point(*coefficient), WideInterval::mul))
        };
        poly.terms().iter().fold(WideInterval::point(0), term)
    }
}
