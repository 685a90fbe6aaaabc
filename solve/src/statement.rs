//! The question as the problem states it: constraints and costs over the parameters, for Z3.
//!
//! Each parameter is one truth value per value, of which exactly one holds. A condition forbids what its
//! relation does not list; a cost is a choice over the few parameters that it depends on; their sum is at
//! most what the time asked for leaves, which depends on the parameters of the scale alone. So the
//! formula grows with the tables and not with the number of configurations, and it is linear.
//!
//! The tables are those of [`tickbound_encodings::cost::Tables`]. Nothing of an elimination goes in, so that Z3 is a second opinion on it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tickbound_elimination::{Least, Relation};
use tickbound_encodings::cost::Tables;
use z3::ast::{Bool, Int};
use z3::{Model, SatResult, Solver, Tactic};

use crate::bracket::Bracket;
use crate::error::SolveError;
use crate::formula::Formula;
use crate::instance::{interruptible, leave_ctrl_c};
use crate::proof::Proof;
use crate::task::{Asked, Asking, Task};
use crate::search::{MOST_ROWS, Search, limits};

/// The shortest time that a confirmation is worth; making a context of Z3 takes longer than less.
const LEAST_TIME: Duration = Duration::from_millis(40);

/// Constraints and costs, ready to be stated.
pub struct Statement<'s, 'a> {
    search: &'s Search<'a>,
    tables: Tables,
    /// What the kept parameters may be together.
    kept: Relation,
}

impl<'s, 'a> Statement<'s, 'a> {
    /// States a search's problem; `None` if its tables would be too large, or are only a bound.
    #[must_use]
    pub fn new(search: &'s Search<'a>) -> Option<Statement<'s, 'a>> {
        let stop = || search.bracket.out_of_time();
        let limits = limits(MOST_ROWS, &stop);
        let tables = match search.eliminated() {
            Some(exact) => exact.tables.clone(),
            None => search.tables(&limits)?,
        };
        if !tables.is_exact() {
            return None;
        }
        let kept = search.configurations.relation(&tables.kept, &limits, |_, _| Some(0)).ok()?;
        Some(Statement { search, tables, kept })
    }

    /// The question whether some configuration takes at most `ticks`, in SMT-LIB 2.
    #[must_use]
    pub fn smt2(&self, ticks: i64) -> String {
        let solver = Solver::new();
        let stated = Stated::new(self, &solver);
        solver.assert(&stated.at_most(ticks));
        solver.to_smt2()
    }
}

/// Asks a new solver for one tick less than the best time, for as long as everything before has taken.
pub(crate) fn confirm(search: &Search<'_>) -> Result<Option<Proof>, SolveError> {
    let claimed = search.bracket.bounds().upper();
    let time = Duration::from_secs_f64(search.bracket.seconds());
    if time < LEAST_TIME || claimed == i64::MAX {
        return Ok(None);
    }
    let Some(statement) = Statement::new(search) else { return Ok(None) };
    let started = Instant::now();
    let stopped = AtomicBool::new(false);
    // A bracket of its own: the shared one is closed, which would stop the solver at once.
    let own = Bracket::new(Some(time), &stopped, &|_| {});
    let out = || search.bracket.out_of_time() || started.elapsed() >= time;
    let answer = std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            interruptible(&own, || {
                let solver = Tactic::new("default").solver();
                solver.set_params(&leave_ctrl_c());
                let stated = Stated::new(&statement, &solver);
                solver.assert(&stated.at_most(claimed - 1));
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
    search.bracket.count_call();
    match answer? {
        (Answer::No, size) => {
            search.bracket.refute(claimed - 1);
            Ok(Some(Proof::Z3 { listed: false, size: size as u64 }))
        }
        (Answer::Yes(_, found), _) => Err(SolveError::Refuted { claimed, found }),
        (Answer::Nothing, _) => Ok(None),
    }
}

/// Closes the bracket by a strategy that asks Z3.
pub(crate) fn closed(
    search: &Search<'_>,
    run: impl FnOnce(&dyn Asked) -> Result<(), SolveError>,
) -> Result<Option<Proof>, SolveError> {
    let Some(statement) = Statement::new(search) else {
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
    let rows: usize = statement.tables.network.relations().iter().map(Relation::len).sum();
    Ok(search.bracket.closed().then_some(Proof::Z3 { listed: false, size: rows as u64 }))
}

impl Asked for Statement<'_, '_> {
    fn bracket(&self) -> &Bracket<'_> {
        self.search.bracket
    }

    fn solver(&self) -> Result<Box<dyn Asking + '_>, SolveError> {
        let solver = Solver::new();
        solver.set_params(&leave_ctrl_c());
        let stated = Stated::new(self, &solver);
        Ok(Box::new(Live { solver, stated }))
    }

    fn listed(&self) -> Option<(&Task<'_>, Formula<'_>)> {
        None
    }
}

/// What a solver says of a statement.
enum Answer {
    /// For each parameter the index of its value, and the ticks of that choice.
    Yes(Vec<u32>, i64),
    No,
    Nothing,
}

/// A statement on a live solver.
struct Live<'q> {
    solver: Solver,
    stated: Stated<'q>,
}

