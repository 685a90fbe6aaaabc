//! What a loop consists of.

use crate::ast::{At, Expr, Stmt, StmtKind};

/// A loop of any kind.
#[derive(Debug, Clone)]
pub struct Loop<'a> {
    /// Where it stands.
    pub at: &'a At,
    /// Whether there is an iteration; absent: always.
    pub test: Option<&'a Expr>,
    /// Conditions under which the body begins with a `break`.
    pub breaks: Vec<&'a Expr>,
    /// Run after each iteration.
    pub step: Option<&'a Expr>,
    /// What else is done in an iteration.
    pub body: &'a [Stmt],
    /// Whether the test comes after the body.
    pub after: bool,
}

impl<'a> Loop<'a> {
    /// The loop that a statement is; `None` for any other statement.
    pub fn of(stmt: &'a Stmt) -> Option<Loop<'a>> {
        let (test, step, body, after) = match &stmt.kind {
            StmtKind::For { condition, step, body, .. } => {
                (condition.as_ref(), step.as_ref(), body, false)
            }
            StmtKind::While(condition, body) => (Some(condition), None, body, false),
            StmtKind::DoWhile(body, condition) => (Some(condition), None, body, true),
            _ => return None,
        };
        let (breaks, body) = if after { (Vec::new(), &body[..]) } else { leading_breaks(body) };
        Some(Loop { at: &stmt.at, test, breaks, step, body, after })
    }

    /// The expressions that belong to the loop itself.
    pub fn expressions(&self) -> impl Iterator<Item = &'a Expr> + '_ {
        self.test.into_iter().chain(self.breaks.iter().copied()).chain(self.step)
    }
}

/// A body that begins with `if (c) break;` is one with a further condition.
fn leading_breaks(body: &[Stmt]) -> (Vec<&Expr>, &[Stmt]) {
    let mut conditions = Vec::new();
    let mut rest = body;
    if let [Stmt { kind: StmtKind::Block(inner), .. }] = rest {
        rest = inner;
    }
    while let [first, others @ ..] = rest {
        let StmtKind::If(condition, then, otherwise) = &first.kind else { break };
        let breaks = match then.as_slice() {
            [Stmt { kind: StmtKind::Break, .. }] => true,
            [Stmt { kind: StmtKind::Block(inner), .. }] => {
                matches!(inner.as_slice(), [Stmt { kind: StmtKind::Break, .. }])
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
