//! What a closed piece of program does: arithmetic over amounts, in place of steps.

use super::program::AmountId;

/// Arithmetic over amounts; max-plus with products, since loop counts multiply.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// Minus infinity: "does not depend on it". Only ever a whole coefficient.
    Never,
    /// A number.
    Int(i64),
    /// An amount of the plan for a thread and an item.
    Amount(AmountOf),
    /// Sum.
    Add(Box<Scalar>, Box<Scalar>),
    /// Product.
    Mul(Box<Scalar>, Box<Scalar>),
    /// Greater of two.
    Max(Box<Scalar>, Box<Scalar>),
}

/// An amount of the plan for one thread and one of its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AmountOf {
    /// Which amount.
    pub id: AmountId,
    /// For which thread.
    pub thread: usize,
    /// For which item of the thread.
    pub item: usize,
}

/// What a closed piece of program does to clock and mark.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Jump {
    /// `now' = max(now + a, mark + b)`; the mark stays.
    Keep {
        /// `a`.
        now: Scalar,
        /// `b`.
        mark: Scalar,
    },
    /// `mark' = max(now + c, mark + d)` and `now' = mark' + after`.
    Set {
        /// `c`.
        now: Scalar,
        /// `d`.
        mark: Scalar,
        /// Ticks from the last mark to the end.
        after: Scalar,
    },
}
