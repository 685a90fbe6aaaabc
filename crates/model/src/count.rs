//! How often each kind of access happens in a whole launch.
//!
//! The time of a program is what its schedule makes of it; its accesses are the same under any
//! schedule. They are summed over [regions](super::region) of items that do the same up to linear
//! amounts. Where there are too many of those they are summed item by item, one group for all
//! groups and one item for all items where the program does not distinguish them.

use indexmap::IndexMap;

use super::error::ModelError;
use super::kernel::{Program, Stmt, StmtKind, expressions};
use super::platform::AccessKind;
use super::problem::Problem;
use super::region::{Axes, LinearForm, Region, Stop, truth, value};
use super::space::{Bound, LaunchSize};
use tickbound_expr::{BinaryOp, Expr};

/// Most items that are examined one by one.
const MAX_ITEMS: i64 = 1 << 24;

/// How often what happens in one launch of the kernel, all items together; `finish` is not counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchCounts {
    /// Amounts by kind of access; kinds that do not happen are absent.
    pub accesses: IndexMap<AccessKind, i128>,
    /// Arrivals at barriers.
    pub barriers: i128,
}

impl LaunchCounts {
    /// The amount of one kind.
    pub fn of(&self, access: AccessKind) -> i128 {
        self.accesses.get(&access).copied().unwrap_or_default()
    }

    fn add_accesses(&mut self, access: AccessKind, amount: i128) {
        let sum = self.accesses.entry(access).or_default();
        *sum = sum.saturating_add(amount);
    }

    fn add(&mut self, other: &LaunchCounts, times: i128) {
        for (access, amount) in &other.accesses {
            self.add_accesses(*access, amount.saturating_mul(times));
        }
        self.barriers = self.barriers.saturating_add(other.barriers.saturating_mul(times));
    }
}

/// Counts the accesses of a launch with the configuration `bound`.
///
/// # Errors
/// An expression without a value, or more than 2^24 items that differ.
pub fn count(problem: &Problem, bound: &Bound) -> Result<LaunchCounts, ModelError> {
    let (groups, local) = match bound.launch {
        LaunchSize::Range { global, local } => (global / local.max(1), local),
        LaunchSize::Activations { local, activations } => (activations, local),
    };
    if let Some(counts) = by_regions(problem, bound, [groups.saturating_mul(local), local]) {
        return Ok(counts);
    }
    one_by_one(problem, bound, [groups, local])
}

/// The counts of `groups` groups of `local` items, item by item.
fn one_by_one(
    problem: &Problem,
    bound: &Bound,
    [groups, local]: [i64; 2],
) -> Result<LaunchCounts, ModelError> {
    let first = problem.first_item_slot();
    let mentions = |slots: &[usize]| {
        let mut found = false;
        let mut visit = |_: &Stmt, e: &Expr| found |= e.mentions(|s| slots.contains(&s));
        expressions(&problem.kernel, &mut visit);
        found
    };
    // Slots of lid, gid and group.
    let by_group = mentions(&[first + 1, first + 2]);
    let by_item = by_group || mentions(&[first]);
    let shown_groups = if by_group { groups } else { 1 };
    let shown_items = if by_item { local } else { 1 };
    if shown_groups.saturating_mul(shown_items) > MAX_ITEMS {
        return Err(ModelError::new(
            "kernel",
            format!("more than {MAX_ITEMS} items differ from each other"),
            "choose a smaller size",
        ));
    }
    let mut counts = LaunchCounts::default();
    let mut env = bound.env.clone();
    for group in 0..shown_groups {
        for lid in 0..shown_items {
            env[first] = lid;
            env[first + 1] = group * local + lid;
            env[first + 2] = group;
            Counter { problem, env: &env }.program(&problem.kernel, 1, &mut counts)?;
        }
    }
    let times = i128::from(groups / shown_groups.max(1)) * i128::from(local / shown_items.max(1));
    let mut all = LaunchCounts::default();
    all.add(&counts, times);
    Ok(all)
}

/// Most regions that are examined.
const MAX_REGIONS: usize = 1 << 12;

/// The counts of a launch of these sizes by regions; `None` if too many, or an item has no value.
fn by_regions(problem: &Problem, bound: &Bound, sizes: [i64; 2]) -> Option<LaunchCounts> {
    if sizes.iter().any(|size| *size < 1) {
        return None;
    }
    let mut all = Vec::new();
    expressions(&problem.kernel, &mut |_: &Stmt, e: &Expr| all.push(e.clone()));
    let axes = Axes::new(problem.first_item_slot(), &bound.env, sizes, &all);
    let mut open = vec![axes.whole()];
    let mut counts = LaunchCounts::default();
    let mut left = MAX_REGIONS;
    while let Some(region) = open.pop() {
        left = left.checked_sub(1)?;
        let mut own = Regional {
            env: &bound.env,
            axes: &axes,
            region: &region,
            counts: LaunchCounts::default(),
        };
        match own.program(&problem.kernel, &LinearForm::constant(1)) {
            Ok(()) => counts.add(&own.counts, 1),
            Err(Stop::Cut { axis, at }) => open.extend(region.cut(axis, at)),
            Err(Stop::Fault) => return None,
        }
    }
    Some(counts)
}

struct Regional<'a> {
    env: &'a [i64],
    axes: &'a Axes,
    region: &'a Region,
    counts: LaunchCounts,
}

