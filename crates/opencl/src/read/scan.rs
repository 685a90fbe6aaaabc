//! Looking through the tree without walking it.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::types::is_real;
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp, Unit, Variable, VariableId};

/// All variables of a file by their identity.
pub fn variables(unit: &Unit) -> HashMap<VariableId, &Variable> {
    let mut found: HashMap<VariableId, &Variable> =
        unit.globals.iter().map(|global| (global.id, global)).collect();
    for function in unit.functions.values() {
        found.extend(function.parameters.iter().map(|parameter| (parameter.id, parameter)));
        statements(&function.body, &mut |stmt| {
            if let StmtKind::Declare(declared) = &stmt.kind {
                found.extend(declared.iter().map(|variable| (variable.id, variable)));
            }
        });
    }
    found
}

/// Visits all statements, outer ones first.
pub fn statements<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        visit(stmt);
        match &stmt.kind {
            StmtKind::Block(body)
            | StmtKind::While(_, body)
            | StmtKind::DoWhile(body, _)
            | StmtKind::Switch(_, _, body) => statements(body, visit),
            StmtKind::If(_, then, otherwise) => {
                statements(then, visit);
                statements(otherwise, visit);
            }
            StmtKind::For { init, body, .. } => {
                statements(init, visit);
                statements(body, visit);
            }
            _ => {}
        }
    }
}

/// Expressions that stand in a statement itself, not in statements inside it.
pub fn direct_expressions(stmt: &Stmt) -> Vec<&Expr> {
    match &stmt.kind {
        StmtKind::Declare(variables) => variables.iter().filter_map(|v| v.init.as_ref()).collect(),
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) => vec![e],
        StmtKind::If(c, ..)
        | StmtKind::While(c, _)
        | StmtKind::DoWhile(_, c)
        | StmtKind::Switch(c, ..) => vec![c],
        StmtKind::For { condition, step, .. } => condition.iter().chain(step).collect(),
        _ => Vec::new(),
    }
}

/// Visits an expression and all inside it.
pub fn expressions<'a>(e: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(e);
    e.parts().into_iter().for_each(|part| expressions(part, visit));
}

/// Products of real numbers to which nothing is added or subtracted where they stand: they become
/// whole numbers, are multiplied, divided or compared, or go into a function. Each is named by
/// where it is in memory.
pub fn lone_products(unit: &Unit) -> HashSet<*const Expr> {
    let product =
        |e: &Expr| matches!(e.kind, ExprKind::Binary(BinaryOp::Mul, ..)) && is_real(&e.ty);
    let mut found = HashSet::new();
    let mut look = |e: &Expr, alone: bool| {
        if alone && product(e) {
            found.insert(std::ptr::from_ref(e));
        }
    };
    for function in unit.functions.values() {
        statements(&function.body, &mut |stmt| {
            if let StmtKind::Declare(declared) = &stmt.kind {
                for (variable, init) in declared.iter().filter_map(|v| Some((v, v.init.as_ref()?)))
                {
                    look(init, !is_real(&variable.ty));
                }
            }
            for e in direct_expressions(stmt) {
                expressions(e, &mut |e| match &e.kind {
                    ExprKind::Cast(a) => look(a, !is_real(&e.ty)),
                    ExprKind::Assign(None, left, right) => look(right, !is_real(&left.ty)),
                    ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => {}
                    ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| look(e, true)),
                    ExprKind::Call(name, arguments) if !unit.functions.contains_key(name) => {
                        arguments.iter().for_each(|e| look(e, true));
                    }
                    _ => {}
                });
            }
        });
    }
    found
}

/// Whether an expression consists of constants and macros alone. It is the syntax that tells, not
/// the value, so that the arithmetic of a kernel is the same for all configurations.
pub fn is_constant(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Symbol(_) | ExprKind::SizeOf(_) => true,
        ExprKind::Unary(UnaryOp::Plus | UnaryOp::Minus | UnaryOp::Not | UnaryOp::Complement, _)
        | ExprKind::Cast(_)
        | ExprKind::Binary(..)
        | ExprKind::Conditional(..)
        | ExprKind::List(_) => e.parts().into_iter().all(is_constant),
        _ => false,
    }
}

/// The variable whose contents an assignment to this changes, if that can be seen.
fn root(e: &Expr) -> Option<VariableId> {
    match &e.kind {
        ExprKind::Variable(id, _) => Some(*id),
        ExprKind::Index(base, _) | ExprKind::Member { base, .. } | ExprKind::Cast(base) => {
            root(base)
        }
        _ => None,
    }
}

/// Variables that an expression seems to change, or whose address it takes.
pub fn assigned_by(e: &Expr, found: &mut BTreeSet<VariableId>) {
    expressions(e, &mut |e| match &e.kind {
        ExprKind::Assign(_, left, _) => found.extend(root(left)),
        ExprKind::Unary(
            UnaryOp::PreIncrement
            | UnaryOp::PreDecrement
            | UnaryOp::PostIncrement
            | UnaryOp::PostDecrement
            | UnaryOp::Address,
            a,
        ) => found.extend(root(a)),
        _ => {}
    });
}

/// Variables that statements seem to change.
pub fn assigned(body: &[Stmt], found: &mut BTreeSet<VariableId>) {
    statements(body, &mut |stmt| {
        for e in direct_expressions(stmt) {
            assigned_by(e, found);
        }
    });
}

/// Whether statements can be left before their end: by `return`, or by a `break` or `continue` that
/// is not that of a loop or a `switch` inside.
pub fn escapes(body: &[Stmt]) -> bool {
    returns(body) || breaks(body) || continues(body)
}

/// Whether there is a `continue` of the loop around.
fn continues(body: &[Stmt]) -> bool {
    leaves(body, &|kind| match kind {
        StmtKind::Switch(_, _, body) => continues(body),
        kind => matches!(kind, StmtKind::Continue),
    })
}

/// Whether there is a `return`.
pub fn returns(body: &[Stmt]) -> bool {
    let mut found = false;
    statements(body, &mut |stmt| found |= matches!(stmt.kind, StmtKind::Return(_)));
    found
}

/// Whether there is a `break` of the loop or the `switch` around.
pub fn breaks(body: &[Stmt]) -> bool {
    leaves(body, &|kind| matches!(kind, StmtKind::Break))
}

fn leaves(body: &[Stmt], is: &dyn Fn(&StmtKind) -> bool) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Block(body) => leaves(body, is),
        StmtKind::If(_, then, otherwise) => leaves(then, is) || leaves(otherwise, is),
        kind => is(kind),
    })
}

/// Whether the statements end with a `break` or a `return`, and leave at no other place.
pub fn always_ends_loop(body: &[Stmt]) -> bool {
    let Some((last, before)) = body.split_last() else { return false };
    !escapes(before)
        && match &last.kind {
            StmtKind::Break | StmtKind::Return(_) => true,
            StmtKind::Block(body) => always_ends_loop(body),
            _ => false,
        }
}

/// Whether the statements always end with leaving the loop or the function.
pub fn always_leaves(body: &[Stmt]) -> bool {
    body.last().is_some_and(|stmt| match &stmt.kind {
        StmtKind::Break | StmtKind::Return(_) => true,
        StmtKind::Block(body) => always_leaves(body),
        StmtKind::If(_, then, otherwise) => always_leaves(then) && always_leaves(otherwise),
        _ => false,
    })
}
