//! Expressions that build on each other, evaluated for many configurations.
//!
//! A large expression is a sum, as a rule, and each summand depends on few parameters. So a
//! summand's value is kept for each combination of their values, and evaluated anew only for
//! others.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tickbound_expr::interval::Interval;
use tickbound_expr::{BinaryOp, Expr, Slot};

use super::at::{LocatedExpr, TermFault};

/// Expressions of which each may name those before it.
#[derive(Debug)]
pub struct Chain {
    /// Slot of the first, behind all slots of the problem; those of the others follow.
    first: usize,
    /// Slots before it always have the same value.
    parameters: usize,
    steps: Vec<ChainStep>,
    /// For each step its summands.
    summands: Vec<Vec<Summand>>,
}

/// One of the expressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainStep {
    /// The expression.
    pub of: LocatedExpr,
    /// It is a fault of the problem if it is negative.
    pub amount: bool,
}

#[derive(Debug)]
struct Summand {
    of: LocatedExpr,
    /// The names in it whose values differ.
    names: Vec<Slot>,
    /// Its values by those of these names; `None`: too small to be kept.
    known: Option<Mutex<HashMap<Box<[i64]>, i64>>>,
}

/// Fewest operations of a summand whose values are kept: looking a value up costs about as much as
/// these.
const LEAST_KEPT: usize = 40;

/// Most values of a summand that are kept.
const MAX_KEPT: usize = 1 << 16;

impl Chain {
    /// A chain whose first expression has slot `first`. Slots before `parameters` always have the
    /// same value.
    pub fn new(first: usize, parameters: usize, steps: Vec<ChainStep>) -> Chain {
        let summands = steps.iter().map(|step| summands(&step.of, parameters)).collect();
        Chain { first, parameters, steps, summands }
    }

    /// Slot of the first expression; those of the others follow.
    pub(crate) fn first(&self) -> Slot {
        self.first
    }

    /// The expressions, in order.
    pub fn steps(&self) -> &[ChainStep] {
        &self.steps
    }

    /// The value of the last one.
    pub(crate) fn value(&self, env: &[i64]) -> Result<i64, TermFault> {
        let mut env = env.to_vec();
        env.resize(self.first, 0);
        let mut key = Vec::new();
        for (ChainStep { of, amount }, summands) in self.steps.iter().zip(&self.summands) {
            let fault = |what: String| TermFault { at: of.at.clone(), what };
            let mut sum = 0i64;
            for summand in summands {
                let overflow = || fault(tickbound_expr::EvalError::Overflow.to_string());
                sum = sum.checked_add(summand.value(&env, &mut key)?).ok_or_else(overflow)?;
            }
            if *amount && sum < 0 {
                return Err(fault(format!("{sum} is negative")));
            }
            env.push(sum);
        }
        Ok(env.last().copied().unwrap_or(0))
    }

    /// A number that the last one is not below, where names are in these intervals.
    pub(crate) fn least(&self, of: &[Interval]) -> Option<i64> {
        let mut all = of.to_vec();
        all.resize(self.first, Interval::point(0));
        for ChainStep { of, amount } in &self.steps {
            let range = of.expr.range(&all);
            all.push(range.values.filter(|v| !range.may_fail && (!amount || v.low >= 0))?);
        }
        all.last().map(|last| last.low.max(0))
    }
}

impl Clone for Chain {
    fn clone(&self) -> Chain {
        Chain::new(self.first, self.parameters, self.steps.clone())
    }
}

impl PartialEq for Chain {
    fn eq(&self, other: &Chain) -> bool {
        (self.first, &self.steps) == (other.first, &other.steps)
    }
}

impl Eq for Chain {}

impl Summand {
    /// `key` is there to be used again.
    fn value(&self, env: &[i64], key: &mut Vec<i64>) -> Result<i64, TermFault> {
        let Some(known) = &self.known else { return self.of.value(env) };
        key.clear();
        key.extend(self.names.iter().filter_map(|slot| env.get(*slot)));
        // A value is there whole or not at all, also after a panic elsewhere.
        let found =
            known.lock().unwrap_or_else(PoisonError::into_inner).get(key.as_slice()).copied();
        if let Some(value) = found {
            return Ok(value);
        }
        let value = self.of.value(env)?;
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MAX_KEPT {
            known.insert(key.as_slice().into(), value);
        }
        Ok(value)
    }
}

/// What is added up in a sum, from the left.
fn summands(of: &LocatedExpr, parameters: usize) -> Vec<Summand> {
    let (mut rest, mut found) = (&of.expr, Vec::new());
    while let Expr::Binary(BinaryOp::Add, left, right) = rest {
        found.push(&**right);
        rest = left;
    }
    found.push(rest);
    let summand = |expr: &Expr| {
        let mut names = Vec::new();
        expr.names(&mut |slot: &Slot| names.push(*slot));
        names.retain(|slot| *slot >= parameters);
        names.sort_unstable();
        names.dedup();
        let known = (expr.size() >= LEAST_KEPT).then(Mutex::default);
        Summand { of: LocatedExpr { at: of.at.clone(), expr: expr.clone() }, names, known }
    };
    found.into_iter().rev().map(summand).collect()
}
