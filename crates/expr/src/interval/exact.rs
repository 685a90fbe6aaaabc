//! Bounds of constraints that divide with `/`: values are fractions.
//!
//! The ends of an interval do not say whether a point inside overflows: `1 / x + 1 / y` has small
//! denominators at both ends and large ones between. So an interval carries a bound on its
//! denominators, too, and an operation is sure not to overflow only by that bound.

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub};

use super::values::{Interval, Possible, Reach, Values, compared, extremes};
use crate::eval::{EvalError, ceil, exact_binary, floor};
use crate::expr::BinaryOp;

type Fraction = Ratio<i128>;

const ZERO: Fraction = Ratio::new_raw(0, 1);

/// A set of fractions. Whole numbers that fit into 64 bits are `Whole` wherever that is known:
/// their arithmetic is many times faster.
#[derive(Clone, Copy)]
pub(super) enum Exact {
    Whole(Interval),
    Fractions(Fractions),
}

/// Fractions from `low` to `high` with denominators up to `finest`.
#[derive(Clone, Copy)]
pub(super) struct Fractions {
    low: Fraction,
    high: Fraction,
    finest: i128,
}

impl Exact {
    fn new(low: Fraction, high: Fraction, finest: i128) -> Exact {
        let finest = if same(low, high) { *low.denom() } else { finest };
        if finest == 1
            && low.is_integer()
            && high.is_integer()
            && let (Ok(low), Ok(high)) = (i64::try_from(*low.numer()), i64::try_from(*high.numer()))
        {
            return Exact::Whole(Interval { low, high });
        }
        Exact::Fractions(Fractions { low, high, finest })
    }

    fn fractions(self) -> Fractions {
        match self {
            Exact::Fractions(f) => f,
            Exact::Whole(Interval { low, high }) => {
                let end = |v: i64| Ratio::from_integer(i128::from(v));
                Fractions { low: end(low), high: end(high), finest: 1 }
            }
        }
    }

    /// `f` of a single value.
    fn point(value: Result<Fraction, EvalError>) -> Reach<Exact> {
        Reach::point(value.map(|v| Exact::new(v, v, *v.denom())))
    }
}

impl Values for Exact {
    const ANY: Exact = Exact::Fractions(Fractions {
        low: Ratio::new_raw(i128::MIN, 1),
        high: Ratio::new_raw(i128::MAX, 1),
        finest: i128::MAX,
    });

    fn whole(of: Interval) -> Exact {
        Exact::Whole(of)
    }

    fn united(self, other: Exact) -> Exact {
        if let (Exact::Whole(a), Exact::Whole(b)) = (self, other) {
            return Exact::Whole(a.united(b));
        }
        let (a, b) = (self.fractions(), other.fractions());
        Exact::new(a.low.min(b.low), a.high.max(b.high), a.finest.max(b.finest))
    }

    fn truth(self) -> Possible {
        match self {
            Exact::Whole(interval) => interval.truth(),
            // Zero alone is whole.
            Exact::Fractions(f) => {
                Possible::sure(true, *f.low.numer() <= 0 && *f.high.numer() >= 0)
            }
        }
    }

    fn negated(self) -> Reach<Exact> {
        if let Exact::Whole(interval) = self
            && let Reach { values: Some(values), may_fail: false } = interval.negated()
        {
            return Reach::sure(Exact::Whole(values));
        }
        let f = self.fractions();
        if f.is_point() {
            return Exact::point(ZERO.checked_sub(&f.low).ok_or(EvalError::Overflow));
        }
        let (low, high) = (ZERO.checked_sub(&f.high), ZERO.checked_sub(&f.low));
        between(low, high, Some(f.finest), f.numerators())
    }

    fn magnitude(self) -> Reach<Exact> {
        let f = self.fractions();
        if !is_negative(f.low) {
            return Reach::sure(self);
        }
        let negated = self.negated();
        if !is_negative(f.high) {
            // Zero may lie between.
            return negated.map(|n| self.greatest(n).greatest(Exact::Whole(Interval::point(0))));
        }
        negated
    }

    fn least(self, other: Exact) -> Exact {
        if let (Exact::Whole(a), Exact::Whole(b)) = (self, other) {
            return Exact::Whole(a.least(b));
        }
        let (a, b) = (self.fractions(), other.fractions());
        Exact::new(a.low.min(b.low), a.high.min(b.high), a.finest.max(b.finest))
    }

