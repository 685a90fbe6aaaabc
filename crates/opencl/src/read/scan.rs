//! Looking through the tree without walking it.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::types::is_real;
use crate::ast::{
    CBinaryOp, CExpr, CStmt, CStmtKind, CVariable, ExprKind, UnaryOp, Unit, VariableId,
};

/// All variables of a file by their identity.
pub fn variables(unit: &Unit) -> HashMap<VariableId, &CVariable> {
    let mut found: HashMap<VariableId, &CVariable> =
        unit.globals.iter().map(|global| (global.id, global)).collect();
    for function in unit.functions.values() {
        found.extend(function.parameters.iter().map(|parameter| (parameter.id, parameter)));
        statements(&function.body, &mut |stmt| {
            if let CStmtKind::Declare(declared) = &stmt.kind {
                found.extend(declared.iter().map(|variable| (variable.id, variable)));
            }
        });
    }
    found
}

/// Visits all statements, outer ones first.
pub fn statements<'a>(body: &'a [CStmt], visit: &mut dyn FnMut(&'a CStmt)) {
    for stmt in body {
        visit(stmt);
        match &stmt.kind {
            CStmtKind::Block(body)
            | CStmtKind::While(_, body)
            | CStmtKind::DoWhile(body, _)
            | CStmtKind::Switch(_, _, body) => statements(body, visit),
            CStmtKind::If(_, then, otherwise) => {
                statements(then, visit);
                statements(otherwise, visit);
            }
            CStmtKind::For { init, body, .. } => {
                statements(init, visit);
                statements(body, visit);
            }
            _ => {}
        }
    }
}

/// Expressions that stand in a statement itself, not in statements inside it.
pub fn direct_expressions(stmt: &CStmt) -> Vec<&CExpr> {
    match &stmt.kind {
        CStmtKind::Declare(variables) => variables.iter().filter_map(|v| v.init.as_ref()).collect(),
        CStmtKind::Expr(e) | CStmtKind::Return(Some(e)) => vec![e],
        CStmtKind::If(c, ..)
        | CStmtKind::While(c, _)
        | CStmtKind::DoWhile(_, c)
        | CStmtKind::Switch(c, ..) => vec![c],
        CStmtKind::For { condition, step, .. } => condition.iter().chain(step).collect(),
        _ => Vec::new(),
    }
}

/// Visits an expression and all inside it.
pub fn expressions<'a>(e: &'a CExpr, visit: &mut dyn FnMut(&'a CExpr)) {
    visit(e);
    e.parts().into_iter().for_each(|part| expressions(part, visit));
}

/// Products of real numbers to which nothing is added or subtracted where they stand: they become
/// whole numbers, are multiplied, divided or compared, or go into a function. Each is named by
/// where it is in memory.
pub fn lone_products(unit: &Unit) -> HashSet<*const CExpr> {
    let product =
        |e: &CExpr| matches!(e.kind, ExprKind::Binary(CBinaryOp::Mul, ..)) && is_real(&e.ty);
    let mut found = HashSet::new();
    let mut look = |e: &CExpr, alone: bool| {
        if alone && product(e) {
            found.insert(std::ptr::from_ref(e));
        }
    };
    for function in unit.functions.values() {
        statements(&function.body, &mut |stmt| {
            if let CStmtKind::Declare(declared) = &stmt.kind {
                for (variable, init) in declared.iter().filter_map(|v| Some((v, v.init.as_ref()?)))
                {
                    look(init, !is_real(&variable.ty));
                }
            }
            for e in direct_expressions(stmt) {
                expressions(e, &mut |e| match &e.kind {
                    ExprKind::Cast(a) => look(a, !is_real(&e.ty)),
                    ExprKind::Assign(None, left, right) => look(right, !is_real(&left.ty)),
                    ExprKind::Binary(CBinaryOp::Add | CBinaryOp::Sub, ..) => {}
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
pub fn is_constant(e: &CExpr) -> bool {
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
fn root(e: &CExpr) -> Option<VariableId> {
    match &e.kind {
        ExprKind::Variable(id, _) => Some(*id),
        ExprKind::Index(base, _) | ExprKind::Member { base, .. } | ExprKind::Cast(base) => {
            root(base)
        }
        _ => None,
    }
}

/// Variables that an expression seems to change, or whose address it takes.
pub fn assigned_by(e: &CExpr, found: &mut BTreeSet<VariableId>) {
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
pub fn assigned(body: &[CStmt], found: &mut BTreeSet<VariableId>) {
    statements(body, &mut |stmt| {
        for e in direct_expressions(stmt) {
            assigned_by(e, found);
        }
    });
}

/// Whether statements can be left before their end: by `return`, or by a `break` or `continue` that
/// is not that of a loop or a `switch` inside.
pub fn escapes(body: &[CStmt]) -> bool {
    returns(body) || breaks(body) || continues(body)
}

/// Whether there is a `continue` of the loop around.
fn continues(body: &[CStmt]) -> bool {
    leaves(body, &|kind| match kind {
        CStmtKind::Switch(_, _, body) => continues(body),
        kind => matches!(kind, CStmtKind::Continue),
    })
}

/// Whether there is a `return`.
pub fn returns(body: &[CStmt]) -> bool {
    let mut found = false;
    statements(body, &mut |stmt| found |= matches!(stmt.kind, CStmtKind::Return(_)));
    found
}

/// Whether there is a `break` of the loop or the `switch` around.
pub fn breaks(body: &[CStmt]) -> bool {
    leaves(body, &|kind| matches!(kind, CStmtKind::Break))
}

fn leaves(body: &[CStmt], is: &dyn Fn(&CStmtKind) -> bool) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        CStmtKind::Block(body) => leaves(body, is),
        CStmtKind::If(_, then, otherwise) => leaves(then, is) || leaves(otherwise, is),
        kind => is(kind),
    })
}

/// Whether the statements end with a `break` or a `return`, and leave at no other place.
pub fn always_ends_loop(body: &[CStmt]) -> bool {
    let Some((last, before)) = body.split_last() else { return false };
    !escapes(before)
        && match &last.kind {
            CStmtKind::Break | CStmtKind::Return(_) => true,
            CStmtKind::Block(body) => always_ends_loop(body),
            _ => false,
        }
}

/// Whether the statements always end with leaving the loop or the function.
pub fn always_leaves(body: &[CStmt]) -> bool {
    body.last().is_some_and(|stmt| match &stmt.kind {
        CStmtKind::Break | CStmtKind::Return(_) => true,
        CStmtKind::Block(body) => always_leaves(body),
        CStmtKind::If(_, then, otherwise) => always_leaves(then) && always_leaves(otherwise),
        _ => false,
    })
}
