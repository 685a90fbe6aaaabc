//! Terms: numbers of ticks, and how often they pass, over the parameters.

use std::collections::BTreeMap;

use itertools::Itertools;
use tickbound_expr::Expr;
use tickbound_expr::interval::Interval;
use tickbound_model::kernel::{Program, Stmt, StmtKind};
use tickbound_model::problem::Problem;
use tickbound_model::region::{Axes, groups_where};

pub use super::at::{LocatedExpr, TermFault};
use super::chain::Chain;
use crate::max_plus::ClockMap;

/// A number that depends on the parameters alone; never negative. Expressions have their
/// definitions substituted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// A constant.
    Number(i64),
    /// Ticks of work; it is a fault of the problem if they are negative.
    Work(LocatedExpr),
    /// How often something happens; below 0 counts as not at all.
    Count(LocatedExpr),
    /// 1 where the condition has the value `holds`, else 0.
    Guard {
        /// The condition.
        condition: LocatedExpr,
        /// How it must come out.
        holds: bool,
    },
    /// The sum.
    Sum(Vec<Term>),
    /// The product. A factor that is 0 ends it: what follows need not have a value.
    Product(Vec<Term>),
    /// The greatest.
    Max(Vec<Term>),
    /// How many groups that do the same the busiest unit has at least.
    Rounds(Box<Rounds>),
    /// What the elements of a unit do with items that differ, until the last of them has done it.
    Items(Box<Items>),
    /// One run of a program by an element that waits for nothing else, marked at the beginning.
    Run {
        /// The program; work in ticks.
        program: Box<Program>,
        /// Ticks of a barrier.
        barrier: i64,
    },
    /// The last of some expressions that build on each other.
    Chain(Box<Chain>),
}

/// Groups in which guards come out the same for all items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// The guards, and how they come out.
    pub guards: Vec<(LocatedExpr, bool)>,
    /// Items of the launch.
    pub global: LocatedExpr,
    /// Items of a group.
    pub local: LocatedExpr,
    /// Units, which share these groups and others.
    pub units: i64,
    /// Slot of `lid`; those of `gid` and `group` follow.
    pub first_item: usize,
}

impl Rounds {
    /// Of n groups of a kind on u units some unit has at least n / u, rounded up.
    fn value(&self, env: &[i64]) -> Result<i64, TermFault> {
        let (global, local) = (self.global.value(env)?, self.local.value(env)?);
        if local < 1 || global < local {
            return Ok(0);
        }
        let guards = self.guards.iter().map(|(guard, holds)| (&guard.expr, *holds));
        let guards: Vec<(&Expr, bool)> = guards.collect();
        let conditions = guards.iter().map(|(guard, _)| *guard);
        let axes = Axes::new(self.first_item, env, [global, local], conditions);
        let groups = groups_where(&guards, env, &axes);
        Ok(groups / self.units + i64::from(groups % self.units > 0))
    }
}

/// Items that differ, between two barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    /// What each item does: no barrier, no mark; work in ticks.
    pub program: Program,
    /// Items of a group.
    pub local: LocatedExpr,
    /// Elements of a unit: element e runs items e, e + elements, and so on.
    pub elements: i64,
    /// Which of the elements.
    pub class: Class,
    /// Slot of `lid`; that of `gid` follows.
    pub first_item: usize,
}

/// Some elements of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// All of them.
    All,
    /// Those that run one item more than others.
    Fuller,
    /// Those that run one item less.
    Emptier,
}

/// Most items of a group that are examined one by one.
const MAX_ITEMS: i64 = 1 << 20;

/// A product of factors up to the first that is 0.
pub(crate) fn product(
    factors: impl Iterator<Item = Result<i64, TermFault>>,
) -> Result<i64, TermFault> {
    let mut product = 1i64;
    for factor in factors {
        product = product.saturating_mul(factor?);
        if product == 0 {
            break;
        }
    }
    Ok(product)
}

