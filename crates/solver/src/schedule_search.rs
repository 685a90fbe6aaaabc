//! Open schedules by exploration: every schedule of every configuration that may matter.
//!
//! Where warps share dispatchers, a run time belongs to a configuration *and* a schedule.
//! Configurations come in the order of what no schedule of theirs undercuts, until that is above
//! the best that was found. What is too large to be explored, or comes after a stop, stays open:
//! its bounds, its schedules made by rule and those of a beam search bound the answer, and close it
//! where they meet.

use rayon::prelude::*;
use tickbound_model::Configuration;
use tickbound_model::verdict::{Status, TimedConfiguration};
use tickbound_schedules::{
    ScheduleEnds, ScheduleError, ScheduleLimits, Tried, WarpLaunch, try_rules,
};
use tickbound_simulator::{Script, SimulatedRun, WarpTicks};

use crate::error::SolveError;
use crate::listed_search::ListedSearch;
use crate::options::{Objective, SearchOptions};
use crate::result::{FormulaSize, OpenSchedule, TuneResult};

/// Most states of a configuration, the first time it is explored, the second, and the last: so that
/// one that is too large does not keep the others waiting.
const STATES: [usize; 3] = [20_000, 200_000, 4_000_000];

/// How many configurations are explored at once each time. It is the same on any machine, so that
/// the same ones are explored; of the largest there is one, as it may take a gigabyte.
const AT_ONCE: [usize; 3] = [32, 8, 1];

/// How wide the beam is each time, after the exploration had too many states.
const WIDTHS: [usize; 3] = [16, 64, 256];

/// A launch of more segments than this takes seconds by each rule.
const LONG: u64 = 100_000;

/// Most visits of a state, on average.
const VISITS: u64 = 500;

/// What is known of the schedules of one configuration, in ticks.
struct Case {
    /// Its place in the space.
    configuration: usize,
    /// No schedule takes fewer.
    least: i64,
    /// What some schedules take; `None` if none was examined.
    some: Option<Tried>,
    /// No schedule takes more.
    most: i64,
    /// Its bounds are those of the cycles of its states, too.
    by_cycles: bool,
    /// Both ends, if every schedule was explored.
    both: Option<ScheduleEnds>,
    /// Why not, if it was tried.
    why: Option<String>,
}

impl Case {
    /// What the best case is at least and at most.
    fn best(&self) -> (i64, i64) {
        match &self.both {
            Some(both) => (both.best, both.best),
            None => (self.least, self.some.as_ref().map_or(self.most, |some| some.least.0)),
        }
    }

    /// What the worst case is at least and at most.
    fn worst(&self) -> (i64, i64) {
        match &self.both {
            Some(both) => (both.worst, both.worst),
            None => (self.some.as_ref().map_or(self.least, |some| some.greatest.0), self.most),
        }
    }

    /// The best time that some schedule is known to take.
    fn found(&self) -> Option<i64> {
        let some = || self.some.as_ref().map(|some| some.least.0);
        self.both.as_ref().map(|both| both.best).or_else(some)
    }

    /// Ticks of the first-come schedule, if it is one of those that were examined and kept.
    fn first_come(&self) -> Option<i64> {
        let some = self.some.as_ref()?;
        [&some.least, &some.greatest]
            .into_iter()
            .find(|(_, script)| *script == Script::FirstCome)
            .map(|(ticks, _)| *ticks)
    }

    /// Whether nothing is open of what was requested.
    fn is_closed(&self, objective: Objective) -> bool {
        let met = |(least, most)| least == most;
        match objective {
            Objective::Best => met(self.best()),
            Objective::Robust => met(self.worst()),
            // Both are reported.
            Objective::Worst => met(self.best()) && met(self.worst()),
        }
    }

    /// Notes bounds that hold as well.
    fn narrow(&mut self, (least, most): (i64, i64)) {
        (self.least, self.most) = (self.least.max(least), self.most.min(most));
        self.by_cycles = true;
    }

    /// Notes what other schedules take.
    fn join(&mut self, tried: Option<Tried>) {
        self.some = match (self.some.take(), tried) {
            (Some(some), Some(tried)) => Some(some.join(tried)),
            (some, tried) => some.or(tried),
        };
    }

    /// What is to be least.
    fn value(&self, objective: Objective) -> (i64, i64) {
        match objective {
            Objective::Best | Objective::Worst => self.best(),
            Objective::Robust => self.worst(),
        }
    }
}

