//! Operations on bits, as far as they are arithmetic. Numbers are in two's complement.

use super::{Poly, PolyTerms, WideInterval};

impl PolyTerms {
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

    /// `a & b`
    pub fn bit_and(&mut self, a: &Poly, b: &Poly) -> Poly {
        match (a.constant(), b.constant()) {
            (Some(x), Some(y)) => Poly::int(x & y),
            (Some(mask), None) => self.mask(b, mask),
            (None, Some(mask)) => self.mask(a, mask),
            (None, None) if a == b => a.clone(),
            (None, None) if self.both_truths(a, b) => self.and(a, b),
            (None, None) => {
                let range = self.not_negative_below(a).or(self.not_negative_below(b));
                let depends = self.depends(a).max(self.depends(b));
                self.leaf(range.unwrap_or(WideInterval::ALL), depends, Vec::new())
            }
        }
    }

    /// `a | b`
    pub fn bit_or(&mut self, a: &Poly, b: &Poly) -> Poly {
        match (a.constant(), b.constant()) {
            (Some(x), Some(y)) => return Poly::int(x | y),
            (Some(0), _) => return b.clone(),
            (_, Some(0)) => return a.clone(),
            _ if self.disjoint(a, b) || self.disjoint(b, a) => return self.add(a, b),
            _ => {}
        }
        if a.constant().is_none() && b.constant().is_none() && self.both_truths(a, b) {
            return self.or(a, b);
        }
        // a | b = a + b - (a & b)
        let both = self.bit_and(a, b);
        let sum = self.add(a, b);
        self.sub(&sum, &both)
    }

    /// `a ^ b`
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

    /// `~a`
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
        let range = self.interval(b);
        range.least >= 0 && range.greatest < 1 << zeros.min(62)
    }

    fn both_truths(&self, a: &Poly, b: &Poly) -> bool {
        WideInterval::TRUTH.covers(self.interval(a)) && WideInterval::TRUTH.covers(self.interval(b))
    }

    fn not_negative_below(&self, a: &Poly) -> Option<WideInterval> {
        let range = self.interval(a);
        (range.least >= 0).then(|| WideInterval::new(0, range.greatest))
    }
}