impl Asking for Live<'_> {
    fn ask(&mut self, ticks: i64) -> Result<bool, SolveError> {
        let search = self.stated.search;
        search.bracket.count_call();
        let result = self.solver.check_assumptions(&[self.stated.at_most(ticks)]);
        match self.stated.answer(result, &self.solver) {
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

    /// The bracket is asked about, not asserted: what bounds a sum depends on the scale.
    fn learn(&mut self) -> Result<(), SolveError> {
        Ok(())
    }
}

/// The terms of a statement in the context of the present thread.
struct Stated<'q> {
    statement: &'q Tables,
    search: &'q Search<'q>,
    kept: &'q Relation,
    chosen: Vec<Vec<Bool>>,
    sum: Int,
    size: usize,
}

impl<'q> Stated<'q> {
    fn new(statement: &'q Statement<'_, '_>, solver: &Solver) -> Stated<'q> {
        let Statement { search, tables, kept } = statement;
        let values = search.configurations.values().iter().zip(&search.problem().parameters);
        let chosen: Vec<Vec<Bool>> = values
            .map(|(values, p)| values.iter().map(|v| Bool::new_const(format!("{}={v}", p.name))).collect())
            .collect();
        let mut stated = Stated { statement: tables, search, kept, chosen, sum: Int::from_i64(0), size: 0 };
        for values in &stated.chosen {
            solver.assert(Bool::or(values));
            let weighted: Vec<(&Bool, i32)> = values.iter().map(|b| (b, 1)).collect();
            solver.assert(Bool::pb_le(&weighted, 1));
            stated.size += values.len() + 2;
        }
        let (conditions, costs) = tables.network.relations().split_at(tables.conditions);
        for relation in conditions {
            let rows: Vec<Vec<u32>> = relation.sorted().into_iter().map(|(row, _)| row).collect();
            stated.size += stated.allow(relation.scope().variables(), &rows, &mut Vec::new(), solver);
        }
        let mut terms = vec![Int::from_i64(tables.floor)];
        for relation in costs {
            let rows: Rows = relation.sorted().into_iter().map(|(row, cost)| (row, *cost)).collect();
            terms.push(stated.choose(relation.scope().variables(), &rows));
        }
        stated.size += terms.len();
        stated.sum = Int::add(&terms);
        stated
    }

    /// Asserts that what is chosen for `variables` is one of the rows; how many assertions that takes.
    fn allow(&self, variables: &[usize], rows: &[Vec<u32>], before: &mut Vec<Bool>, solver: &Solver) -> usize {
        let depth = before.len();
        let Some(variable) = variables.get(depth) else { return 0 };
        let mut next: BTreeMap<u32, Vec<Vec<u32>>> = BTreeMap::new();
        for row in rows {
            next.entry(row[depth]).or_default().push(row.clone());
        }
        let mut asserted = 0;
        if next.len() < self.chosen[*variable].len() {
            let mut clause: Vec<Bool> = before.iter().map(|b| b.not()).collect();
            clause.extend(next.keys().map(|v| self.chosen[*variable][*v as usize].clone()));
            solver.assert(Bool::or(&clause));
            asserted += 1;
        }
        for (value, rows) in next {
            before.push(self.chosen[*variable][value as usize].clone());
            asserted += self.allow(variables, &rows, before, solver);
            before.pop();
        }
        asserted
    }

    /// A number that depends on what is chosen for `variables`. The last case also stands for what no row
    /// allows.
    fn choose(&self, variables: &[usize], rows: &Rows) -> Int {
        let same = rows.values().next().filter(|first| rows.values().all(|v| v == *first));
        let Some((first, rest)) = variables.split_first() else {
            return Int::from_i64(rows.values().next().copied().unwrap_or_default());
        };
        if let Some(value) = same {
            return Int::from_i64(*value);
        }
        let mut by_value: BTreeMap<u32, Rows> = BTreeMap::new();
        for (key, value) in rows {
            by_value.entry(key[0]).or_default().insert(key[1..].to_vec(), *value);
        }
        let mut cases = by_value.iter().rev();
        let last = cases.next().map_or_else(|| Int::from_i64(0), |(_, rows)| self.choose(rest, rows));
        cases.fold(last, |other, (value, rows)| {
            self.chosen[*first][*value as usize].ite(&self.choose(rest, rows), &other)
        })
    }

    /// The condition that the time is at most `ticks`.
    fn at_most(&self, ticks: i64) -> Bool {
        let mut indices = vec![0; self.chosen.len()];
        let variables = self.kept.scope().variables();
        let rows: Rows = self.kept.sorted().into_iter().map(|(row, _)| {
            variables.iter().zip(&row).for_each(|(v, value)| indices[*v] = *value);
            let most = self.most(&self.search.env(&indices), ticks);
            (row, most)
        }).collect();
        self.sum.le(self.choose(variables, &rows))
    }

    /// The greatest sum with which a configuration takes at most `ticks`; below everything if none does.
    fn most(&self, env: &[i64], ticks: i64) -> i64 {
        let normal = &self.statement.normal;
        let scale = normal.scale.value(env).ok().filter(|s| *s > 0);
        let offset = normal.offset.iter().try_fold(0i64, |sum, p| sum.checked_add(p.value(env).ok()?));
        match (scale, offset.and_then(|o| ticks.checked_sub(o))) {
            (Some(scale), Some(left)) => left.div_euclid(scale),
            _ => Least::FAILS.0,
        }
    }

    fn answer(&self, result: SatResult, solver: &Solver) -> Answer {
        match result {
            SatResult::Unsat => Answer::No,
            SatResult::Unknown => Answer::Nothing,
            SatResult::Sat => solver.get_model().and_then(|m| self.model(&m)).unwrap_or(Answer::Nothing),
        }
    }

    fn model(&self, model: &Model) -> Option<Answer> {
        let value = |values: &Vec<Bool>| {
            let holds = |b: &Bool| model.eval(b, true).and_then(|v| v.as_bool()) == Some(true);
            values.iter().position(holds).map(|v| v as u32)
        };
        let indices: Vec<u32> = self.chosen.iter().map(value).collect::<Option<_>>()?;
        let sum = model.eval(&self.sum, true)?.as_i64()?;
        let ticks = self.statement.ticks(&self.search.env(&indices), sum.checked_sub(self.statement.floor)?);
        Some(Answer::Yes(indices, ticks))
    }
}

/// Rows of a table: values of its variables, and the number.
type Rows = BTreeMap<Vec<u32>, i64>;
