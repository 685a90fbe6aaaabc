//! Which integer variables feed addresses and loops.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::scan;
use super::types::Integer;
use crate::ast::{BinaryOp, Expr, ExprKind, StmtKind, Type, Unit, Variable, VariableId};

/// Integer variables that stand in a subscript, in arithmetic on pointers or in a loop's condition
/// or step, and those from which they are computed.
pub fn feeding(unit: &Unit, variables: &HashMap<VariableId, &Variable>) -> HashSet<VariableId> {
    let integer = |id: &VariableId| variables.get(id).is_some_and(|v| Integer::of(&v.ty).is_some());
    let mut found = HashSet::new();
    let mut sources: Vec<(VariableId, Vec<VariableId>)> = Vec::new();
    for function in unit.functions.values() {
        scan::statements(&function.body, &mut |stmt| {
            match &stmt.kind {
                StmtKind::For { condition, step, .. } => {
                    condition.iter().chain(step).for_each(|e| found.extend(mentioned(e)));
                }
                StmtKind::While(c, _) | StmtKind::DoWhile(_, c) => found.extend(mentioned(c)),
                StmtKind::Declare(declared) => {
                    let given = declared.iter().filter_map(|v| Some((v.id, v.init.as_ref()?)));
                    sources.extend(given.map(|(id, e)| (id, mentioned(e))));
                }
                _ => {}
            }
            for e in scan::direct_expressions(stmt) {
                scan::expressions(e, &mut |e| look(e, &mut found, &mut sources));
            }
        });
    }
    found.retain(integer);
    while grows(&mut found, &sources, &integer) {}
    found
}

fn look(
    e: &Expr,
    found: &mut HashSet<VariableId>,
    sources: &mut Vec<(VariableId, Vec<VariableId>)>,
) {
    match &e.kind {
        ExprKind::Index(base, index) => {
            let index = if Integer::of(&index.ty).is_some() { index } else { base };
            found.extend(mentioned(index));
        }
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b)
            if matches!(e.ty, Type::Pointer(..)) =>
        {
            found.extend(mentioned(a));
            found.extend(mentioned(b));
        }
        ExprKind::Assign(_, left, right) => {
            if let ExprKind::Variable(id, _) = &left.kind {
                sources.push((*id, mentioned(right)));
            }
        }
        _ => {}
    }
}

fn grows(
    found: &mut HashSet<VariableId>,
    sources: &[(VariableId, Vec<VariableId>)],
    integer: &dyn Fn(&VariableId) -> bool,
) -> bool {
    let before = found.len();
    for (id, from) in sources {
        if found.contains(id) {
            found.extend(from.iter().filter(|id| integer(id)));
        }
    }
    found.len() > before
}

/// Variables in an expression, but not those in arguments of calls and subscripts inside it.
fn mentioned(e: &Expr) -> Vec<VariableId> {
    let mut found = BTreeSet::new();
    gather(e, &mut found);
    found.into_iter().collect()
}

fn gather(e: &Expr, found: &mut BTreeSet<VariableId>) {
    match &e.kind {
        ExprKind::Variable(id, _) => {
            found.insert(*id);
        }
        ExprKind::Unary(..)
        | ExprKind::Cast(_)
        | ExprKind::Binary(..)
        | ExprKind::Assign(..)
        | ExprKind::Conditional(..) => e.parts().into_iter().for_each(|part| gather(part, found)),
        _ => {}
    }
}