impl Term {
    /// The value for a configuration, given the values of all slots; the greatest number if it
    /// leaves 63 bits.
    ///
    /// # Errors
    /// An expression without a value, or negative work.
    pub fn value(&self, env: &[i64]) -> Result<i64, TermFault> {
        Ok(match self {
            Term::Number(n) => *n,
            Term::Work(work) => work.work(env)?,
            Term::Count(count) => count.value(env)?.max(0),
            Term::Guard { condition, holds } => i64::from((condition.value(env)? != 0) == *holds),
            Term::Sum(parts) => {
                parts.iter().map(|part| part.value(env)).fold_ok(0, i64::saturating_add)?
            }
            Term::Product(factors) => product(factors.iter().map(|factor| factor.value(env)))?,
            Term::Max(parts) => parts.iter().map(|part| part.value(env)).fold_ok(0, i64::max)?,
            Term::Rounds(rounds) => rounds.value(env)?,
            Term::Items(items) => items.value(env)?,
            Term::Run { program, barrier } => run(program, *barrier, env)?.time().max(0),
            Term::Chain(chain) => chain.value(env)?,
        })
    }

    /// The chain, if it is one.
    pub(crate) fn as_chain(&self) -> Option<&Chain> {
        match self {
            Term::Chain(chain) => Some(chain),
            _ => None,
        }
    }

    /// The parameters it depends on, by their place in the problem.
    pub fn parameters(&self, problem: &Problem) -> Vec<usize> {
        let mut all: Vec<&Expr> = Vec::new();
        self.expressions(&mut all);
        problem.parameters_of(all)
    }

    /// For each parameter how many of the term's expressions mention it.
    pub fn mentions(&self, problem: &Problem) -> BTreeMap<usize, usize> {
        let mut all: Vec<&Expr> = Vec::new();
        self.expressions(&mut all);
        let mut counts = BTreeMap::new();
        for p in all.into_iter().flat_map(|e| problem.parameters_of([e])) {
            *counts.entry(p).or_insert(0) += 1;
        }
        counts
    }

    fn expressions<'t>(&'t self, all: &mut Vec<&'t Expr>) {
        match self {
            Term::Number(_) => {}
            Term::Work(LocatedExpr { expr, .. })
            | Term::Count(LocatedExpr { expr, .. })
            | Term::Guard { condition: LocatedExpr { expr, .. }, .. } => all.push(expr),
            Term::Sum(parts) | Term::Product(parts) | Term::Max(parts) => {
                parts.iter().for_each(|part| part.expressions(all));
            }
            Term::Rounds(rounds) => {
                all.extend([&rounds.global.expr, &rounds.local.expr]);
                all.extend(rounds.guards.iter().map(|(guard, _)| &guard.expr));
            }
            Term::Items(items) => {
                all.push(&items.local.expr);
                of_program(&items.program, all);
            }
            Term::Run { program, .. } => of_program(program, all),
            Term::Chain(chain) => all.extend(chain.steps().iter().map(|step| &step.of.expr)),
        }
    }

    /// A number that the value does not undercut for any configuration whose slots lie in `of`;
    /// `None` if it may have no value for some of them.
    pub fn least(&self, of: &[Interval]) -> Option<i64> {
        Some(match self {
            Term::Number(n) => *n,
            Term::Work(work) => {
                let range = work.expr.range(of);
                range.values.filter(|v| !range.may_fail && v.low >= 0)?.low
            }
            Term::Count(count) => {
                let range = count.expr.range(of);
                range.values.filter(|_| !range.may_fail)?.low.max(0)
            }
            Term::Guard { condition, holds } => {
                let verdict = condition.expr.truth(of);
                if verdict.may_fail {
                    return None;
                }
                i64::from(if *holds { !verdict.may_not_hold } else { !verdict.may_hold })
            }
            Term::Sum(parts) => {
                parts.iter().map(|part| part.least(of)).fold_options(0, i64::saturating_add)?
            }
            Term::Product(factors) => {
                let mut product = 1i64;
                for factor in factors {
                    if factor.is_surely_zero(of) {
                        return Some(0);
                    }
                    product = product.saturating_mul(factor.least(of)?);
                }
                product
            }
            Term::Max(parts) => {
                parts.iter().map(|part| part.least(of)).fold_options(0, i64::max)?
            }
            Term::Rounds(_) | Term::Items(_) | Term::Run { .. } => 0,
            Term::Chain(chain) => chain.least(of)?,
        })
    }

    fn is_surely_zero(&self, of: &[Interval]) -> bool {
        let high = |e: &Expr| {
            let range = e.range(of);
            range.values.filter(|_| !range.may_fail).map(|v| v.high)
        };
        match self {
            Term::Number(n) => *n == 0,
            Term::Count(LocatedExpr { expr, .. }) => high(expr).is_some_and(|h| h <= 0),
            Term::Guard { condition, holds } => {
                let verdict = condition.expr.truth(of);
                if *holds { verdict.surely_fails() } else { verdict.surely_holds() }
            }
            _ => false,
        }
    }
}

