//! The question as the problem states it: constraints and costs over the parameters, for Z3.
//!
//! Each parameter is one truth value per value, of which exactly one holds. A condition forbids
//! what its relation does not list. Each relation with costs has a number, which is at least what
//! the relation has for the values chosen; the sum of these numbers, times the scale and plus the
//! offset, is at most the time. The question is whether the time may be at most this many ticks. So
//! the formula grows with the tables and not with the number of configurations, and it is linear.
//!
//! Rows go in as a tree, one parameter after another, and a cost is bounded at each node by the
//! least below it. This follows from the rows, but lets Z3 turn down a choice of a
//! few parameters at once. It is what makes the formula fast: bounds are clauses over plain bounds
//! of a number, and few conflicts need arithmetic.
//!
//! The tables are those of [`tickbound_timing::CostTables`]. Nothing of an elimination goes into a
//! confirmation, so that Z3 is a second opinion on it. A search may learn from one.

mod rows;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tickbound_elimination::{Least, Relation, VariableScope, Weight};
use tickbound_timing::CostTables;
use z3::ast::{Bool, Int};
use z3::{Model, Params, SatResult, Solver, Tactic};

use self::rows::{Rows, merged};
use crate::bracket::Bracket;
use crate::error::SolveError;
use crate::formula::SmtFormula;
use crate::instance::{chosen, interruptible, leave_ctrl_c};
use crate::proof::Proof;
use crate::search::{Eliminated, MAX_ROWS, Search, limits};
use crate::task::{FormulaSearch, LiveSolver, Task};

/// The shortest time that a confirmation is worth; making a context of Z3 takes longer than less.
const LEAST_TIME: Duration = Duration::from_millis(40);

/// Constraints and costs, ready to be stated.
pub struct TableEncoding<'s, 'a> {
    search: &'s Search<'a>,
    tables: Cow<'s, CostTables>,
    /// What the kept parameters may be together.
    kept: Relation,
}

impl<'s, 'a> TableEncoding<'s, 'a> {
    /// States a search's problem; `None` if its tables would be too large, or are only a bound.
    pub fn new(search: &'s Search<'a>) -> Option<TableEncoding<'s, 'a>> {
        TableEncoding::until(search, &|| search.bracket.out_of_time())
    }

    fn until(search: &'s Search<'a>, stop: &dyn Fn() -> bool) -> Option<TableEncoding<'s, 'a>> {
        let limits = limits(MAX_ROWS, stop);
        let tables = match search.tabulated() {
            Some(tables) => Cow::Borrowed(tables),
            None => Cow::Owned(search.tables(&limits)?),
        };
        if !tables.is_exact() {
            return None;
        }
        let kept = search.configurations.relation(&tables.kept, &limits, || |_, _| Some(0)).ok()?;
        Some(TableEncoding { search, tables, kept })
    }

    /// Whether some configuration takes at most `ticks`, in SMT-LIB 2; `None` at a stop.
    pub fn smt2(&self, ticks: i64) -> Option<String> {
        let solver = Solver::new();
        let stated = Stated::new(self, &solver, &|| self.search.bracket.out_of_time())?;
        solver.assert(stated.at_most(ticks));
        Some(solver.to_smt2())
    }
}

/// Settings for these formulas: among clauses alone, relevance costs more than it saves.
fn settings() -> Params {
    let mut settings = leave_ctrl_c();
    settings.set_u32("relevancy", 0);
    settings
}

