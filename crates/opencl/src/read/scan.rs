//! What is seen in statements and expressions without walking them.
//!
//! Parts and exits of loops, assigned variables, lone products, and the integer variables that feed
//! addresses and loops, also by way of other variables and of functions.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::symbolic::Poly;
use super::types::{Integer, is_real};
use super::value::VariableIds;
use crate::ast::{
    CBinaryOp, CExpr, CFunction, CStmt, CStmtKind, CVariable, ExprKind, SourcePlace, Type, UnaryOp,
    Unit, VariableId,
};

/// Of a loop its test, its step, its body, and whether the test comes after the body.
type LoopParts<'a> = (Option<&'a CExpr>, Option<&'a CExpr>, &'a [CStmt], bool);

pub fn loop_parts(stmt: &CStmt) -> Option<LoopParts<'_>> {
    Some(match &stmt.kind {
        CStmtKind::For { condition, step, body, .. } => {
            (condition.as_ref(), step.as_ref(), body, false)
        }
        CStmtKind::While(condition, body) => (Some(condition), None, body, false),
        CStmtKind::DoWhile(body, condition) => (Some(condition), None, body, true),
        _ => return None,
    })
}

/// A loop of any kind.
#[derive(Debug, Clone)]
pub struct Loop<'a> {
    pub at: &'a SourcePlace,
    /// Whether there is an iteration; absent: always.
    pub test: Option<&'a CExpr>,
    /// Conditions under which the body begins with a `break`.
    pub breaks: Vec<&'a CExpr>,
    pub step: Option<&'a CExpr>,
    /// What else is done in an iteration.
    pub body: &'a [CStmt],
    /// Whether the test comes after the body.
    pub after: bool,
}

impl<'a> Loop<'a> {
    /// The loop that a statement is; `None` for any other statement.
    pub fn of(stmt: &'a CStmt) -> Option<Loop<'a>> {
        let (test, step, body, after) = loop_parts(stmt)?;
        let (breaks, body) = if after { (Vec::new(), body) } else { leading_breaks(body) };
        Some(Loop { at: &stmt.at, test, breaks, step, body, after })
    }

    /// The expressions that belong to the loop itself.
    pub fn expressions(&self) -> impl Iterator<Item = &'a CExpr> + '_ {
        self.test.into_iter().chain(self.breaks.iter().copied()).chain(self.step)
    }

    /// Whether it tries an atomic exchange until that succeeds.
    pub fn tries_again(&self) -> bool {
        let mut found = false;
        let mut look = |e: &'a CExpr| {
            expressions(e, &mut |e| {
                let ExprKind::Call(name, _) = &e.kind else { return };
                found |= name.contains("_cmpxchg") || name.contains("_compare_exchange");
            });
        };
        self.expressions().for_each(&mut look);
        statements(self.body, &mut |stmt| {
            direct_expressions(stmt).into_iter().for_each(&mut look);
        });
        found
    }
}

/// What is done at the statements of a loop that leave it.
#[derive(Debug, Clone)]
pub struct Exits<'a> {
    /// What the loop does in an iteration.
    pub body: &'a [CStmt],
    /// These statements, in order.
    pub at: Vec<&'a CStmt>,
    /// Whether it is walked how the loop is left, or else iterations that do not leave.
    pub leaving: bool,
    /// The conditions under which an iteration goes on, as they were met.
    pub stays: Vec<Poly>,
}

