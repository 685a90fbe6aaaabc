//! An open schedule on a live solver.
//!
//! How many steps a run takes is not known beforehand, so the unrolling grows: the clock never goes
//! back, hence if no run of `k` steps has a clock of at most `t`, finished or not, none ever ends
//! by `t`. Only when an unfinished run is still that early are more steps added.

use tickbound_encodings::system::InternalError;
use tickbound_simulator::Script;
use z3::ast::{Bool, Int};
use z3::{Model, SatResult, Solver};

use crate::bracket::Bracket;
use crate::formula::Open;
use crate::instance::{Questions, SolverReply, choice, chosen, leave_ctrl_c};
use crate::unroll::Unrolled;

/// Steps of the first unrolling.
const FIRST_STEPS: usize = 12;
/// Most steps.
const MAX_STEPS: usize = 2_000;

/// An open schedule on a live solver.
pub struct OpenInstance<'a> {
    solver: Solver,
    unrolled: Unrolled<'a>,
    open: &'a Open,
    bracket: &'a Bracket<'a>,
}

impl<'a> OpenInstance<'a> {
    /// The first few steps of the system.
    ///
    /// # Errors
    /// The system is not one.
    pub fn new(
        open: &'a Open,
        bracket: &'a Bracket<'a>,
    ) -> Result<OpenInstance<'a>, InternalError> {
        let solver = Solver::new();
        solver.set_params(&leave_ctrl_c());
        let unrolled = Unrolled::new(&open.schedule.system)?;
        let mut instance = OpenInstance { solver, unrolled, open, bracket };
        instance.extend(FIRST_STEPS)?;
        Ok(instance)
    }

    /// Steps and size of the formula by now.
    pub fn size(&self) -> (usize, usize) {
        (self.unrolled.depth(), self.unrolled.size())
    }

    fn extend(&mut self, steps: usize) -> Result<(), InternalError> {
        (0..steps).try_for_each(|_| self.unrolled.extend())?;
        self.unrolled.facts().iter().for_each(|fact| self.solver.assert(fact));
        Ok(())
    }

    /// Never again chooses the configuration with this index in the space.
    pub fn exclude(&self, c: usize) {
        if let Some(k) = self.open.members.iter().position(|m| *m == c) {
            self.solver.assert(choice(&self.open.schedule.system, &self.unrolled, k).not());
        }
    }

    /// Asks for a schedule under which configuration `c` takes at least `ticks`.
    ///
    /// # Errors
    /// The system is not one.
    pub fn at_least(&mut self, c: usize, ticks: i64) -> Result<SolverReply, InternalError> {
        let k = self.open.members.iter().position(|m| *m == c);
        let k =
            k.ok_or_else(|| InternalError("a schedule of a configuration that is pruned".into()))?;
        let chosen = choice(&self.open.schedule.system, &self.unrolled, k);
        loop {
            let (goal, cost) = self.unrolled.end()?;
            // A run that has come this far without an end takes at least as long as one that ends.
            let late = cost.ge(ticks);
            match self.check(&[chosen.clone(), late, goal.clone()]) {
                SatResult::Sat => return Ok(self.model(&cost)),
                SatResult::Unknown => return Ok(SolverReply::Nothing),
                SatResult::Unsat => {}
            }
            match self.check(&[chosen.clone(), goal.not()]) {
                SatResult::Unsat => return Ok(SolverReply::No),
                SatResult::Unknown => return Ok(SolverReply::Nothing),
                SatResult::Sat => {}
            }
            if !self.grow()? {
                return Ok(SolverReply::Nothing);
            }
        }
    }

    fn grow(&mut self) -> Result<bool, InternalError> {
        let depth = self.unrolled.depth();
        if depth >= MAX_STEPS {
            self.bracket.give_up(format!("no end of the schedule within {MAX_STEPS} steps"));
            return Ok(false);
        }
        self.extend(depth / 2)?;
        Ok(true)
    }

    fn check(&self, assumptions: &[Bool]) -> SatResult {
        self.bracket.count_call();
        let answer = self.solver.check_assumptions(assumptions);
        if answer == SatResult::Unknown && !self.bracket.done() {
            self.bracket.give_up(self.solver.get_reason_unknown().unwrap_or_default());
        }
        answer
    }

    fn model(&self, cost: &Int) -> SolverReply {
        let found = self.solver.get_model().and_then(|m| {
            let chosen = chosen(&m, &self.unrolled)?;
            let system = &self.open.schedule.system;
            let k = system.configurations.iter().position(|c| *c == chosen)?;
            let ticks = m.eval(cost, true)?.as_i64()?;
            Some(SolverReply::Scheduled(self.open.members[k], ticks, self.script(&m, k)?))
        });
        found.unwrap_or_else(|| {
            self.bracket.give_up("a model without a valid configuration".into());
            SolverReply::Nothing
        })
    }

    /// Reads the decisions off a model.
    fn script(&self, model: &Model, k: usize) -> Option<Script> {
        let schedule = &self.open.schedule;
        let warps = schedule.warps_per_group[k];
        let (mut starts, mut units) = (Vec::new(), Vec::new());
        for (cost, picks) in self.unrolled.picks() {
            let time = model.eval(cost, true)?.as_i64()? - schedule.finish[k];
            let picked =
                |pick: &Bool| model.eval(pick, true).and_then(|v| v.as_bool()) == Some(true);
            for (lane, id) in schedule.start.iter().enumerate() {
                if picked(&picks[id.index()]) {
                    starts.push((time, (lane / warps) as i64, (lane % warps) as i64));
                }
            }
            for (place, id) in schedule.place.iter().enumerate() {
                if picked(&picks[id.index()]) {
                    units.push((place / schedule.places_per_unit) as i64);
                }
            }
        }
        Some(Script::Starts { starts, units })
    }
}

impl Questions for OpenInstance<'_> {
    fn at_most(&mut self, ticks: i64) -> Result<SolverReply, InternalError> {
        loop {
            let (goal, cost) = self.unrolled.end()?;
            let early = cost.le(ticks);
            match self.check(std::slice::from_ref(&early)) {
                SatResult::Unsat => return Ok(SolverReply::No),
                SatResult::Unknown => return Ok(SolverReply::Nothing),
                SatResult::Sat => {}
            }
            match self.check(&[early, goal]) {
                SatResult::Sat => return Ok(self.model(&cost)),
                SatResult::Unknown => return Ok(SolverReply::Nothing),
                SatResult::Unsat => {}
            }
            if !self.grow()? {
                return Ok(SolverReply::Nothing);
            }
        }
    }

    fn learn(&mut self) -> Result<(), InternalError> {
        // A lower bound says nothing about the clock of an unfinished run.
        if self.bracket.bounds().best.is_some() {
            let (_, cost) = self.unrolled.end()?;
            self.solver.assert(cost.le(self.bracket.bounds().upper()));
        }
        Ok(())
    }
}
