//! What one work item, or one warp in lockstep, meets from the beginning of the kernel to its end.
//!
//! The kernel's expressions are numbered in the order they are written. A [`Signature`] holds the
//! value of each that is reached; two items with the same signature take the same time everywhere.

use tickbound_expr::Expr;
use tickbound_model::Problem;
use tickbound_model::error::ModelError;
use tickbound_model::kernel::{Stmt, StmtKind, has_barrier};
use tickbound_model::platform::AccessKind;

/// Values of the numbered expressions; `None` where one is not reached. For a warp, the branch
/// taken by *some* item and the branch taken by *some other* are two numbers.
pub(crate) type Signature = Vec<Option<i64>>;

/// A kernel statement with its expression's number.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Ticks of work: the amount times the price.
    Work {
        number: usize,
        #[cfg_attr(not(feature = "oracle"), expect(dead_code, reason = "of the oracle alone"))]
        access: AccessKind,
    },
    Until {
        number: usize,
    },
    Mark,
    Barrier,
    Repeat {
        number: usize,
        body: Vec<Step>,
        barrier: bool,
    },
    /// `other` is the number of "some item takes the other side" when items run as warps.
    If {
        number: usize,
        other: usize,
        then: Vec<Step>,
        otherwise: Vec<Step>,
        barrier: bool,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Numbered {
    pub steps: Vec<Step>,
    /// Where each expression stands, and the expression; for work it is already in ticks.
    pub expressions: Vec<(String, Expr)>,
}

impl Numbered {
    /// At the prices of an element.
    pub fn new(problem: &Problem, program: &[Stmt]) -> Numbered {
        Numbered::priced(program, &|access| problem.platform.price(access))
    }

    pub fn priced(program: &[Stmt], price: &dyn Fn(AccessKind) -> i64) -> Numbered {
        let mut expressions = Vec::new();
        let steps = number(price, program, &mut expressions);
        Numbered { steps, expressions }
    }
}

fn number(
    price: &dyn Fn(AccessKind) -> i64,
    program: &[Stmt],
    all: &mut Vec<(String, Expr)>,
) -> Vec<Step> {
    let mut steps = Vec::new();
    for s in program {
        let add = |e: &Expr, all: &mut Vec<(String, Expr)>| {
            all.push((s.at.clone(), e.clone()));
            all.len() - 1
        };
        steps.push(match &s.kind {
            StmtKind::Access { access, amount } => {
                Step::Work { number: add(&in_ticks(price(*access), amount), all), access: *access }
            }
            StmtKind::Until(e) => Step::Until { number: add(e, all) },
            StmtKind::Mark => Step::Mark,
            StmtKind::Barrier => Step::Barrier,
            StmtKind::Repeat { count, body } => {
                let number_of_count = add(count, all);
                Step::Repeat {
                    number: number_of_count,
                    body: number(price, body, all),
                    barrier: has_barrier(body),
                }
            }
            StmtKind::If { condition, then, otherwise } => {
                let taken = add(condition, all);
                let other = add(&Expr::Not(Box::new(condition.clone())), all);
                Step::If {
                    number: taken,
                    other,
                    then: number(price, then, all),
                    otherwise: number(price, otherwise, all),
                    barrier: has_barrier(then) || has_barrier(otherwise),
                }
            }
        });
    }
    steps
}

/// The ticks of `amount` accesses as one expression.
fn in_ticks(price: i64, amount: &Expr) -> Expr {
    match price {
        1 => amount.clone(),
        price => Expr::Binary(
            tickbound_expr::BinaryOp::Mul,
            Box::new(Expr::Int(price)),
            Box::new(amount.clone()),
        ),
    }
}

pub(crate) struct Walker<'a> {
    pub problem: &'a Problem,
    pub kernel: &'a Numbered,
}

impl Walker<'_> {
    /// The signature of items with the given values of all slots: one item, or those of a warp.
    pub fn signature(&self, items: &[Vec<i64>]) -> Result<Signature, ModelError> {
        let mut signature = vec![None; self.kernel.expressions.len()];
        let active: Vec<usize> = (0..items.len()).collect();
        self.walk(&self.kernel.steps, items, &active, &mut signature)?;
        Ok(signature)
    }

    fn eval(&self, number: usize, env: &[i64]) -> Result<i64, ModelError> {
        let (at, expr) = &self.kernel.expressions[number];
        expr.eval(env).map_err(|e| self.problem.fault(at, &e, env))
    }

    /// Greatest value over the active items.
    fn greatest(&self, n: usize, items: &[Vec<i64>], active: &[usize]) -> Result<i64, ModelError> {
        active.iter().try_fold(i64::MIN, |most, i| Ok(most.max(self.eval(n, &items[*i])?)))
    }

    fn walk(
        &self,
        steps: &[Step],
        items: &[Vec<i64>],
        active: &[usize],
        out: &mut Signature,
    ) -> Result<(), ModelError> {
        for step in steps {
            match step {
                Step::Work { number, .. } => {
                    let ticks = self.greatest(*number, items, active)?;
                    if active.iter().any(|i| self.eval(*number, &items[*i]).is_ok_and(|v| v < 0)) {
                        return Err(self.negative(*number, &items[active[0]]));
                    }
                    out[*number] = Some(ticks);
                }
                Step::Until { number } => {
                    out[*number] = Some(self.greatest(*number, items, active)?);
                }
                Step::Mark | Step::Barrier => {}
                Step::Repeat { number, body, .. } => {
                    let count = self.greatest(*number, items, active)?.max(0);
                    out[*number] = Some(count);
                    if count > 0 {
                        self.walk(body, items, active, out)?;
                    }
                }
                Step::If { number, other, then, otherwise, barrier } => {
                    let (mut yes, mut no) = (Vec::new(), Vec::new());
                    for &i in active {
                        if self.eval(*number, &items[i])? != 0 { yes.push(i) } else { no.push(i) }
                    }
                    if *barrier && !yes.is_empty() && !no.is_empty() {
                        return Err(self.divergence(*number));
                    }
                    out[*number] = Some(i64::from(!yes.is_empty()));
                    out[*other] = Some(i64::from(!no.is_empty()));
                    for (side, taken) in [(then, yes), (otherwise, no)] {
                        if !taken.is_empty() {
                            self.walk(side, items, &taken, out)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn negative(&self, number: usize, env: &[i64]) -> ModelError {
        let at = &self.kernel.expressions[number].0;
        self.problem.fault(at, &"a negative amount of work", env)
    }

    /// The fault that not all items of a group take the barrier inside statement `number`.
    pub fn divergence(&self, number: usize) -> ModelError {
        ModelError::new(
            self.kernel.expressions[number].0.clone(),
            "holds a barrier that not all items of a group take",
            "move the barrier out of the branch, or make the condition the same for all items",
        )
    }

    /// Refuses signatures that disagree on a statement around a barrier.
    pub fn check_agreement(&self, signatures: &[&Signature]) -> Result<(), ModelError> {
        fn around(steps: &[Step], out: &mut Vec<usize>) {
            for step in steps {
                match step {
                    Step::Repeat { number, body, barrier: true } => {
                        out.push(*number);
                        around(body, out);
                    }
                    Step::If { number, then, otherwise, barrier: true, .. } => {
                        out.push(*number);
                        around(then, out);
                        around(otherwise, out);
                    }
                    _ => {}
                }
            }
        }
        let mut numbers = Vec::new();
        around(&self.kernel.steps, &mut numbers);
        for n in numbers {
            if signatures.iter().any(|s| s[n] != signatures[0][n]) {
                return Err(self.divergence(n));
            }
        }
        Ok(())
    }
}
