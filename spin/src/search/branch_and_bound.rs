//! One run with the best time in a C variable (T. Ruys, Optimal Scheduling Using Branch and Bound
//! with SPIN 4.0, 2003).
//!
//! The clock of the model does not pass to a time that is no better than the best so far, so the
//! bound tightens while the search is running. Each improvement is an error with a trail of its
//! own. If the run is complete, the last improvement is the least time. The best time is no part of
//! the state: a state that was visited before was visited under a looser bound, so nothing is lost
//! when it is not visited again.

use super::super::SpinError;
use super::super::output::Verdict;
use super::super::result::{Proof, StopReason};
use super::super::session::{Ending, Session};
use super::super::verifier::{Goal, Order, Storage};
use super::{cut, first_time};

/// The largest bound that fits the C variable.
const MOST: i64 = i32::MAX as i64;

pub(super) fn run(session: &Session<'_>) -> Result<Ending, SpinError> {
    let first = match first_time(session)? {
        Ok(time) => time,
        Err(ending) => return Ok(ending),
    };
    // One more, so that the run finds the first time itself, if there is nothing better.
    let below = first.saturating_add(1).min(MOST);
    let Some(build) = session.build(Goal::Best { below }, Storage::Full)? else {
        return Ok(cut(session.stopped()));
    };
    let memory = session.memory_for(Storage::Full);
    let mut depth = session.depth();
    loop {
        let next = session.deeper(depth, memory);
        let order = Order {
            what: "branch and bound",
            claim: None,
            bound: Some(below),
            depth,
            stop_when_cut: next.is_some(),
            errors: None,
            bits: None,
            watch: session.watch,
        };
        let outcome = session.run(&build, &order)?;
        // The best one is the last.
        for file in outcome.trails.iter().rev() {
            match session.replay(&build, &order, file, outcome.run) {
                Ok(Some(trail)) => session.offer(trail)?,
                Ok(None) => break,
                // The last trail of a run that was stopped may be half written.
                Err(SpinError::Trail { .. }) if matches!(outcome.verdict, Verdict::Stopped(_)) => {}
                Err(e) => return Err(e),
            }
        }
        let reason = match outcome.verdict {
            // Each improvement is an error.
            Verdict::Violated if outcome.complete => return proved(session),
            Verdict::DepthLimit => match next {
                Some(next) => {
                    depth = next;
                    session.set_depth(next);
                    continue;
                }
                None => StopReason::Depth(depth),
            },
            Verdict::OutOfMemory => StopReason::Memory(memory),
            Verdict::Stopped(stop) => session.reason(stop),
            // `Holds`: then not even the first time was found again, which is a fault of the model.
            other => {
                let why = format!("`{}` is no answer here", other.word());
                return Err(SpinError::Unreadable { what: order.what.into(), why });
            }
        };
        return Ok(Ending { stopped_by: Some(reason), ..Ending::default() });
    }
}

/// The run was complete: nothing is faster than its last improvement.
fn proved(session: &Session<'_>) -> Result<Ending, SpinError> {
    if let (_, Some(best)) = session.bounds() {
        session.refuted(best - 1)?;
    }
    Ok(Ending { proof: Some(Proof::BranchAndBound), stopped_by: None })
}
