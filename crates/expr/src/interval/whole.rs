//! Whole numbers: bounds with floor division.

use super::values::{Interval, Possible, Reach, Values, compared, extremes};
use crate::eval::integer_binary;
use crate::expr::BinaryOp;

impl Values for Interval {
    const ANY: Interval = Interval { low: i64::MIN, high: i64::MAX };

    fn whole(of: Interval) -> Interval {
        of
    }

    fn united(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn truth(self) -> Possible {
        Possible::sure(self != Interval::point(0), self.contains(0))
    }

    fn negated(self) -> Reach<Interval> {
        fitting(-i128::from(self.high), -i128::from(self.low))
    }

    fn magnitude(self) -> Reach<Interval> {
        if self.low >= 0 {
            return Reach::sure(self);
        }
        let (low, high) = (i128::from(self.low), i128::from(self.high));
        fitting((-high).max(0), high.max(-low))
    }

    fn least(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    fn greatest(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    fn ceil_div(self, by: Interval) -> Reach<Interval> {
        by_sign(by, |by| {
            let (low, high) = quotients(self, by, ceil);
            fitting(low, high)
        })
    }

    fn binary(op: BinaryOp, a: Interval, b: Interval) -> Reach<Interval> {
        if a.is_point() && b.is_point() {
            return Reach::point(integer_binary(op, a.low, b.low).map(Interval::point));
        }
        let ends = |a: i64, b: i64| (i128::from(a), i128::from(b));
        let ((a_low, a_high), (b_low, b_high)) = (ends(a.low, a.high), ends(b.low, b.high));
        match op {
            BinaryOp::Add => fitting(a_low + b_low, a_high + b_high),
            BinaryOp::Sub => fitting(a_low - b_high, a_high - b_low),
            BinaryOp::Mul => product(a, b),
            BinaryOp::Div | BinaryOp::FloorDiv => by_sign(b, |b| {
                let (low, high) = quotients(a, b, floor);
                fitting(low, high)
            }),
            BinaryOp::Rem => by_sign(b, |b| remainder(a, b)),
            BinaryOp::Pow => power(a, b),
            _ => Reach::condition(compared(op, (a.low, a.high), (b.low, b.high))),
        }
    }
}

/// What fits into 64 bits of the numbers from `low` to `high`; the rest is overflow.
fn fitting(low: i128, high: i128) -> Reach<Interval> {
    if let (Ok(low), Ok(high)) = (i64::try_from(low), i64::try_from(high)) {
        return Reach::sure(Interval { low, high });
    }
    let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
    if high < least || most < low {
        return Reach::FAILS;
    }
    let values = Interval { low: low.max(least) as i64, high: high.min(most) as i64 };
    Reach { values: Some(values), may_fail: true }
}

fn product(a: Interval, b: Interval) -> Reach<Interval> {
    let times = |a: i64, b: i64| i128::from(a) * i128::from(b);
    if a.low >= 0 && b.low >= 0 {
        return fitting(times(a.low, b.low), times(a.high, b.high));
    }
    let (w, x) = (times(a.low, b.low), times(a.low, b.high));
    let (y, z) = (times(a.high, b.low), times(a.high, b.high));
    fitting(w.min(x).min(y).min(z), w.max(x).max(y).max(z))
}

/// The result of `of` for the negative and for the positive part of a divisor; zero is a fault.
fn by_sign(b: Interval, of: impl Fn(Interval) -> Reach<Interval>) -> Reach<Interval> {
    if b.low > 0 || b.high < 0 {
        return of(b);
    }
    let mut all = Reach::FAILS;
    if b.low < 0 {
        all = all.or(of(Interval { low: b.low, high: -1 }));
    }
    if b.high > 0 {
        all = all.or(of(Interval { low: 1, high: b.high }));
    }
    all
}

/// The least and the greatest rounded quotient, for divisors of one sign.
fn quotients(a: Interval, b: Interval, rounded: impl Fn(i64, i64) -> i128) -> (i128, i128) {
    let ((n, d), (m, e)) = extremes((a.low, a.high), (b.low, b.high), |v| v < 0);
    (rounded(n, d), rounded(m, e))
}

/// The one quotient that does not fit into 64 bits: of the least number by -1.
const BEYOND: i128 = -(i64::MIN as i128);

fn floor(a: i64, b: i64) -> i128 {
    a.checked_div(b).map_or(BEYOND, |quotient| {
        i128::from(quotient) - i128::from(a % b != 0 && (a < 0) != (b < 0))
    })
}

fn ceil(a: i64, b: i64) -> i128 {
    a.checked_div(b).map_or(BEYOND, |quotient| {
        i128::from(quotient) + i128::from(a % b != 0 && (a < 0) == (b < 0))
    })
}

/// `a % b` for divisors of one sign.
fn remainder(a: Interval, b: Interval) -> Reach<Interval> {
    let positive = b.low > 0;
    let (first, last) = quotients(a, b, floor);
    let (mut low, mut high) = if positive { (0, b.high - 1) } else { (b.low + 1, 0) };
    // The product of divisor and quotient, which is subtracted from `a`, overflows near the ends.
    let may_fail = if positive {
        a.low.checked_sub(high).is_none()
    } else {
        a.high.checked_sub(low).is_none() || (a.low == i64::MIN && b.high == -1)
    };
    if first == last {
        let (x, y) = (first * i128::from(b.low), first * i128::from(b.high));
        let (least, most) = (i128::from(a.low) - x.max(y), i128::from(a.high) - x.min(y));
        low = i64::try_from(least).map_or(low, |least| low.max(least));
        high = i64::try_from(most).map_or(high, |most| high.min(most));
    }
    // The remainder is never farther from zero than a dividend of the divisor's sign.
    if positive && a.low >= 0 {
        high = high.min(a.high);
    } else if !positive && a.high <= 0 {
        low = low.max(a.low);
    }
    Reach { values: Some(Interval { low, high }), may_fail }
}

fn power(a: Interval, b: Interval) -> Reach<Interval> {
    if b.high < 0 {
        return Reach::FAILS;
    }
    let exponents = (b.low.max(0), b.high);
    let mut all = Reach { values: None, may_fail: b.low < 0 };
    if a.low < 0 {
        let sizes = (a.high.min(-1).unsigned_abs(), a.low.unsigned_abs());
        let (low, high) = powers_of_negative(sizes, exponents);
        all = all.or(fitting(low, high));
    }
    if a.high >= 0 {
        let (low, high) = powers((a.low.max(0) as u64, a.high as u64), exponents);
        all = all.or(fitting(low, high));
    }
    all
}

/// The least and the greatest power of bases that are not negative.
fn powers(a: (u64, u64), e: (i64, i64)) -> (i128, i128) {
    // 0 ** 0 is 1, so 0 alone falls with its exponent.
    let low = if a.0 == 0 { raised(0, e.1) } else { raised(a.0, e.0) };
    let high = if a.1 == 0 { raised(0, e.0) } else { raised(a.1, e.1) };
    (low, high)
}

/// The least and the greatest power of negative bases, given by their magnitudes.
fn powers_of_negative(sizes: (u64, u64), e: (i64, i64)) -> (i128, i128) {
    if e.0 == e.1 {
        let (low, high) = (raised(sizes.0, e.0), raised(sizes.1, e.0));
        return if e.0 % 2 == 0 { (low, high) } else { (-high, -low) };
    }
    let (odd, even) = if e.1 % 2 == 0 { (e.1 - 1, e.1) } else { (e.1, e.1 - 1) };
    (-raised(sizes.1, odd), raised(sizes.1, even))
}

/// `base ** exponent`, or a number far beyond 64 bits; the exponent is not negative.
fn raised(base: u64, exponent: i64) -> i128 {
    match base {
        0 => i128::from(exponent == 0),
        1 => 1,
        _ => {
            let exponent = u32::try_from(exponent).unwrap_or(u32::MAX);
            i128::from(base).checked_pow(exponent).unwrap_or(i128::MAX)
        }
    }
}
