//! Whole numbers as expressions, with what is constant put together at once so that they stay small.

use tickbound_model::Expr;
use tickbound_model::expr::{BinaryOp, Function};

/// `a + b`.
pub(super) fn add(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(0), e) | (e, Expr::Int(0)) => e,
        (a, b) => folded(BinaryOp::Add, a, b, i64::checked_add),
    }
}

/// `a - b`.
pub(super) fn sub(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (e, Expr::Int(0)) => e,
        (a, b) => folded(BinaryOp::Sub, a, b, i64::checked_sub),
    }
}

/// `a * b`.
pub(super) fn mul(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(0), _) | (_, Expr::Int(0)) => Expr::Int(0),
        (Expr::Int(1), e) | (e, Expr::Int(1)) => e,
        (a, b) => folded(BinaryOp::Mul, a, b, i64::checked_mul),
    }
}

/// `a // b`, for `b` of at least 1.
pub(super) fn quotient(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(0), _) => Expr::Int(0),
        (e, Expr::Int(1)) => e,
        (a, b) => folded(BinaryOp::FloorDiv, a, b, |a, b| (b > 0).then(|| a.div_euclid(b))),
    }
}

/// `ceil_div(a, b)`, for `b` of at least 1.
pub(super) fn ceil_div(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(0), _) => Expr::Int(0),
        (e, Expr::Int(1)) => e,
        (Expr::Int(a), Expr::Int(b)) if b > 0 && a >= 0 => Expr::Int(a / b + i64::from(a % b != 0)),
        (a, b) => Expr::Call(Function::CeilDiv, vec![a, b]),
    }
}

/// The lesser.
pub(super) fn min(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) => Expr::Int(a.min(b)),
        (a, b) if a == b => a,
        (a, b) => Expr::Call(Function::Min, vec![a, b]),
    }
}

/// The greater.
pub(super) fn max(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) => Expr::Int(a.max(b)),
        (a, b) if a == b => a,
        (a, b) => Expr::Call(Function::Max, vec![a, b]),
    }
}

/// `then if condition else otherwise`.
pub(super) fn choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match condition {
        Expr::Int(truth) => {
            if truth == 0 {
                otherwise
            } else {
                then
            }
        }
        _ if then == otherwise => then,
        condition => Expr::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)),
    }
}

/// A comparison.
pub(super) fn compare(op: BinaryOp, a: Expr, b: i64) -> Expr {
    match (op, &a) {
        (BinaryOp::Eq, Expr::Int(a)) => Expr::Int(i64::from(*a == b)),
        (BinaryOp::Ge, Expr::Int(a)) => Expr::Int(i64::from(*a >= b)),
        _ => Expr::binary(op, a, Expr::Int(b)),
    }
}

/// `a % b`.
pub(super) fn remainder(a: Expr, b: i64) -> Expr {
    folded(BinaryOp::Rem, a, Expr::Int(b), |a, b| (b > 0).then(|| a.rem_euclid(b)))
}

fn folded(op: BinaryOp, a: Expr, b: Expr, f: fn(i64, i64) -> Option<i64>) -> Expr {
    let value = match (&a, &b) {
        (Expr::Int(a), Expr::Int(b)) => f(*a, *b),
        _ => None,
    };
    value.map_or_else(|| Expr::binary(op, a, b), Expr::Int)
}
