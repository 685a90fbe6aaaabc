//! What the elements of a unit do between two barriers where their items differ.
//!
//! In go statements, out come the steps of the element that is last at each barrier. Element e runs items e, e + elements, and so on, one
//! after another, and a phase ends when the last element is through. So a phase takes the greatest sum, over the elements, of
//! what their items take: a [`Phase`] has it for given values of the parameters. What does not differ is no part of it
//! where every element has equally many items.
//!
//! A loop around a barrier is its first iteration, which ends the phase that was open, and the others, each of which ends the one before:
//! what hangs over from an iteration must be the same each time.

use tickbound_model::expr::{BinaryOp, Function};
use tickbound_model::kernel::{answered, barrier_condition, expressions, has_barrier};
use tickbound_model::{Access, Expr, Problem, Stmt, StmtKind};

use crate::path::{Step, StepKind, always_has_a_value};
use crate::product::{ObligationError, uncovered};

/// Most statements of a phase.
const MAX_STATEMENTS: usize = 10_000;
/// Most items of a group.
const MAX_ITEMS: i64 = 1 << 20;
/// What a platform has a price for.
const PRICED: [Access; 6] = [
    Access::Global,
    Access::Local,
    Access::Constant,
    Access::Compute,
    Access::Atomic,
    Access::LocalAtomic,
];

/// The work of a group between two barriers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Phase {
    /// What each item does, definitions put in: no barrier, no wait for a mark.
    pub program: Vec<Stmt>,
    /// Ticks of one access of each kind.
    pub prices: Vec<(Access, i64)>,
    /// Items of a group.
    pub local: Expr,
    /// Elements of a unit.
    pub elements: i64,
    /// Slot of `lid`.
    pub item: usize,
}

impl Phase {
    /// The greatest sum over the elements, of what their items take, in ticks.
    ///
    /// # Errors
    /// An expression without a value, an amount below 0, or a group that is too large.
    pub fn value(&self, env: &[i64]) -> Result<i128, String> {
        let local = self.local.eval(env).map_err(|e| e.to_string())?;
        if !(1..=MAX_ITEMS).contains(&local) {
            return Err(format!("a group of {local} items that differ"));
        }
        let mut sums = vec![0i128; usize::try_from(self.elements.min(local)).unwrap_or(1)];
        let mut env = env.to_vec();
        for lid in 0..local {
            env[self.item] = lid;
            let element = usize::try_from(lid % self.elements).unwrap_or(0);
            sums[element] = added(sums[element], self.ticks(&self.program, &env)?)?;
        }
        Ok(sums.into_iter().max().unwrap_or(0))
    }

    /// What one item takes.
    fn ticks(&self, program: &[Stmt], env: &[i64]) -> Result<i128, String> {
        let value = |e: &Expr| e.eval(env).map_err(|e| e.to_string());
        let mut sum = 0i128;
        for stmt in program {
            let own = match &stmt.kind {
                StmtKind::Access { access, amount } => match value(amount)? {
                    n if n < 0 => return Err("an amount below 0".into()),
                    n => times(self.price(*access), n.into())?,
                },
                StmtKind::Repeat { count, body } => match value(count)? {
                    n if n > 0 => times(n, self.ticks(body, env)?)?,
                    _ => 0,
                },
                StmtKind::If { condition, then, otherwise } => {
                    self.ticks(if value(condition)? != 0 { then } else { otherwise }, env)?
                }
                StmtKind::Mark | StmtKind::Barrier | StmtKind::Until(_) => 0,
            };
            sum = added(sum, own)?;
        }
        Ok(sum)
    }

    fn price(&self, access: Access) -> i64 {
        self.prices.iter().find(|(of, _)| *of == access).map_or(1, |(_, price)| *price)
    }

    /// The expressions that it depends on.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let mut all = vec![&self.local];
        expressions(&self.program, &mut |_, e| all.push(e));
        all.into_iter()
    }
}

fn times(n: i64, ticks: i128) -> Result<i128, String> {
    ticks.checked_mul(n.into()).ok_or_else(|| "beyond 127 bits".to_owned())
}

fn added(a: i128, b: i128) -> Result<i128, String> {
    a.checked_add(b).ok_or_else(|| "beyond 127 bits".to_owned())
}

/// Reads the program of a group as phases.
pub(crate) struct Phases<'p> {
    problem: &'p Problem,
    local: Expr,
}

/// The steps of phases that have ended, and what has met no barrier yet.
struct Read {
    steps: Vec<Step>,
    open: Vec<Stmt>,
}

