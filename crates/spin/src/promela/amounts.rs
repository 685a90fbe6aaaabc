//! The numbers of a kernel program for whoever runs it: a work item, or a warp in lockstep.
//!
//! A warp's items move together. No expression changes its value while an item runs, so which items
//! take part in a statement is known for every warp beforehand: its *mask*. The amount of a
//! statement is the greatest over its mask, and a branch is run on each side that some item of the
//! mask takes (seed 001, Section 3).

use std::collections::HashMap;

use super::error::PromelaError;
use super::facts::{Facts, Value, Who};
use super::layout::binary;
use super::table::Key;
use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::{AccessKind, Platform, Stmt, StmtKind};

/// Most items that are sorted into masks.
const MAX_ITEMS: u64 = 1 << 21;

/// What a branch does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sides {
    /// One of the two sides, by this condition.
    One(Value),
    /// A warp: the first side if the first value is not zero, then the second side likewise.
    Each(Value, Value),
}

/// Reads the numbers of a program.
pub(crate) struct Amounts<'f, 'a> {
    pub facts: &'f Facts<'a>,
    who: Who,
    warps: Option<Masks>,
}

impl<'f, 'a> Amounts<'f, 'a> {
    /// For `finish` or a work item; the text has `lid`, and `group` where groups differ.
    pub fn new(facts: &'f Facts<'a>, who: Who) -> Self {
        Amounts { facts, who, warps: None }
    }

    /// For warp `w` of a group; the text has `w`, and `group` where groups differ.
    pub fn of_warps(facts: &'f Facts<'a>, width: i64) -> Result<Self, PromelaError> {
        let warps = Masks::new(facts, width)?;
        Ok(Amounts { facts, who: Who::Item, warps: Some(warps) })
    }

    /// The ticks of an access: amount times price; for global memory, where schedules are open,
    /// those for which a warp occupies its dispatcher.
    pub fn ticks(&self, stmt: &Stmt) -> Result<Option<Value>, PromelaError> {
        let StmtKind::Access { access, amount } = &stmt.kind else { return Ok(None) };
        let problem = self.facts.problem;
        let slot = |name: &str| problem.scope.slot(name);
        let open = self.warps.is_some() && problem.has_open_schedule();
        let issue = slot("global_issue").filter(|_| open && *access == AccessKind::Global);
        let expr = match issue.or_else(|| Platform::price_name(*access).and_then(slot)) {
            None => amount.clone(),
            Some(slot) if *amount == Expr::Int(1) => Expr::Name(slot),
            Some(slot) => binary(BinaryOp::Mul, Expr::Name(slot), amount.clone()),
        };
        self.value(stmt, &expr).map(Some)
    }

    /// The last warp before warp `w` that does the same on the same of this many dispatchers; -1 if
    /// there is none. `None` if no warp has one, or the text cannot say which.
    pub fn alike_before(&self, dispatchers: i64) -> Option<Value> {
        let value = self.warps.as_ref()?.alike_before(self.facts, dispatchers).ok()?;
        (value.range.1 >= 0).then_some(value)
    }

    pub fn value(&self, stmt: &Stmt, expr: &Expr) -> Result<Value, PromelaError> {
        let lanes = expr.mentions(|s| s >= self.facts.problem.first_item_slot());
        match &self.warps {
            Some(warps) if lanes => warps.value(self.facts, stmt, |lane| expr.eval(lane).ok()),
            _ => self.facts.plain(&stmt.at, expr, self.who),
        }
    }

    pub fn sides(&self, stmt: &Stmt, condition: &Expr) -> Result<Sides, PromelaError> {
        let lanes = condition.mentions(|s| s >= self.facts.problem.first_item_slot());
        let Some(warps) = self.warps.as_ref().filter(|_| lanes) else {
            return self.value(stmt, condition).map(Sides::One);
        };
        let side = |wanted: bool| {
            let taken =
                |lane: &[i64]| condition.eval(lane).ok().map(|v| i64::from((v != 0) == wanted));
            warps.value(self.facts, stmt, taken)
        };
        Ok(Sides::Each(side(true)?, side(false)?))
    }
}

/// Every warp of every configuration and group that is distinguished, and its masks.
struct Masks {
    rows: Vec<Warp>,
    keys: Vec<Key>,
    /// For each statement by its path, for each row, which items take part.
    masks: HashMap<String, Vec<Vec<bool>>>,
}

struct Warp {
    configuration: usize,
    /// The environment of each item.
    lanes: Vec<Vec<i64>>,
}

impl Masks {
    fn new(facts: &Facts<'_>, width: i64) -> Result<Masks, PromelaError> {
        let mut warps = Masks { rows: Vec::new(), keys: Vec::new(), masks: HashMap::new() };
        let (mut of_group, mut number) = (Vec::new(), Vec::new());
        let mut items = 0u64;
        for c in 0..facts.space.bound.len() {
            let groups = if facts.layout.groups_alike { 1 } else { facts.layout.groups[c] };
            items = items.saturating_add((groups * facts.layout.items[c]).unsigned_abs());
            if items > MAX_ITEMS {
                let (what, fix) = ("work items to sort into warps", facts.fix());
                return Err(PromelaError::too_many("kernel", what, items, MAX_ITEMS, &fix));
            }
            for group in 0..groups {
                let mut first = 0;
                while first < facts.layout.items[c] {
                    let lanes = first..facts.layout.items[c].min(first + width);
                    let lanes = lanes.map(|lid| facts.lane(c, group, lid)).collect();
                    warps.rows.push(Warp { configuration: c, lanes });
                    of_group.push(group);
                    number.push(first / width);
                    first += width;
                }
            }
        }
        if !facts.layout.groups_alike {
            warps.keys.push(("group".into(), of_group));
        }
        warps.keys.push(("w".into(), number));
        let all = warps.rows.iter().map(|r| vec![true; r.lanes.len()]).collect();
        warps.mask(&facts.problem.kernel, &all);
        Ok(warps)
    }

