//! Numbers of the profile `resources`: at most 63 bits, or none.

use std::ops::{Add, Mul, Sub};

/// A number of at most 63 bits, or none after an overflow or a division by 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Int(pub Option<i64>);

impl Int {
    pub fn of(n: i64) -> Int {
        Int(Some(n))
    }

    fn with(self, other: Int, of: impl Fn(i64, i64) -> Option<i64>) -> Int {
        Int(self.0.zip(other.0).and_then(|(a, b)| of(a, b)))
    }

    pub fn floor(self, by: Int) -> Int {
        self.with(by, i64::checked_div_euclid)
    }

    pub fn ceil(self, by: Int) -> Int {
        self.with(by, |a, b| Some(a.checked_div(b)? + i64::from(a % b != 0)))
    }

    pub fn min(self, other: Int) -> Int {
        self.with(other, |a, b| Some(a.min(b)))
    }

    pub fn max(self, other: Int) -> Int {
        self.with(other, |a, b| Some(a.max(b)))
    }
}

impl Add for Int {
    type Output = Int;
    fn add(self, other: Int) -> Int {
        self.with(other, i64::checked_add)
    }
}

impl Sub for Int {
    type Output = Int;
    fn sub(self, other: Int) -> Int {
        self.with(other, i64::checked_sub)
    }
}

impl Mul for Int {
    type Output = Int;
    fn mul(self, other: Int) -> Int {
        self.with(other, i64::checked_mul)
    }
}