impl<'p> Phases<'p> {
    /// For groups of so many items.
    pub(crate) fn new(problem: &'p Problem, local: Expr) -> Phases<'p> {
        Phases { problem, local }
    }

    /// The steps of a whole program.
    pub(crate) fn steps(&self, program: &[Stmt]) -> Result<Vec<Step>, ObligationError> {
        let Read { mut steps, open } = self.read(&self.inlined(program)?, Vec::new())?;
        steps.extend(self.phase(open));
        Ok(steps)
    }

    /// The program with definitions put in.
    fn inlined(&self, program: &[Stmt]) -> Result<Vec<Stmt>, ObligationError> {
        let one = |stmt: &Stmt| {
            let of = |e: &Expr| match e.mentions(|slot| slot > self.problem.first_item_slot()) {
                true => uncovered(&stmt.at, "differs between groups"),
                false => Ok(self.problem.inlined(&stmt.at, e)?),
            };
            let kind = match &stmt.kind {
                StmtKind::Access { access, amount } => {
                    StmtKind::Access { access: *access, amount: of(amount)? }
                }
                StmtKind::Repeat { count, body } => {
                    StmtKind::Repeat { count: of(count)?, body: self.inlined(body)? }
                }
                StmtKind::If { condition, then, otherwise } => StmtKind::If {
                    condition: of(condition)?,
                    then: self.inlined(then)?,
                    otherwise: self.inlined(otherwise)?,
                },
                StmtKind::Until(_) => return uncovered(&stmt.at, "waits for a mark"),
                StmtKind::Mark | StmtKind::Barrier => stmt.kind.clone(),
            };
            Ok(Stmt { at: stmt.at.clone(), label: stmt.label.clone(), kind })
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
            let step = |kind| Step { at: stmt.at.clone(), kind };
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
                    read.steps.push(step(StepKind::If { condition, then, otherwise }));
                }
                _ => {
                    read.steps.extend(self.phase(before));
                    let amount = Expr::Int(self.problem.platform.barrier());
                    read.steps.push(step(StepKind::Work { amount, times: Vec::new() }));
                }
            }
        }
        Ok(read)
    }

    /// What an item does that does as all others do.
    fn alike(&self, program: &[Stmt]) -> Vec<Step> {
        let one = |stmt: &Stmt| {
            let kind = match &stmt.kind {
                StmtKind::Access { access, amount } => {
                    let times = vec![Expr::Int(self.price(*access))];
                    StepKind::Work { amount: amount.clone(), times }
                }
                StmtKind::Repeat { count, body } => {
                    StepKind::Repeat { count: count.clone(), body: self.alike(body) }
                }
                StmtKind::If { condition, then, otherwise } => StepKind::If {
                    condition: condition.clone(),
                    then: self.alike(then),
                    otherwise: self.alike(otherwise),
                },
                StmtKind::Mark | StmtKind::Barrier | StmtKind::Until(_) => StepKind::Mark,
            };
            Step { at: stmt.at.clone(), kind }
        };
        program.iter().map(one).collect()
    }

    fn price(&self, access: Access) -> i64 {
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
        let step = |kind| Step { at: stmt.at.clone(), kind };
        let some = Expr::binary(BinaryOp::Ge, count.clone(), Expr::Int(1));
        let others = Expr::binary(BinaryOp::Sub, count, Expr::Int(1));
        let mut then = first.steps;
        then.push(step(StepKind::Repeat { count: others, body: next.steps }));
        let open = either(stmt, &some, first.open, before);
        let steps = vec![step(StepKind::If { condition: some, then, otherwise: Vec::new() })];
        Ok(Read { steps, open })
    }

    fn differs(&self, e: &Expr) -> bool {
        e.mentions(|slot| slot == self.problem.first_item_slot())
    }

    /// The steps of one phase.
    fn phase(&self, program: Vec<Stmt>) -> Vec<Step> {
        let Some(first) = program.first() else { return Vec::new() };
        let at = first.at.clone();
        let step = |kind| Step { at: at.clone(), kind };
        let elements = self.problem.platform.elements_per_unit();
        let whole = |program| {
            let (local, item) = (self.local.clone(), self.problem.first_item_slot());
            let prices = PRICED.map(|access| (access, self.price(access))).to_vec();
            let phase = Phase { program, prices, local, elements, item };
            step(StepKind::Phase(Box::new(phase)))
        };
        let differs = |stmt: &Stmt| {
            let mut differs = false;
            expressions(std::slice::from_ref(stmt), &mut |_, e| differs |= self.differs(e));
            differs
        };
        let (own, same): (Vec<Stmt>, Vec<Stmt>) = program.iter().cloned().partition(differs);
        let runs = Expr::Call(Function::CeilDiv, vec![self.local.clone(), Expr::Int(elements)]);
        let same = vec![step(StepKind::Repeat { count: runs, body: self.alike(&same) })];
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
        vec![step(StepKind::If { condition: even, then, otherwise: vec![whole(program)] })]
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
            vec![Stmt { at: stmt.at.clone(), label: stmt.label.clone(), kind }]
        }
    }
}