    /// Records who takes part in each statement of a program that `masks` run.
    fn mask(&mut self, program: &[Stmt], masks: &Vec<Vec<bool>>) {
        for stmt in program {
            self.masks.insert(stmt.at.clone(), masks.clone());
            match &stmt.kind {
                // Each time with all items that take part (docs/semantics.md, `published-2021`, 5).
                StmtKind::Repeat { body, .. } => self.mask(body, masks),
                StmtKind::If { condition, then, otherwise } => {
                    for (side, wanted) in [(then, true), (otherwise, false)] {
                        let masks = self.restricted(masks, condition, wanted);
                        self.mask(side, &masks);
                    }
                }
                _ => {}
            }
        }
    }

    fn restricted(&self, masks: &[Vec<bool>], condition: &Expr, wanted: bool) -> Vec<Vec<bool>> {
        let rows = self.rows.iter().zip(masks);
        let holds = |lane: &[i64]| condition.eval(lane).is_ok_and(|v| (v != 0) == wanted);
        rows.map(|(row, mask)| {
            row.lanes.iter().zip(mask).map(|(lane, on)| *on && holds(lane)).collect()
        })
        .collect()
    }

    /// The value of each warp: the greatest of its items that take part.
    fn value(
        &self,
        facts: &Facts<'_>,
        stmt: &Stmt,
        of_lane: impl Fn(&[i64]) -> Option<i64>,
    ) -> Result<Value, PromelaError> {
        let greatest = |row| self.active(row, stmt).filter_map(|lane| of_lane(lane)).max();
        let values: Vec<Option<i64>> = (0..self.rows.len()).map(greatest).collect();
        let configurations: Vec<usize> = self.rows.iter().map(|r| r.configuration).collect();
        facts.listed(&stmt.at, &configurations, self.keys.clone(), &values)
    }

    /// The items of a warp that take part in a statement.
    fn active(&self, row: usize, stmt: &Stmt) -> impl Iterator<Item = &Vec<i64>> {
        let mask = self.masks.get(&stmt.at).and_then(|masks| masks.get(row));
        let lanes = self.rows.get(row).map_or(&[][..], |row| &row.lanes);
        let active = lanes.iter().zip(mask.into_iter().flatten()).filter(|(_, on)| **on);
        active.map(|(lane, _)| lane)
    }

    /// See [`Amounts::alike_before`].
    fn alike_before(&self, facts: &Facts<'_>, dispatchers: i64) -> Result<Value, PromelaError> {
        let mut last = HashMap::new();
        let number = self.keys.last().map_or(&[][..], |(_, numbers)| numbers);
        let group = self.keys.first().filter(|_| self.keys.len() > 1).map(|(_, groups)| groups);
        let rows = self.rows.iter().zip(number).enumerate();
        let values = rows.map(|(n, (row, w))| {
            let mut behaviour = Vec::new();
            self.behaviour(&facts.problem.kernel, n, &mut behaviour);
            let group = group.and_then(|groups| groups.get(n));
            let key = (row.configuration, group, w % dispatchers, behaviour);
            Some(last.insert(key, *w).unwrap_or(-1))
        });
        let values: Vec<Option<i64>> = values.collect();
        // Where all warps of a group do the same there is no need of a table.
        let before = |w: &i64| if *w < dispatchers { -1 } else { w - dispatchers };
        if number.iter().map(before).map(Some).eq(values.iter().copied()) {
            let most = number.iter().map(before).max().unwrap_or(-1);
            let text = format!("((w) < {dispatchers} -> -1 : (w) - {dispatchers})");
            return Ok(Value { text, range: (-1, most) });
        }
        let configurations: Vec<usize> = self.rows.iter().map(|r| r.configuration).collect();
        facts.listed("kernel", &configurations, self.keys.clone(), &values)
    }

    /// What a warp does: the numbers of the statements that it executes, in order.
    fn behaviour(&self, program: &[Stmt], row: usize, out: &mut Vec<Option<i64>>) {
        for stmt in program {
            let lanes: Vec<&Vec<i64>> = self.active(row, stmt).collect();
            let mut most = |expr: &Expr| {
                out.push(lanes.iter().filter_map(|lane| expr.eval(lane).ok()).max());
            };
            match &stmt.kind {
                StmtKind::Access { amount, .. } => most(amount),
                StmtKind::Until(ticks) => most(ticks),
                StmtKind::Repeat { count, body } => {
                    most(count);
                    self.behaviour(body, row, out);
                }
                StmtKind::If { condition, then, otherwise } => {
                    let holds = |lane: &&Vec<i64>| condition.eval(lane).is_ok_and(|v| v != 0);
                    out.push(Some(i64::from(lanes.iter().any(holds))));
                    out.push(Some(i64::from(!lanes.iter().all(holds))));
                    self.behaviour(then, row, out);
                    self.behaviour(otherwise, row, out);
                }
                StmtKind::Barrier | StmtKind::Mark => {}
            }
        }
    }
}
