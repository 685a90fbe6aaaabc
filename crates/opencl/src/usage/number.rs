//! Whole numbers as expressions, with what is constant folded at once so that they stay small.

use tickbound_expr::{BinaryOp, Expr, Function};

use crate::ast::SourcePlace;
use crate::error::Read;
use crate::lower::Names;
use crate::steps::SymbolExpr;

/// Denominator of parts.
pub(crate) const SHARES: i64 = 64;

/// `a // b`, for `b` of at least 1.
pub(crate) fn quotient(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    Expr::folded(BinaryOp::FloorDiv, a.into(), b.into())
}

/// `a % b`, for `b` of at least 1.
pub(crate) fn remainder(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    Expr::folded(BinaryOp::Rem, a.into(), b.into())
}

/// `ceil_div(a, b)`, for `b` of at least 1.
pub(crate) fn ceil_div(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    match (a.into(), b.into()) {
        (Expr::Int(0), _) => Expr::Int(0),
        (e, Expr::Int(1)) => e,
        (Expr::Int(a), Expr::Int(b)) if b > 0 && a >= 0 => Expr::Int(a / b + i64::from(a % b != 0)),
        (a, b) => Expr::Call(Function::CeilDiv, vec![a, b]),
    }
}

/// `share` 64ths of a number.
pub(crate) fn part_of(all: impl Into<Expr>, share: impl Into<Expr>) -> Expr {
    match share.into() {
        Expr::Int(share) if share % SHARES == 0 => all.into() * (share / SHARES),
        share => quotient(all.into() * share, SHARES),
    }
}

pub(crate) fn min(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    extreme(Function::Min, i64::min, a.into(), b.into())
}

pub(crate) fn max(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    extreme(Function::Max, i64::max, a.into(), b.into())
}

fn extreme(function: Function, constant: fn(i64, i64) -> i64, a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) => Expr::Int(constant(a, b)),
        (a, b) if a == b => a,
        (a, b) => Expr::Call(function, vec![a, b]),
    }
}

pub(crate) fn choice(
    condition: impl Into<Expr>,
    then: impl Into<Expr>,
    otherwise: impl Into<Expr>,
) -> Expr {
    match (condition.into(), then.into(), otherwise.into()) {
        (Expr::Int(0), _, otherwise) => otherwise,
        (Expr::Int(_), then, _) => then,
        (_, then, otherwise) if then == otherwise => then,
        (c, a, b) => Expr::conditional(c, a, b),
    }
}

/// A number on the side of a branch where its condition holds, or does not; 0 on the other side.
pub(crate) fn on_side(condition: Expr, holds: bool, number: &Expr) -> Expr {
    if holds { choice(condition, number, 0) } else { choice(condition, 0, number) }
}

/// Sizes of a group (`local`) or of the launch in groups (`groups`), by dimension.
pub(crate) fn sizes(names: &Names, what: &str, at: &SourcePlace) -> Read<Vec<Expr>> {
    let size =
        |d: usize| Ok(names.put_in(&SymbolExpr::Name(format!("${what}_{d}")), at)?.simplified());
    (0..3).map(size).collect()
}

/// 1 if none of these is 0, else 0.
pub(crate) fn all(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    conditions.into_iter().fold(Expr::Int(1), |all, own| choice(own, all, 0))
}

pub(crate) fn is_zero(a: impl Into<Expr>) -> Expr {
    match a.into() {
        Expr::Int(a) => Expr::Int(i64::from(a == 0)),
        a => Expr::binary(BinaryOp::Eq, a, Expr::Int(0)),
    }
}

pub(crate) fn less(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    match (a.into(), b.into()) {
        (Expr::Int(a), Expr::Int(b)) => Expr::Int(i64::from(a < b)),
        (a, b) => Expr::binary(BinaryOp::Lt, a, b),
    }
}