    fn greatest(self, other: Exact) -> Exact {
        if let (Exact::Whole(a), Exact::Whole(b)) = (self, other) {
            return Exact::Whole(a.greatest(b));
        }
        let (a, b) = (self.fractions(), other.fractions());
        Exact::new(a.low.max(b.low), a.high.max(b.high), a.finest.max(b.finest))
    }

    fn ceil_div(self, by: Exact) -> Reach<Exact> {
        if let (Exact::Whole(a), Exact::Whole(b)) = (self, by)
            && let Reach { values: Some(values), may_fail: false } = a.ceil_div(b)
        {
            return Reach::sure(Exact::Whole(values));
        }
        Exact::binary(BinaryOp::Div, self, by).map(|q| q.rounded(ceil))
    }

    fn binary(op: BinaryOp, a: Exact, b: Exact) -> Reach<Exact> {
        // Whole numbers differ only in what overflows.
        if op != BinaryOp::Div
            && let (Exact::Whole(a), Exact::Whole(b)) = (a, b)
            && let Reach { values: Some(values), may_fail: false } = Interval::binary(op, a, b)
        {
            return Reach::sure(Exact::Whole(values));
        }
        Fractions::binary(op, a.fractions(), b.fractions())
    }
}

impl Exact {
    fn rounded(self, by: impl Fn(Fraction) -> Fraction) -> Exact {
        match self {
            Exact::Whole(_) => self,
            Exact::Fractions(f) => Exact::new(by(f.low), by(f.high), 1),
        }
    }
}

/// The interval between ends that may have overflowed. `largest` bounds what is computed on the
/// way: without it, or without an end, a point inside may overflow.
fn between(
    low: Option<Fraction>,
    high: Option<Fraction>,
    finest: Option<i128>,
    largest: Option<i128>,
) -> Reach<Exact> {
    let sure = low.is_some() && high.is_some() && finest.is_some() && largest.is_some();
    let low = low.unwrap_or(Ratio::from_integer(i128::MIN));
    let high = high.unwrap_or(Ratio::from_integer(i128::MAX));
    let values = Exact::new(low, high, finest.unwrap_or(i128::MAX));
    Reach { values: Some(values), may_fail: !sure }
}

/// Equality; `==` of [`Ratio`] divides. Fractions are always in lowest terms.
fn same(a: Fraction, b: Fraction) -> bool {
    a.numer() == b.numer() && a.denom() == b.denom()
}

fn is_negative(f: Fraction) -> bool {
    *f.numer() < 0
}

impl Fractions {
    fn is_point(self) -> bool {
        same(self.low, self.high)
    }

    /// No number is farther from zero than this whole one.
    fn size(self) -> Option<i128> {
        let size = |f: Fraction| {
            let (n, d) = (f.numer().checked_abs()?, *f.denom());
            Some(if d == 1 { n } else { n / d + 1 })
        };
        Some(size(self.low)?.max(size(self.high)?))
    }

    /// No numerator is farther from zero than this.
    fn numerators(self) -> Option<i128> {
        self.size()?.checked_mul(self.finest)
    }

    fn binary(op: BinaryOp, a: Fractions, b: Fractions) -> Reach<Exact> {
        match op {
            BinaryOp::Eq | BinaryOp::Ne => {}
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {}
            // `Ratio` panics at some operations on this number.
            _ if [a.low, b.low].iter().any(|end| *end.numer() == i128::MIN) => {
                return Reach { values: Some(Exact::ANY), may_fail: true };
            }
            _ if a.is_point() && b.is_point() => {
                return Exact::point(exact_binary(op, a.low, b.low));
            }
            _ => {}
        }
        match op {
            BinaryOp::Add => a.sum(b, a.low.checked_add(&b.low), a.high.checked_add(&b.high)),
            BinaryOp::Sub => a.sum(b, a.low.checked_sub(&b.high), a.high.checked_sub(&b.low)),
            BinaryOp::Mul => a.product(b),
            BinaryOp::Div => b.by_sign(|b| a.quotient(b)),
            BinaryOp::FloorDiv => b.by_sign(|b| a.quotient(b).map(|q| q.rounded(floor))),
            BinaryOp::Rem => b.by_sign(|b| a.remainder(b)),
            // What is whole and fits into 64 bits does not come here.
            BinaryOp::Pow => Reach { values: Some(Exact::ANY), may_fail: true },
            _ => Reach::condition(compared(op, (a.low, a.high), (b.low, b.high))),
        }
    }

