//! Bounds of expressions over boxes: what an expression may come to where every name ranges over an
//! interval.
//!
//! A search over boxes of values drops a box as soon as a constraint can no longer hold in it. What
//! is computed here for a box is never too little: every value and every fault of a point in the
//! box is included. At a box of one point nothing else is. Equal parts of an expression are taken
//! as independent, so `x - x` is not known to be 0.
//!
//! ```
//! use tickbound_expr::interval::Interval;
//! use tickbound_expr::parse::parse;
//! let e = parse("size // WG + WG").unwrap();
//! let e = e.resolve(&mut |name| ["size", "WG"].iter().position(|n| n == name)).unwrap();
//! let range = e.range(&[Interval::point(64), Interval { low: 2, high: 8 }]);
//! assert_eq!(range.values, Some(Interval { low: 10, high: 40 }));
//! assert!(!range.may_fail);
//! ```

mod exact;
mod values;
mod whole;

use crate::expr::{Expr, Slot};
use exact::Exact;
use values::{Reach, reach, truth};

pub use values::{Interval, Possible, Range};

impl Expr<Slot> {
    /// What [`Expr::eval`] may come to where slot `s` has any value in `of[s]`.
    ///
    /// Every value is in [`Range::values`]; where there is a fault, [`Range::may_fail`] is true.
    /// If all of `of` are points, there is either the one value or the fault, not both.
    ///
    /// # Panics
    /// Never for an expression resolved against the scope that made `of`.
    pub fn range(&self, of: &[Interval]) -> Range {
        let Reach { values, may_fail } = reach::<Interval>(self, of);
        Range { values, may_fail }
    }

    /// How [`Expr::holds`] may come out where slot `s` has any value in `of[s]`.
    ///
    /// If all of `of` are points, exactly one of the three is true.
    ///
    /// # Panics
    /// As for [`Expr::range`].
    pub fn verdict(&self, of: &[Interval]) -> Possible {
        if self.divides() { truth::<Exact>(self, of) } else { self.truth(of) }
    }

    /// Whether [`Expr::eval`], whose `/` rounds down, may come to something other than 0, to 0, or
    /// to nothing, where slot `s` has any value in `of[s]`.
    ///
    /// If all of `of` are points, exactly one of the three is true.
    ///
    /// # Panics
    /// As for [`Expr::range`].
    pub fn truth(&self, of: &[Interval]) -> Possible {
        truth::<Interval>(self, of)
    }
}
