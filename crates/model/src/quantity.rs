//! Numbers or expressions over which the formulas of the profile `resources` are written.

/// Parts of a clock that times inside the profile are counted in.
pub const PARTS: i64 = 64;

/// What two quantities are combined by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantityOp {
    /// The sum.
    Plus,
    /// The difference.
    Minus,
    /// The product.
    Times,
    /// The quotient, rounded down.
    Floor,
    /// The quotient, rounded up.
    Ceil,
    /// The lesser.
    Min,
    /// The greater.
    Max,
}

/// A number or an expression.
pub trait Quantity: Clone + From<i64> {
    /// Both combined.
    fn combine(&self, op: QuantityOp, other: &Self) -> Self;

    /// `then` where this is at most `limit`, else `otherwise`.
    fn if_at_most(&self, limit: i64, then: &Self, otherwise: &Self) -> Self;

    /// Whether this is the number 0.
    fn is_zero(&self) -> bool;

    /// The sum with `other`.
    fn plus(&self, other: &Self) -> Self {
        self.combine(QuantityOp::Plus, other)
    }

    /// The difference to `other`.
    fn minus(&self, other: &Self) -> Self {
        self.combine(QuantityOp::Minus, other)
    }

    /// The product with `other`.
    fn times(&self, other: &Self) -> Self {
        self.combine(QuantityOp::Times, other)
    }

    /// The product with a number.
    fn by(&self, n: i64) -> Self {
        self.times(&n.into())
    }

    /// The quotient, rounded down.
    fn floor(&self, divisor: &Self) -> Self {
        self.combine(QuantityOp::Floor, divisor)
    }

    /// The quotient, rounded up.
    fn ceil(&self, divisor: &Self) -> Self {
        self.combine(QuantityOp::Ceil, divisor)
    }

    /// The lesser of both.
    fn min(&self, other: &Self) -> Self {
        self.combine(QuantityOp::Min, other)
    }

    /// The greater of both.
    fn max(&self, other: &Self) -> Self {
        self.combine(QuantityOp::Max, other)
    }

    /// The least multiple of `granule` that is not below.
    fn rounded_up(&self, granule: &Self) -> Self {
        self.ceil(granule).times(granule)
    }

    /// Parts of a clock for this many at `rate` a clock.
    fn at_rate(&self, rate: i64) -> Self {
        self.by(PARTS).ceil(&rate.into())
    }
}
