//! A path as a sum of products.
//!
//! In go steps, out comes for each piece of work, and for each wait, a [`TimeProduct`]: how often
//! it happens times how long it takes. How long a wait takes depends on how many ticks have passed
//! since the mark. That is an expression over the parameters too: it is 0 after a mark, work adds
//! to it, and `until(d)` makes it the greater of itself and d + 1. In a loop
//!
//! - that marks, each iteration but the first begins with what the one before has left, which is
//!   the same every time;
//! - that does not mark, only the first iteration waits: what it leaves is at least what any wait
//!   in it asks for.
//!
//! A loop that marks in one side of an `if` and not in the other is not covered.

use tickbound_expr::{BinaryOp, Expr, Function};

use crate::obligation::product::{Factor, ObligationError, TimeProduct, uncovered};
use crate::obligation::step::{PathStep, PathStepKind, waits};

/// Most products of a sum.
const MAX_PRODUCTS: usize = 20_000;
/// Most operators, numbers and names in an expression for the ticks since the mark.
const MAX_NODES: usize = 2_000;

/// The products of steps that begin with a mark.
///
/// # Errors
/// They are too many, or a loop marks on one side only.
pub fn products(steps: &[PathStep]) -> Result<Vec<TimeProduct>, ObligationError> {
    let mut sum = Sum { products: Vec::new(), since: waits(steps) };
    sum.steps(steps, &[], Expr::Int(0), true)?;
    Ok(sum.products)
}

struct Sum {
    products: Vec<TimeProduct>,
    /// True if somebody waits, so that the ticks since the mark count.
    since: bool,
}

impl Sum {
    /// Adds the products of steps under the loops and branches around them, and returns the ticks
    /// since the mark after them, given those before. Without `waiting` all waits are over.
    fn steps(
        &mut self,
        steps: &[PathStep],
        around: &[Factor],
        mut since: Expr,
        waiting: bool,
    ) -> Result<Expr, ObligationError> {
        for step in steps {
            let within = |own: Factor| [around, &[own]].concat();
            since = match &step.kind {
                PathStepKind::Work { amount, times } => {
                    // The amount comes first: a price of 0 does not excuse one below 0.
                    let mut factors = within(Factor::Amount(amount.clone()));
                    factors.extend(times.iter().cloned().map(Factor::Count));
                    self.add(step, factors)?;
                    let ticks = times.iter().cloned().fold(amount.clone(), times_of);
                    if self.since { plus(since, ticks) } else { since }
                }
                PathStepKind::Phase(phase) => {
                    self.add(step, within(Factor::Phase(phase.clone())))?;
                    since
                }
                PathStepKind::Chain(chain) => {
                    self.add(step, within(Factor::Chain(chain.clone())))?;
                    since
                }
                PathStepKind::Mark => Expr::Int(0),
                PathStepKind::Until(_) if !waiting => since,
                PathStepKind::Until(ticks) => {
                    let end = plus(ticks.clone(), Expr::Int(1));
                    let left = Expr::binary(BinaryOp::Sub, end.clone(), since.clone());
                    self.add(step, within(Factor::Count(left)))?;
                    greatest(since, end)
                }
                PathStepKind::If { condition, then, otherwise } => {
                    let guard = |holds| within(Factor::Guard(condition.clone(), holds));
                    let yes = self.steps(then, &guard(true), since.clone(), waiting)?;
                    let no = self.steps(otherwise, &guard(false), since, waiting)?;
                    either(condition.clone(), yes, no)
                }
                PathStepKind::Repeat { count, body } => {
                    self.repeat(step, (count, body), around, since, waiting)?
                }
            };
            if since.size() > MAX_NODES {
                return uncovered(&step.at, "the ticks since the mark are too long an expression");
            }
        }
        Ok(since)
    }

    fn repeat(
        &mut self,
        step: &PathStep,
        (count, body): (&Expr, &[PathStep]),
        around: &[Factor],
        before: Expr,
        waiting: bool,
    ) -> Result<Expr, ObligationError> {
        let within = |own: Factor| [around, &[own]].concat();
        let each = within(Factor::Count(count.clone()));
        let some = Expr::binary(BinaryOp::Ge, count.clone(), Expr::Int(1));
        let alike = !waiting
            || !waits(body)
            || matches!(body.first(), Some(PathStep { kind: PathStepKind::Mark, .. }));
        match (alike, marks(body)) {
            (_, None) if self.since => {
                uncovered(&step.at, "a loop that marks in one side of an `if` only")
            }
            // It does not matter what an iteration begins with, but for what it leaves.
            (true, Some(true)) => {
                let after = self.steps(body, &each, before.clone(), waiting)?;
                Ok(either(some, after, before))
            }
            (true, _) => {
                let more = self.steps(body, &each, Expr::Int(0), false)?;
                let more = times_of(greatest(Expr::Int(0), count.clone()), more);
                Ok(if self.since { plus(before, more) } else { before })
            }
            (false, marks) => {
                let rest = Expr::binary(BinaryOp::Sub, count.clone(), Expr::Int(1));
                let first = within(Factor::Guard(some.clone(), true));
                let after = self.steps(body, &first, before.clone(), waiting)?;
                let others = within(Factor::Count(rest.clone()));
                if marks == Some(true) {
                    let after = self.steps(body, &others, after, waiting)?;
                    return Ok(either(some, after, before));
                }
                let more = self.steps(body, &others, Expr::Int(0), false)?;
                Ok(either(some, plus(after, times_of(rest, more)), before))
            }
        }
    }

    fn add(&mut self, step: &PathStep, factors: Vec<Factor>) -> Result<(), ObligationError> {
        self.products.push(TimeProduct { at: step.at.clone(), factors });
        match self.products.len() > MAX_PRODUCTS {
            true => uncovered(&step.at, "too many statements"),
            false => Ok(()),
        }
    }
}

/// Whether steps set the mark whichever way they go; `None` if that depends on the way. A loop may
/// be run not at all.
pub fn marks(steps: &[PathStep]) -> Option<bool> {
    let of = |step: &PathStep| match &step.kind {
        PathStepKind::Mark => Some(true),
        PathStepKind::Work { .. }
        | PathStepKind::Phase(_)
        | PathStepKind::Chain(_)
        | PathStepKind::Until(_) => Some(false),
        PathStepKind::Repeat { body, .. } => match marks(body) {
            Some(false) => Some(false),
            _ => None,
        },
        PathStepKind::If { then, otherwise, .. } => match (marks(then), marks(otherwise)) {
            (Some(a), Some(b)) if a == b => Some(a),
            _ => None,
        },
    };
    // One that surely marks is enough.
    let all: Vec<Option<bool>> = steps.iter().map(of).collect();
    match all.contains(&Some(true)) {
        true => Some(true),
        false if all.contains(&None) => None,
        false => Some(false),
    }
}

fn plus(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(0), e) | (e, Expr::Int(0)) => e,
        (a, b) => Expr::binary(BinaryOp::Add, a, b),
    }
}

fn times_of(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(0), _) | (_, Expr::Int(0)) => Expr::Int(0),
        (Expr::Int(1), e) | (e, Expr::Int(1)) => e,
        (a, b) => Expr::binary(BinaryOp::Mul, a, b),
    }
}

fn greatest(a: Expr, b: Expr) -> Expr {
    if a == b { a } else { Expr::Call(Function::Max, vec![a, b]) }
}

fn either(condition: Expr, yes: Expr, no: Expr) -> Expr {
    match yes == no {
        true => yes,
        false => Expr::conditional(condition, yes, no),
    }
}
