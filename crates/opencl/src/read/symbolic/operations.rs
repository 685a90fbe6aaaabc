//! Arithmetic, comparisons, truth values, choices, and arithmetic on bits.
//!
//! Numbers are in two's complement.

use super::{AtomKind, Monomial, Poly, PolyTerms, WideInterval};
use crate::steps::Dependence;

impl PolyTerms {
    pub fn add(&mut self, a: &Poly, b: &Poly) -> Poly {
        let sum = a.add(b);
        self.or_unknown(sum, a, b)
    }

    pub fn sub(&mut self, a: &Poly, b: &Poly) -> Poly {
        let difference = a.sub(b);
        self.or_unknown(difference, a, b)
    }

    pub fn mul(&mut self, a: &Poly, b: &Poly) -> Poly {
        let product = a.mul(b);
        self.or_unknown(product, a, b)
    }

    pub fn neg(&mut self, a: &Poly) -> Poly {
        let negated = a.scale(-1);
        self.or_unknown(negated, a, a)
    }

    /// A new leaf where there is no result.
    pub(super) fn or_unknown(&mut self, result: Option<Poly>, a: &Poly, b: &Poly) -> Poly {
        let depends = |terms: &PolyTerms| terms.depends(a).max(terms.depends(b));
        result.unwrap_or_else(|| self.unknown(depends(self)))
    }

    /// The value without factors that are at least 1.
    fn without_common(&self, poly: &Poly) -> Poly {
        let mut poly = poly.clone();
        while let Some(atom) = self.common_atom(&[&poly]) {
            poly = poly.split((&atom, 1)).0;
        }
        poly
    }

    /// 1 if the value is less than zero.
    pub fn negative(&mut self, poly: &Poly) -> Poly {
        if self.negative_always(poly) {
            return Poly::int(1);
        }
        if self.never_negative(poly) {
            return Poly::int(0);
        }
        let mut poly = self.without_common(poly);
        let common = poly.content();
        if common > 1 {
            // g q + c < 0 exactly if q + floor(c / g) < 0
            let constant = poly.constant_term();
            let rest = poly.sub(&Poly::int(constant)).unwrap_or_default();
            let quotient = rest.split((&Monomial::new(), common)).0;
            if let Some(reduced) = quotient.add(&Poly::int(constant.div_euclid(common))) {
                poly = reduced;
            }
        }
        self.composed(AtomKind::Negative(poly), WideInterval::TRUTH, WideInterval::TRUTH)
    }

    pub fn less(&mut self, a: &Poly, b: &Poly) -> Poly {
        let difference = self.sub(a, b);
        self.negative(&difference)
    }

    pub fn zero(&mut self, poly: &Poly) -> Poly {
        if let Some(value) = poly.constant() {
            return Poly::int(i64::from(value == 0));
        }
        let negated = poly.scale(-1).unwrap_or_default();
        if self.negative_always(poly) || self.negative_always(&negated) {
            return Poly::int(0);
        }
        if self.is_truth(poly) {
            return self.not(poly);
        }
        let mut poly = self.without_common(poly);
        let (common, constant) = (poly.content(), poly.constant_term());
        if common > 1 && constant % common != 0 {
            return Poly::int(0);
        }
        if common > 1 {
            poly = poly.split((&Monomial::new(), common)).0;
        }
        let last = poly.terms().last().map_or(0, |(_, coefficient)| *coefficient);
        if last < 0 {
            poly = poly.scale(-1).unwrap_or(poly);
        }
        self.composed(AtomKind::Zero(poly), WideInterval::TRUTH, WideInterval::TRUTH)
    }

    pub fn equal(&mut self, a: &Poly, b: &Poly) -> Poly {
        let difference = self.sub(a, b);
        self.zero(&difference)
    }

    /// Whether the value is 0 or 1 for certain.
    fn is_truth(&self, poly: &Poly) -> bool {
        WideInterval::TRUTH.covers(self.interval(poly))
    }

    /// 1 unless the value is zero.
    pub fn truth(&mut self, poly: &Poly) -> Poly {
        if self.is_truth(poly) {
            return poly.clone();
        }
        let zero = self.zero(poly);
        self.not(&zero)
    }

    pub fn not(&mut self, truth: &Poly) -> Poly {
        if let Some(AtomKind::Negative(poly)) = self.kind_of(truth).cloned()
            && let Some(other) = poly.scale(-1).and_then(|p| p.sub(&Poly::int(1)))
        {
            return self.negative(&other);
        }
        self.sub(&Poly::int(1), truth)
    }

