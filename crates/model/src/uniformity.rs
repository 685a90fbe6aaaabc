//! Expressions that look different for each work item and are not.
//!
//! A loop `for (l = lid / A; l < K; l += B)` runs `ceil_div(K - lid / A, B)` times. Where B divides
//! K and `lid / A` stays below B, that is the same number for every item - but only the
//! configurations tell, not the expression. Encodings and bounds treat items that agree as one, so
//! it pays to find out.
//!
//! What goes in: a problem and its configurations, as a structure. What it promises: for every one
//! of them, and every item of the launch, each statement of the kernel still has the value it had.
//! An expression that names `lid`, `gid` or `group` is examined over the whole launch of each
//! configuration ([`crate::region`]; those that agree in the names it uses count once). If no two
//! items of a launch differ, the item's names are replaced by those of item 0. A branch whose
//! condition then always comes out the same way gives way to its side.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use tickbound_elimination::TableLimits;

use super::kernel::{Program, Stmt, StmtKind};
use super::problem::{Launch, Problem};
use super::region::{Axes, Stop, value};
use super::space::{Bound, Configurations, LaunchSize};
use tickbound_expr::{BinaryOp, Expr, Slot};

/// Most regions of items that are examined for one expression; beyond, it stays as it is.
const MAX_REGIONS: usize = 1 << 18;

/// Most combinations of the parameters of one expression; beyond, it stays as it is.
const MAX_COMBINATIONS: usize = 1 << 18;

impl Problem {
    /// Settles the kernel program for these configurations, which are those of this problem or of
    /// one with another kernel.
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
    /// For expressions that were examined whether the items of each launch agree.
    agree: RefCell<HashMap<Expr, bool>>,
    /// For conditions that were tried what they always come to.
    decided: RefCell<HashMap<Expr, Option<bool>>>,
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
        let same = of_parts && expr.parts().all(settled) || self.same_in_launches(expr);
        self.agree.borrow_mut().insert(expr.clone(), same);
        same
    }

    fn same_in_launches(&self, expr: &Expr) -> bool {
        let mut left = MAX_REGIONS;
        let all = self.distinct(expr);
        all.is_some_and(|all| all.iter().all(|b| self.same_in_launch(expr, b, &mut left)))
    }

    /// True if the items of one launch agree.
    fn same_in_launch(&self, expr: &Expr, bound: &Bound, left: &mut usize) -> bool {
        let LaunchSize::Range { global, local } = bound.launch else { return false };
        let expr = &expr.special(&bound.env, self.first);
        if self.ends_differ(expr, bound, [global, local]) {
            return false;
        }
        let axes = Axes::new(self.first, &bound.env, [global, local], [expr]);
        let mut open = vec![axes.whole()];
        let mut of_first = None;
        while let Some(region) = open.pop() {
            let Some(less) = left.checked_sub(1) else { return false };
            *left = less;
            match value(expr, &bound.env, &axes, &region) {
                Ok(form) => {
                    let range = region.range(&form);
                    let one = range.filter(|(low, high)| low == high);
                    if one.is_none() || one != *of_first.get_or_insert(one) {
                        return false;
                    }
                }
                Err(Stop::Cut { axis, at }) => open.extend(region.cut(axis, at)),
                Err(Stop::Fault) => return false,
            }
        }
        true
    }

    /// True if a launch's first item, the last of its group and the last of all differ, as most do.
    fn ends_differ(&self, expr: &Expr, bound: &Bound, [global, local]: [i64; 2]) -> bool {
        let mut env = bound.env.clone();
        let mut at = |gid: i64| {
            let item = [gid % local, gid, gid / local];
            env.get_mut(self.first..self.first + 3)?.copy_from_slice(&item);
            expr.eval(&env).ok()
        };
        let ends = [0, local - 1, global - 1].map(&mut at);
        ends.iter().flatten().any(|value| ends[0].is_some_and(|first| first != *value))
    }

    /// The value of a condition, if that is the same for all configurations and items.
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

    /// One configuration for each choice of values of the parameters that the expression depends on
    /// and, if it mentions an item, the launch; `None` if they are too many.
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
        let limits = TableLimits { rows: MAX_COMBINATIONS, ..TableLimits::default() };
        let all = self.configurations.representatives(parameters, &limits)?;
        let bounds: Option<Vec<Bound>> =
            all.iter().map(|c| self.configurations.bind(c).ok()).collect();
        bounds.map(Rc::new)
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
        shown(&value)
    }

    fn shown(value: &serde_json::Value) -> String {
        let none = |_: &str| unreachable!();
        let mut problem = Problem::from_value(value, &IndexMap::new(), &none).unwrap();
        let before = problem.clone();
        problem.settle(&before.configurations(&TableLimits::default()).unwrap());
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
        // 2^30 items in two dimensions.
        let inside =
            "group % 2048 * 16 + lid % 16 < 32768 and group // 2048 * 16 + lid // 16 < 32768";
        let value = json!({
            "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
            "launch": { "global_size": 1 << 30, "local_size": 256 },
            "kernel": branch(inside)
        });
        assert_eq!(shown(&value), "work 1; ");
    }
}
