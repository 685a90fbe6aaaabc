//! A program for one configuration.
//!
//! What goes in: a kernel program and the values of all names but those of the item. What comes out
//! does the same for every item of that configuration, with the same faults: what names no item is
//! a number, and sides that are never taken and loops that are never entered are left out. It pays
//! where a program is examined many times.

use super::kernel::{Program, Stmt, StmtKind};
use tickbound_expr::{Expr, Slot};

/// The program where only slots from `open` on are still to be chosen; `env` has the values of
/// those before.
pub fn special(program: &[Stmt], env: &[i64], open: Slot) -> Program {
    let mut left = Program::new();
    for stmt in program {
        let kind = match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => match condition.special(env, open) {
                Expr::Int(taken) => {
                    left.extend(special(if taken != 0 { then } else { otherwise }, env, open));
                    continue;
                }
                condition => StmtKind::If {
                    condition,
                    then: special(then, env, open),
                    otherwise: special(otherwise, env, open),
                },
            },
            StmtKind::Repeat { count, body } => match count.special(env, open) {
                Expr::Int(..1) => continue,
                count => StmtKind::Repeat { count, body: special(body, env, open) },
            },
            StmtKind::Access { access, amount } => {
                StmtKind::Access { access: *access, amount: amount.special(env, open) }
            }
            StmtKind::Until(ticks) => StmtKind::Until(ticks.special(env, open)),
            StmtKind::Mark | StmtKind::Barrier => stmt.kind.clone(),
        };
        left.push(stmt.with(kind));
    }
    left
}