    pub fn and(&mut self, a: &Poly, b: &Poly) -> Poly {
        match (a.constant(), b.constant()) {
            (Some(0), _) | (_, Some(0)) => return Poly::int(0),
            (Some(_), _) => return b.clone(),
            (_, Some(_)) => return a.clone(),
            _ if a == b => return a.clone(),
            _ => {}
        }
        self.composed(AtomKind::And(a.clone(), b.clone()), WideInterval::TRUTH, WideInterval::TRUTH)
    }

    pub fn or(&mut self, a: &Poly, b: &Poly) -> Poly {
        match (a.constant(), b.constant()) {
            (Some(0), _) => return b.clone(),
            (_, Some(0)) => return a.clone(),
            (Some(_), _) | (_, Some(_)) => return Poly::int(1),
            _ if a == b => return a.clone(),
            _ => {}
        }
        self.composed(AtomKind::Or(a.clone(), b.clone()), WideInterval::TRUTH, WideInterval::TRUTH)
    }

    /// `a` if the truth value holds, otherwise `b`. What both have in common stands outside.
    pub fn choice(&mut self, condition: &Poly, a: &Poly, b: &Poly) -> Poly {
        match condition.constant() {
            Some(0) => return b.clone(),
            Some(_) => return a.clone(),
            None if a == b => return a.clone(),
            None => {}
        }
        let (common, a, b) = common_part(a, b);
        let choice = match (a.constant(), b.constant()) {
            (Some(1), Some(0)) => condition.clone(),
            (Some(0), Some(1)) => self.not(condition),
            _ => {
                let interval = self.interval(&a).union(self.interval(&b));
                let likely = self.likely(&a).union(self.likely(&b));
                self.composed(AtomKind::Choice(condition.clone(), a, b), interval, likely)
            }
        };
        self.add(&common, &choice)
    }

    pub fn min(&mut self, a: &Poly, b: &Poly) -> Poly {
        self.extreme(a, b, true)
    }

    pub fn max(&mut self, a: &Poly, b: &Poly) -> Poly {
        self.extreme(a, b, false)
    }

    /// The lesser or the greater of two. What both have in common stands outside.
    fn extreme(&mut self, a: &Poly, b: &Poly, lesser: bool) -> Poly {
        if self.at_most_always(a, b) {
            return if lesser { a.clone() } else { b.clone() };
        }
        if self.at_most_always(b, a) {
            return if lesser { b.clone() } else { a.clone() };
        }
        let kind = if lesser { AtomKind::Min } else { AtomKind::Max };
        let of = if lesser { i128::min } else { i128::max };
        let (common, a, b) = common_part(a, b);
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let range = |x: WideInterval, y: WideInterval| {
            WideInterval::new(of(x.least, y.least), of(x.greatest, y.greatest))
        };
        let interval = range(self.interval(&a), self.interval(&b));
        let likely = range(self.likely(&a), self.likely(&b));
        let extreme = self.composed(kind(a, b), interval, likely);
        self.add(&common, &extreme)
    }

    pub fn at_most_always(&self, a: &Poly, b: &Poly) -> bool {
        b.sub(a).is_some_and(|d| self.never_negative(&d))
    }

    /// Two to the power of a number; unknown if it may be negative or above 62.
    pub fn power_of_two(&mut self, exponent: &Poly) -> Poly {
        let interval = self.interval(exponent);
        if let Some(value) = exponent.constant().filter(|v| (0..=62).contains(v)) {
            return Poly::int(1 << value);
        }
        if !self.never_negative(exponent) || interval.greatest > 62 {
            let depends = self.depends(exponent);
            return self.unknown(depends);
        }
        let power = |v: i128| 1i128 << v.clamp(0, 62);
        let range = WideInterval::new(power(interval.least), power(interval.greatest));
        self.composed(AtomKind::Power(exponent.clone()), range, range)
    }

    pub fn unknown_truth(&mut self, depends: Dependence) -> Poly {
        self.leaf(WideInterval::TRUTH, depends)
    }

    /// `a << s` for a shift below 63.
    pub fn shift_left(&mut self, a: &Poly, s: &Poly) -> Poly {
        let power = self.power_of_two(s);
        self.mul(a, &power)
    }

    /// `a >> s` with copies of the sign.
    pub fn shift_right(&mut self, a: &Poly, s: &Poly) -> Poly {
        let power = self.power_of_two(s);
        self.quotient(a, &power)
    }

