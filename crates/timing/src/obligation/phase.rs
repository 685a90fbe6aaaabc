//! What the elements of a unit do between two barriers where their items differ.
//!
//! Element e runs items e, e + elements, and so on, in sequence, and a phase ends when the
//! last element is through. So it takes the greatest sum, over the elements, of what their items
//! take: a [`PhaseWork`] has it for given values of the parameters.

use tickbound_expr::Expr;
use tickbound_model::kernel::expressions;
use tickbound_model::{AccessKind, Stmt, StmtKind};

/// Most items of a group.
const MAX_ITEMS: i64 = 1 << 20;

/// The work of a group between two barriers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PhaseWork {
    /// What each item does, definitions substituted: no barrier, no wait for a mark.
    pub program: Vec<Stmt>,
    /// Ticks of one access of each kind.
    pub prices: Vec<(AccessKind, i64)>,
    /// Items of a group.
    pub local: Expr,
    /// Elements of a unit.
    pub elements: i64,
    /// Slot of `lid`.
    pub item: usize,
}

impl PhaseWork {
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

    fn price(&self, access: AccessKind) -> i64 {
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
