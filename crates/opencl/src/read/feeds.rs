//! Which integer variables feed addresses and loops: also by way of other variables, and of
//! functions.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::IndexMap;

use super::scan;
use super::types::Integer;
use crate::ast::{
    CBinaryOp, CExpr, CFunction, CStmtKind, CVariable, ExprKind, Type, Unit, VariableId,
};

/// Integer variables that stand in a subscript, in arithmetic on pointers or in a loop's condition
/// or step, and those from which they are computed.
pub fn feeding(unit: &Unit, variables: &HashMap<VariableId, &CVariable>) -> HashSet<VariableId> {
    let integer = |id: &VariableId| variables.get(id).is_some_and(|v| Integer::of(&v.ty).is_some());
    let functions = &unit.functions;
    let mut found = HashSet::new();
    let mut sources: Vec<(VariableId, Vec<VariableId>)> = Vec::new();
    for function in unit.functions.values() {
        scan::statements(&function.body, &mut |stmt| {
            match &stmt.kind {
                CStmtKind::For { condition, step, .. } => {
                    condition
                        .iter()
                        .chain(step)
                        .for_each(|e| found.extend(mentioned(functions, e)));
                }
                CStmtKind::While(c, _) | CStmtKind::DoWhile(_, c) => {
                    found.extend(mentioned(functions, c))
                }
                CStmtKind::Declare(declared) => {
                    let given = declared.iter().filter_map(|v| Some((v.id, v.init.as_ref()?)));
                    sources.extend(given.map(|(id, e)| (id, mentioned(functions, e))));
                }
                _ => {}
            }
            for e in scan::direct_expressions(stmt) {
                scan::expressions(e, &mut |e| {
                    look(functions, e, &mut found, &mut sources);
                    if let ExprKind::Call(name, arguments) = &e.kind
                        && let Some(called) = unit.functions.get(name)
                    {
                        let passed = called.parameters.iter().zip(arguments);
                        sources
                            .extend(passed.map(|(to, from)| (to.id, mentioned(functions, from))));
                    }
                });
            }
        });
    }
    found.retain(integer);
    while grows(&mut found, &sources, &integer) {}
    found
}

/// The functions of a file, by name.
type Functions = IndexMap<String, CFunction>;

fn look(
    functions: &Functions,
    e: &CExpr,
    found: &mut HashSet<VariableId>,
    sources: &mut Vec<(VariableId, Vec<VariableId>)>,
) {
    match &e.kind {
        ExprKind::Index(base, index) => {
            let index = if Integer::of(&index.ty).is_some() { index } else { base };
            found.extend(mentioned(functions, index));
        }
        ExprKind::Binary(CBinaryOp::Add | CBinaryOp::Sub, a, b)
            if matches!(e.ty, Type::Pointer(..)) =>
        {
            found.extend(mentioned(functions, a));
            found.extend(mentioned(functions, b));
        }
        ExprKind::Assign(_, left, right) => {
            if let ExprKind::Variable(id, _) = &left.kind {
                sources.push((*id, mentioned(functions, right)));
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

/// Functions that work on addresses as operators do.
const WHOLE: [&str; 7] = ["min", "max", "clamp", "abs", "mul24", "mad24", "select"];

/// Variables in an expression, but not those in subscripts inside it, nor in arguments of functions
/// that read memory or work on real numbers. What a function of the file is given may lead to its
/// result.
fn mentioned(unit: &Functions, e: &CExpr) -> Vec<VariableId> {
    let mut found = BTreeSet::new();
    gather(unit, e, &mut found);
    found.into_iter().collect()
}

fn gather(unit: &Functions, e: &CExpr, found: &mut BTreeSet<VariableId>) {
    match &e.kind {
        ExprKind::Variable(id, _) => {
            found.insert(*id);
        }
        ExprKind::Unary(..)
        | ExprKind::Cast(_)
        | ExprKind::Binary(..)
        | ExprKind::Assign(..)
        | ExprKind::Conditional(..) => {
            e.parts().into_iter().for_each(|part| gather(unit, part, found))
        }
        ExprKind::Call(name, arguments)
            if Integer::of(&e.ty).is_some()
                && (unit.contains_key(name) || WHOLE.contains(&name.as_str())) =>
        {
            arguments.iter().for_each(|argument| gather(unit, argument, found));
        }
        _ => {}
    }
}
