//! Expressions that build on each other.

use tickbound_expr::Slot;
use tickbound_expr::interval::Interval;

use super::at::{LocatedExpr, TermFault};

/// Expressions of which each may name those before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Chain {
    /// Slot of the first, behind all slots of the problem; those of the others follow.
    first: Slot,
    steps: Vec<ChainStep>,
}

/// One of the expressions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChainStep {
    /// The expression.
    pub of: LocatedExpr,
    /// It is a fault of the problem if it is negative.
    pub amount: bool,
}

impl Chain {
    /// A chain whose first expression has slot `first`.
    pub fn new(first: Slot, steps: Vec<ChainStep>) -> Chain {
        Chain { first, steps }
    }

    /// Slot of the first expression; those of the others follow.
    pub fn first(&self) -> Slot {
        self.first
    }

    /// The expressions, in order.
    pub fn steps(&self) -> &[ChainStep] {
        &self.steps
    }

    pub(crate) fn value(&self, env: &[i64]) -> Result<i64, TermFault> {
        let mut env = env.to_vec();
        env.resize(self.first, 0);
        for ChainStep { of, amount } in &self.steps {
            let value = of.value(&env)?;
            if *amount && value < 0 {
                return Err(TermFault { at: of.at.clone(), what: format!("{value} is negative") });
            }
            env.push(value);
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
