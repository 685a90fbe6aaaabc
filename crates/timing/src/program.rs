//! Kernel programs before they become terms: priced, restricted, and where their items differ.

use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::kernel::expressions;
use tickbound_model::{AccessKind, Problem, Program, Stmt, StmtKind};

use super::term::LocatedExpr;
use super::uncovered::{Uncovered, uncovered};

pub(crate) fn is_branch(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::If { .. })
}

/// True if the statement's own expression names a slot from `first` on.
pub(crate) fn mentions(stmt: &Stmt, first: usize) -> bool {
    stmt.kind.expr().is_some_and(|e| e.mentions(|slot| slot >= first))
}

/// The program without some statements and what is in them.
pub(crate) fn without(program: &[Stmt], drops: &dyn Fn(&Stmt) -> bool) -> Program {
    let left = program.iter().filter(|stmt| !drops(stmt));
    left.map(|stmt| stmt.with(stmt.kind.with_programs(|within| without(within, drops)))).collect()
}

/// The program in groups whose guards all come out one way: that of the longer side, as it is work
/// that is guarded. `group` is the first slot that differs between groups.
pub(crate) fn inside(
    program: &[Stmt],
    group: usize,
    guards: &mut Vec<(LocatedExpr, bool)>,
) -> Program {
    let mut out = Program::new();
    for stmt in program {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise }
                if condition.mentions(|slot| slot >= group) =>
            {
                let holds = size(then) > size(otherwise);
                guards.push((LocatedExpr { at: stmt.at.clone(), expr: condition.clone() }, holds));
                out.extend(inside(if holds { then } else { otherwise }, group, guards));
            }
            other => {
                out.push(stmt.with(other.with_programs(|within| inside(within, group, guards))));
            }
        }
    }
    out
}

/// The program with definitions substituted, work in ticks; if `merges`, no equal branches.
pub(crate) fn priced(
    problem: &Problem,
    program: &[Stmt],
    merges: bool,
) -> Result<Program, Uncovered> {
    let mut out = Program::new();
    for stmt in program {
        let of = |e: &Expr| problem.inlined(&stmt.at, e).map_err(Uncovered::from);
        let within = |program: &[Stmt]| priced(problem, program, merges);
        let kind = match &stmt.kind {
            StmtKind::Access { access, amount } => {
                let price = problem.platform.price(*access);
                let ticks = match price {
                    1 => of(amount)?,
                    price => Expr::binary(BinaryOp::Mul, Expr::Int(price), of(amount)?),
                };
                StmtKind::Access { access: AccessKind::Work, amount: ticks }
            }
            StmtKind::If { condition, then, otherwise } => {
                let (then, otherwise) = (within(then)?, within(otherwise)?);
                if merges && alike(&then, &otherwise) && never_fails(condition) {
                    out.extend(then);
                    continue;
                }
                StmtKind::If { condition: of(condition)?, then, otherwise }
            }
            other => other.rebuilt(of, within)?,
        };
        out.push(stmt.with(kind));
    }
    Ok(out)
}

/// True if the programs do the same, wherever they stand.
fn alike(a: &[Stmt], b: &[Stmt]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| match (&a.kind, &b.kind) {
            (StmtKind::Repeat { count: c, body: x }, StmtKind::Repeat { count: d, body: y }) => {
                c == d && alike(x, y)
            }
            (
                StmtKind::If { condition: c, then: t, otherwise: o },
                StmtKind::If { condition: d, then: u, otherwise: p },
            ) => c == d && alike(t, u) && alike(o, p),
            // Two barriers are two places to meet at.
            (StmtKind::Barrier, StmtKind::Barrier) => false,
            (x, y) => x == y,
        })
}

/// True for an expression that surely has a value: no division by a possible 0, nothing that grows.
pub(crate) fn never_fails(e: &Expr) -> bool {
    let own = match e {
        Expr::Int(_) | Expr::Name(_) | Expr::Not(_) | Expr::Conditional(..) => true,
        Expr::Call(f, _) => matches!(f, Function::Min | Function::Max),
        Expr::Binary(op, _, b) => match op {
            BinaryOp::FloorDiv | BinaryOp::Div | BinaryOp::Rem => {
                matches!(**b, Expr::Int(n) if n > 0)
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Pow => false,
            _ => true,
        },
        Expr::Neg(_) => false,
    };
    own && e.parts().all(never_fails)
}

/// The first statement with an expression that names a slot from `first` on: what differs between
/// items, or from that of `gid` on between groups.
pub(crate) fn differing(program: &[Stmt], first: usize) -> Option<&Stmt> {
    let mut found = None;
    expressions(program, &mut |stmt, e| {
        if found.is_none() && e.mentions(|slot| slot >= first) {
            found = Some(stmt);
        }
    });
    found
}

/// Refuses a program that differs so.
pub(crate) fn refuse(program: &[Stmt], first: usize, what: &'static str) -> Result<(), Uncovered> {
    differing(program, first).map_or(Ok(()), |stmt| uncovered(&stmt.at, what))
}

pub(crate) fn size(program: &[Stmt]) -> usize {
    program.iter().map(|s| 1 + s.kind.programs().map(|within| size(within)).sum::<usize>()).sum()
}