/// Asks a new solver for one tick less than the best time, by the cost of a search, for this time.
pub(crate) fn confirm(
    bracket: &Bracket<'_>,
    search: &Search<'_>,
    time: Duration,
) -> Result<Option<Proof>, SolveError> {
    let claimed = bracket.bounds().upper();
    if time < LEAST_TIME || claimed == i64::MAX {
        return Ok(None);
    }
    let started = Instant::now();
    let out = || bracket.out_of_time() || started.elapsed() >= time;
    let Some(statement) = TableEncoding::until(search, &out) else { return Ok(None) };
    let stopped = AtomicBool::new(false);
    // Its own bracket: the shared one is closed, which would stop the solver at once.
    let own = Bracket::new(Some(time), &stopped, &|_| {});
    let answer = std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            interruptible(&own, || {
                let solver = Tactic::new("smt").solver();
                solver.set_params(&settings());
                let Some(stated) = Stated::new(&statement, &solver, &out) else {
                    return (Answer::Nothing, 0);
                };
                solver.assert(stated.at_most(claimed - 1));
                if out() {
                    return (Answer::Nothing, 0);
                }
                (stated.answer(solver.check(), &solver), stated.size)
            })
        });
        while !asked.is_finished() {
            if out() {
                stopped.store(true, Ordering::Relaxed);
            }
            std::thread::park_timeout(Duration::from_millis(2));
        }
        asked.join().map_err(|_| SolveError::Panicked)
    });
    bracket.count_call();
    match answer? {
        (Answer::No, size) => {
            bracket.refute(claimed - 1);
            Ok(Some(Proof::Z3 { listed: false, size: size as u64 }))
        }
        (Answer::Yes(_, found), _) => Err(SolveError::refuted(claimed, found)),
        (Answer::Nothing, _) => Ok(None),
    }
}

/// Closes the bracket by a strategy that asks Z3.
pub(crate) fn closed(
    search: &Search<'_>,
    run: impl FnOnce(&dyn FormulaSearch) -> Result<(), SolveError>,
) -> Result<Option<Proof>, SolveError> {
    let Some(statement) = TableEncoding::new(search) else {
        if !search.bracket.done() {
            search.bracket.give_up("the costs are too large for tables, or not exact".into());
        }
        return Ok(None);
    };
    // The first incumbent: any valid configuration.
    if let Some(first) = search.configurations.nth(&num_bigint::BigUint::default()) {
        let claimed = search.claimed(&first)?;
        search.offer(first, Some(claimed))?;
    }
    run(&statement)?;
    let rows: usize = statement.tables.network.relations().iter().map(|r| r.len()).sum();
    Ok(search.bracket.closed().then_some(Proof::Z3 { listed: false, size: rows as u64 }))
}

impl FormulaSearch for TableEncoding<'_, '_> {
    fn bracket(&self) -> &Bracket<'_> {
        self.search.bracket
    }

    fn solver(&self) -> Result<Box<dyn LiveSolver + '_>, SolveError> {
        let solver = Solver::new();
        solver.set_params(&settings());
        let stop = || self.search.bracket.done();
        let stated = Stated::new(self, &solver, &stop);
        if let Some(stated) = &stated {
            stated.learn_least(&solver, &stop);
        }
        Ok(Box::new(Live { solver, stated }))
    }

    fn listed(&self) -> Option<(&Task<'_>, SmtFormula<'_>)> {
        None
    }
}

/// A sum; SMT-LIB knows none of a single term.
fn total(terms: &[Int]) -> Int {
    match terms {
        [one] => one.clone(),
        _ => Int::add(terms),
    }
}

enum Answer {
    /// For each parameter the index of its value, and the ticks of that choice.
    Yes(Vec<u32>, i64),
    No,
    Nothing,
}

/// A statement on a live solver.
struct Live<'q> {
    solver: Solver,
    /// Nothing if the search was stopped before it was stated.
    stated: Option<Stated<'q>>,
}

