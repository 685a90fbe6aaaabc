//! Searching over open schedules.
//!
//! Where warps share dispatchers, a run time belongs to a configuration *and* a schedule, and the
//! formula chooses both ([`crate::open_instance`]). Every schedule that a solver proposes is
//! followed by the simulator decision by decision.

use tickbound_encodings::plan::PlanError;
use tickbound_encodings::schedule::{self, WarpLanes};
use tickbound_model::verdict::{Status, TimedConfiguration};
use tickbound_model::{Configuration, Problem, Space};
use tickbound_simulator::{Script, simulate};

use crate::bracket::Bracket;
use crate::error::SolveError;
use crate::explored;
use crate::formula::{Open, SmtFormula};
use crate::inquiry::{Ending, Inquiry};
use crate::instance::{Questions, SolverReply, interruptible};
use crate::open_instance::OpenInstance;
use crate::options::{Objective, SearchOptions};
use crate::result::{FormulaSize, MAX_OPTIMA, OpenSchedule, TuneResult};
use crate::strategy;
use crate::task::Task;

/// Configurations simulated, first come first served, before the search.
const PROBES: usize = 16;

/// Lower bounds of all configurations of a space.
pub fn lower_bounds(problem: &Problem, space: &Space) -> Result<Vec<i64>, PlanError> {
    let all: Vec<usize> = (0..space.bound.len()).collect();
    schedule::lanes(problem, space, &all).map(|lanes: WarpLanes| lanes.lower_bounds())
}

/// Searches over configurations and schedules, for as many of the best as were asked for: after the
/// best of all come those of the rest. A worst case is that of one configuration.
pub(super) fn tune(inquiry: &Inquiry<'_>) -> Result<TuneResult, SolveError> {
    let mut result = best(inquiry)?;
    let SearchOptions { objective, top, .. } = *inquiry.options;
    while objective != Objective::Worst
        && result.status == Status::Optimal
        && result.optima.len() < top
    {
        let mut rest = inquiry.space.clone();
        let listed = |of: &Configuration| result.optima.iter().any(|f| f.configuration == *of);
        rest.bound.retain(|bound| !listed(&bound.configuration));
        let bracket = inquiry.bracket.reopened();
        if rest.bound.is_empty() || bracket.out_of_time() {
            break;
        }
        let next = best(&Inquiry { space: &rest, bracket: &bracket, ..*inquiry })?;
        if next.status != Status::Optimal || next.optima.is_empty() {
            break;
        }
        result.solver_calls += next.solver_calls;
        result.optima.extend(next.optima);
    }
    result.seconds = inquiry.bracket.seconds();
    Ok(result)
}

/// Searches for the best configuration and schedule.
fn best(inquiry: &Inquiry<'_>) -> Result<TuneResult, SolveError> {
    let SearchOptions { strategy, encoding, .. } = inquiry.options;
    // Counting warps is by far faster than the formula (docs/results/schedules.md), so the formula
    // is used where it is asked for.
    if !strategy.needs_encoding() || (strategy.leaves_choice() && encoding.is_none()) {
        return explored::tune(inquiry);
    }
    formula(inquiry)
}

/// Searches with a formula that chooses configuration and schedule.
fn formula(inquiry: &Inquiry<'_>) -> Result<TuneResult, SolveError> {
    let Inquiry { problem, space, options, .. } = *inquiry;
    let bounds = options.bounds && !options.strategy.entry().from_nothing;
    let lower = if bounds { lower_bounds(problem, space)? } else { vec![0; space.bound.len()] };
    let mut task = Task::new(problem, space, inquiry.bracket, &lower);
    task.probe(if bounds { PROBES } else { 1 })?;
    if options.objective == Objective::Robust {
        return robust(&task, inquiry);
    }
    let first = task.bracket.bounds().upper();
    let members: Vec<usize> = (0..lower.len()).filter(|c| lower[*c] <= first).collect();
    let mut size = FormulaSize {
        configurations: space.bound.len(),
        candidates: members.len(),
        ..FormulaSize::default()
    };
    let open = Open::new(problem, space, members)?;
    let system = &open.schedule.system;
    task.formula = Some(SmtFormula { system, steps: 0, pruned: &|_| false, open: Some(&open) });
    strategy::search(&task, options.strategy)?;
    let (mut optima, mut more_optima) = (Vec::new(), false);
    if task.bracket.closed() {
        (optima, more_optima) = all_optima(&task, &open, &mut size)?;
    }
    let least = task.bracket.bounds();
    let finished = task.bracket.closed() && task.bracket.refuted() >= least.upper() - 1;
    let found = |c: &usize| TimedConfiguration {
        configuration: space.bound[*c].configuration.clone(),
        time: least.upper(),
    };
    let ending = Ending {
        encoding: Some(schedule::ENCODING),
        finished,
        optima: if finished { optima.iter().map(found).collect() } else { Vec::new() },
        more_optima: finished && more_optima,
        replayed: least.best.is_some(),
        size: FormulaSize { states: system.states.len(), ..size },
        ..Ending::default()
    };
    let best = optima.first().copied().or(least.best.map(|(c, _)| c));
    let mut result = inquiry.result(ending);
    let Some(c) = best else { return Ok(result) };
    result.schedule = Some(OpenSchedule {
        best_case: finished.then_some(least.upper()),
        first_come: Some(first_come(&task, c)?),
        script: task.script(c, least.upper()).unwrap_or_default(),
        ..OpenSchedule::default()
    });
    match options.objective {
        Objective::Worst if finished => worst_of(&task, inquiry, c, result),
        _ => Ok(result),
    }
}

