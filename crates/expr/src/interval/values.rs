//! Sets of numbers that contain what an expression may come to, and the walk that computes them.

use crate::eval::EvalError;
use crate::expr::{BinaryOp, Expr, Function, Slot};

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
pub struct Possible {
    /// It may be true.
    pub may_hold: bool,
    /// It may be false.
    pub may_not_hold: bool,
    /// It may have no value, for example where it divides by zero.
    pub may_fail: bool,
}

impl Possible {
    /// True if it holds everywhere in the box.
    pub fn surely_holds(self) -> bool {
        !self.may_not_hold && !self.may_fail
    }

    /// True if it is false everywhere in the box.
    pub fn surely_fails(self) -> bool {
        !self.may_hold && !self.may_fail
    }
}

impl Interval {
    /// The interval of one number.
    pub fn point(value: i64) -> Interval {
        Interval { low: value, high: value }
    }

    /// True if the interval is one number.
    pub fn is_point(self) -> bool {
        self.low == self.high
    }

    /// True if `value` is in the interval.
    pub fn contains(self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// As [`Range`], of values of any kind. No values and no fault does not occur.
#[derive(Clone, Copy)]
pub(super) struct Reach<V> {
    pub(super) values: Option<V>,
    pub(super) may_fail: bool,
}

/// A set of numbers that contains the values of an expression.
pub(super) trait Values: Copy {
    /// All numbers.
    const ANY: Self;
    fn whole(of: Interval) -> Self;
    /// Contains both sets.
    fn united(self, other: Self) -> Self;
    fn truth(self) -> Possible;
    fn negated(self) -> Reach<Self>;
    fn magnitude(self) -> Reach<Self>;
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
    fn ceil_div(self, by: Self) -> Reach<Self>;
    /// `a op b`, for an operator that evaluates both sides.
    fn binary(op: BinaryOp, a: Self, b: Self) -> Reach<Self>;
}

impl<V> Reach<V> {
    pub(super) const FAILS: Reach<V> = Reach { values: None, may_fail: true };

    pub(super) fn sure(values: V) -> Reach<V> {
        Reach { values: Some(values), may_fail: false }
    }

    pub(super) fn point(value: Result<V, EvalError>) -> Reach<V> {
        value.map_or(Reach::FAILS, Reach::sure)
    }

    pub(super) fn map<W>(self, f: impl FnOnce(V) -> W) -> Reach<W> {
        Reach { values: self.values.map(f), may_fail: self.may_fail }
    }

    /// What `f` makes of the values; what has failed stays failed.
    pub(super) fn then<W>(self, f: impl FnOnce(V) -> Reach<W>) -> Reach<W> {
        let Some(values) = self.values else { return Reach::FAILS };
        let found = f(values);
        Reach { may_fail: found.may_fail || self.may_fail, ..found }
    }
}

impl<V: Values> Reach<V> {
    /// One or the other.
    pub(super) fn or(self, other: Reach<V>) -> Reach<V> {
        let values = match (self.values, other.values) {
            (Some(a), Some(b)) => Some(a.united(b)),
            (a, b) => a.or(b),
        };
        Reach { values, may_fail: self.may_fail || other.may_fail }
    }

    pub(super) fn truth(self) -> Possible {
        let Some(values) = self.values else { return Possible::FAILS };
        let found = values.truth();
        Possible { may_fail: found.may_fail || self.may_fail, ..found }
    }

    /// The values 0 and 1 of a condition.
    pub(super) fn condition(v: Possible) -> Reach<V> {
        let values = (v.may_hold || v.may_not_hold).then(|| {
            V::whole(Interval { low: i64::from(!v.may_not_hold), high: i64::from(v.may_hold) })
        });
        Reach { values, may_fail: v.may_fail }
    }
}

impl Possible {
    pub(super) const FAILS: Possible =
        Possible { may_hold: false, may_not_hold: false, may_fail: true };

    pub(super) fn sure(may_hold: bool, may_not_hold: bool) -> Possible {
        Possible { may_hold, may_not_hold, may_fail: false }
    }

    pub(super) fn negated(self) -> Possible {
        Possible { may_hold: self.may_not_hold, may_not_hold: self.may_hold, ..self }
    }

    /// `self and right`, where `right` is computed only where `self` may be true.
    pub(super) fn and(self, right: impl FnOnce() -> Possible) -> Possible {
        if !self.may_hold {
            return self;
        }
        let right = right();
        Possible {
            may_hold: right.may_hold,
            may_not_hold: self.may_not_hold || right.may_not_hold,
            may_fail: self.may_fail || right.may_fail,
        }
    }
}

pub(super) fn reach<V: Values>(e: &Expr<Slot>, of: &[Interval]) -> Reach<V> {
    match e {
        Expr::Int(v) => Reach::sure(V::whole(Interval::point(*v))),
        Expr::Name(slot) => Reach::sure(V::whole(of[*slot])),
        Expr::Neg(a) => reach::<V>(a, of).then(V::negated),
        Expr::Not(_) | Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => {
            Reach::condition(truth::<V>(e, of))
        }
        Expr::Binary(op, a, b) => {
            let all = reach::<V>(a, of).then(|a| reach::<V>(b, of).then(|b| V::binary(*op, a, b)));
            match *op == BinaryOp::Sub && is_at_least(a, b) {
                true => all.map(|v| v.greatest(V::whole(Interval::point(0)))),
                false => all,
            }
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

/// True if the form of two expressions shows that `a` is nowhere below `b`: `b` is the least of `a`
/// and others, or `a` the greatest of `b` and others.
fn is_at_least(a: &Expr<Slot>, b: &Expr<Slot>) -> bool {
    let among = |e: &Expr<Slot>, part: &Expr<Slot>, of: Function| match e {
        Expr::Call(f, args) => *f == of && args.contains(part),
        _ => false,
    };
    among(b, a, Function::Min) || among(a, b, Function::Max)
}

/// As [`reach`], for conditions: spares the way over the values 0 and 1.
pub(super) fn truth<V: Values>(e: &Expr<Slot>, of: &[Interval]) -> Possible {
    match e {
        Expr::Not(a) => truth::<V>(a, of).negated(),
        Expr::Binary(BinaryOp::And, a, b) => truth::<V>(a, of).and(|| truth::<V>(b, of)),
        Expr::Binary(BinaryOp::Or, a, b) => {
            truth::<V>(a, of).negated().and(|| truth::<V>(b, of).negated()).negated()
        }
        _ => reach::<V>(e, of).truth(),
    }
}

pub(super) fn call<V: Values>(f: Function, args: &[Expr<Slot>], of: &[Interval]) -> Reach<V> {
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

pub(super) fn folded<V: Values>(
    args: &[Expr<Slot>],
    of: &[Interval],
    by: impl Fn(V, V) -> V,
) -> Reach<V> {
    let Some((first, rest)) = args.split_first() else {
        return Reach::sure(V::whole(Interval::point(0)));
    };
    rest.iter()
        .fold(reach(first, of), |all, a| all.then(|all| reach::<V>(a, of).map(|a| by(all, a))))
}

/// A comparison of a number of one interval with one of the other.
pub(super) fn compared<T: PartialOrd>(op: BinaryOp, a: (T, T), b: (T, T)) -> Possible {
    let ((a, a_high), (b, b_high)) = (a, b);
    match op {
        BinaryOp::Lt => Possible::sure(a < b_high, a_high >= b),
        BinaryOp::Le => Possible::sure(a <= b_high, a_high > b),
        BinaryOp::Gt => Possible::sure(a_high > b, a <= b_high),
        BinaryOp::Ge => Possible::sure(a_high >= b, a < b_high),
        BinaryOp::Eq => Possible::sure(
            a <= b_high && b <= a_high,
            // Equal everywhere only if all four ends are.
            a < a_high || b < b_high || a != b,
        ),
        BinaryOp::Ne => compared(BinaryOp::Eq, (a, a_high), (b, b_high)).negated(),
        // Not a comparison: nothing is known.
        _ => Possible { may_hold: true, may_not_hold: true, may_fail: true },
    }
}

/// Dividend and divisor of the least quotient, and of the greatest; the divisors have one sign.
///
/// A quotient rises with its dividend where divisors are positive, and falls where they are
/// negative. The divisor nearest to zero takes a dividend farthest from zero.
pub(super) fn extremes<T: Copy>(
    a: (T, T),
    b: (T, T),
    negative: impl Fn(T) -> bool,
) -> ((T, T), (T, T)) {
    if negative(b.0) {
        let low = (a.1, if negative(a.1) { b.0 } else { b.1 });
        let high = (a.0, if negative(a.0) { b.1 } else { b.0 });
        return (low, high);
    }
    let low = (a.0, if negative(a.0) { b.0 } else { b.1 });
    let high = (a.1, if negative(a.1) { b.1 } else { b.0 });
    (low, high)
}
