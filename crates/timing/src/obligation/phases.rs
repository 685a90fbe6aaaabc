//! The program of a group as phases, where items differ.
//!
//! In go statements, out come the steps of the element that is last at each barrier: a
//! [`PhaseWork`] for what differs, and what does not as a sum where every element has equally many
//! items. A loop around a barrier is its first iteration, which ends the phase that was open, and
//! the others, each of which ends the one before: what is carried over from an iteration must be
//! the same each time.

use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::kernel::{answered, barrier_condition, expressions, has_barrier};
use tickbound_model::{AccessKind, Problem, Stmt, StmtKind};

use crate::obligation::phase::PhaseWork;
use crate::obligation::product::{ObligationError, uncovered};
use crate::obligation::step::{PathStep, PathStepKind, always_has_a_value};

/// Most statements of a phase.
const MAX_STATEMENTS: usize = 10_000;

pub(crate) struct Phases<'p> {
    problem: &'p Problem,
    local: Expr,
}

/// The steps of phases that have ended, and what has met no barrier yet.
struct Read {
    steps: Vec<PathStep>,
    open: Vec<Stmt>,
}

impl<'p> Phases<'p> {
    /// For groups of this many items.
    pub(crate) fn new(problem: &'p Problem, local: Expr) -> Phases<'p> {
        Phases { problem, local }
    }

    pub(crate) fn steps(&self, program: &[Stmt]) -> Result<Vec<PathStep>, ObligationError> {
        let Read { mut steps, open } = self.read(&self.inlined(program)?, Vec::new())?;
        steps.extend(self.phase(open));
        Ok(steps)
    }

    /// The program with definitions substituted.
    fn inlined(&self, program: &[Stmt]) -> Result<Vec<Stmt>, ObligationError> {
        let one = |stmt: &Stmt| {
            let of = |e: &Expr| match e.mentions(|slot| slot > self.problem.first_item_slot()) {
                true => uncovered(&stmt.at, "differs between groups"),
                false => Ok(self.problem.inlined(&stmt.at, e)?),
            };
            match &stmt.kind {
                StmtKind::Until(_) => uncovered(&stmt.at, "waits for a mark"),
                other => Ok(stmt.with(other.rebuilt(of, |within| self.inlined(within))?)),
            }
        };
        program.iter().map(one).collect()
    }

    fn read(&self, program: &[Stmt], open: Vec<Stmt>) -> Result<Read, ObligationError> {
        let mut read = Read { steps: Vec::new(), open };
        for stmt in program {
            if !has_barrier(std::slice::from_ref(stmt)) {
                read.open.push(stmt.clone());
                continue;
            }
            if read.open.len() + read.steps.len() > MAX_STATEMENTS {
                return uncovered(&stmt.at, "too many statements");
            }
            let of_all = |e: &Expr| match self.differs(e) {
                true => uncovered(&stmt.at, "holds a barrier and differs between items"),
                false => Ok(e.clone()),
            };
            let before = std::mem::take(&mut read.open);
            let step = |kind| PathStep { at: stmt.at.clone(), kind };
            match &stmt.kind {
                StmtKind::Repeat { count, body } => {
                    let Read { steps, open } = self.repeat(stmt, (of_all(count)?, body), before)?;
                    read.steps.extend(steps);
                    read.open = open;
                }
                StmtKind::If { condition, then, otherwise } => {
                    let condition = of_all(condition)?;
                    let yes = self.read(then, before.clone())?;
                    let no = self.read(otherwise, before)?;
                    read.open = either(stmt, &condition, yes.open, no.open);
                    let (then, otherwise) = (yes.steps, no.steps);
                    read.steps.push(step(PathStepKind::If { condition, then, otherwise }));
                }
                _ => {
                    read.steps.extend(self.phase(before));
                    let amount = Expr::Int(self.problem.platform.barrier());
                    read.steps.push(step(PathStepKind::Work { amount, times: Vec::new() }));
                }
            }
        }
        Ok(read)
    }

    /// What an item does that does as all others do.
    fn alike(&self, program: &[Stmt]) -> Vec<PathStep> {
        let one = |stmt: &Stmt| {
            let kind = match &stmt.kind {
                StmtKind::Access { access, amount } => {
                    let times = vec![Expr::Int(self.price(*access))];
                    PathStepKind::Work { amount: amount.clone(), times }
                }
                StmtKind::Repeat { count, body } => {
                    PathStepKind::Repeat { count: count.clone(), body: self.alike(body) }
                }
                StmtKind::If { condition, then, otherwise } => PathStepKind::If {
                    condition: condition.clone(),
                    then: self.alike(then),
                    otherwise: self.alike(otherwise),
                },
                StmtKind::Mark | StmtKind::Barrier | StmtKind::Until(_) => PathStepKind::Mark,
            };
            PathStep { at: stmt.at.clone(), kind }
        };
        program.iter().map(one).collect()
    }

    fn price(&self, access: AccessKind) -> i64 {
        self.problem.platform.price(access)
    }

    /// A loop around a barrier.
    fn repeat(
        &self,
        stmt: &Stmt,
        (count, body): (Expr, &[Stmt]),
        before: Vec<Stmt>,
    ) -> Result<Read, ObligationError> {
        let first = self.read(body, before.clone())?;
        let next = self.read(body, first.open.clone())?;
        if next.open != first.open {
            let asked = barrier_condition(body).filter(|asked| always_has_a_value(asked));
            let Some(asked) = asked else {
                return uncovered(&stmt.at, "what hangs over differs between iterations");
            };
            // A loop for either answer: it is the same in every iteration.
            let side = |holds| answered(std::slice::from_ref(stmt), asked, holds);
            return self.read(&either(stmt, asked, side(true), side(false)), before);
        }
        let step = |kind| PathStep { at: stmt.at.clone(), kind };
        let some = Expr::binary(BinaryOp::Ge, count.clone(), Expr::Int(1));
        let others = Expr::binary(BinaryOp::Sub, count, Expr::Int(1));
        let mut then = first.steps;
        then.push(step(PathStepKind::Repeat { count: others, body: next.steps }));
        let open = either(stmt, &some, first.open, before);
        let steps = vec![step(PathStepKind::If { condition: some, then, otherwise: Vec::new() })];
        Ok(Read { steps, open })
    }

    fn differs(&self, e: &Expr) -> bool {
        e.mentions(|slot| slot == self.problem.first_item_slot())
    }

    fn phase(&self, program: Vec<Stmt>) -> Vec<PathStep> {
        let Some(first) = program.first() else { return Vec::new() };
        let at = first.at.clone();
        let step = |kind| PathStep { at: at.clone(), kind };
        let elements = self.problem.platform.elements_per_unit();
        let whole = |program| {
            let (local, item) = (self.local.clone(), self.problem.first_item_slot());
            let prices = AccessKind::PRICED.map(|access| (access, self.price(access))).to_vec();
            let phase = PhaseWork { program, prices, local, elements, item };
            step(PathStepKind::Phase(Box::new(phase)))
        };
        let differs = |stmt: &Stmt| {
            let mut differs = false;
            expressions(std::slice::from_ref(stmt), &mut |_, e| differs |= self.differs(e));
            differs
        };
        let (own, same): (Vec<Stmt>, Vec<Stmt>) = program.iter().cloned().partition(differs);
        let runs = Expr::Call(Function::CeilDiv, vec![self.local.clone(), Expr::Int(elements)]);
        let same = vec![step(PathStepKind::Repeat { count: runs, body: self.alike(&same) })];
        if own.is_empty() {
            return same;
        }
        let even = Expr::binary(
            BinaryOp::Or,
            Expr::binary(BinaryOp::Le, self.local.clone(), Expr::Int(elements)),
            Expr::binary(
                BinaryOp::Eq,
                Expr::binary(BinaryOp::Rem, self.local.clone(), Expr::Int(elements)),
                Expr::Int(0),
            ),
        );
        let then = [same, vec![whole(own)]].concat();
        vec![step(PathStepKind::If { condition: even, then, otherwise: vec![whole(program)] })]
    }
}

/// One of two programs that hang over.
fn either(stmt: &Stmt, condition: &Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Vec<Stmt> {
    let (then, otherwise) =
        (answered(&then, condition, true), answered(&otherwise, condition, false));
    match then == otherwise {
        true => then,
        false => {
            let kind = StmtKind::If { condition: condition.clone(), then, otherwise };
            vec![stmt.with(kind)]
        }
    }
}