fn of_program<'t>(program: &'t Program, all: &mut Vec<&'t Expr>) {
    tickbound_model::kernel::expressions(program, &mut |_, e| all.push(e));
}

fn fault(stmt: &Stmt, what: &dyn std::fmt::Display) -> TermFault {
    TermFault { at: stmt.at.clone(), what: what.to_string() }
}

impl Items {
    /// The greatest sum over the elements of the class, of what their items take.
    fn value(&self, env: &[i64]) -> Result<i64, TermFault> {
        let local = self.local.value(env)?;
        if !(1..=MAX_ITEMS).contains(&local) {
            let what = format!("a group of {local} items, of which no two need be alike");
            return Err(TermFault { at: self.local.at.clone(), what });
        }
        let fuller = local % self.elements;
        let belongs = |lid: i64| match self.class {
            Class::All => true,
            Class::Fuller => lid % self.elements < fuller,
            Class::Emptier => lid % self.elements >= fuller,
        };
        let mut sums = vec![0i64; self.elements.min(local) as usize];
        let mut env = env.to_vec();
        for lid in (0..local).filter(|lid| belongs(*lid)) {
            (env[self.first_item], env[self.first_item + 1]) = (lid, lid);
            let sum = &mut sums[(lid % self.elements) as usize];
            *sum = sum.saturating_add(ticks(&self.program, &env)?);
        }
        Ok(sums.into_iter().max().unwrap_or(0))
    }
}

/// What one item takes for a program without barriers and marks.
fn ticks(program: &[Stmt], env: &[i64]) -> Result<i64, TermFault> {
    let mut sum = 0i64;
    for stmt in program {
        let value = |e: &Expr| e.eval(env).map_err(|e| fault(stmt, &e));
        let own = match &stmt.kind {
            StmtKind::Access { amount, .. } => match value(amount)? {
                v if v < 0 => return Err(fault(stmt, &"a negative amount of work")),
                v => v,
            },
            StmtKind::Repeat { count, body } => match value(count)? {
                n if n > 0 => n.saturating_mul(ticks(body, env)?),
                _ => 0,
            },
            StmtKind::If { condition, then, otherwise } => {
                ticks(if value(condition)? != 0 { then } else { otherwise }, env)?
            }
            StmtKind::Mark | StmtKind::Barrier | StmtKind::Until(_) => 0,
        };
        sum = sum.saturating_add(own);
    }
    Ok(sum)
}

/// The max-plus map of a program that nothing else delays.
fn run(program: &[Stmt], barrier: i64, env: &[i64]) -> Result<ClockMap, TermFault> {
    let mut map = ClockMap::IDENTITY;
    for stmt in program {
        let value = |e: &Expr| e.eval(env).map_err(|e| fault(stmt, &e));
        let next = match &stmt.kind {
            StmtKind::Access { amount, .. } => match value(amount)? {
                v if v < 0 => return Err(fault(stmt, &"a negative amount of work")),
                v => ClockMap::wait(v),
            },
            StmtKind::Until(ticks) => ClockMap::until(value(ticks)?),
            StmtKind::Mark => ClockMap::MARK,
            StmtKind::Barrier => ClockMap::wait(barrier),
            StmtKind::Repeat { count, body } => match value(count)? {
                n if n > 0 => run(body, barrier, env)?.times(n),
                _ => ClockMap::IDENTITY,
            },
            StmtKind::If { condition, then, otherwise } => {
                run(if value(condition)? != 0 { then } else { otherwise }, barrier, env)?
            }
        };
        map = map.then(next);
    }
    Ok(map)
}
