//! What a search works on; what solvers propose is simulated here before it counts.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tickbound_encodings::system::InternalError;
use tickbound_model::{Problem, Space};

use crate::bracket::Bracket;
use crate::error::SolveError;
use crate::formula::SmtFormula;
use crate::instance::{SmtInstance, SolverReply};

/// What strategies that ask a solver need of the formula.
pub(crate) trait FormulaSearch: Sync {
    fn bracket(&self) -> &Bracket<'_>;

    fn solver(&self) -> Result<Box<dyn LiveSolver + '_>, SolveError>;

    /// The task and its formula, where the configurations are listed.
    fn listed(&self) -> Option<(&Task<'_>, SmtFormula<'_>)>;
}

/// A live solver whose answers go into the bracket.
pub(crate) trait LiveSolver {
    /// Asks for at most `ticks`. False if there is no answer.
    fn ask(&mut self, ticks: i64) -> Result<bool, SolveError>;

    /// Asserts the bounds of the bracket.
    fn learn(&mut self) -> Result<(), SolveError>;
}

/// A configuration that is too large to be simulated, and why.
pub(crate) type TooLarge = (usize, tickbound_simulator::SimulateError);

/// What a strategy works on.
pub struct Task<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Its valid configurations.
    pub space: &'a Space,
    /// For each configuration a number of ticks it does not undercut.
    pub lower: &'a [i64],
    /// The formula, if the strategy needs one.
    pub formula: Option<SmtFormula<'a>>,
    /// The shared bracket.
    pub bracket: &'a Bracket<'a>,
    /// Times of configurations that were simulated.
    times: Mutex<HashMap<usize, i64>>,
}

impl<'a> Task<'a> {
    /// A task without an encoding yet.
    pub(crate) fn new(
        problem: &'a Problem,
        space: &'a Space,
        bracket: &'a Bracket<'a>,
        lower: &'a [i64],
    ) -> Task<'a> {
        Task { problem, space, lower, formula: None, bracket, times: Mutex::default() }
    }

    pub(crate) fn on(&self, formula: SmtFormula<'a>) -> Task<'a> {
        let Task { problem, space, lower, bracket, .. } = *self;
        Task { formula: Some(formula), ..Task::new(problem, space, bracket, lower) }
    }

    /// Runs configuration `c` in the simulator and offers its time to the bracket. `claimed` is
    /// its time by an encoding.
    pub(crate) fn replay(&self, c: usize, claimed: Option<i64>) -> Result<i64, SolveError> {
        let bound = &self.space.bound[c];
        let time = match tickbound_simulator::simulate(self.problem, bound, &Default::default()) {
            Ok(run) => run.time,
            // Too large to simulate: the encoding's time is taken, and marked as not replayed.
            Err(e) => match claimed.filter(|_| e.is_too_large()) {
                Some(ticks) => ticks,
                None => return Err(e.into()),
            },
        };
        if let Some(claimed) = claimed.filter(|t| *t != time) {
            let configuration = &bound.configuration;
            return Err(SolveError::disagreement(self.problem, configuration, claimed, Some(time)));
        }
        self.bracket.offer(c, &bound.configuration, time);
        Ok(time)
    }

    /// Ticks of configuration `c`, which is simulated unless it was before.
    pub(crate) fn time(&self, c: usize) -> Result<i64, SolveError> {
        if let Some(time) = self.known().get(&c) {
            return Ok(*time);
        }
        let time = self.replay(c, None)?;
        self.known().insert(c, time);
        Ok(time)
    }

    /// Simulates some configurations, each on its own thread, and offers their times in this
    /// order. Those that are too large to be simulated come back, with the reason.
    pub(crate) fn times_at_once(&self, some: &[usize]) -> Result<Vec<TooLarge>, SolveError> {
        let mut too_large = Vec::new();
        let Some((first, others)) = some.split_first() else { return Ok(too_large) };
        let options = tickbound_simulator::SimulateOptions::default();
        std::thread::scope(|scope| {
            let run = |c: &usize| {
                let bound = &self.space.bound[*c];
                scope.spawn(|| tickbound_simulator::simulate(self.problem, bound, &options))
            };
            let running: Vec<_> = others.iter().map(run).collect();
            match self.time(*first) {
                Err(SolveError::Simulate(e)) if e.is_too_large() => too_large.push((*first, e)),
                other => drop(other?),
            }
            for (c, running) in others.iter().zip(running) {
                let time = match running.join().map_err(|_| SolveError::Panicked)? {
                    Ok(run) => run.time,
                    Err(e) if e.is_too_large() => {
                        too_large.push((*c, e));
                        continue;
                    }
                    Err(e) => return Err(e.into()),
                };
                self.bracket.offer(*c, &self.space.bound[*c].configuration, time);
                self.known().insert(*c, time);
            }
            Ok(too_large)
        })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<usize, i64>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Simulates `most` configurations with the least lower bounds, while one may be best.
    pub(crate) fn probe(&self, most: usize) -> Result<(), SolveError> {
        let order = self.most_promising();
        self.bracket.raise(self.lower[order[0]]);
        for c in order.into_iter().take(most) {
            if self.lower[c] >= self.bracket.bounds().upper() || self.bracket.out_of_time() {
                break;
            }
            match self.time(c) {
                Err(SolveError::Simulate(e)) if e.is_too_large() => {}
                other => drop(other?),
            }
        }
        Ok(())
    }

    /// All configurations, those with the least lower bounds first.
    pub(crate) fn most_promising(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.lower.len()).collect();
        order.sort_by_key(|c| (self.lower[*c], *c));
        order
    }
}

impl FormulaSearch for Task<'_> {
    fn bracket(&self) -> &Bracket<'_> {
        self.bracket
    }

    fn solver(&self) -> Result<Box<dyn LiveSolver + '_>, SolveError> {
        let formula =
            self.formula.ok_or_else(|| InternalError("a question without a formula".into()))?;
        Ok(Box::new(Listed { task: self, solver: SmtInstance::new(formula, self.bracket)? }))
    }

    fn listed(&self) -> Option<(&Task<'_>, SmtFormula<'_>)> {
        Some((self, self.formula?))
    }
}

/// A live solver for a list of configurations.
struct Listed<'t> {
    task: &'t Task<'t>,
    solver: SmtInstance<'t>,
}

impl LiveSolver for Listed<'_> {
    fn ask(&mut self, ticks: i64) -> Result<bool, SolveError> {
        match self.solver.at_most(ticks) {
            SolverReply::Yes(c, cost) => self.task.replay(c, Some(cost)).map(|_| true),
            SolverReply::No => {
                self.task.bracket.refute(ticks);
                Ok(true)
            }
            SolverReply::Nothing => Ok(false),
        }
    }

    fn learn(&mut self) -> Result<(), SolveError> {
        self.solver.learn();
        Ok(())
    }
}