    /// A sum or difference with these ends.
    fn sum(self, b: Fractions, low: Option<Fraction>, high: Option<Fraction>) -> Reach<Exact> {
        let finest = self.finest.checked_mul(b.finest);
        let largest = || finest?.checked_mul(self.size()?.checked_add(b.size()?)?);
        between(low, high, finest, largest())
    }

    fn product(self, b: Fractions) -> Reach<Exact> {
        let finest = self.finest.checked_mul(b.finest);
        let largest = || self.numerators()?.checked_mul(b.numerators()?);
        let corners = || {
            let (w, x) = (self.low.checked_mul(&b.low)?, self.low.checked_mul(&b.high)?);
            let (y, z) = (self.high.checked_mul(&b.low)?, self.high.checked_mul(&b.high)?);
            Some((w.min(x).min(y).min(z), w.max(x).max(y).max(z)))
        };
        let (low, high) = corners().unzip();
        between(low, high, finest, largest())
    }

    /// The result of `of` for the negative and for the positive part of a divisor; zero is a
    /// fault.
    fn by_sign(self, of: impl Fn(Fractions) -> Reach<Exact>) -> Reach<Exact> {
        if *self.low.numer() > 0 || is_negative(self.high) {
            return of(self);
        }
        let mut all = Reach::FAILS;
        // No number but zero is nearer to zero.
        let (above, below) = (Ratio::new_raw(1, self.finest), Ratio::new_raw(-1, self.finest));
        if self.low <= below {
            all = all.or(of(Fractions { high: below, ..self }));
        }
        if self.high >= above {
            all = all.or(of(Fractions { low: above, ..self }));
        }
        all
    }

    /// `self / b` for divisors of one sign.
    fn quotient(self, b: Fractions) -> Reach<Exact> {
        let ((n, d), (m, e)) = extremes((self.low, self.high), (b.low, b.high), is_negative);
        let finest = || self.finest.checked_mul(b.numerators()?);
        let largest = || self.numerators()?.checked_mul(b.finest);
        between(n.checked_div(&d), m.checked_div(&e), finest(), largest())
    }

    /// `self % b` for divisors of one sign.
    fn remainder(self, b: Fractions) -> Reach<Exact> {
        self.quotient(b).map(|q| q.rounded(floor).fractions()).then(|q| {
            let finest = self.finest.checked_mul(b.finest);
            let (mut low, mut high) = b.remainders(finest);
            // The remainder is never farther from zero than a dividend of the divisor's sign.
            if !is_negative(b.low) && !is_negative(self.low) {
                high = high.min(self.high);
            } else if is_negative(b.low) && *self.high.numer() <= 0 {
                low = low.max(self.low);
            }
            if let Some((least, most)) = self.rest(b, q) {
                (low, high) = (low.max(least), high.min(most));
            }
            // There is no number between, so nothing has a value.
            if low > high {
                return Reach::FAILS;
            }
            // What is subtracted from the dividend, and the difference, may overflow.
            let subtracted = || q.size()?.checked_mul(b.size()?);
            let largest = || finest?.checked_mul(self.size()?.checked_add(subtracted()?)?);
            between(Some(low), Some(high), finest, largest())
        })
    }

    /// Dividend less the product of divisor and quotient, if there is one quotient only.
    fn rest(self, b: Fractions, quotient: Fractions) -> Option<(Fraction, Fraction)> {
        if !quotient.is_point() {
            return None;
        }
        let (x, y) = (quotient.low.checked_mul(&b.low)?, quotient.low.checked_mul(&b.high)?);
        let (least, most) = (x.min(y), x.max(y));
        Some((self.low.checked_sub(&most)?, self.high.checked_sub(&least)?))
    }

    /// The least and the greatest remainder that divisors of one sign leave: a step away from the
    /// divisor, as remainders have denominators up to `finest`.
    fn remainders(self, finest: Option<i128>) -> (Fraction, Fraction) {
        let step = finest.map_or(ZERO, |finest| Ratio::new_raw(1, finest));
        if is_negative(self.low) {
            (self.low.checked_add(&step).unwrap_or(self.low), ZERO)
        } else {
            (ZERO, self.high.checked_sub(&step).unwrap_or(self.high))
        }
    }
}
