//! Expressions that look different for each work item and are not.
//!
//! A loop `for (l = lid / A; l < K; l += B)` runs `ceil_div(K - lid / A, B)` times. Where B divides K and
//! `lid / A` stays below B, that is the same number for every item - but only the configurations tell,
//! not the expression. Encodings and bounds treat items that agree as one, so it pays to find out.
//!
//! What goes in: a problem and its configurations, as a structure. What it promises: for every one of them, and
//! every item of the launch, each statement of the kernel still has the value it had. It does so by trial: an
//! expression that names `lid`, `gid` or `group` is evaluated for all items of all configurations (those that agree
//! in the names it uses count once). If no two items of a launch differ, the item's names are replaced by
//! those of item 0. A branch whose condition then always comes out the same way gives way to its side.
//!
//! What depends on `lid` alone, such as `lid % 16`, or on `group` alone takes few values. So these parts are
//! evaluated first, for each item of a group and for each group; the expression is then tried on each pair of
//! values that differs.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use tickbound_elimination::Limits;

use super::expr::{BinaryOp, Expr, Slot};
use super::kernel::{Program, Stmt, StmtKind};
use super::problem::{Launch, Problem};
use super::space::{Bound, Configurations, LaunchSize};

/// Most evaluations for one expression; beyond, it stays as it is.
const MAX_EVALUATIONS: i64 = 1 << 22;

/// Most combinations of the parameters of one expression; beyond, it stays as it is.
const MAX_COMBINATIONS: usize = 1 << 18;

impl Problem {
    /// Settles the kernel program for these configurations, which are those of this problem or of one with another
    /// kernel.
    pub fn settle(&mut self, configurations: &Configurations<'_>) {
        let kernel = std::mem::take(&mut self.kernel);
        let first = self.first_item_slot();
        let settler = Settler {
            first,
            configurations,
            known: RefCell::default(),
            agree: RefCell::default(),
            decided: RefCell::default(),
        };
        self.kernel = settler.program(kernel);
    }
}

/// Configurations that differ in some parameters; `None` if they are too many.
type Distinct = Option<Rc<Vec<Bound>>>;

struct Settler<'s> {
    /// Slot of `lid`; those of `gid` and `group` follow.
    first: Slot,
    configurations: &'s Configurations<'s>,
    /// For some parameters the configurations that differ in them.
    known: RefCell<HashMap<Vec<usize>, Distinct>>,
    /// For expressions that were tried whether the items of each launch agree.
    agree: RefCell<HashMap<Expr, bool>>,
    /// For conditions that were tried what they always come to.
    decided: RefCell<HashMap<Expr, Option<bool>>>,
}

/// An expression whose parts of one place have slots of their own, behind all others.
struct Placed {
    /// The expression over those slots.
    expr: Expr,
    /// The slot of the first part.
    base: Slot,
    /// For each part, in the order of slots, the slot of `lid` or `group`, and the part.
    parts: Vec<(Slot, Expr)>,
}

