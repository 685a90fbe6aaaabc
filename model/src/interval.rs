//! Bounds of expressions over boxes: what an expression may come to where every name ranges over an
//! interval.
//!
//! A search over boxes of values drops a box as soon as a constraint can no longer hold in it. What
//! is said here about a box is never too little: every value and every fault of a point in the box
//! is included. At a box of one point nothing else is. Equal parts of an expression are taken as
//! independent, so `x - x` is not known to be 0.
//!
//! ```
//! use tickbound_model::interval::Interval;
//! use tickbound_model::parse::parse;
//! let e = parse("size // WG + WG").unwrap();
//! let e = e.resolve(&mut |name| ["size", "WG"].iter().position(|n| n == name)).unwrap();
//! let range = e.range(&[Interval::point(64), Interval { low: 2, high: 8 }]);
//! assert_eq!(range.values, Some(Interval { low: 10, high: 40 }));
//! assert!(!range.may_fail);
//! ```

mod exact;

use crate::expr::{BinaryOp, EvalError, Expr, Function, Slot, integer_binary};
use exact::Exact;

/// All whole numbers from `low` to `high`, both included; `low` is not above `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The least number.
    pub low: i64,
    /// The greatest number.
    pub high: i64,
}

/// What an expression may come to over a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range {
    /// Contains every value of the expression. `None` if it has no value anywhere in the box.
    pub values: Option<Interval>,
    /// False only if the expression has a value everywhere in the box.
    pub may_fail: bool,
}

/// How a constraint may come out over a box. What is false here happens nowhere in the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// It may be true.
    pub may_hold: bool,
    /// It may be false.
    pub may_not_hold: bool,
    /// It may have no value, for example where it divides by zero.
    pub may_fail: bool,
}

impl Interval {
    /// The interval of one number.
    #[must_use]
    pub fn point(value: i64) -> Interval {
        Interval { low: value, high: value }
    }

    /// True if the interval is one number.
    #[must_use]
    pub fn is_point(self) -> bool {
        self.low == self.high
    }

