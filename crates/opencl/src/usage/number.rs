//! Whole numbers as expressions, with what is constant put together at once so that they stay
//! small.

use tickbound_expr::{BinaryOp, Expr, Function};

/// In how many parts a part is told.
pub(super) const SHARES: i64 = 64;

/// `a + b`.
pub(super) fn add(a: Expr, b: Expr) -> Expr {
    Expr::folded(BinaryOp::Add, a, b)
}

/// `a - b`.
pub(super) fn sub(a: Expr, b: Expr) -> Expr {
    Expr::folded(BinaryOp::Sub, a, b)
}

/// `a * b`.
pub(super) fn mul(a: Expr, b: Expr) -> Expr {
    Expr::folded(BinaryOp::Mul, a, b)
}

/// `a // b`, for `b` of at least 1.
pub(super) fn quotient(a: Expr, b: Expr) -> Expr {
    Expr::folded(BinaryOp::FloorDiv, a, b)
}

/// `a % b`, for `b` of at least 1.
pub(super) fn remainder(a: Expr, b: Expr) -> Expr {
    Expr::folded(BinaryOp::Rem, a, b)
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

/// So many 64ths of a number.
pub(super) fn part_of(all: Expr, share: Expr) -> Expr {
    if let Expr::Int(share) = share
        && share % SHARES == 0
    {
        return mul(all, Expr::Int(share / SHARES));
    }
    quotient(mul(all, share), Expr::Int(SHARES))
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
        Expr::Int(0) => otherwise,
        Expr::Int(_) => then,
        _ if then == otherwise => then,
        condition => Expr::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)),
    }
}

/// 1 if none of these is 0, else 0.
pub(super) fn all(conditions: impl Iterator<Item = Expr>) -> Expr {
    conditions.fold(Expr::Int(1), |all, own| choice(own, all, Expr::Int(0)))
}

/// `a == 0`.
pub(super) fn is_zero(a: Expr) -> Expr {
    match a {
        Expr::Int(a) => Expr::Int(i64::from(a == 0)),
        a => Expr::binary(BinaryOp::Eq, a, Expr::Int(0)),
    }
}

/// `a < b`.
pub(super) fn less(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) => Expr::Int(i64::from(a < b)),
        (a, b) => Expr::binary(BinaryOp::Lt, a, b),
    }
}