impl<'a> Exits<'a> {
    /// The exits of a loop; `None` if some are inside others, or iterations end otherwise.
    pub fn of(l: &Loop<'a>) -> Option<Exits<'a>> {
        let mut at = Vec::new();
        let body = match l.body {
            [CStmt { kind: CStmtKind::Block(inner), .. }] => inner,
            body => body,
        };
        for stmt in body.iter().filter(|stmt| escapes(std::slice::from_ref(stmt))) {
            let CStmtKind::If(_, then, otherwise) = &stmt.kind else { return None };
            if !always_ends_loop(then) || escapes(otherwise) {
                return None;
            }
            at.push(stmt);
        }
        Some(Exits { body: l.body, at, leaving: false, stays: Vec::new() })
    }

    /// The first condition under which the loop ends the function.
    pub fn returning(&self) -> Option<(&'a SourcePlace, &'a CExpr)> {
        self.at.iter().find_map(|stmt| match &stmt.kind {
            CStmtKind::If(condition, then, _) if returns(then) => Some((&stmt.at, condition)),
            _ => None,
        })
    }
}

/// A body that begins with `if (c) break;` is one with a further condition.
fn leading_breaks(body: &[CStmt]) -> (Vec<&CExpr>, &[CStmt]) {
    let mut conditions = Vec::new();
    let mut rest = body;
    if let [CStmt { kind: CStmtKind::Block(inner), .. }] = rest {
        rest = inner;
    }
    while let [first, others @ ..] = rest {
        let CStmtKind::If(condition, then, otherwise) = &first.kind else { break };
        let breaks = match then.as_slice() {
            [CStmt { kind: CStmtKind::Break, .. }] => true,
            [CStmt { kind: CStmtKind::Block(inner), .. }] => {
                matches!(inner.as_slice(), [CStmt { kind: CStmtKind::Break, .. }])
            }
            _ => false,
        };
        if !breaks || !otherwise.is_empty() {
            break;
        }
        conditions.push(condition);
        rest = others;
    }
    (conditions, rest)
}

pub fn variables(unit: &Unit) -> HashMap<VariableId, &CVariable> {
    let mut found: HashMap<VariableId, &CVariable> =
        unit.globals.iter().map(|global| (global.id, global)).collect();
    for function in unit.functions.values() {
        declared(function, &mut |variable| _ = found.insert(variable.id, variable));
    }
    found
}

/// Visits the parameters and the variables of a function.
pub fn declared<'a>(function: &'a CFunction, visit: &mut dyn FnMut(&'a CVariable)) {
    function.parameters.iter().for_each(&mut *visit);
    statements(&function.body, &mut |stmt| {
        if let CStmtKind::Declare(declared) = &stmt.kind {
            declared.iter().for_each(&mut *visit);
        }
    });
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

/// Products of real numbers that no addition or subtraction takes where they stand: they go into
/// another operation, or are the second of two that are added. Named by where they are in memory.
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
                    ExprKind::Binary(CBinaryOp::Add | CBinaryOp::Sub, a, b) => look(b, product(a)),
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

/// Whether an expression consists of constants and macros alone. The syntax decides, not
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
pub fn assigned_by(e: &CExpr, found: &mut VariableIds) {
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
pub fn assigned(body: &[CStmt], found: &mut VariableIds) {
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

/// Integer variables that stand in a subscript, in arithmetic on pointers or in a loop's condition
/// or step, and those from which they are computed.
pub fn feeding(unit: &Unit, variables: &HashMap<VariableId, &CVariable>) -> HashSet<VariableId> {
    let integer = |id: &VariableId| variables.get(id).is_some_and(|v| Integer::of(&v.ty).is_some());
    let functions = &unit.functions;
    let mut found = HashSet::new();
    let mut sources: Vec<(VariableId, VariableIds)> = Vec::new();
    for function in unit.functions.values() {
        statements(&function.body, &mut |stmt| {
            match &stmt.kind {
                CStmtKind::For { .. } | CStmtKind::While(..) | CStmtKind::DoWhile(..) => {
                    let own = direct_expressions(stmt).into_iter();
                    found.extend(own.flat_map(|e| mentioned(functions, e)));
                }
                CStmtKind::Declare(declared) => {
                    let given = declared.iter().filter_map(|v| Some((v.id, v.init.as_ref()?)));
                    sources.extend(given.map(|(id, e)| (id, mentioned(functions, e))));
                }
                _ => {}
            }
            for e in direct_expressions(stmt) {
                expressions(e, &mut |e| {
                    look(functions, e, &mut found, &mut sources);
                    if let ExprKind::Call(name, arguments) = &e.kind
                        && let Some(called) = unit.functions.get(name)
                    {
                        let given = called.parameters.iter().map(|to| to.id);
                        let passed = arguments.iter().map(|from| mentioned(functions, from));
                        sources.extend(given.zip(passed));
                    }
                });
            }
        });
    }
    found.retain(integer);
    let mut before = 0;
    while found.len() > before {
        before = found.len();
        for (id, from) in &sources {
            if found.contains(id) {
                found.extend(from.iter().filter(|id| integer(id)));
            }
        }
    }
    found
}

type Functions = IndexMap<String, CFunction>;

fn look(
    functions: &Functions,
    e: &CExpr,
    found: &mut HashSet<VariableId>,
    sources: &mut Vec<(VariableId, VariableIds)>,
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
        // Coordinates in images.
        ExprKind::Call(name, arguments) if name.contains("_image") => {
            let lists = arguments.iter().map(|argument| match &argument.kind {
                ExprKind::List(items) => items.as_slice(),
                _ => std::slice::from_ref(argument),
            });
            let given = lists.take(3).flatten().filter(|e| Integer::of(&e.ty).is_some());
            found.extend(given.flat_map(|e| mentioned(functions, e)));
        }
        ExprKind::Assign(_, left, right) => {
            if let ExprKind::Variable(id, _) = &left.kind {
                sources.push((*id, mentioned(functions, right)));
            }
        }
        _ => {}
    }
}

/// Functions that work on addresses as operators do.
const WHOLE: [&str; 7] = ["min", "max", "clamp", "abs", "mul24", "mad24", "select"];

/// Variables in an expression, but not those in subscripts inside it, nor in arguments of functions
/// that read memory or work on real numbers.
fn mentioned(unit: &Functions, e: &CExpr) -> VariableIds {
    let mut found = VariableIds::new();
    gather(unit, e, &mut found);
    found
}

fn gather(unit: &Functions, e: &CExpr, found: &mut VariableIds) {
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
