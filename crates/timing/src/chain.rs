//! Expressions that build on each other.

use indexmap::IndexSet;
use tickbound_expr::interval::Interval;
use tickbound_expr::{EvalError, Slot};

use super::at::{LocatedExpr, TermFault};

/// The bit of all names that have none to themselves.
const MAX_BIT: usize = 127;
/// Most expressions that are evaluated one inside the other.
const MAX_DEPTH: usize = 32;
/// Of what has no value.
const ANYTHING: Interval = Interval { low: i64::MIN, high: i64::MAX };

/// Why an expression has no value: by itself, or as another one has none.
enum Fault {
    Own(EvalError),
    Other(TermFault),
}

impl From<EvalError> for Fault {
    fn from(error: EvalError) -> Fault {
        Fault::Own(error)
    }
}

/// Expressions of which each may name those before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Chain {
    /// Slot of the first, behind all slots of the problem; those of the others follow.
    first: Slot,
    steps: Vec<ChainStep>,
    /// The other names.
    names: Vec<Slot>,
    /// For each step the names on which it depends, as bits by their place.
    depends_on: Vec<u128>,
}

/// One of the expressions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChainStep {
    /// The expression.
    pub of: LocatedExpr,
    /// It is a fault of the problem if it is negative.
    pub amount: bool,
    /// It has a value for each configuration, and is evaluated only where another one needs it.
    pub if_needed: bool,
}

impl Chain {
    /// A chain whose first expression has slot `first`, where other names are in these intervals.
    pub fn new(first: Slot, mut steps: Vec<ChainStep>, of: &[Interval]) -> Chain {
        let mut all = of.to_vec();
        all.resize(first, Interval::point(0));
        let mut deep = Vec::new();
        let (mut names, mut depends_on) = (IndexSet::new(), Vec::new());
        for step in &mut steps {
            let range = step.of.expr.range(&all);
            all.push(range.values.unwrap_or(ANYTHING));
            let (mut depth, mut bits) = (0, 0);
            step.of.expr.names(&mut |slot| match slot.checked_sub(first) {
                None => bits |= 1 << names.insert_full(*slot).0.min(MAX_BIT),
                Some(other) => {
                    depth = depth.max(deep.get(other).map_or(0, |depth: &usize| depth + 1));
                    bits |= depends_on.get(other).copied().unwrap_or(u128::MAX);
                }
            });
            depends_on.push(bits);
            let fails = range.may_fail || range.values.is_none();
            step.if_needed = !fails && !step.amount && depth < MAX_DEPTH;
            deep.push(if step.if_needed { depth } else { 0 });
        }
        Chain { first, steps, names: names.into_iter().collect(), depends_on }
    }

    /// Slot of the first expression; those of the others follow.
    pub fn first(&self) -> Slot {
        self.first
    }

    /// The expressions, in order.
    pub fn steps(&self) -> &[ChainStep] {
        &self.steps
    }

    /// The value of the last one for a configuration.
    pub(crate) fn value(&self, env: &[i64]) -> Result<i64, TermFault> {
        self.value_beside(env, &mut vec![None; self.steps.len()])
    }

    /// The same where some values are known.
    fn value_beside(&self, env: &[i64], known: &mut [Option<i64>]) -> Result<i64, TermFault> {
        for (k, step) in self.steps.iter().enumerate().filter(|(_, step)| !step.if_needed) {
            let value = self.value_of(k, env, known)?;
            if step.amount && value < 0 {
                let what = format!("{value} is negative");
                return Err(TermFault { at: step.of.at.clone(), what });
            }
        }
        self.steps.len().checked_sub(1).map_or(Ok(0), |last| self.value_of(last, env, known))
    }

    /// The value of one expression, and of those that it needs and that are not `known`.
    fn value_of(
        &self,
        step: usize,
        env: &[i64],
        known: &mut [Option<i64>],
    ) -> Result<i64, TermFault> {
        if let Some(value) = known[step] {
            return Ok(value);
        }
        let LocatedExpr { at, expr } = &self.steps[step].of;
        let value = expr.eval_with(&mut |slot| match slot.checked_sub(self.first) {
            None => Ok(env[slot]),
            Some(other) => self.value_of(other, env, known).map_err(Fault::Other),
        });
        let value = value.map_err(|fault| match fault {
            Fault::Own(what) => TermFault { at: at.clone(), what: what.to_string() },
            Fault::Other(fault) => fault,
        })?;
        known[step] = Some(value);
        Ok(value)
    }

    /// A number that the last one is not below, where names are in these intervals.
    pub(crate) fn least(&self, of: &[Interval]) -> Option<i64> {
        let mut all = of.to_vec();
        all.resize(self.first, Interval::point(0));
        for ChainStep { of, amount, .. } in &self.steps {
            let range = of.expr.range(&all);
            all.push(range.values.filter(|v| !range.may_fail && (!amount || v.low >= 0))?);
        }
        all.last().map(|last| last.low.max(0))
    }
}

/// The values of a chain in one configuration after the other: those of steps whose names have the
/// same values as before are kept.
#[derive(Debug)]
pub(crate) struct ChainValues<'c> {
    chain: &'c Chain,
    before: Vec<i64>,
    known: Vec<Option<i64>>,
}

impl<'c> ChainValues<'c> {
    pub fn new(chain: &'c Chain) -> ChainValues<'c> {
        ChainValues { chain, before: Vec::new(), known: vec![None; chain.steps.len()] }
    }

    /// The value of the last one for a configuration.
    pub fn value(&mut self, env: &[i64]) -> Result<i64, TermFault> {
        let changed = |slot: &Slot| self.before.get(*slot) != env.get(*slot);
        let names = self.chain.names.iter().enumerate().filter(|(_, slot)| changed(slot));
        let bits = names.fold(0, |bits, (k, _)| bits | 1 << k.min(MAX_BIT));
        for (known, depends_on) in self.known.iter_mut().zip(&self.chain.depends_on) {
            if depends_on & bits != 0 {
                *known = None;
            }
        }
        self.before.clear();
        self.before.extend_from_slice(env);
        self.chain.value_beside(env, &mut self.known)
    }
}
