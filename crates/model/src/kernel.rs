//! Kernel programs: what one work item does that takes time.

use super::platform::AccessKind;
use tickbound_expr::Expr;

/// A sequence of statements.
pub type Program = Vec<Stmt>;

/// One statement of a kernel program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stmt {
    /// Where it stands, for errors: `kernel[0].body[2]` of the problem file, or `minimum.cl, line
    /// 14` of a source.
    pub at: String,
    /// What people call this phase, in timelines; the kind's name if none was given.
    pub label: String,
    /// What it does.
    pub kind: StmtKind,
}

impl Stmt {
    /// A statement that replaces this one.
    pub fn with(&self, kind: StmtKind) -> Stmt {
        Stmt { at: self.at.clone(), label: self.label.clone(), kind }
    }
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StmtKind {
    /// `amount` accesses, each at the platform's price; a negative amount is an error.
    Access {
        /// The kind of access.
        access: AccessKind,
        /// How many.
        amount: Expr,
    },
    /// Remembers the present time.
    Mark,
    /// Waits until the time is greater than the remembered one plus this many ticks; no wait if it
    /// is already.
    Until(Expr),
    /// Waits for all other items that run with this one.
    Barrier,
    /// The body, `count` times; not at all if the count is negative.
    Repeat {
        /// How often.
        count: Expr,
        /// What is repeated.
        body: Program,
    },
    /// One of two branches.
    If {
        /// True if not zero.
        condition: Expr,
        /// Taken if true.
        then: Program,
        /// Taken if false.
        otherwise: Program,
    },
}

impl StmtKind {
    /// What the statement is called in a problem file.
    pub fn name(&self) -> &'static str {
        match self {
            StmtKind::Access { access, .. } => access.name(),
            StmtKind::Mark => "mark",
            StmtKind::Until(_) => "until",
            StmtKind::Barrier => "barrier",
            StmtKind::Repeat { .. } => "repeat",
            StmtKind::If { .. } => "if",
        }
    }
}

/// True if the program contains a barrier at any depth.
pub fn has_barrier(program: &[Stmt]) -> bool {
    program.iter().any(|s| match &s.kind {
        StmtKind::Barrier => true,
        StmtKind::Repeat { body, .. } => has_barrier(body),
        StmtKind::If { then, otherwise, .. } => has_barrier(then) || has_barrier(otherwise),
        StmtKind::Access { .. } | StmtKind::Mark | StmtKind::Until(_) => false,
    })
}

/// The condition of the first `if` around a barrier, in loops too.
pub fn barrier_condition(program: &[Stmt]) -> Option<&Expr> {
    program.iter().find_map(|s| match &s.kind {
        StmtKind::If { condition, then, otherwise }
            if has_barrier(then) || has_barrier(otherwise) =>
        {
            Some(condition)
        }
        StmtKind::Repeat { body, .. } => barrier_condition(body),
        _ => None,
    })
}

/// The program where a condition is known to come out so: the side taken represents each `if` that
/// asks it. It must have the same value wherever it is asked.
pub fn answered(program: &[Stmt], known: &Expr, holds: bool) -> Program {
    let mut out = Program::new();
    for stmt in program {
        let within = |program: &[Stmt]| answered(program, known, holds);
        let kind = match &stmt.kind {
            StmtKind::If { condition, then, otherwise } if condition == known => {
                out.extend(within(if holds { then } else { otherwise }));
                continue;
            }
            StmtKind::If { condition, then, otherwise } => StmtKind::If {
                condition: condition.clone(),
                then: within(then),
                otherwise: within(otherwise),
            },
            StmtKind::Repeat { count, body } => {
                StmtKind::Repeat { count: count.clone(), body: within(body) }
            }
            other => other.clone(),
        };
        out.push(stmt.with(kind));
    }
    out
}

/// True if the program waits for a remembered time anywhere.
pub fn has_until(program: &[Stmt]) -> bool {
    program.iter().any(|s| match &s.kind {
        StmtKind::Until(_) => true,
        StmtKind::Repeat { body, .. } => has_until(body),
        StmtKind::If { then, otherwise, .. } => has_until(then) || has_until(otherwise),
        StmtKind::Access { .. } | StmtKind::Mark | StmtKind::Barrier => false,
    })
}

/// Calls `visit` for every expression of the program with the path of its statement.
pub fn expressions<'p>(program: &'p [Stmt], visit: &mut impl FnMut(&'p Stmt, &'p Expr)) {
    for s in program {
        match &s.kind {
            StmtKind::Access { amount: e, .. } | StmtKind::Until(e) => visit(s, e),
            StmtKind::Repeat { count, body } => {
                visit(s, count);
                expressions(body, visit);
            }
            StmtKind::If { condition, then, otherwise } => {
                visit(s, condition);
                expressions(then, visit);
                expressions(otherwise, visit);
            }
            StmtKind::Mark | StmtKind::Barrier => {}
        }
    }
}
