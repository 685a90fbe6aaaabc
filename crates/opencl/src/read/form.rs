//! What a loop consists of.

use super::scan;
use super::symbolic::Poly;
use crate::ast::{CExpr, CStmt, CStmtKind, ExprKind, SourcePlace};

/// A loop of any kind.
#[derive(Debug, Clone)]
pub struct Loop<'a> {
    /// Where it stands.
    pub at: &'a SourcePlace,
    /// Whether there is an iteration; absent: always.
    pub test: Option<&'a CExpr>,
    /// Conditions under which the body begins with a `break`.
    pub breaks: Vec<&'a CExpr>,
    /// Run after each iteration.
    pub step: Option<&'a CExpr>,
    /// What else is done in an iteration.
    pub body: &'a [CStmt],
    /// Whether the test comes after the body.
    pub after: bool,
}

impl<'a> Loop<'a> {
    /// The loop that a statement is; `None` for any other statement.
    pub fn of(stmt: &'a CStmt) -> Option<Loop<'a>> {
        let (test, step, body, after) = match &stmt.kind {
            CStmtKind::For { condition, step, body, .. } => {
                (condition.as_ref(), step.as_ref(), body, false)
            }
            CStmtKind::While(condition, body) => (Some(condition), None, body, false),
            CStmtKind::DoWhile(body, condition) => (Some(condition), None, body, true),
            _ => return None,
        };
        let (breaks, body) = if after { (Vec::new(), &body[..]) } else { leading_breaks(body) };
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
            scan::expressions(e, &mut |e| {
                let ExprKind::Call(name, _) = &e.kind else { return };
                found |= name.contains("_cmpxchg") || name.contains("_compare_exchange");
            });
        };
        self.expressions().for_each(&mut look);
        scan::statements(self.body, &mut |stmt| {
            scan::direct_expressions(stmt).into_iter().for_each(&mut look);
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
    /// The exits of a loop; `None` if some are inside other statements, or there are other ways to
    /// end an iteration.
    pub fn of(l: &Loop<'a>) -> Option<Exits<'a>> {
        let mut at = Vec::new();
        let body = match l.body {
            [CStmt { kind: CStmtKind::Block(inner), .. }] => inner,
            body => body,
        };
        for stmt in body.iter().filter(|stmt| scan::escapes(std::slice::from_ref(stmt))) {
            let CStmtKind::If(_, then, otherwise) = &stmt.kind else { return None };
            if !scan::always_ends_loop(then) || scan::escapes(otherwise) {
                return None;
            }
            at.push(stmt);
        }
        Some(Exits { body: l.body, at, leaving: false, stays: Vec::new() })
    }

    /// The first condition under which the loop ends the function.
    pub fn returning(&self) -> Option<(&'a SourcePlace, &'a CExpr)> {
        self.at.iter().find_map(|stmt| match &stmt.kind {
            CStmtKind::If(condition, then, _) if scan::returns(then) => Some((&stmt.at, condition)),
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
