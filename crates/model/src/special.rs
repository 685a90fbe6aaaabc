//! A program for one configuration.
//!
//! What goes in: a kernel program and the values of all names but those of the item. What comes out
//! does the same for every item of that configuration, with the same faults: what names no item is
//! a number, and sides that are never taken and loops that are never entered are left out. It pays
//! where a program is examined many times.

use super::kernel::{Program, Stmt, StmtKind};
use tickbound_expr::{Expr, Slot};

/// The program where only slots from `open` on are to be chosen; `env` has the values before.
pub fn special(program: &[Stmt], env: &[i64], open: Slot) -> Program {
    program_with(program, &|expr| expr.special(env, open))
}

/// The program with other expressions, of which those that are numbers decide branches and loops.
pub(crate) fn program_with(program: &[Stmt], with: &dyn Fn(&Expr) -> Expr) -> Program {
    let mut left = Program::new();
    for stmt in program {
        let kind = match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => match with(condition) {
                Expr::Int(taken) => {
                    left.extend(program_with(if taken != 0 { then } else { otherwise }, with));
                    continue;
                }
                condition => StmtKind::If {
                    condition,
                    then: program_with(then, with),
                    otherwise: program_with(otherwise, with),
                },
            },
            StmtKind::Repeat { count, body } => match with(count) {
                Expr::Int(..1) => continue,
                count => StmtKind::Repeat { count, body: program_with(body, with) },
            },
            StmtKind::Access { access, amount } => {
                StmtKind::Access { access: *access, amount: with(amount) }
            }
            StmtKind::Until(ticks) => StmtKind::Until(with(ticks)),
            StmtKind::Mark | StmtKind::Barrier => stmt.kind.clone(),
        };
        left.push(stmt.with(kind));
    }
    left
}
