//! One run with the best time in a C variable (T. Ruys, Optimal Scheduling Using Branch and Bound
//! with SPIN 4.0, 2003).
//!
//! The clock of the model does not pass to a time that is no better than the best so far, so the
//! bound tightens while the search is running. Each improvement is an error with a trail of its
//! own. If the run is complete, the last improvement is the least time. The best time is no part of
//! the state: a state that was visited before was visited under a looser bound, so nothing is lost
//! when it is not visited again.

use super::first::{cut, first_time};
use crate::error::SpinError;
use crate::orders::{Build, Goal, Order, Storage, VerifierRun};
use crate::output::VerifierVerdict;
use crate::result::SpinProof;
use crate::state::{Ending, SearchState};

/// The largest bound that fits the C variable.
const MOST: i64 = i32::MAX as i64;

pub(super) fn run(state: &SearchState<'_>) -> Result<Ending, SpinError> {
    let first = match first_time(state)? {
        Ok(time) => time,
        Err(ending) => return Ok(ending),
    };
    // One more, so that the run finds the first time itself, if there is nothing better.
    let below = first.saturating_add(1).min(MOST);
    let Some(build) = state.build(Goal::Best { below }, Storage::Full)? else {
        return Ok(cut(state.stop_reason()));
    };
    let first = Order::first_error("branch and bound", state.depth(), state.watch);
    let mut order = Order { bound: Some(below), errors: None, ..first };
    loop {
        let run = state.run_deep_enough(&build, &mut order)?;
        let replayed = replayed(state, &build, &order, &run)?;
        match (run.verdict, state.deeper(&order)) {
            // Each improvement is an error.
            (VerifierVerdict::Violated, _) if run.complete && run.trails.is_empty() => {
                return Err(order.unreadable("it reports an error and has written no trail"));
            }
            // A stop came between the run and the replay of its best trail.
            (VerifierVerdict::Violated, _) if run.complete && replayed == 0 => {
                return Ok(cut(state.stop_reason()));
            }
            (VerifierVerdict::Violated, _) if run.complete => return proved(state),
            (VerifierVerdict::DepthLimit, Some(next)) => {
                order.depth = next;
                state.set_depth(next);
            }
            // `Holds`: then not even the first time was found again, which is a fault of the model.
            (verdict, _) => return Ok(cut(state.cut_by(&verdict, &order)?)),
        }
    }
}

/// Replays a run's trails, from the last and best one; how many before a stop.
fn replayed(
    state: &SearchState<'_>,
    build: &Build,
    order: &Order<'_>,
    run: &VerifierRun,
) -> Result<usize, SpinError> {
    // The last trail of a run that was stopped, or needs more depth, may be half written.
    let stopped = matches!(run.verdict, VerifierVerdict::Stopped(_) | VerifierVerdict::DepthLimit);
    let mut replayed = 0;
    for file in run.trails.iter().rev() {
        match state.replay(build, order, file, run.run) {
            Ok(Some(trail)) => {
                state.offer(trail)?;
                replayed += 1;
            }
            Ok(None) => break,
            Err(SpinError::Trail(_)) if stopped => {}
            Err(e) => return Err(e),
        }
    }
    Ok(replayed)
}

/// The run was complete: nothing is faster than its last improvement.
fn proved(state: &SearchState<'_>) -> Result<Ending, SpinError> {
    if let (_, Some(best)) = state.bounds() {
        state.refuted(best - 1)?;
    }
    Ok(Ending { proof: Some(SpinProof::BranchAndBound), stopped_by: None })
}