/// Searches over configurations and schedules, for as many of the best as `top` states: after the
/// best of all come those of the rest. A worst case is that of one configuration.
pub(super) fn tune(inquiry: &ListedSearch<'_>) -> Result<TuneResult, SolveError> {
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
        let next = best(&ListedSearch { space: &rest, bracket: &bracket, ..*inquiry })?;
        if next.status != Status::Optimal || next.optima.is_empty() {
            break;
        }
        result.optima.extend(next.optima);
    }
    result.seconds = inquiry.bracket.seconds();
    Ok(result)
}

fn best(inquiry: &ListedSearch<'_>) -> Result<TuneResult, SolveError> {
    let objective = inquiry.options.objective;
    let mut cases = bounded(inquiry)?;
    for case in cases.iter_mut().filter(|case| case.why.is_some()) {
        case.some = tried(inquiry, case.configuration)?;
    }
    let mut upper = i64::MAX;
    // A single one delays no others.
    let passes =
        if cases.len() == 1 { vec![0, STATES.len() - 1] } else { (0..STATES.len()).collect() };
    for pass in passes {
        // The pass before has raised some bounds.
        cases.sort_by_key(|case| (case.least, case.configuration));
        inquiry.bracket.raise(cases.first().map_or(0, |case| case.least));
        for cases in cases.chunks_mut(AT_ONCE[pass]) {
            if cases.first().is_none_or(|case| case.least > upper) {
                break;
            }
            look_at(inquiry, cases, pass, &mut upper)?;
        }
    }
    let lower = cases.iter().map(|case| case.value(objective).0).min().unwrap_or(0);
    cases.retain(|case| case.value(objective).0 <= upper);
    cases.sort_by_key(|case| case.configuration);
    if let Some(best) = cases.iter_mut().find(|case| case.value(objective).1 == upper) {
        record(inquiry, best, STATES.len() - 1)?;
    }
    answer(inquiry, &cases, (lower, upper))
}

/// Explores some configurations at once, and takes notice of what is found in their order.
fn look_at(
    inquiry: &ListedSearch<'_>,
    cases: &mut [Case],
    pass: usize,
    upper: &mut i64,
) -> Result<(), SolveError> {
    let objective = inquiry.options.objective;
    let open = |case: &Case| {
        // Both ends of what is small are reported, also where one of them follows from bounds.
        let closed = pass > 0 && (case.is_closed(objective) || case.value(objective).0 > *upper);
        case.least <= *upper && !closed && case.both.is_none() && case.why.is_none()
    };
    let mut open: Vec<&mut Case> = cases.iter_mut().filter(|case| open(case)).collect();
    let explored: Vec<Result<(), SolveError>> =
        open.par_iter_mut().map(|case| explore(inquiry, case, pass)).collect();
    explored.into_iter().collect::<Result<(), SolveError>>()?;
    for case in open {
        if case.value(objective).1 < *upper {
            record(inquiry, case, pass)?;
        }
        *upper = case.value(objective).1.min(*upper);
        if let (Objective::Best | Objective::Worst, Some(time)) = (objective, case.found()) {
            let configuration = &inquiry.space.bound[case.configuration].configuration;
            inquiry.bracket.offer(case.configuration, configuration, time);
        }
    }
    Ok(())
}