impl LiveSolver for Live<'_> {
    fn ask(&mut self, ticks: i64) -> Result<bool, SolveError> {
        let Some(stated) = &self.stated else { return Ok(false) };
        let search = stated.search;
        search.bracket.count_call();
        let result = self.solver.check_assumptions(&[stated.at_most(ticks)]);
        match stated.answer(result, &self.solver) {
            Answer::Yes(indices, ticks) => {
                let configuration = search.configurations.configuration(&indices);
                search.offer(configuration, Some(ticks))?;
                Ok(true)
            }
            Answer::No => {
                search.bracket.refute(ticks);
                Ok(true)
            }
            Answer::Nothing => {
                if !search.bracket.done() {
                    search.bracket.give_up(self.solver.get_reason_unknown().unwrap_or_default());
                }
                Ok(false)
            }
        }
    }

    /// A configuration may take more than the least time, so only the lower bound is asserted.
    fn learn(&mut self) -> Result<(), SolveError> {
        if let Some(stated) = &self.stated {
            self.solver.assert(stated.time.ge(stated.search.bracket.bounds().lower));
        }
        Ok(())
    }
}

/// The terms of a statement in the context of the present thread.
struct Stated<'q> {
    tables: &'q CostTables,
    search: &'q Search<'q>,
    chosen: Vec<Vec<Bool>>,
    /// At least the sum of the costs.
    sum: Int,
    time: Int,
    /// Assertions.
    size: usize,
}

