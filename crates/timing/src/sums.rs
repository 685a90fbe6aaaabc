//! Sums, products and choices of terms, simplified.

use tickbound_expr::Expr;
use tickbound_model::{Stmt, StmtKind};

use super::term::{LocatedExpr, Term};

/// What a program without barriers and marks takes where items do not differ.
pub(crate) fn work(program: &[Stmt]) -> Term {
    let one = |stmt: &Stmt| {
        let at = |expr: &Expr| LocatedExpr { at: stmt.at.clone(), expr: expr.clone() };
        match &stmt.kind {
            StmtKind::Access { amount, .. } => Term::Work(at(amount)),
            StmtKind::Repeat { count, body } => product(vec![Term::Count(at(count)), work(body)]),
            StmtKind::If { condition, then, otherwise } => {
                either(&at(condition), work(then), work(otherwise))
            }
            StmtKind::Mark | StmtKind::Barrier | StmtKind::Until(_) => Term::Number(0),
        }
    };
    sum(program.iter().map(one).collect())
}

pub(crate) fn either(condition: &LocatedExpr, then: Term, otherwise: Term) -> Term {
    let side =
        |holds, term| product(vec![Term::Guard { condition: condition.clone(), holds }, term]);
    sum(vec![side(true, then), side(false, otherwise)])
}

pub(crate) fn is_nothing(term: &Term) -> bool {
    matches!(term, Term::Number(0))
}

pub(crate) fn sum(parts: Vec<Term>) -> Term {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Term::Sum(more) => flat.extend(more),
            term if is_nothing(&term) => {}
            term => flat.push(term),
        }
    }
    match flat.len() {
        0 => Term::Number(0),
        1 => flat.swap_remove(0),
        _ => Term::Sum(flat),
    }
}

/// A product; it is nothing if the last factor is, but what leads there must have a value.
pub(crate) fn product(factors: Vec<Term>) -> Term {
    let mut flat = Vec::new();
    for factor in factors {
        match factor {
            Term::Product(more) => flat.extend(more),
            Term::Number(1) => {}
            term => flat.push(term),
        }
    }
    match flat.len() {
        0 => Term::Number(1),
        1 => flat.swap_remove(0),
        _ => Term::Product(flat),
    }
}
