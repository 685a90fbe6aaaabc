//! Searching over open schedules.
//!
//! Where warps share dispatchers, a run time belongs to a configuration *and* a schedule, and the
//! formula chooses both. How many steps a run takes is not known beforehand, so the unrolling grows:
//! the clock never goes back, hence if no run of `k` steps has a clock of at most `t`, finished or
//! not, none ever ends by `t`. Only when an unfinished run is still that early are more steps added.
//!
//! Every schedule that a solver proposes is followed by the simulator decision by decision.

use tickbound_encodings::plan::PlanError;
use tickbound_encodings::schedule::{self, Lanes, Schedule};
use tickbound_encodings::system::Fault;
use tickbound_model::simulate::{
    Explored, Limits, Options, Script, SimulateError, explore, simulate,
};
use tickbound_model::{Problem, Space};
use z3::ast::{Bool, Int};
use z3::{Model, SatResult, Solver};

use super::bracket::Bracket;
use super::instance::{Answer, Questions, choice, chosen, interruptible, leave_ctrl_c};
use super::result::{OpenSchedule, Size, TuneResult};
use super::strategy::{Formula, Task};
use super::unroll::Unrolled;
use super::{Ending, Inquiry, Objective, SolveError, probe, search};
use tickbound_model::verdict::{Found, Status};

/// Configurations simulated, first come first served, before the search.
const PROBES: usize = 16;
/// Most optimal configurations that are listed.
const MAX_OPTIMA: usize = 16;
/// Most states that the explorer visits for one configuration.
const MAX_STATES: u64 = 2_000_000;

/// Steps of the first unrolling.
const FIRST_STEPS: usize = 12;
/// Most steps.
const MAX_STEPS: usize = 2_000;

/// An open schedule over some configurations of a space.
#[derive(Debug, Clone)]
pub struct Open {
    /// The transition system and its choices.
    pub schedule: Schedule,
    /// For each configuration of the system its index in the space.
    pub members: Vec<usize>,
}

impl Open {
    /// The system over the given configurations.
    ///
    /// # Errors
    /// As for [`schedule::lanes`].
    pub fn new(problem: &Problem, space: &Space, members: Vec<usize>) -> Result<Open, SolveError> {
        let lanes = schedule::lanes(problem, space, &members)?;
        Ok(Open { schedule: schedule::encode(&lanes)?, members })
    }
}

