//! Closing pieces of a program in max-plus arithmetic, with egg.
//!
//! A program without open choices maps the pair (now, mark) to a new pair by additions and maxima
//! only: it is linear in the max-plus algebra (Baccelli, Cohen, Olsder, Quadrat, *Synchronization
//! and Linearity*, Wiley 1992, chapter 3). Two shapes are closed under everything a program does,
//! and [`Jump`] is one of them:
//!
//! * no mark inside: `now' = max(now + a, mark + b)`, `mark' = mark`;
//! * a mark inside: `mark' = max(now + c, mark + d)`, `now' = mark' + e`.
//!
//! [`close`] hands a [`Term`] to egg with the rules of [`rules`] and reads the jump off the
//! extracted term; loops become powers of the map, closed by their cycle time, with the number of
//! iterations still symbolic. What comes out is arithmetic over the plan's amounts.

pub mod rules;
mod term;

pub(crate) use term::close_with;
pub use term::{Closed, Proof, Term, close, explain};

use crate::plan::AmountId;

/// Arithmetic over amounts; max-plus with products, since loop counts multiply.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// Minus infinity: "does not depend on it". Only ever a whole coefficient.
    Never,
    /// A number.
    Int(i64),
    /// An amount of the plan for a thread and an item.
    Amount {
        /// Which amount.
        id: AmountId,
        /// For which thread.
        thread: usize,
        /// For which item of the thread.
        item: usize,
    },
    /// Sum.
    Add(Box<Scalar>, Box<Scalar>),
    /// Product.
    Mul(Box<Scalar>, Box<Scalar>),
    /// Greater of two.
    Max(Box<Scalar>, Box<Scalar>),
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
