//! Quotients and remainders, rounded down and as C has them.

use super::poly::gcd;
use super::{AtomKind, Monomial, Poly, PolyTerms};

impl PolyTerms {
    /// Quotient rounded down; unknown for a divisor that may be negative.
    pub fn quotient(&mut self, a: &Poly, d: &Poly) -> Poly {
        match (a.constant(), d.constant()) {
            (_, Some(1)) => return a.clone(),
            (Some(0), _) => return Poly::int(0),
            (Some(x), Some(y)) if y > 0 => return Poly::int(x.div_euclid(y)),
            (_, Some(y)) if y <= 0 => return self.or_unknown(None, a, d),
            _ if a == d => return Poly::int(1),
            _ => {}
        }
        if !self.never_negative(d) {
            return self.or_unknown(None, a, d);
        }
        let (whole, rest) = match d.as_term() {
            Some((monomial, coefficient)) => a.split((monomial, coefficient)),
            None => (Poly::int(0), a.clone()),
        };
        let small = self.small_quotient(&rest, d);
        self.add(&whole, &small)
    }

    /// Quotient rounded up, for a divisor of at least 1.
    pub fn ceil_quotient(&mut self, a: &Poly, d: &Poly) -> Poly {
        let raised = self.add(a, d);
        let raised = self.sub(&raised, &Poly::int(1));
        self.quotient(&raised, d)
    }

    fn small_quotient(&mut self, a: &Poly, d: &Poly) -> Poly {
        if self.never_negative(a) && self.less_always(a, d) {
            return Poly::int(0);
        }
        let sum = a.add(d);
        if self.negative_always(a) && sum.is_some_and(|s| self.never_negative(&s)) {
            return Poly::int(-1);
        }
        let (a, d) = self.cancel(a, d);
        if d == Poly::int(1) {
            return a;
        }
        if let Some(AtomKind::Quotient(inner, by)) = self.kind_of(&a).cloned() {
            // floor(floor(x / b) / d) = floor(x / (b d))
            if let Some(product) = by.mul(&d) {
                return self.quotient(&inner, &product);
            }
        }
        let interval = self.interval(&a).quotient(self.interval(&d));
        let likely = self.likely(&a).quotient(self.likely(&d));
        self.composed(AtomKind::Quotient(a, d), interval, likely)
    }

    /// Divides both by what both have in common and is at least 1.
    fn cancel(&self, a: &Poly, d: &Poly) -> (Poly, Poly) {
        let common = gcd(gcd(a.content(), a.constant_term()), gcd(d.content(), d.constant_term()));
        let (mut a, mut d) = (a.clone(), d.clone());
        if common > 1 {
            (a, d) = (a.split((&Monomial::new(), common)).0, d.split((&Monomial::new(), common)).0);
        }
        while let Some(atom) = self.common_atom(&[&a, &d]) {
            (a, d) = (a.split((&atom, 1)).0, d.split((&atom, 1)).0);
        }
        (a, d)
    }

    /// An atom that is at least 1 and that divides all of these.
    pub(super) fn common_atom(&self, polys: &[&Poly]) -> Option<Monomial> {
        let first = polys.iter().flat_map(|p| p.terms()).next()?;
        let mut candidates = first.0.iter().filter(|a| self.info(**a).interval.least >= 1);
        candidates
            .find(|a| polys.iter().flat_map(|p| p.terms()).all(|(m, _)| m.contains(a)))
            .map(|a| Monomial::from_slice(&[*a]))
    }

    /// Remainder of the quotient rounded down.
    pub fn remainder(&mut self, a: &Poly, d: &Poly) -> Poly {
        match (a.constant(), d.constant()) {
            (_, Some(1)) => return Poly::int(0),
            (Some(x), Some(y)) if y > 0 => return Poly::int(x.rem_euclid(y)),
            (_, Some(y)) if y <= 0 => return self.or_unknown(None, a, d),
            _ if a == d => return Poly::int(0),
            _ => {}
        }
        if !self.never_negative(d) {
            return self.or_unknown(None, a, d);
        }
        let rest = match d.as_term() {
            Some((monomial, coefficient)) => a.split((monomial, coefficient)).1,
            None => a.clone(),
        };
        if self.never_negative(&rest) && self.less_always(&rest, d) {
            return rest;
        }
        if let Some(AtomKind::Remainder(inner, by)) = self.kind_of(&rest).cloned()
            && let Some((monomial, coefficient)) = d.as_term()
            && by.split((monomial, coefficient)).1 == Poly::int(0)
        {
            return self.remainder(&inner, d);
        }
        let interval = self.interval(&rest).remainder(self.interval(d));
        let likely = self.likely(&rest).remainder(self.likely(d));
        self.composed(AtomKind::Remainder(rest, d.clone()), interval, likely)
    }

    /// C's quotient, rounded towards zero.
    pub fn truncated_quotient(&mut self, a: &Poly, d: &Poly) -> Poly {
        self.by_signs(a, d, |terms, a, d| terms.quotient(a, d), true)
    }

    /// C's remainder, with the sign of the left operand.
    pub fn truncated_remainder(&mut self, a: &Poly, d: &Poly) -> Poly {
        self.by_signs(a, d, |terms, a, d| terms.remainder(a, d), false)
    }

    /// Makes operands non-negative; `both`: the result changes its sign with either of them.
    fn by_signs(
        &mut self,
        a: &Poly,
        d: &Poly,
        f: fn(&mut PolyTerms, &Poly, &Poly) -> Poly,
        both: bool,
    ) -> Poly {
        if self.never_negative(d) {
            return self.by_signs_of_left(a, d, f);
        }
        if !self.negative_always(d) {
            return self.or_unknown(None, a, d);
        }
        let negated = self.neg(d);
        let other = self.by_signs_of_left(a, &negated, f);
        if both { self.neg(&other) } else { other }
    }

    fn by_signs_of_left(
        &mut self,
        a: &Poly,
        d: &Poly,
        f: fn(&mut PolyTerms, &Poly, &Poly) -> Poly,
    ) -> Poly {
        if self.never_negative(a) {
            return f(self, a, d);
        }
        let negative = self.negative(a);
        let negated = self.neg(a);
        let other = f(self, &negated, d);
        let other = self.neg(&other);
        let usual = f(self, a, d);
        self.choice(&negative, &other, &usual)
    }
}
