//! Open schedules by Z3: best and worst cases from a formula that chooses the schedule.
//!
//! It shares no code with the schedule search. How many steps a run takes is not known beforehand,
//! so the unrolling grows: the clock never goes back, hence if no run of `k` steps has a clock of
//! at most `t`, finished or not, none ends by `t`. More steps are added only while an unfinished
//! run is still that early.

use tickbound_encodings::schedule::{self, Schedule};
use tickbound_model::{Problem, Space};
use tickbound_simulator::{Script, SimulateOptions};
use tickbound_solver::unroll::Unrolled;
use z3::ast::{Bool, Int};
use z3::{Model, SatResult, Solver};

/// Steps of the first unrolling.
const INITIAL_STEPS: usize = 12;

/// The open schedules of all configurations of a space.
pub fn encode(problem: &Problem, space: &Space) -> Schedule {
    let members: Vec<usize> = (0..space.bound.len()).collect();
    let lanes = schedule::lanes(problem, space, &members).expect("few warps");
    schedule::encode(&lanes).expect("a system")
}

/// Open schedules on a live solver.
pub struct ScheduleFormula<'a> {
    problem: &'a Problem,
    space: &'a Space,
    schedule: &'a Schedule,
    unrolled: Unrolled<'a>,
    solver: Solver,
}

impl<'a> ScheduleFormula<'a> {
    pub fn new(problem: &'a Problem, space: &'a Space, schedule: &'a Schedule) -> Self {
        let unrolled = Unrolled::new(&schedule.system).expect("a system");
        let mut formula =
            ScheduleFormula { problem, space, schedule, unrolled, solver: Solver::new() };
        formula.extend(INITIAL_STEPS);
        formula
    }

    /// The least ticks of all configurations and schedules, and the configurations that take them.
    pub fn best(&mut self) -> (i64, Vec<usize>) {
        let mut least = (0..self.space.bound.len()).map(|c| self.first_come(c)).min().expect("one");
        while let Some((_, ticks)) = self.at_most(least - 1) {
            least = ticks;
        }
        let mut optima = Vec::new();
        while let Some((c, _)) = self.at_most(least) {
            self.solver.assert(self.is(c).not());
            optima.push(c);
        }
        optima.sort_unstable();
        (least, optima)
    }

    /// The greatest ticks of configuration `c`.
    pub fn worst(&mut self, c: usize) -> i64 {
        let mut worst = self.first_come(c);
        while let Some(ticks) = self.at_least(c, worst + 1) {
            worst = ticks;
        }
        worst
    }

    fn first_come(&self, c: usize) -> i64 {
        let options = SimulateOptions::default();
        tickbound_simulator::simulate(self.problem, &self.space.bound[c], &options)
            .expect("a run")
            .time
    }

    /// A configuration and its ticks under a schedule by which it takes at most `ticks`.
    fn at_most(&mut self, ticks: i64) -> Option<(usize, i64)> {
        loop {
            let (goal, cost) = self.unrolled.end().expect("a system");
            let early = cost.le(ticks);
            if !self.check(std::slice::from_ref(&early)) {
                return None;
            }
            if self.check(&[early, goal]) {
                return Some(self.followed(&cost));
            }
            self.extend(self.unrolled.depth() / 2);
        }
    }

    /// The ticks of configuration `c` under a schedule by which it takes at least `ticks`.
    pub fn at_least(&mut self, c: usize, ticks: i64) -> Option<i64> {
        let is = self.is(c);
        loop {
            let (goal, cost) = self.unrolled.end().expect("a system");
            if self.check(&[is.clone(), cost.ge(ticks), goal.clone()]) {
                return Some(self.followed(&cost).1);
            }
            if !self.check(&[is.clone(), goal.not()]) {
                return None;
            }
            self.extend(self.unrolled.depth() / 2);
        }
    }

    fn extend(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.unrolled.extend().expect("a system"));
        self.unrolled.facts().iter().for_each(|fact| self.solver.assert(fact));
    }

    fn check(&self, assumptions: &[Bool]) -> bool {
        match self.solver.check_assumptions(assumptions) {
            SatResult::Sat => true,
            SatResult::Unsat => false,
            SatResult::Unknown => panic!("{:?}", self.solver.get_reason_unknown()),
        }
    }

    /// The fact that configuration `c` is chosen.
    fn is(&self, c: usize) -> Bool {
        let values = self.schedule.system.configurations[c].iter().zip(self.unrolled.chosen());
        Bool::and(&values.map(|(v, chosen)| chosen[*v as usize].clone()).collect::<Vec<_>>())
    }

    /// Configuration and ticks of the model, which the simulator confirms decision by decision.
    fn followed(&self, cost: &Int) -> (usize, i64) {
        let model = self.solver.get_model().expect("a model");
        let is = |c: &usize| is_true(&model, &self.is(*c));
        let c = (0..self.space.bound.len()).find(is).expect("a configuration");
        let ticks = ticks(&model, cost);
        let script = self.script(&model, c);
        let run = script.run(self.problem, &self.space.bound[c], &SimulateOptions::default());
        assert_eq!(run.expect("a run").map(|run| run.time), Some(ticks), "{script:?}");
        (c, ticks)
    }

    /// The decisions of a model.
    fn script(&self, model: &Model, c: usize) -> Script {
        let Schedule { start, place, places_per_unit, warps_per_group, finish, .. } = self.schedule;
        let warps = warps_per_group[c];
        let (mut starts, mut units) = (Vec::new(), Vec::new());
        for (cost, picks) in self.unrolled.picks() {
            let time = ticks(model, cost) - finish[c];
            let picked =
                |id: &tickbound_encodings::system::ChoiceId| is_true(model, &picks[id.index()]);
            for (lane, _) in start.iter().enumerate().filter(|(_, id)| picked(id)) {
                starts.push((time, (lane / warps) as i64, (lane % warps) as i64));
            }
            let taken = place.iter().enumerate().filter(|(_, id)| picked(id));
            units.extend(taken.map(|(place, _)| (place / places_per_unit) as i64));
        }
        Script::Starts { starts, units }
    }
}

fn ticks(model: &Model, cost: &Int) -> i64 {
    model.eval(cost, true).and_then(|value| value.as_i64()).expect("a number")
}

fn is_true(model: &Model, fact: &Bool) -> bool {
    model.eval(fact, true).and_then(|value| value.as_bool()) == Some(true)
}
