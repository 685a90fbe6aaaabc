//! Our simulator guesses, SPIN decides.
//!
//! Every configuration is simulated, which is cheap; T is the least time. SPIN refutes `OverTime`
//! at T, with a trail, and proves it at T - 1. Where schedules are open the simulator tries only
//! one of them for each configuration, so T may be too large; then the second run has a trail as
//! well, and the search goes on from its time.

use tickbound_simulator::{SimulateOptions, simulate};

use super::first::{cut, first_time};
use crate::error::SpinError;
use crate::options::SpinSubject;
use crate::question::VerifierAnswer;
use crate::result::{SpinProof, SpinStop};
use crate::state::{Ending, SearchState};

pub(super) fn run(state: &SearchState<'_>) -> Result<Ending, SpinError> {
    let guess = match guess(state)? {
        Ok(Some(time)) => time,
        // Nothing could be simulated.
        Ok(None) => match first_time(state)? {
            Ok(time) => time,
            Err(ending) => return Ok(ending),
        },
        Err(reason) => return Ok(cut(reason)),
    };
    match state.over_time(guess)? {
        VerifierAnswer::Found(time) if time < guess => state.note(format!(
            "the least simulated time was {guess} ticks, SPIN's first trail takes {time}"
        )),
        VerifierAnswer::Found(_) => {}
        VerifierAnswer::Holds => {
            let who = "a configuration in the simulator".to_owned();
            return Err(SpinError::Contradiction { proved: guess, who, found: guess });
        }
        VerifierAnswer::Cut(reason) => {
            state.note(format!(
                "the least simulated time is {guess} ticks; SPIN has found nothing so far"
            ));
            return Ok(cut(reason));
        }
    }
    loop {
        let (_, Some(best)) = state.bounds() else { return Ok(Ending::default()) };
        match state.over_time(best - 1)? {
            VerifierAnswer::Holds => {
                return Ok(Ending { proof: Some(SpinProof::OverTime), stopped_by: None });
            }
            VerifierAnswer::Found(time) => {
                state.note(format!("{best} ticks were not the least: SPIN found {time}"));
            }
            VerifierAnswer::Cut(reason) => return Ok(cut(reason)),
        }
    }
}

/// The least time over all configurations that can be simulated; `Err` inside if it was stopped.
fn guess(state: &SearchState<'_>) -> Result<Result<Option<i64>, SpinStop>, SpinError> {
    let SpinSubject { problem, space, .. } = state.subject;
    let mut least: Option<i64> = None;
    for bound in &space.bound {
        if let Some(stopped) = state.watch.stop() {
            return Ok(Err(state.reason(stopped)));
        }
        match simulate(problem, bound, &SimulateOptions::default()) {
            Ok(run) => least = Some(least.map_or(run.time, |t| t.min(run.time))),
            Err(e) if e.is_too_large() => {}
            Err(e) => return Err(e.into()),
        }
    }
    if least.is_none() {
        state.note("all configurations are too large to simulate: T is from SPIN".to_owned());
    }
    Ok(Ok(least))
}