impl Regional<'_> {
    fn value(&self, e: &Expr) -> Result<LinearForm, Stop> {
        value(e, self.env, self.axes, self.region)
    }

    fn truth(&self, e: &Expr) -> Result<bool, Stop> {
        truth(e, self.env, self.axes, self.region)
    }

    /// Counts the program, executed `times` times by each item.
    fn program(&mut self, program: &Program, times: &LinearForm) -> Result<(), Stop> {
        for stmt in program {
            match &stmt.kind {
                StmtKind::Access { access, amount } => {
                    let amount = product(&self.value(amount)?, times)?;
                    let all = self.region.sum(&amount).ok_or(Stop::Fault)?;
                    self.counts.add_accesses(*access, all);
                }
                StmtKind::Barrier => {
                    let all = self.region.sum(times).ok_or(Stop::Fault)?;
                    self.counts.barriers = self.counts.barriers.saturating_add(all);
                }
                StmtKind::Repeat { count, body } => {
                    let enters = Expr::binary(BinaryOp::Gt, count.clone(), Expr::Int(0));
                    if self.truth(&enters)? {
                        let times = product(&self.value(count)?, times)?;
                        self.program(body, &times)?;
                    }
                }
                StmtKind::If { condition, then, otherwise } => {
                    let side = if self.truth(condition)? { then } else { otherwise };
                    self.program(side, times)?;
                }
                StmtKind::Mark | StmtKind::Until(_) => {}
            }
        }
        Ok(())
    }
}

/// The product of two forms of which one is a number; others are not linear.
fn product(a: &LinearForm, b: &LinearForm) -> Result<LinearForm, Stop> {
    let product = match (a.as_constant(), b.as_constant()) {
        (Some(n), _) => b.times(n),
        (_, Some(n)) => a.times(n),
        (None, None) => None,
    };
    product.ok_or(Stop::Fault)
}

struct Counter<'a> {
    problem: &'a Problem,
    env: &'a [i64],
}

impl Counter<'_> {
    fn value(&self, stmt: &Stmt, expr: &Expr) -> Result<i64, ModelError> {
        expr.eval(self.env).map_err(|e| self.problem.fault(&stmt.at, &e, self.env))
    }

    fn program(
        &self,
        program: &Program,
        times: i128,
        counts: &mut LaunchCounts,
    ) -> Result<(), ModelError> {
        for stmt in program {
            match &stmt.kind {
                StmtKind::Access { access, amount } => {
                    let amount = i128::from(self.value(stmt, amount)?);
                    counts.add_accesses(*access, amount.saturating_mul(times));
                }
                StmtKind::Barrier => counts.barriers = counts.barriers.saturating_add(times),
                StmtKind::Repeat { count, body } => {
                    let iterations = self.value(stmt, count)?;
                    if iterations > 0 {
                        self.program(body, times.saturating_mul(iterations.into()), counts)?;
                    }
                }
                StmtKind::If { condition, then, otherwise } => {
                    let side = if self.value(stmt, condition)? != 0 { then } else { otherwise };
                    self.program(side, times, counts)?;
                }
                StmtKind::Mark | StmtKind::Until(_) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_for_all_and_one_by_one() {
        let text = |kernel: &str| {
            format!(
                r#"{{ "inputs": {{ "n": 64 }},
                "platform": {{ "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 }},
                "parameters": {{ "WG": [8] }},
                "launch": {{ "global_size": "n", "local_size": "WG" }}, "kernel": {kernel} }}"#
            )
        };
        let counts = |kernel: &str| {
            let none = |_: &str| unreachable!();
            let problem = Problem::from_json(&text(kernel), &IndexMap::new(), &none).unwrap();
            let bound = problem.space().unwrap().bound.remove(0);
            let counts = count(&problem, &bound).unwrap();
            assert_eq!(by_regions(&problem, &bound, [64, 8]).as_ref(), Some(&counts));
            assert_eq!(one_by_one(&problem, &bound, [8, 8]).unwrap(), counts);
            counts
        };
        // A guarded row, a triangle and a border.
        for kernel in [
            r#"[ { "if": "gid < 45", "then": [ { "global": "gid" } ] } ]"#,
            r#"[ { "repeat": "lid - 2", "body": [ { "local": 3 }, "barrier" ] } ]"#,
            r#"[ { "if": "lid % 4 == 0 and group > 2", "then": [ { "global": 1 } ],
                 "else": [ "barrier" ] } ]"#,
        ] {
            counts(kernel);
        }
        // 64 items, 3 iterations of 2.
        let all = counts(r#"[ { "repeat": 3, "body": [ { "global": 2 }, "barrier" ] } ]"#);
        assert_eq!((all.of(AccessKind::Global), all.barriers), (384, 192));
        // One item of each of 8 groups, and lid iterations in each item.
        let by_item = counts(
            r#"[ { "if": "lid == 0", "then": [ { "local": 1 } ] },
                 { "repeat": "lid", "body": [ { "constant": 1 } ] } ]"#,
        );
        assert_eq!(by_item.of(AccessKind::Local), 8);
        assert_eq!(by_item.of(AccessKind::Constant), 8 * 28);
        // Every item has another gid: 0 + 1 + ... + 63.
        let by_group = counts(r#"[ { "atomic": "gid" }, { "compute": "group" } ]"#);
        assert_eq!(by_group.of(AccessKind::Atomic), 2016);
        assert_eq!(by_group.of(AccessKind::Compute), 8 * 28);
    }
}
