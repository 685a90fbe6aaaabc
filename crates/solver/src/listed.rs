//! Searching where each configuration has one run time.
//!
//! The transition system is deterministic once the parameters are chosen, so the steps it needs are
//! known, and the formula is unrolled that far at once.

use std::sync::mpsc;

use tickbound_encodings::bounds::lower_bounds;
use tickbound_encodings::plan::Plan;
use tickbound_encodings::system::run::{SystemRunError, SystemRunner};
use tickbound_encodings::{CLOSED_STEPS, EncodeError, Encoded, Encoding};
use tickbound_model::verdict::{Status, TimedConfiguration};
use tickbound_model::{Problem, Space};
use z3::Context;

use crate::bracket::{Bounds, Bracket};
use crate::cross_check;
use crate::error::SolveError;
use crate::formula::SmtFormula;
use crate::instance::{SmtInstance, SolverReply, interruptible};
use crate::listed_search::ListedSearch;
use crate::options::SearchOptions;
use crate::prepare::{MAX_STEPS, PROBES, no_system, steps_needed};
use crate::proof::Proof;
use crate::result::{FormulaSize, MAX_OPTIMA, TuneResult};
use crate::strategy::{self, Strategy};
use crate::task::Task;

/// Searches with a plan made elsewhere, which tests pass wrong ones as.
pub fn tune_plan(
    problem: &Problem,
    space: &Space,
    plan: Plan,
    options: &SearchOptions,
    bracket: &Bracket<'_>,
) -> Result<TuneResult, SolveError> {
    let result = tune(&ListedSearch { problem, space, options, bracket }, Some(plan))?;
    bracket.fault()?;
    Ok(result)
}

/// Searches with a plan, or without one by simulating configurations.
pub(super) fn tune(
    inquiry: &ListedSearch<'_>,
    plan: Option<Plan>,
) -> Result<TuneResult, SolveError> {
    let ListedSearch { space, options, bracket, .. } = *inquiry;
    let encoding = options.encoding.unwrap_or_default();
    // 1. A lower bound for every configuration.
    let bounds = options.bounds && !options.strategy.entry().from_nothing;
    let lower = plan.as_ref().filter(|_| bounds).map(lower_bounds);
    let bounded = lower.is_some();
    let lower = lower.unwrap_or_else(|| vec![0; space.bound.len()]);
    // 2. The first incumbents, by simulation.
    let task = Task::new(inquiry.problem, space, bracket, &lower);
    task.probe(if bounds { PROBES } else { 1 })?;
    let plan = plan.filter(|_| options.strategy.needs_encoding());
    let mut size = FormulaSize { configurations: space.bound.len(), ..FormulaSize::default() };
    // With an encoding, a bracket that only the bounds have closed is not proved yet.
    let encoded = plan.as_ref().map(|_| encoding);
    let mut ending = TuneResult { encoding: encoded, ..TuneResult::default() };
    if !bracket.out_of_time() {
        match plan {
            // 3. The formula, and a strategy that closes the bracket; 4. its confirmation.
            Some(plan) => {
                (ending.confirmed_uncut, ending.checked) =
                    on_formula(&task, inquiry, (&plan, encoding), &mut size)?;
            }
            None => {
                size.candidates = lower.len();
                strategy::search(&task, Strategy::Enumerate)?;
            }
        }
    }
    // 5. All optima, by simulation.
    let best = bracket.bounds();
    let finished = bracket.closed()
        && (encoded.is_none() || bracket.refuted() >= best.upper().saturating_sub(1));
    if finished {
        ending.status = Status::Optimal;
        ending.proofs.push(proof(encoded.is_some(), size, bounded));
        (ending.optima, ending.more_optima) = ranked(&task, options.top, best)?;
    }
    // Without bounds the simulator has run everything, and there is nothing to hold against it.
    if finished && encoded.is_none() && bounded {
        ending.checked = Some(cross_check::simulator(&task, options.seed, &mut |_| Ok(None))?);
    }
    ending.replayed = best.best.is_some_and(|(c, t)| task.replay(c, None).is_ok_and(|r| r == t));
    Ok(inquiry.result(TuneResult { size, ..ending }))
}

/// Who has proved that nothing is faster.
fn proof(encoded: bool, size: FormulaSize, bounded: bool) -> Proof {
    match encoded {
        true => Proof::Z3 { listed: true, size: size.variables as u64 },
        false if bounded => Proof::Bounds,
        false => Proof::Simulation { configurations: size.configurations as u64 },
    }
}

/// Closes the bracket on an encoding and confirms it; true if over all configurations, and how many
/// the simulator was run on besides. The solver runs on a thread whose context nothing else uses:
/// the search has its own threads, whose contexts a stop leaves interrupted.
fn on_formula(
    task: &Task<'_>,
    inquiry: &ListedSearch<'_>,
    (plan, encoding): (&Plan, Encoding),
    size: &mut FormulaSize,
) -> Result<(bool, Option<u64>), SolveError> {
    // Without a gap the confirmation is all that is left, and a closed program always gets one.
    let confirms = task.bracket.closed() || encoding.closes();
    std::thread::scope(|scope| {
        let (hand_over, taken) = mpsc::channel();
        let solver = scope.spawn(move || {
            if confirms {
                // Z3 fills 17 MB of tables for a thread's context, which takes longer than anything
                // else in a small problem; meanwhile the other thread makes the encoding.
                Context::thread_local();
            }
            let encoded: Result<Encoded, EncodeError> =
                taken.recv().map_err(|_| SolveError::Panicked)?;
            let ListedSearch { problem, space, .. } = *inquiry;
            let encoded = encoded.map_err(|e| no_system(problem, space, encoding, e))?;
            let confirmed = close(task, inquiry, encoding, &encoded, size)?;
            Ok((confirmed, checked(task, &encoded, inquiry.options.seed)?))
        });
        // It is not received only if the thread has panicked, which `join` reports.
        let _ = hand_over.send(encoding.encode(plan));
        solver.join().unwrap_or(Err(SolveError::Panicked))
    })
}