    /// True if `value` is in the interval.
    #[must_use]
    pub fn contains(self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Expr<Slot> {
    /// What [`Expr::eval`] may come to where slot `s` has any value in `of[s]`.
    ///
    /// Every value is in [`Range::values`]; where there is a fault, [`Range::may_fail`] says so.
    /// If all of `of` are points, there is either the one value or the fault, not both.
    ///
    /// # Panics
    /// Never for an expression resolved against the scope that made `of`.
    #[must_use]
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
    #[must_use]
    pub fn verdict(&self, of: &[Interval]) -> Verdict {
        if self.divides() { truth::<Exact>(self, of) } else { truth::<Interval>(self, of) }
    }
}

/// What [`Range`] says, of values of any kind. No values and no fault does not occur.
#[derive(Clone, Copy)]
struct Reach<V> {
    values: Option<V>,
    may_fail: bool,
}

/// A set of numbers that contains the values of an expression.
trait Values: Copy {
    /// All numbers.
    const ANY: Self;
    fn whole(of: Interval) -> Self;
    /// Contains both sets.
    fn united(self, other: Self) -> Self;
    fn truth(self) -> Verdict;
    fn negated(self) -> Reach<Self>;
    fn magnitude(self) -> Reach<Self>;
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
    fn ceil_div(self, by: Self) -> Reach<Self>;
    /// `a op b`, for an operator that evaluates both sides.
    fn binary(op: BinaryOp, a: Self, b: Self) -> Reach<Self>;
}

impl<V> Reach<V> {
    const FAILS: Reach<V> = Reach { values: None, may_fail: true };

    fn sure(values: V) -> Reach<V> {
        Reach { values: Some(values), may_fail: false }
    }

    fn point(value: Result<V, EvalError>) -> Reach<V> {
        value.map_or(Reach::FAILS, Reach::sure)
    }

    fn map<W>(self, f: impl FnOnce(V) -> W) -> Reach<W> {
        Reach { values: self.values.map(f), may_fail: self.may_fail }
    }

    /// What `f` makes of the values; what has failed stays failed.
    fn then<W>(self, f: impl FnOnce(V) -> Reach<W>) -> Reach<W> {
        let Some(values) = self.values else { return Reach::FAILS };
        let found = f(values);
        Reach { may_fail: found.may_fail || self.may_fail, ..found }
    }
}

impl<V: Values> Reach<V> {
    /// One or the other.
    fn or(self, other: Reach<V>) -> Reach<V> {
        let values = match (self.values, other.values) {
            (Some(a), Some(b)) => Some(a.united(b)),
            (a, b) => a.or(b),
        };
        Reach { values, may_fail: self.may_fail || other.may_fail }
    }

    fn truth(self) -> Verdict {
        let Some(values) = self.values else { return Verdict::FAILS };
        let found = values.truth();
        Verdict { may_fail: found.may_fail || self.may_fail, ..found }
    }

    /// The values 0 and 1 of a condition.
    fn condition(v: Verdict) -> Reach<V> {
        let values = (v.may_hold || v.may_not_hold).then(|| {
            V::whole(Interval { low: i64::from(!v.may_not_hold), high: i64::from(v.may_hold) })
        });
        Reach { values, may_fail: v.may_fail }
    }
}

impl Verdict {
    const FAILS: Verdict = Verdict { may_hold: false, may_not_hold: false, may_fail: true };

    fn sure(may_hold: bool, may_not_hold: bool) -> Verdict {
        Verdict { may_hold, may_not_hold, may_fail: false }
    }

    fn negated(self) -> Verdict {
        Verdict { may_hold: self.may_not_hold, may_not_hold: self.may_hold, ..self }
    }

    /// `self and right`, where `right` is asked for only where `self` may be true.
    fn and(self, right: impl FnOnce() -> Verdict) -> Verdict {
        if !self.may_hold {
            return self;
        }
        let right = right();
        Verdict {
            may_hold: right.may_hold,
            may_not_hold: self.may_not_hold || right.may_not_hold,
            may_fail: self.may_fail || right.may_fail,
        }
    }
}

fn reach<V: Values>(e: &Expr<Slot>, of: &[Interval]) -> Reach<V> {
    match e {
        Expr::Int(v) => Reach::sure(V::whole(Interval::point(*v))),
        Expr::Name(slot) => Reach::sure(V::whole(of[*slot])),
        Expr::Neg(a) => reach::<V>(a, of).then(V::negated),
        Expr::Not(_) | Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => {
            Reach::condition(truth::<V>(e, of))
        }
        Expr::Binary(op, a, b) => {
            reach::<V>(a, of).then(|a| reach::<V>(b, of).then(|b| V::binary(*op, a, b)))
        }
        Expr::Conditional(c, a, b) => {
            let c = truth::<V>(c, of);
            let mut all = Reach { values: None, may_fail: c.may_fail };
            if c.may_hold {
                all = all.or(reach(a, of));
            }
            if c.may_not_hold {
                all = all.or(reach(b, of));
            }
            all
        }
        Expr::Call(f, args) => call(*f, args, of),
    }
}

/// What [`reach`] says, as a condition: spares the way over the values 0 and 1.
fn truth<V: Values>(e: &Expr<Slot>, of: &[Interval]) -> Verdict {
    match e {
        Expr::Not(a) => truth::<V>(a, of).negated(),
        Expr::Binary(BinaryOp::And, a, b) => truth::<V>(a, of).and(|| truth::<V>(b, of)),
        Expr::Binary(BinaryOp::Or, a, b) => {
            truth::<V>(a, of).negated().and(|| truth::<V>(b, of).negated()).negated()
        }
        _ => reach::<V>(e, of).truth(),
    }
}

fn call<V: Values>(f: Function, args: &[Expr<Slot>], of: &[Interval]) -> Reach<V> {
    match (f, args) {
        (Function::Min, _) => folded(args, of, V::least),
        (Function::Max, _) => folded(args, of, V::greatest),
        (Function::Abs, [a]) => reach::<V>(a, of).then(V::magnitude),
        (Function::CeilDiv, [a, b]) => {
            reach::<V>(a, of).then(|a| reach::<V>(b, of).then(|b| a.ceil_div(b)))
        }
        // No such call comes out of the parser.
        _ => Reach { values: Some(V::ANY), may_fail: true },
    }
}

fn folded<V: Values>(args: &[Expr<Slot>], of: &[Interval], by: impl Fn(V, V) -> V) -> Reach<V> {
    let Some((first, rest)) = args.split_first() else {
        return Reach::sure(V::whole(Interval::point(0)));
    };
    rest.iter()
        .fold(reach(first, of), |all, a| all.then(|all| reach::<V>(a, of).map(|a| by(all, a))))
}

impl Values for Interval {
    const ANY: Interval = Interval { low: i64::MIN, high: i64::MAX };

    fn whole(of: Interval) -> Interval {
        of
    }

    fn united(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn truth(self) -> Verdict {
        Verdict::sure(self != Interval::point(0), self.contains(0))
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

/// A comparison of a number of one interval with one of the other.
fn compared<T: PartialOrd>(op: BinaryOp, a: (T, T), b: (T, T)) -> Verdict {
    let ((a, a_high), (b, b_high)) = (a, b);
    match op {
        BinaryOp::Lt => Verdict::sure(a < b_high, a_high >= b),
        BinaryOp::Le => Verdict::sure(a <= b_high, a_high > b),
        BinaryOp::Gt => Verdict::sure(a_high > b, a <= b_high),
        BinaryOp::Ge => Verdict::sure(a_high >= b, a < b_high),
        BinaryOp::Eq => Verdict::sure(
            a <= b_high && b <= a_high,
            // Equal everywhere only if all four ends are.
            a < a_high || b < b_high || a != b,
        ),
        BinaryOp::Ne => compared(BinaryOp::Eq, (a, a_high), (b, b_high)).negated(),
        // Not a comparison: nothing is known.
        _ => Verdict { may_hold: true, may_not_hold: true, may_fail: true },
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

/// What `of` says of the negative part and of the positive part of a divisor; zero is a fault.
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

/// Dividend and divisor of the least quotient, and of the greatest; the divisors have one sign.
///
/// A quotient rises with its dividend where divisors are positive, and falls where they are
/// negative. The divisor nearest to zero takes a dividend farthest from zero.
fn extremes<T: Copy>(a: (T, T), b: (T, T), negative: impl Fn(T) -> bool) -> ((T, T), (T, T)) {
    if negative(b.0) {
        let low = (a.1, if negative(a.1) { b.0 } else { b.1 });
        let high = (a.0, if negative(a.0) { b.1 } else { b.0 });
        return (low, high);
    }
    let low = (a.0, if negative(a.0) { b.0 } else { b.1 });
    let high = (a.1, if negative(a.1) { b.1 } else { b.0 });
    (low, high)
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