    pub fn bit_and(&mut self, a: &Poly, b: &Poly) -> Poly {
        match (a.constant(), b.constant()) {
            (Some(x), Some(y)) => Poly::int(x & y),
            (Some(mask), None) => self.mask(b, mask),
            (None, Some(mask)) => self.mask(a, mask),
            (None, None) if a == b => a.clone(),
            (None, None) if self.is_truth(a) && self.is_truth(b) => self.and(a, b),
            (None, None) => {
                let range = self.not_negative_below(a).or(self.not_negative_below(b));
                let depends = self.depends(a).max(self.depends(b));
                self.leaf(range.unwrap_or(WideInterval::ALL), depends)
            }
        }
    }

    pub fn bit_or(&mut self, a: &Poly, b: &Poly) -> Poly {
        match (a.constant(), b.constant()) {
            (Some(x), Some(y)) => return Poly::int(x | y),
            (Some(0), _) => return b.clone(),
            (_, Some(0)) => return a.clone(),
            _ if self.disjoint(a, b) || self.disjoint(b, a) => return self.add(a, b),
            _ => {}
        }
        if a.constant().is_none() && b.constant().is_none() && self.is_truth(a) && self.is_truth(b)
        {
            return self.or(a, b);
        }
        self.note_joined(a, b);
        self.note_joined(b, a);
        // a | b = a + b - (a & b)
        let both = self.bit_and(a, b);
        let sum = self.add(a, b);
        self.sub(&sum, &both)
    }

    pub fn bit_xor(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let (Some(x), Some(y)) = (a.constant(), b.constant()) {
            return Poly::int(x ^ y);
        }
        // a ^ b = a + b - 2 (a & b)
        let both = self.bit_and(a, b);
        let both = self.mul(&both, &Poly::int(2));
        let sum = self.add(a, b);
        self.sub(&sum, &both)
    }

    pub fn complement(&mut self, a: &Poly) -> Poly {
        self.sub(&Poly::int(-1), a)
    }

    /// `a & mask`, one run of ones after the other.
    fn mask(&mut self, a: &Poly, mask: i64) -> Poly {
        if mask < 0 {
            // a & m = a - (a & ~m)
            let rest = self.mask(a, !mask);
            return self.sub(a, &rest);
        }
        let (mut left, mut result) = (mask, Poly::int(0));
        while left != 0 {
            let from = left.trailing_zeros();
            let length = (left >> from).trailing_ones();
            let shifted = self.quotient(a, &Poly::int(1 << from));
            let bits = self.remainder(&shifted, &Poly::int(1i64.wrapping_shl(length)));
            let bits = self.mul(&bits, &Poly::int(1 << from));
            result = self.add(&result, &bits);
            left = if from + length >= 63 { 0 } else { left >> (from + length) << (from + length) };
        }
        result
    }

    /// Whether `a` is a multiple of a power of two that `b`, not negative, is below.
    fn disjoint(&self, a: &Poly, b: &Poly) -> bool {
        let coefficients = a.terms().iter().map(|(_, coefficient)| coefficient.trailing_zeros());
        let Some(zeros) = coefficients.min() else { return false };
        let within = |range: WideInterval| range.least >= 0 && range.greatest < 1 << zeros.min(62);
        let local = |atom| matches!(self.kind(atom), AtomKind::Name(n) if n.starts_with("$lid_"));
        within(self.interval(b)) || b.atoms().all(local) && within(self.in_launch(b, &self.launch))
    }

    /// Notes of `a | b`, where `b` is a local id, the most items of a group for which it is a sum.
    fn note_joined(&mut self, a: &Poly, b: &Poly) {
        let coefficients = a.terms().iter().map(|(_, coefficient)| coefficient.trailing_zeros());
        let id = |d: &usize| b.as_atom().is_some_and(|atom| self.find("lid", *d) == Some(atom));
        if let (Some(zeros), Some(d)) = (coefficients.min(), (0..3).find(id)) {
            let items = self.joined.entry(d).or_insert(i64::MAX);
            *items = (*items).min(1 << zeros.min(62));
        }
    }

    fn not_negative_below(&self, a: &Poly) -> Option<WideInterval> {
        let range = self.interval(a);
        (range.least >= 0).then(|| WideInterval::new(0, range.greatest))
    }
}

/// The terms that two polynomials share, and what is left of each.
fn common_part(a: &Poly, b: &Poly) -> (Poly, Poly, Poly) {
    let shared = a.terms().iter().filter(|(monomial, coefficient)| {
        b.terms().iter().any(|(m, c)| m == monomial && c == coefficient)
    });
    let common = shared.fold(Poly::default(), |sum, (monomial, coefficient)| {
        sum.add(&Poly::term(monomial.clone(), *coefficient)).unwrap_or(sum)
    });
    match (a.sub(&common), b.sub(&common)) {
        (Some(x), Some(y)) => (common, x, y),
        _ => (Poly::default(), a.clone(), b.clone()),
    }
}