/// Lower bounds of all configurations of a space.
///
/// # Errors
/// As for [`schedule::lanes`].
pub fn lower_bounds(problem: &Problem, space: &Space) -> Result<Vec<i64>, PlanError> {
    let all: Vec<usize> = (0..space.bound.len()).collect();
    schedule::lanes(problem, space, &all).map(|lanes: Lanes| lanes.lower_bounds())
}

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
    pub fn new(open: &'a Open, bracket: &'a Bracket<'a>) -> Result<OpenInstance<'a>, Fault> {
        let solver = Solver::new();
        solver.set_params(&leave_ctrl_c());
        let unrolled = Unrolled::new(&open.schedule.system)?;
        let mut instance = OpenInstance { solver, unrolled, open, bracket };
        instance.extend(FIRST_STEPS)?;
        Ok(instance)
    }

    /// Steps and size of the formula by now.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.unrolled.depth(), self.unrolled.size())
    }

    fn extend(&mut self, steps: usize) -> Result<(), Fault> {
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
    pub fn at_least(&mut self, c: usize, ticks: i64) -> Result<Answer, Fault> {
        let k = self.open.members.iter().position(|m| *m == c);
        let k = k.ok_or_else(|| Fault("a schedule of a configuration that is pruned".into()))?;
        let chosen = choice(&self.open.schedule.system, &self.unrolled, k);
        loop {
            let (goal, cost) = self.unrolled.end()?;
            // A run that has come this far without an end takes at least as long as one that ends.
            let late = cost.ge(ticks);
            match self.check(&[chosen.clone(), late, goal.clone()]) {
                SatResult::Sat => return Ok(self.model(&cost)),
                SatResult::Unknown => return Ok(Answer::Nothing),
                SatResult::Unsat => {}
            }
            match self.check(&[chosen.clone(), goal.not()]) {
                SatResult::Unsat => return Ok(Answer::No),
                SatResult::Unknown => return Ok(Answer::Nothing),
                SatResult::Sat => {}
            }
            if !self.grow()? {
                return Ok(Answer::Nothing);
            }
        }
    }

    fn grow(&mut self) -> Result<bool, Fault> {
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

    fn model(&self, cost: &Int) -> Answer {
        let found = self.solver.get_model().and_then(|m| {
            let chosen = chosen(&m, &self.unrolled)?;
            let system = &self.open.schedule.system;
            let k = system.configurations.iter().position(|c| *c == chosen)?;
            let ticks = m.eval(cost, true)?.as_i64()?;
            Some(Answer::Scheduled(self.open.members[k], ticks, self.script(&m, k)?))
        });
        found.unwrap_or_else(|| {
            self.bracket.give_up("a model without a valid configuration".into());
            Answer::Nothing
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
    fn at_most(&mut self, ticks: i64) -> Result<Answer, Fault> {
        loop {
            let (goal, cost) = self.unrolled.end()?;
            let early = cost.le(ticks);
            match self.check(std::slice::from_ref(&early)) {
                SatResult::Unsat => return Ok(Answer::No),
                SatResult::Unknown => return Ok(Answer::Nothing),
                SatResult::Sat => {}
            }
            match self.check(&[early, goal]) {
                SatResult::Sat => return Ok(self.model(&cost)),
                SatResult::Unknown => return Ok(Answer::Nothing),
                SatResult::Unsat => {}
            }
            if !self.grow()? {
                return Ok(Answer::Nothing);
            }
        }
    }

    fn learn(&mut self) -> Result<(), Fault> {
        // A lower bound says nothing about the clock of an unfinished run.
        if self.bracket.bounds().best.is_some() {
            let (_, cost) = self.unrolled.end()?;
            self.solver.assert(cost.le(self.bracket.bounds().upper()));
        }
        Ok(())
    }
}

/// Searches over configurations and schedules.
pub(super) fn tune(inquiry: &Inquiry<'_>) -> Result<TuneResult, SolveError> {
    let Inquiry { problem, space, options, .. } = *inquiry;
    let bounds = options.bounds && !options.strategy.entry().from_nothing;
    let lower = if bounds { lower_bounds(problem, space)? } else { vec![0; space.bound.len()] };
    let mut task = Task::new(inquiry, &lower);
    probe(&task, if bounds { PROBES } else { 1 })?;
    // Exploring all schedules with states remembered is by far faster than the formula as it stands
    // (docs/results/schedules.md), so the formula is used where it is asked for, or where the
    // explorer's memory does not suffice.
    if !options.strategy.needs_encoding() {
        return explored(&task, inquiry);
    }
    if options.strategy.entry().leaves_choice && options.encoding.is_none() {
        match explored(&task, inquiry) {
            Err(SolveError::Simulate(SimulateError::TooManyStates { .. })) => {}
            decided => return decided,
        }
    }
    if options.objective == Objective::Robust {
        return robust(&task, inquiry);
    }
    let first = task.bracket.bounds().upper();
    let members: Vec<usize> = (0..lower.len()).filter(|c| lower[*c] <= first).collect();
    let mut size =
        Size { configurations: space.bound.len(), candidates: members.len(), ..Size::default() };
    let open = Open::new(problem, space, members)?;
    size.states = open.schedule.system.states.len();
    let system = &open.schedule.system;
    task.formula = Some(Formula { system, steps: 0, pruned: &|_| false, open: Some(&open) });
    search(&task, options.strategy)?;
    let (mut optima, mut more_optima) = (Vec::new(), false);
    if task.bracket.closed() {
        (optima, more_optima) = all_optima(&task, &open, &mut size)?;
    }
    let least = task.bracket.bounds();
    let finished = task.bracket.closed() && task.bracket.refuted() >= least.upper() - 1;
    let found = |c: &usize| Found {
        configuration: space.bound[*c].configuration.clone(),
        time: least.upper(),
    };
    let ending = Ending {
        encoding: Some(schedule::ENCODING),
        finished,
        optima: if finished { optima.iter().map(found).collect() } else { Vec::new() },
        more_optima: finished && more_optima,
        replayed: least.best.is_some(),
        size,
        ..Ending::default()
    };
    let best = optima.first().copied().or(least.best.map(|(c, _)| c));
    let mut result = inquiry.result(ending);
    if let Some(c) = best {
        let script = task.script(c, least.upper()).unwrap_or_default();
        result.schedule = Some(OpenSchedule {
            best_case: finished.then_some(least.upper()),
            worst_case: None,
            first_come: first_come(&task, c)?,
            script,
        });
        if options.objective == Objective::Worst && finished {
            return worst_of(&task, inquiry, c, result);
        }
    }
    Ok(result)
}

/// Runs `work` with a solver context of its own that stops when the bracket is done.
fn apart<T: Send>(bracket: &Bracket<'_>, work: impl FnOnce() -> T + Send) -> Result<T, SolveError> {
    std::thread::scope(|scope| {
        scope.spawn(|| interruptible(bracket, work)).join().map_err(|_| SolveError::Panicked)
    })
}

fn first_come(task: &Task<'_>, c: usize) -> Result<i64, SolveError> {
    Ok(simulate(task.problem, &task.space.bound[c], &Options::default())?.time)
}

/// All configurations with a schedule as short as the shortest, in the order of the space; the
/// second value says that there may be more: they are too many, or the search was stopped. The
/// first question is the proof that nothing is shorter.
fn all_optima(
    task: &Task<'_>,
    open: &Open,
    size: &mut Size,
) -> Result<(Vec<usize>, bool), SolveError> {
    let least = task.bracket.bounds().upper();
    // The shared bracket is closed, which would stop the solver at once.
    let own = task.bracket.reopened();
    let (own, size) = (&own, size);
    let result = apart(own, || {
        let mut instance = OpenInstance::new(open, own)?;
        let mut optima = Vec::new();
        let (mut refuted, mut complete) = (false, false);
        // First the proof, with a solver that has learned nothing.
        match instance.at_most(least - 1)? {
            Answer::No => refuted = true,
            Answer::Yes(_, found) | Answer::Scheduled(_, found, _) => {
                return Err(SolveError::Refuted { claimed: least, found });
            }
            Answer::Nothing => {}
        }
        while refuted && optima.len() <= MAX_OPTIMA {
            match instance.at_most(least)? {
                Answer::Scheduled(c, ticks, script) => {
                    task.follow(c, ticks, script)?;
                    instance.exclude(c);
                    optima.push(c);
                }
                Answer::No => {
                    complete = true;
                    break;
                }
                Answer::Yes(..) | Answer::Nothing => break,
            }
        }
        (size.steps, size.variables) = instance.size();
        Ok((optima, refuted, complete))
    })?;
    let (mut optima, refuted, complete) = result?;
    if refuted {
        task.bracket.refute(least - 1);
    }
    task.bracket.count_calls(own.calls());
    optima.sort_unstable();
    Ok((optima, !complete))
}

/// The greatest time of configuration `c` over all schedules, and a schedule that takes it; `None`
/// if the search was stopped.
fn worst_case(
    task: &Task<'_>,
    instance: &mut OpenInstance<'_>,
    c: usize,
) -> Result<Option<(i64, Script)>, SolveError> {
    let mut worst = (first_come(task, c)?, Script::default());
    loop {
        match instance.at_least(c, worst.0 + 1)? {
            Answer::Scheduled(_, ticks, script) => {
                task.follow(c, ticks, script.clone())?;
                worst = (ticks, script);
            }
            Answer::No => return Ok(Some(worst)),
            Answer::Yes(..) | Answer::Nothing => return Ok(None),
        }
    }
}

/// The result with the worst case of its configuration as the answer.
fn worst_of(
    task: &Task<'_>,
    inquiry: &Inquiry<'_>,
    c: usize,
    mut result: TuneResult,
) -> Result<TuneResult, SolveError> {
    let open = Open::new(task.problem, task.space, vec![c])?;
    let own = task.bracket.reopened();
    let worst = apart(&own, || worst_case(task, &mut OpenInstance::new(&open, &own)?, c))??;
    result.solver_calls += own.calls();
    result.seconds = inquiry.bracket.seconds();
    match worst {
        Some((ticks, script)) => {
            result.lower = ticks;
            result.upper = Some(ticks);
            result.best = result.best.map(|f| Found { time: ticks, ..f });
            result.optima = result.best.iter().cloned().collect();
            if let Some(schedule) = &mut result.schedule {
                schedule.worst_case = Some(ticks);
                schedule.script = script;
            }
        }
        None => {
            result.status = Status::Bounded;
            result.stopped_by = own.stopped_by();
        }
    }
    Ok(result)
}

/// The configuration whose worst case is least.
fn robust(task: &Task<'_>, inquiry: &Inquiry<'_>) -> Result<TuneResult, SolveError> {
    let Inquiry { problem, space, .. } = *inquiry;
    // First come, first served is one of the schedules, so no worst case is below it.
    let mut order: Vec<(i64, usize)> = (0..space.bound.len())
        .map(|c| Ok((first_come(task, c)?, c)))
        .collect::<Result<_, SolveError>>()?;
    order.sort_unstable();
    let open = Open::new(problem, space, (0..space.bound.len()).collect())?;
    let own = task.bracket.reopened();
    own.raise(order[0].0);
    let ended = apart(&own, || {
        let mut instance = OpenInstance::new(&open, &own)?;
        let mut best: Option<(i64, usize, Script)> = None;
        for (first, c) in &order {
            if let Some((limit, ..)) = &best {
                if first >= limit {
                    break;
                }
                match instance.at_least(*c, *limit)? {
                    Answer::Scheduled(_, ticks, script) => {
                        task.follow(*c, ticks, script)?;
                        continue;
                    }
                    Answer::No => {}
                    Answer::Yes(..) | Answer::Nothing => return Ok((best, false)),
                }
            }
            match worst_case(task, &mut instance, *c)? {
                Some((ticks, script)) => best = Some((ticks, *c, script)),
                None => return Ok((best, false)),
            }
        }
        Ok::<_, SolveError>((best, true))
    })??;
    let (best, finished) = ended;
    let size = Size {
        configurations: space.bound.len(),
        candidates: space.bound.len(),
        states: open.schedule.system.states.len(),
        ..Size::default()
    };
    let mut result = inquiry.result(Ending {
        encoding: Some(schedule::ENCODING),
        finished,
        replayed: best.is_some(),
        size,
        ..Ending::default()
    });
    result.solver_calls += own.calls();
    result.best = best.as_ref().map(|(time, c, _)| Found {
        configuration: space.bound[*c].configuration.clone(),
        time: *time,
    });
    result.upper = best.as_ref().map(|b| b.0);
    result.lower = if finished { result.upper.unwrap_or(0) } else { order[0].0 };
    result.optima = result.best.iter().filter(|_| finished).cloned().collect();
    result.stopped_by = if finished { None } else { own.stopped_by() };
    if let Some((time, c, script)) = best {
        let first_come = first_come(task, c)?;
        result.schedule =
            Some(OpenSchedule { best_case: None, worst_case: Some(time), first_come, script });
    }
    Ok(result)
}

/// Every schedule of every configuration that may matter, by the simulator's explorer.
fn explored(task: &Task<'_>, inquiry: &Inquiry<'_>) -> Result<TuneResult, SolveError> {
    let space = inquiry.space;
    let objective = inquiry.options.objective;
    let limits = Limits { max_states: MAX_STATES, ..Limits::default() };
    let value = |e: &Explored| if objective == Objective::Robust { e.worst } else { e.best };
    let mut order: Vec<usize> = (0..space.bound.len()).collect();
    order.sort_by_key(|c| (task.lower[*c], *c));
    let mut all: Vec<(usize, Explored)> = Vec::new();
    let mut least = i64::MAX;
    for c in order {
        if task.bracket.out_of_time() {
            return Ok(inquiry.result(Ending::default()));
        }
        if task.lower[c] > least {
            break;
        }
        let found = explore(inquiry.problem, &space.bound[c], &limits)?;
        least = least.min(value(&found));
        if objective != Objective::Robust {
            task.bracket.offer(c, found.best);
        }
        all.push((c, found));
    }
    all.retain(|(_, e)| value(e) == least);
    all.sort_unstable_by_key(|(c, _)| *c);
    let Some((c, best)) = all.first().cloned() else {
        return Ok(inquiry.result(Ending::default()));
    };
    let time = if objective == Objective::Best { best.best } else { best.worst };
    if objective == Objective::Worst {
        all.truncate(1);
    }
    let choices = if objective == Objective::Best { best.best_choices } else { best.worst_choices };
    let script = Script::Choices(choices);
    let replay = script.run(inquiry.problem, &space.bound[c], &Options::default())?;
    let found = |c: usize| Found { configuration: space.bound[c].configuration.clone(), time };
    let size = Size {
        configurations: space.bound.len(),
        candidates: space.bound.len(),
        ..Size::default()
    };
    let ending = Ending {
        finished: true,
        optima: all.iter().map(|(c, _)| found(*c)).collect(),
        replayed: replay.is_some_and(|run| run.time == time),
        size,
        ..Ending::default()
    };
    let mut result = inquiry.result(ending);
    (result.lower, result.upper) = (time, Some(time));
    result.schedule = Some(OpenSchedule {
        best_case: Some(best.best),
        worst_case: Some(best.worst),
        first_come: first_come(task, c)?,
        script,
    });
    Ok(result)
}