fn bounded(inquiry: &ListedSearch<'_>) -> Result<Vec<Case>, SolveError> {
    let case = |configuration: usize| {
        let launch = WarpLaunch::new(inquiry.problem, &inquiry.space.bound[configuration]);
        let (least, most, why) = match launch {
            Ok(launch) => (launch.least(), launch.most(), None),
            Err(error @ ScheduleError::TooLarge(_)) => (0, i64::MAX, Some(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        Ok(Case { configuration, least, some: None, most, by_cycles: false, both: None, why })
    };
    let cases: Vec<Result<Case, SolveError>> =
        (0..inquiry.space.bound.len()).into_par_iter().map(case).collect();
    cases.into_iter().collect()
}

/// How far a configuration is explored in a pass. A schedule of each end takes as long again as the
/// ends themselves, so they are recorded for few.
fn limits(pass: usize, recorded: bool) -> ScheduleLimits {
    let states = STATES[pass];
    let limits = ScheduleLimits {
        max_states: states,
        max_visits: states as u64 * VISITS,
        ..ScheduleLimits::default()
    };
    if recorded { limits } else { ScheduleLimits { max_recorded: 0, ..limits } }
}

/// Schedules of both ends of a configuration that was explored, unless there is no time for them.
fn record(inquiry: &ListedSearch<'_>, case: &mut Case, pass: usize) -> Result<(), SolveError> {
    let stop = || inquiry.bracket.out_of_time();
    let Some(both) = case.both.as_mut().filter(|both| both.scripts.is_none() && !stop()) else {
        return Ok(());
    };
    let launch = WarpLaunch::new(inquiry.problem, &inquiry.space.bound[case.configuration])?;
    let limits = limits(pass, true);
    if !launch.is_recorded(both.visits, &limits) {
        return Ok(());
    }
    match launch.explore(&limits, &stop) {
        Ok(recorded) if (recorded.best, recorded.worst) == (both.best, both.worst) => {
            *both = recorded;
            Ok(())
        }
        Ok(recorded) => Err(ScheduleError::Fault(format!(
            "a launch has the ends {} and {}, and {} and {} when it is explored again",
            both.best, both.worst, recorded.best, recorded.worst
        ))
        .into()),
        Err(ScheduleError::Stopped | ScheduleError::Limit(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Explores all schedules of a configuration, or searches some if they are too many.
fn explore(inquiry: &ListedSearch<'_>, case: &mut Case, pass: usize) -> Result<(), SolveError> {
    let stop = || inquiry.bracket.out_of_time();
    if stop() {
        return Ok(());
    }
    let launch = WarpLaunch::new(inquiry.problem, &inquiry.space.bound[case.configuration])?;
    // A single one is the best.
    match launch.explore(&limits(pass, inquiry.space.bound.len() == 1), &stop) {
        Ok(both) => case.both = Some(both),
        Err(ScheduleError::Stopped) => {}
        // There is another time.
        Err(ScheduleError::Limit(_)) if pass + 1 < STATES.len() => {}
        Err(error @ (ScheduleError::Limit(_) | ScheduleError::TooLarge(_))) => {
            case.why = Some(error.to_string());
        }
        Err(error) => return Err(error.into()),
    }
    if case.both.is_none() {
        if !case.by_cycles
            && let Some(bounds) = launch.ratios(STATES[pass], &stop)?
        {
            case.narrow(bounds);
        }
        search(inquiry, case, &launch, pass)?;
    }
    Ok(())
}

/// Looks for good and bad schedules of a configuration: by rule at first - of a long launch only by
/// one, unless it will not be explored again - then by a beam.
fn search(
    inquiry: &ListedSearch<'_>,
    case: &mut Case,
    launch: &WarpLaunch,
    pass: usize,
) -> Result<(), SolveError> {
    let long = launch.segments() > LONG;
    if long && pass + 1 < STATES.len() {
        let found = first_come(inquiry, case.configuration)?;
        let some = found.map(|ticks| (ticks, Script::FirstCome));
        case.join(some.map(|some| Tried { least: some.clone(), greatest: some }));
    } else if long || case.some.is_none() {
        case.join(tried(inquiry, case.configuration)?);
    }
    match launch.beam(WIDTHS[pass], &|| inquiry.bracket.out_of_time()) {
        Ok(found) => case.join(found),
        Err(ScheduleError::TooLarge(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// What schedules made by rule take; `None` if the launch is too large to be simulated.
fn tried(inquiry: &ListedSearch<'_>, configuration: usize) -> Result<Option<Tried>, SolveError> {
    let bound = &inquiry.space.bound[configuration];
    match try_rules(inquiry.problem, bound, &|| inquiry.bracket.out_of_time()) {
        Ok(tried) => Ok(tried),
        Err(error) if error.is_too_large() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Ticks of the first-come schedule; `None` if the launch is too large to be simulated in the time.
fn first_come(inquiry: &ListedSearch<'_>, configuration: usize) -> Result<Option<i64>, SolveError> {
    let bound = &inquiry.space.bound[configuration];
    let stop = || inquiry.bracket.out_of_time();
    match tickbound_schedules::first_come(inquiry.problem, bound, &stop) {
        Ok(ticks) => Ok(ticks),
        Err(error) if error.is_too_large() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The answer, from the cases that may be best, in the order of the space.
fn answer(
    inquiry: &ListedSearch<'_>,
    cases: &[Case],
    (lower, upper): (i64, i64),
) -> Result<TuneResult, SolveError> {
    let ListedSearch { space, bracket, .. } = inquiry;
    let objective = inquiry.options.objective;
    let finished = cases.iter().all(|case| case.is_closed(objective));
    let best = cases.iter().find(|case| case.value(objective).1 == upper);
    let Some(best) = best else { return Ok(inquiry.result(TuneResult::default())) };
    if let Some(why) = cases.iter().find_map(|case| case.why.clone()).filter(|_| !finished) {
        bracket.give_up(why);
    }
    // For the worst case the configuration is that with the best case: until this is known, the
    // search is for the best case.
    let worst = objective == Objective::Worst && finished;
    let asked =
        if objective == Objective::Worst && !finished { Objective::Best } else { objective };
    let (lower, upper) = if worst { best.worst() } else { (lower, upper) };
    let optima = if worst { std::slice::from_ref(best) } else { cases };
    let script = best.script(asked);
    let run = replayed(inquiry, best, &script, upper)?;
    let found = |case: &Case| TimedConfiguration {
        configuration: space.bound[case.configuration].configuration.clone(),
        time: upper,
    };
    let size = FormulaSize {
        configurations: space.bound.len(),
        candidates: cases.len(),
        ..FormulaSize::default()
    };
    let ending = TuneResult {
        status: if finished { Status::Optimal } else { Status::Bounded },
        optima: if finished { optima.iter().map(found).collect() } else { Vec::new() },
        replayed: run.is_some(),
        size,
        ..TuneResult::default()
    };
    let mut result = inquiry.result(ending);
    (result.lower, result.upper) = (lower, Some(upper));
    result.best = Some(found(best));
    let schedule = best.schedule(inquiry)?;
    let warps = run.map(|run| spent(inquiry, best, (asked, run))).transpose()?.flatten();
    result.schedule = Some(OpenSchedule { script, warps, ..schedule });
    Ok(result)
}

/// What the warps spend their time on under the best and the worst schedule; one of them was run,
/// that which was requested.
///
/// # Errors
/// The other end takes another time in the simulator.
fn spent(
    inquiry: &ListedSearch<'_>,
    case: &Case,
    (asked, run): (Objective, SimulatedRun),
) -> Result<Option<(WarpTicks, WarpTicks)>, SolveError> {
    let Some(both) = &case.both else { return Ok(None) };
    let Some((best, worst)) = &both.scripts else { return Ok(None) };
    let asked_best = asked == Objective::Best;
    let (other, ticks) = if asked_best { (worst, both.worst) } else { (best, both.best) };
    let Some(other) = replayed(inquiry, case, other, ticks)? else { return Ok(None) };
    let (best, worst) = if asked_best { (run, other) } else { (other, run) };
    Ok(best.warps.zip(worst.warps))
}

/// What lies between two bounds that meet.
fn known((least, most): (i64, i64)) -> Option<i64> {
    (least == most).then_some(least)
}

/// The simulator's run, if it has followed the schedule and takes as long.
///
/// # Errors
/// It takes another time, or its first-come schedule lies outside of the two ends.
fn replayed(
    inquiry: &ListedSearch<'_>,
    best: &Case,
    script: &Script,
    ticks: i64,
) -> Result<Option<SimulatedRun>, SolveError> {
    let bound = &inquiry.space.bound[best.configuration];
    if best.both.is_none() && inquiry.bracket.out_of_time() {
        return Ok(None);
    }
    let run = match script.run(inquiry.problem, bound, &Default::default()) {
        Err(error) if error.is_too_large() => return Ok(None),
        run => run?,
    };
    let takes = run.as_ref().map(|run| run.time);
    let agrees = match &best.both {
        // Of one that is open `ticks` may be a bound that no schedule is known to take.
        None => takes == Some(ticks) || best.some.as_ref().is_none_or(|some| !some.takes(ticks)),
        Some(both) if both.scripts.is_some() => takes == Some(ticks),
        Some(both) => takes.is_some_and(|takes| both.best <= takes && takes <= both.worst),
    };
    if agrees {
        return Ok(run.filter(|run| run.time == ticks));
    }
    Err(SolveError::disagreement(inquiry.problem, &bound.configuration, ticks, takes))
}

impl Case {
    /// What is known of its schedules, without the one that is the answer.
    fn schedule(&self, inquiry: &ListedSearch<'_>) -> Result<OpenSchedule, SolveError> {
        Ok(OpenSchedule {
            best_case: known(self.best()),
            worst_case: known(self.worst()),
            bounds: Some([self.best(), self.worst()]),
            first_come: match self.first_come() {
                None => first_come(inquiry, self.configuration)?,
                known => known,
            },
            ends: self.both.as_ref().and_then(|both| both.scripts.clone()),
            ..OpenSchedule::default()
        })
    }

    /// A schedule that takes what was requested, if one is known.
    fn script(&self, objective: Objective) -> Script {
        let scripts = match (&self.both, &self.some) {
            (Some(both), _) => both.scripts.clone(),
            (None, Some(tried)) => Some((tried.least.1.clone(), tried.greatest.1.clone())),
            (None, None) => None,
        };
        let of = |(best, worst)| if objective == Objective::Best { best } else { worst };
        scripts.map_or(Script::FirstCome, of)
    }
}
