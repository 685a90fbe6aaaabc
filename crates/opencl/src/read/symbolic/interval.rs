//! Intervals of integers, for knowing signs and which comparisons always hold.

/// All integers from `least` to `greatest`. Bounds beyond [`FAR`] mean: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WideInterval {
    pub least: i128,
    pub greatest: i128,
}

/// Where bounds end: results are clamped to it, so nothing overflows.
pub const FAR: i128 = 1 << 100;

impl WideInterval {
    pub const ALL: WideInterval = WideInterval { least: -FAR, greatest: FAR };
    pub const TRUTH: WideInterval = WideInterval { least: 0, greatest: 1 };

    pub fn new(least: impl Into<i128>, greatest: impl Into<i128>) -> WideInterval {
        let clamp = |v: i128| v.clamp(-FAR, FAR);
        WideInterval { least: clamp(least.into()), greatest: clamp(greatest.into()) }
    }

    pub fn point(value: i64) -> WideInterval {
        WideInterval::new(value, value)
    }

    #[cfg(test)]
    pub fn contains(&self, value: i64) -> bool {
        (self.least..=self.greatest).contains(&i128::from(value))
    }

    pub fn covers(&self, other: WideInterval) -> bool {
        self.least <= other.least && other.greatest <= self.greatest
    }

    pub fn add(self, other: WideInterval) -> WideInterval {
        WideInterval::new(self.least + other.least, self.greatest + other.greatest)
    }

    pub fn mul(self, other: WideInterval) -> WideInterval {
        self.corners(other, i128::saturating_mul)
    }

    /// Floor quotients for the part of the divisor that is at least 1.
    pub fn quotient(self, divisor: WideInterval) -> WideInterval {
        if divisor.greatest < 1 {
            return WideInterval::ALL;
        }
        let divisor = WideInterval { least: divisor.least.max(1), ..divisor };
        self.corners(divisor, i128::div_euclid)
    }

    /// Floor remainders for the part of the divisor that is at least 1.
    pub fn remainder(self, divisor: WideInterval) -> WideInterval {
        let greatest = (divisor.greatest - 1).max(0);
        let own = self.least >= 0 && divisor.greatest >= 1;
        WideInterval::new(0, if own { greatest.min(self.greatest) } else { greatest })
    }

    /// Both and what is between.
    pub fn union(self, other: WideInterval) -> WideInterval {
        WideInterval::new(self.least.min(other.least), self.greatest.max(other.greatest))
    }

    /// What is in both; the first where that is nothing.
    pub fn meet(self, other: WideInterval) -> WideInterval {
        let least = self.least.max(other.least);
        let greatest = self.greatest.min(other.greatest);
        if least <= greatest { WideInterval { least, greatest } } else { self }
    }

    /// What lies between the values at the ends.
    fn corners(self, other: WideInterval, f: impl Fn(i128, i128) -> i128) -> WideInterval {
        let at = |a: i128| (f(a, other.least), f(a, other.greatest));
        let ((a, b), (c, d)) = (at(self.least), at(self.greatest));
        WideInterval::new(a.min(b).min(c).min(d), a.max(b).max(c).max(d))
    }
}