impl<'q> Stated<'q> {
    /// States everything but a bound on the time; `None` at a stop.
    fn new(
        statement: &'q TableEncoding<'_, '_>,
        solver: &Solver,
        stop: &dyn Fn() -> bool,
    ) -> Option<Stated<'q>> {
        let TableEncoding { search, tables, kept } = statement;
        let values = search.configurations.values().iter().zip(&search.problem().parameters);
        let named = |p: &str, v: &i64| Bool::new_const(format!("{p}={v}"));
        let chosen = values.map(|(values, p)| values.iter().map(|v| named(&p.name, v)).collect());
        let (sum, time) = (Int::new_const("sum"), Int::new_const("time"));
        let mut stated = Stated { tables, search, chosen: chosen.collect(), sum, time, size: 0 };
        stated.size += stated.choose_one(solver);
        let (conditions, costs) = tables.network.relations().split_at(tables.conditions);
        for relation in conditions {
            stated.size += stated.allow(relation, solver, stop)?;
        }
        let mut terms = vec![Int::from_i64(tables.floor)];
        for (scope, rows) in merged(costs, stop)? {
            let cost = Int::new_const(format!("cost{}", terms.len()));
            stated.size += stated.at_least(&cost, scope, rows, solver, stop)?;
            terms.push(cost);
        }
        solver.assert(stated.sum.eq(total(&terms)));
        stated.size += 1 + stated.take_time(kept, solver, stop)?;
        Some(stated)
    }

    /// Asserts that each parameter has one value.
    fn choose_one(&self, solver: &Solver) -> usize {
        let mut asserted = 0;
        for values in &self.chosen {
            solver.assert(Bool::or(values));
            for (i, one) in values.iter().enumerate() {
                values[..i]
                    .iter()
                    .for_each(|other| solver.assert(Bool::or(&[one.not(), other.not()])));
                asserted += i;
            }
            asserted += 1;
        }
        asserted
    }

    /// Asserts that the values chosen are one of the rows.
    fn allow(
        &self,
        relation: &Relation,
        solver: &Solver,
        stop: &dyn Fn() -> bool,
    ) -> Option<usize> {
        let mut asserted = 0;
        let rows = relation.rows().map(|(key, _)| (key, ())).collect();
        let tree = Rows { scope: relation.scope(), chosen: &self.chosen, stop };
        tree.walk(rows, &mut |node| {
            if let Some((variable, next)) =
                node.next.filter(|(v, next)| next.len() < self.chosen[*v].len())
            {
                let may = next.iter().map(|value| self.chosen[variable][*value as usize].clone());
                solver
                    .assert(Bool::or(&node.unless.iter().cloned().chain(may).collect::<Vec<_>>()));
                asserted += 1;
            }
            true
        })?;
        Some(asserted)
    }

    /// Asserts that a number is at least the cost of the row of the values chosen.
    fn at_least(
        &self,
        number: &Int,
        scope: &VariableScope,
        rows: Vec<(u128, i64)>,
        solver: &Solver,
        stop: &dyn Fn() -> bool,
    ) -> Option<usize> {
        let mut asserted = 0;
        // The bounds at the nodes above.
        let mut known: Vec<i64> = Vec::new();
        Rows { scope, chosen: &self.chosen, stop }.walk(rows, &mut |node| {
            let costs = || node.rows.iter().map(|(_, cost)| *cost);
            let least = costs().min().unwrap_or(i64::MAX);
            known.truncate(node.unless.len());
            if known.last().is_none_or(|above| least > *above) {
                node.imply(&number.ge(least), solver);
                asserted += 1;
            }
            known.push(least);
            costs().any(|cost| cost != least)
        })?;
        Some(asserted)
    }

    /// Asserts that the time is at least what offset and scale make of the sum.
    fn take_time(
        &self,
        kept: &Relation,
        solver: &Solver,
        stop: &dyn Fn() -> bool,
    ) -> Option<usize> {
        let (mut asserted, mut indices) = (0, vec![0; self.chosen.len()]);
        let mut rows = Vec::new();
        for (key, _) in kept.rows() {
            kept.scope().unpack(key, &mut indices);
            rows.push((key, self.scale_and_offset(&self.search.env(&indices))));
            if stop() {
                return None;
            }
        }
        let tree = Rows { scope: kept.scope(), chosen: &self.chosen, stop };
        tree.walk(rows, &mut |node| {
            let first = node.rows.first().map(|(_, both)| *both);
            if node.rows.iter().any(|(_, both)| Some(*both) != first) {
                return true;
            }
            // Without a value it may be anything, so that a search for the least time meets it.
            if let Some((scale, offset)) = first.flatten() {
                let taken = Int::mul(&[Int::from_i64(scale), self.sum.clone()]);
                node.imply(&Int::sub(&[self.time.clone(), taken]).ge(offset), solver);
                asserted += 1;
            }
            false
        })?;
        Some(asserted)
    }

    /// What the sum is multiplied by, and what is added then; beyond 63 bits the greatest number.
    fn scale_and_offset(&self, env: &[i64]) -> Option<(i64, i64)> {
        let normal = &self.tables.normal;
        let offset = normal
            .offset
            .iter()
            .try_fold(0i64, |sum, p| Some(sum.saturating_add(p.value(env).ok()?)));
        Some((normal.scale.value(env).ok()?, offset?))
    }

    /// Asserts an elimination's least sum for the parameters of the scale, if there is one.
    fn learn_least(&self, solver: &Solver, stop: &dyn Fn() -> bool) {
        let Some(Eliminated { root, .. }) = self.search.eliminated() else { return };
        let least = |cost: i64| Least(cost).times(&Least(self.tables.floor)).0;
        let rows = root.rows().map(|(key, cost)| (key, least(cost.0))).collect();
        self.at_least(&self.sum, root.scope(), rows, solver, stop);
    }

    /// The condition that the time is at most `ticks`.
    fn at_most(&self, ticks: i64) -> Bool {
        self.time.le(ticks)
    }

    fn answer(&self, result: SatResult, solver: &Solver) -> Answer {
        match result {
            SatResult::Unsat => Answer::No,
            SatResult::Unknown => Answer::Nothing,
            SatResult::Sat => {
                solver.get_model().and_then(|m| self.model(&m)).unwrap_or(Answer::Nothing)
            }
        }
    }

    /// The choice of a model, and what the tables say that it takes.
    fn model(&self, model: &Model) -> Option<Answer> {
        let indices = chosen(model, &self.chosen)?;
        let costs = &self.tables.network.relations()[self.tables.conditions..];
        let sum =
            costs.iter().try_fold(Least(0), |sum, r| Some(sum.times(&Least(*r.at(&indices)?))))?;
        let ticks = self.tables.ticks(&self.search.env(&indices), sum.0);
        Some(Answer::Yes(indices, ticks))
    }
}