impl Settler<'_> {
    fn program(&self, program: Program) -> Program {
        program.into_iter().flat_map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&self, stmt: Stmt) -> Vec<Stmt> {
        let Stmt { at, label, kind } = stmt;
        let kind = match kind {
            StmtKind::Access { access, amount } => {
                StmtKind::Access { access, amount: self.expr(amount) }
            }
            StmtKind::Until(ticks) => StmtKind::Until(self.expr(ticks)),
            StmtKind::Repeat { count, body } => {
                StmtKind::Repeat { count: self.expr(count), body: self.program(body) }
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.expr(condition);
                let (then, otherwise) = (self.program(then), self.program(otherwise));
                match self.always(&condition) {
                    Some(true) => return then,
                    Some(false) => return otherwise,
                    None => StmtKind::If { condition, then, otherwise },
                }
            }
            StmtKind::Mark | StmtKind::Barrier => kind,
        };
        vec![Stmt { at, label, kind }]
    }

    fn is_item(&self, slot: Slot) -> bool {
        (self.first..self.first + 3).contains(&slot)
    }

    fn expr(&self, expr: Expr) -> Expr {
        if !expr.mentions(|s| self.is_item(s)) || !self.same_for_all_items(&expr) {
            return expr;
        }
        let by_zero = expr.replace(&mut |slot| {
            Ok::<_, ()>(if self.is_item(*slot) { Expr::Int(0) } else { Expr::Name(*slot) })
        });
        by_zero.unwrap_or(expr).simplified()
    }

    /// Whether the items of each launch agree in the expression's value.
    fn same_for_all_items(&self, expr: &Expr) -> bool {
        if let Some(known) = self.agree.borrow().get(expr) {
            return *known;
        }
        let of_parts = matches!(
            expr,
            Expr::Not(_) | Expr::Conditional(..) | Expr::Binary(BinaryOp::And | BinaryOp::Or, ..)
        );
        let settled = |e: &Expr| !e.mentions(|s| self.is_item(s)) || self.same_for_all_items(e);
        let same = of_parts && expr.parts().all(settled) || self.tried(expr).is_some();
        self.agree.borrow_mut().insert(expr.clone(), same);
        same
    }

    /// `Some` if, by trial, the items of each launch agree in the expression's value.
    fn tried(&self, expr: &Expr) -> Option<()> {
        let distinct = self.distinct(expr)?;
        let placed = self.placed(expr, distinct.first()?.env.len());
        let mut left = MAX_EVALUATIONS;
        for bound in distinct.iter() {
            match &placed {
                Some(placed) => self.try_places(expr, placed, bound, &mut left)?,
                None => self.try_items(expr, bound, &mut left)?,
            }
        }
        Some(())
    }

    /// The expression with slots for its parts of one place; `None` if it names `gid`.
    fn placed(&self, expr: &Expr, base: Slot) -> Option<Placed> {
        let mut parts = Vec::new();
        let expr = self.cut(expr, base, &mut parts)?;
        Some(Placed { expr, base, parts })
    }

    fn cut(&self, expr: &Expr, base: Slot, parts: &mut Vec<(Slot, Expr)>) -> Option<Expr> {
        let (lid, gid, group) = (self.first, self.first + 1, self.first + 2);
        if expr.mentions(|s| s == gid) {
            return None;
        }
        let place = match (expr.mentions(|s| s == lid), expr.mentions(|s| s == group)) {
            (false, false) => return Some(expr.clone()),
            (true, true) => return expr.with_parts(|part| self.cut(part, base, parts)),
            (true, false) => lid,
            (false, true) => group,
        };
        let known = parts.iter().position(|(_, part)| part == expr);
        let index = known.unwrap_or_else(|| {
            parts.push((place, expr.clone()));
            parts.len() - 1
        });
        Some(Expr::Name(base + index))
    }

    /// Tries each pair of values of what depends on the item's place in its group and on the group.
    fn try_places(
        &self,
        expr: &Expr,
        placed: &Placed,
        bound: &Bound,
        left: &mut i64,
    ) -> Option<()> {
        let LaunchSize::Range { global, local } = bound.launch else { return None };
        let groups = global / local.max(1);
        let mut env = bound.env.clone();
        env.resize(placed.base + placed.parts.len(), 0);
        let lids = placed.values(self.first, local, &mut env, left);
        let groups = placed.values(self.first + 2, groups, &mut env, left);
        // A part may have no value where the whole does not ask for it.
        let (Some(lids), Some(groups)) = (lids, groups) else {
            return self.try_items(expr, bound, left);
        };
        let mut of_first = None;
        let mut differs = |lid: &[i64], group: &[i64], left: &mut i64| {
            *left -= 1;
            let (mut lid, mut group) = (lid.iter(), group.iter());
            for (slot, (place, _)) in env[placed.base..].iter_mut().zip(&placed.parts) {
                let value = if *place == self.first { lid.next() } else { group.next() };
                *slot = *value?;
            }
            let value = placed.expr.eval(&env).ok()?;
            (value == *of_first.get_or_insert(value) && *left >= 0).then_some(())
        };
        // Items differ most often at the end of a launch.
        differs(lids.first()?, groups.first()?, left)?;
        differs(lids.last()?, groups.last()?, left)?;
        groups.iter().try_for_each(|g| lids.iter().try_for_each(|l| differs(l, g, left)))
    }

    /// Tries all items of all groups.
    fn try_items(&self, expr: &Expr, bound: &Bound, left: &mut i64) -> Option<()> {
        let LaunchSize::Range { global, local } = bound.launch else { return None };
        let groups = global / local.max(1);
        *left = left.checked_sub(groups.checked_mul(local)?).filter(|l| *l >= 0)?;
        let mut env = bound.env.clone();
        let mut of_first = None;
        for group in 0..groups {
            for lid in 0..local {
                env[self.first] = lid;
                env[self.first + 1] = group.checked_mul(local)?.checked_add(lid)?;
                env[self.first + 2] = group;
                let value = expr.eval(&env).ok()?;
                if value != *of_first.get_or_insert(value) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// What a condition comes to, if that is the same for all configurations and items.
    fn always(&self, condition: &Expr) -> Option<bool> {
        if condition.mentions(|s| self.is_item(s)) {
            return None;
        }
        if let Some(known) = self.decided.borrow().get(condition) {
            return *known;
        }
        let decided = self.distinct(condition).and_then(|distinct| {
            let mut values = distinct.iter().map(|b| condition.eval(&b.env).ok());
            let first = values.next()?? != 0;
            values.all(|v| v.is_some_and(|v| (v != 0) == first)).then_some(first)
        });
        self.decided.borrow_mut().insert(condition.clone(), decided);
        decided
    }

    /// One configuration for each choice of values of the parameters that the expression depends on and, if it
    /// mentions an item, the launch; `None` if they are too many.
    fn distinct(&self, expr: &Expr) -> Distinct {
        let problem = self.configurations.problem();
        let mut parts = vec![problem.inlined("", expr).ok()?];
        if expr.mentions(|s| self.is_item(s)) {
            let sizes = match &problem.launch {
                Launch::Range { global_size, local_size } => [global_size, local_size],
                Launch::Activations { local_size, activations } => [local_size, activations],
            };
            for size in sizes {
                parts.push(problem.inlined("", size).ok()?);
            }
        }
        let parameters = problem.parameters_of(&parts);
        let mut known = self.known.borrow_mut();
        known.entry(parameters).or_insert_with_key(|p| self.bounds(p)).clone()
    }

    fn bounds(&self, parameters: &[usize]) -> Distinct {
        let limits = Limits { rows: MAX_COMBINATIONS, ..Limits::default() };
        let all = self.configurations.representatives(parameters, &limits)?;
        let bounds: Option<Vec<Bound>> =
            all.iter().map(|c| self.configurations.bind(c).ok()).collect();
        bounds.map(Rc::new)
    }
}

impl Placed {
    /// The different values that the parts of one place have together, for `size` places; `None` if one
    /// has none.
    fn values(
        &self,
        place: Slot,
        size: i64,
        env: &mut [i64],
        left: &mut i64,
    ) -> Option<Vec<Vec<i64>>> {
        let parts: Vec<&Expr> =
            self.parts.iter().filter(|(of, _)| *of == place).map(|(_, part)| part).collect();
        let size = if parts.is_empty() { size.min(1) } else { size };
        *left = left.checked_sub(size).filter(|left| *left >= 0)?;
        let (mut known, mut all) = (HashSet::new(), Vec::new());
        for at in 0..size {
            env[place] = at;
            let values: Option<Vec<i64>> = parts.iter().map(|part| part.eval(env).ok()).collect();
            let values = values?;
            if known.insert(values.clone()) {
                all.push(values);
            }
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use serde_json::json;

    use super::*;

    fn settled(constraint: &str, kernel: serde_json::Value) -> String {
        let value = json!({
            "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
            "parameters": { "K": [16, 24], "A": [2, 4], "W": [8, 16] },
            "constraints": [constraint],
            "launch": { "global_size": 48, "local_size": "W" },
            "kernel": kernel
        });
        let none = |_: &str| unreachable!();
        let mut problem = Problem::from_value(&value, &IndexMap::new(), &none).unwrap();
        let before = problem.clone();
        problem.settle(&before.configurations(&Limits::default()).unwrap());
        let mut text = String::new();
        super::super::kernel::expressions(&problem.kernel, &mut |stmt, e| {
            text += &format!("{} {}; ", stmt.kind.name(), problem.scope.show(e));
        });
        text
    }

    #[test]
    fn what_only_configurations_tell() {
        let iterations =
            json!([{ "repeat": "ceil_div(K - lid // A, W // A)", "body": [{ "work": 1 }] }]);
        // W / A divides K, and lid / A is below it.
        assert_eq!(
            settled("K % (W // A) == 0", iterations.clone()),
            "repeat ceil_div(K, W // A); work 1; "
        );
        // K = 24, W = 16: 1 or 2.
        assert_eq!(
            settled("K != 16 or W != 8", json!([{ "work": "(K + lid) // W" }])),
            "work (K + lid) // W; "
        );
    }

    #[test]
    fn branches_that_are_none() {
        let branch =
            |c: &str| json!([{ "if": c, "then": [{ "work": 1 }], "else": [{ "work": 2 }] }]);
        assert_eq!(settled("True", branch("lid < W")), "work 1; ");
        assert_eq!(settled("True", branch("group * W + lid >= 48")), "work 2; ");
        assert_eq!(settled("True", branch("lid < 8")), "if lid < 8; work 1; work 2; ");
        assert_eq!(settled("W == 8", branch("lid < 8")), "work 1; ");
        assert_eq!(settled("True", branch("K == 16")), "if K == 16; work 1; work 2; ");
        assert_eq!(settled("True", branch("group == 0")), "if group == 0; work 1; work 2; ");
    }
}
