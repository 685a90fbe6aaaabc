//! Kernel programs: what one work item does that takes time.

use std::convert::Infallible;

use super::platform::AccessKind;
use tickbound_expr::Expr;

/// A sequence of statements.
pub type Program = Vec<Stmt>;

/// One statement of a kernel program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stmt {
    /// Where it stands, for errors: `kernel[0].body[2]` in a file or `minimum.cl, line 14`.
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
    /// Waits until the time is greater than the remembered one plus this many ticks.
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

    /// Its own expression: the amount, the ticks, the count or the condition.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            StmtKind::Access { amount: e, .. }
            | StmtKind::Until(e)
            | StmtKind::Repeat { count: e, .. }
            | StmtKind::If { condition: e, .. } => Some(e),
            StmtKind::Mark | StmtKind::Barrier => None,
        }
    }

    /// The programs in it: the body, or both branches.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        let (first, second) = match self {
            StmtKind::Repeat { body, .. } => (Some(body), None),
            StmtKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The statement with its expression as of `expr` and its programs as of `within`, or an error.
    pub fn rebuilt<E>(
        &self,
        expr: impl Fn(&Expr) -> Result<Expr, E>,
        mut within: impl FnMut(&[Stmt]) -> Result<Program, E>,
    ) -> Result<StmtKind, E> {
        Ok(match self {
            StmtKind::Access { access, amount } => {
                StmtKind::Access { access: *access, amount: expr(amount)? }
            }
            StmtKind::Until(ticks) => StmtKind::Until(expr(ticks)?),
            StmtKind::Repeat { count, body } => {
                StmtKind::Repeat { count: expr(count)?, body: within(body)? }
            }
            StmtKind::If { condition, then, otherwise } => StmtKind::If {
                condition: expr(condition)?,
                then: within(then)?,
                otherwise: within(otherwise)?,
            },
            StmtKind::Mark | StmtKind::Barrier => self.clone(),
        })
    }

    /// The statement with what `within` makes of the programs in it.
    pub fn with_programs(&self, mut within: impl FnMut(&[Stmt]) -> Program) -> StmtKind {
        let Ok(kind) = self.rebuilt(|e| Ok::<_, Infallible>(e.clone()), |p| Ok(within(p)));
        kind
    }
}

/// True if the program contains a barrier at any depth.
pub fn has_barrier(program: &[Stmt]) -> bool {
    let has = |kind: &StmtKind| kind.programs().any(|within| has_barrier(within));
    program.iter().any(|s| s.kind == StmtKind::Barrier || has(&s.kind))
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
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } if condition == known => {
                out.extend(within(if holds { then } else { otherwise }));
            }
            other => out.push(stmt.with(other.with_programs(within))),
        }
    }
    out
}

/// True if the program waits for a remembered time anywhere.
pub fn has_until(program: &[Stmt]) -> bool {
    let has = |kind: &StmtKind| kind.programs().any(|within| has_until(within));
    program.iter().any(|s| matches!(s.kind, StmtKind::Until(_)) || has(&s.kind))
}

/// Calls `visit` for every expression of the program with the path of its statement.
pub fn expressions<'p>(program: &'p [Stmt], visit: &mut impl FnMut(&'p Stmt, &'p Expr)) {
    for s in program {
        if let Some(e) = s.kind.expr() {
            visit(s, e);
        }
        for within in s.kind.programs() {
            expressions(within, visit);
        }
    }
}
