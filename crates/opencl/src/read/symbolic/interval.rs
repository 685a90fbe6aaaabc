//! Intervals of integers, for knowing signs and which comparisons always hold.

/// All integers from `least` to `greatest`. Bounds beyond [`FAR`] mean: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WideInterval {
    /// The least.
    pub least: i128,
    /// The greatest.
    pub greatest: i128,
}

/// Where bounds end: results are clamped to it, so nothing overflows.
pub const FAR: i128 = 1 << 100;

impl WideInterval {
    /// Everything.
    pub const ALL: WideInterval = WideInterval { least: -FAR, greatest: FAR };
    /// Truth values.
    pub const TRUTH: WideInterval = WideInterval { least: 0, greatest: 1 };

    /// From one bound to another.
    pub fn new(least: impl Into<i128>, greatest: impl Into<i128>) -> WideInterval {
        let clamp = |v: i128| v.clamp(-FAR, FAR);
        WideInterval { least: clamp(least.into()), greatest: clamp(greatest.into()) }
    }

    /// A single number.
    pub fn point(value: i64) -> WideInterval {
        WideInterval::new(value, value)
    }

    /// Whether a number is in it.
    #[cfg(test)]
    pub fn contains(&self, value: i64) -> bool {
        (self.least..=self.greatest).contains(&i128::from(value))
    }

    /// Whether all of another lies in it.
    pub fn covers(&self, other: WideInterval) -> bool {
        self.least <= other.least && other.greatest <= self.greatest
    }

    /// Sums.
    pub fn add(self, other: WideInterval) -> WideInterval {
        WideInterval::new(self.least + other.least, self.greatest + other.greatest)
    }

    /// Products.
    pub fn mul(self, other: WideInterval) -> WideInterval {
        let corners = self.corners(other, i128::saturating_mul);
        WideInterval::hull(&corners)
    }

    /// Floor quotients, as far as the divisor is at least 1.
    pub fn quotient(self, divisor: WideInterval) -> WideInterval {
        if divisor.greatest < 1 {
            return WideInterval::ALL;
        }
        let divisor = WideInterval { least: divisor.least.max(1), ..divisor };
        WideInterval::hull(&self.corners(divisor, i128::div_euclid))
    }

    /// Floor remainders, as far as the divisor is at least 1.
    pub fn remainder(self, divisor: WideInterval) -> WideInterval {
        let greatest = (divisor.greatest - 1).max(0);
        if self.least >= 0 && divisor.greatest >= 1 {
            WideInterval::new(0, greatest.min(self.greatest))
        } else {
            WideInterval::new(0, greatest)
        }
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

    fn corners(self, other: WideInterval, f: impl Fn(i128, i128) -> i128) -> [i128; 4] {
        [
            f(self.least, other.least),
            f(self.least, other.greatest),
            f(self.greatest, other.least),
            f(self.greatest, other.greatest),
        ]
    }

    fn hull(corners: &[i128; 4]) -> WideInterval {
        let least = corners.iter().copied().min().unwrap_or(-FAR);
        let greatest = corners.iter().copied().max().unwrap_or(FAR);
        WideInterval::new(least, greatest)
    }
}