/// Runs `work` with a solver context of its own that stops when the bracket is done.
fn apart<T: Send>(bracket: &Bracket<'_>, work: impl FnOnce() -> T + Send) -> Result<T, SolveError> {
    std::thread::scope(|scope| {
        scope.spawn(|| interruptible(bracket, work)).join().map_err(|_| SolveError::Panicked)
    })
}

fn first_come(task: &Task<'_>, c: usize) -> Result<i64, SolveError> {
    Ok(simulate(
        task.problem,
        &task.space.bound[c],
        &tickbound_simulator::SimulateOptions::default(),
    )?
    .time)
}

/// All configurations with a schedule as short as the shortest, in the order of the space; the
/// second value says that there may be more: they are too many, or the search was stopped. The
/// first question is the proof that nothing is shorter.
fn all_optima(
    task: &Task<'_>,
    open: &Open,
    size: &mut FormulaSize,
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
            SolverReply::No => refuted = true,
            SolverReply::Yes(_, found) | SolverReply::Scheduled(_, found, _) => {
                return Err(SolveError::Refuted { claimed: least, found });
            }
            SolverReply::Nothing => {}
        }
        while refuted && optima.len() <= MAX_OPTIMA {
            match instance.at_most(least)? {
                SolverReply::Scheduled(c, ticks, script) => {
                    task.follow(c, ticks, script)?;
                    instance.exclude(c);
                    optima.push(c);
                }
                SolverReply::No => {
                    complete = true;
                    break;
                }
                SolverReply::Yes(..) | SolverReply::Nothing => break,
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
            SolverReply::Scheduled(_, ticks, script) => {
                task.follow(c, ticks, script.clone())?;
                worst = (ticks, script);
            }
            SolverReply::No => return Ok(Some(worst)),
            SolverReply::Yes(..) | SolverReply::Nothing => return Ok(None),
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
            result.best = result.best.map(|f| TimedConfiguration { time: ticks, ..f });
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

/// Ticks of a worst case, its configuration, and a schedule that takes them.
type WorstCase = (i64, usize, Script);

/// The least worst case, and whether all have been compared. `order` has the first-come times of
/// all configurations, the least first.
fn least_worst(
    task: &Task<'_>,
    instance: &mut OpenInstance<'_>,
    order: &[(i64, usize)],
) -> Result<(Option<WorstCase>, bool), SolveError> {
    let mut best: Option<WorstCase> = None;
    for (first, c) in order {
        if let Some((limit, ..)) = &best {
            if first >= limit {
                break;
            }
            match instance.at_least(*c, *limit)? {
                SolverReply::Scheduled(_, ticks, script) => {
                    task.follow(*c, ticks, script)?;
                    continue;
                }
                SolverReply::No => {}
                SolverReply::Yes(..) | SolverReply::Nothing => return Ok((best, false)),
            }
        }
        match worst_case(task, instance, *c)? {
            Some((ticks, script)) => best = Some((ticks, *c, script)),
            None => return Ok((best, false)),
        }
    }
    Ok((best, true))
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
    let (best, finished) =
        apart(&own, || least_worst(task, &mut OpenInstance::new(&open, &own)?, &order))??;
    let size = FormulaSize {
        configurations: space.bound.len(),
        candidates: space.bound.len(),
        states: open.schedule.system.states.len(),
        ..FormulaSize::default()
    };
    let mut result = inquiry.result(Ending {
        encoding: Some(schedule::ENCODING),
        finished,
        replayed: best.is_some(),
        size,
        ..Ending::default()
    });
    result.solver_calls += own.calls();
    result.best = best.as_ref().map(|(time, c, _)| TimedConfiguration {
        configuration: space.bound[*c].configuration.clone(),
        time: *time,
    });
    result.upper = best.as_ref().map(|b| b.0);
    result.lower = if finished { result.upper.unwrap_or(0) } else { order[0].0 };
    result.optima = result.best.iter().filter(|_| finished).cloned().collect();
    result.stopped_by = if finished { None } else { own.stopped_by() };
    if let Some((time, c, script)) = best {
        result.schedule = Some(OpenSchedule {
            worst_case: Some(time),
            first_come: Some(first_come(task, c)?),
            script,
            ..OpenSchedule::default()
        });
    }
    Ok(result)
}