/// Holds the encoding against the simulator, once the search has closed the bracket.
fn checked(task: &Task<'_>, encoded: &Encoded, seed: u64) -> Result<Option<u64>, SolveError> {
    if !task.bracket.closed() {
        return Ok(None);
    }
    let mut runner = SystemRunner::new(&encoded.system);
    let mut computed = |c: usize| match runner.run(c, MAX_STEPS) {
        Ok(run) => Ok(Some(run.cost)),
        // What is too long for the encoding was pruned, or the search would not have got here.
        Err(SystemRunError::Steps(_) | SystemRunError::Overflow) => Ok(None),
        Err(SystemRunError::Fault(fault)) => Err(fault.into()),
    };
    cross_check::simulator(task, seed, &mut computed).map(Some)
}

/// Closes the bracket and confirms it; true if over all configurations.
fn close(
    task: &Task<'_>,
    inquiry: &ListedSearch<'_>,
    encoding: Encoding,
    encoded: &Encoded,
    size: &mut FormulaSize,
) -> Result<bool, SolveError> {
    let ListedSearch { problem, space, options, bracket } = *inquiry;
    let lower = task.lower;
    let first = bracket.bounds().upper();
    let pruned = |c: usize| lower[c] > first;
    let kept: Vec<usize> = (0..lower.len()).filter(|c| !pruned(*c)).collect();
    size.note(encoded);
    size.candidates = kept.len();
    let system = &encoded.system;
    size.steps = steps_needed(problem, space, system, encoding, &kept)?;
    let of_kept = SmtFormula { system, steps: size.steps, pruned: &pruned };
    strategy::search(&task.on(of_kept), options.strategy)?;
    if !bracket.closed() {
        return Ok(false);
    }
    // A closed program ends after the same few steps in every configuration, so none need be
    // pruned; elsewhere the search's own refusal is as good.
    let uncut = encoded.is_closed();
    if !uncut && bracket.refuted() >= bracket.bounds().upper() - 1 {
        return Ok(false);
    }
    let of_all = SmtFormula { steps: size.steps.max(CLOSED_STEPS), pruned: &|_| false, ..of_kept };
    let confirmed = confirm(task, if uncut { of_all } else { of_kept }, size)?;
    Ok(confirmed && uncut)
}

/// Asks a new plain solver for one tick less than the best time, on this thread's context.
fn confirm(
    task: &Task<'_>,
    formula: SmtFormula<'_>,
    size: &mut FormulaSize,
) -> Result<bool, SolveError> {
    let claimed = task.bracket.bounds().upper();
    // Its own bracket: the shared one is closed, which would stop the solver at once.
    let own = task.bracket.reopened();
    let instance = SmtInstance::for_one_question(formula, &own)?;
    (size.steps, size.variables) = (formula.steps, instance.size());
    let answer = interruptible(&own, || instance.at_most_for_good(claimed - 1));
    task.bracket.count_call();
    match answer {
        SolverReply::No => {
            task.bracket.refute(claimed - 1);
            Ok(true)
        }
        SolverReply::Yes(_, found) => Err(SolveError::refuted(claimed, found)),
        SolverReply::Nothing => {
            if !task.bracket.out_of_time() {
                task.bracket.give_up("no answer to the confirming question".into());
            }
            Ok(false)
        }
    }
}

/// All optimal configurations, and the next best up to `top` in all, by simulating in order of
/// their lower bounds all that may be among them.
fn ranked(
    task: &Task<'_>,
    top: usize,
    bounds: Bounds,
) -> Result<(Vec<TimedConfiguration>, bool), SolveError> {
    let mut best: Vec<(i64, usize)> = bounds.best.iter().map(|(c, t)| (*t, *c)).collect();
    let least = bounds.upper();
    for c in task.most_promising() {
        let worst_kept =
            if best.len() < top { i64::MAX } else { best.last().map_or(least, |b| b.0) };
        if task.lower[c] > worst_kept.max(least) {
            break;
        }
        if task.bracket.out_of_time() {
            return Ok((named(task, &best), true));
        }
        if bounds.best.is_some_and(|(known, _)| known == c) {
            continue;
        }
        let time = match task.time(c) {
            Ok(time) => time,
            Err(SolveError::Simulate(e)) if e.is_too_large() => continue,
            Err(e) => return Err(e),
        };
        best.push((time, c));
        best.sort_unstable();
        let optimal = best.iter().filter(|(t, _)| *t == least).count();
        best.truncate(top.max(optimal).max(1));
        if optimal > MAX_OPTIMA && top <= optimal {
            best.truncate(top.max(MAX_OPTIMA));
            return Ok((named(task, &best), true));
        }
    }
    Ok((named(task, &best), false))
}

fn named(task: &Task<'_>, best: &[(i64, usize)]) -> Vec<TimedConfiguration> {
    best.iter()
        .map(|(time, c)| TimedConfiguration {
            configuration: task.space.bound[*c].configuration.clone(),
            time: *time,
        })
        .collect()
}
