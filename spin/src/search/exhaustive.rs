//! Our simulator guesses, SPIN decides.
//!
//! Every configuration is simulated, which is cheap; T is the least time. SPIN refutes `OverTime`
//! at T, with a trail, and proves it at T - 1. Where schedules are open the simulator tries only
//! one of them for each configuration, so T may be too large; then the second run has a trail as
//! well, and the search goes on from its time.

use tickbound_model::simulate::{Options, SimulateError, simulate};

use super::super::process::Stop;
use super::super::question::Answer;
use super::super::result::Proof;
use super::super::session::{Ending, Session};
use super::super::{SpinError, Subject};
use super::{cut, first_time};

pub(super) fn run(session: &Session<'_>) -> Result<Ending, SpinError> {
    let guess = match guess(session)? {
        Ok(Some(time)) => time,
        // Nothing could be simulated.
        Ok(None) => match first_time(session)? {
            Ok(time) => time,
            Err(ending) => return Ok(ending),
        },
        Err(stop) => {
            return Ok(Ending { stopped_by: Some(session.reason(stop)), ..Ending::default() });
        }
    };
    match session.over_time(guess)? {
        Answer::Found(time) if time < guess => session.note(format!(
            "the least simulated time was {guess} ticks, SPIN's first trail takes {time}"
        )),
        Answer::Found(_) => {}
        Answer::Holds => {
            let who = "a configuration in the simulator".to_owned();
            return Err(SpinError::Contradiction { proved: guess, who, found: guess });
        }
        Answer::Cut(reason) => {
            session.note(format!(
                "the least simulated time is {guess} ticks; SPIN has found nothing so far"
            ));
            return Ok(Ending { stopped_by: Some(reason), ..Ending::default() });
        }
    }
    loop {
        let (_, Some(best)) = session.bounds() else { return Ok(Ending::default()) };
        match session.over_time(best - 1)? {
            Answer::Holds => return Ok(Ending { proof: Some(Proof::OverTime), stopped_by: None }),
            Answer::Found(time) => {
                session.note(format!("{best} ticks were not the least: SPIN found {time}"));
            }
            stopped @ Answer::Cut(_) => return Ok(cut(stopped)),
        }
    }
}

/// The least time over all configurations that can be simulated; `Err` inside if it was stopped.
fn guess(session: &Session<'_>) -> Result<Result<Option<i64>, Stop>, SpinError> {
    let Subject { problem, space, .. } = session.subject;
    let mut least: Option<i64> = None;
    for bound in &space.bound {
        if let Some(stop) = session.watch.stop() {
            return Ok(Err(stop));
        }
        match simulate(problem, bound, &Options::default()) {
            Ok(run) => least = Some(least.map_or(run.time, |t| t.min(run.time))),
            Err(SimulateError::TooManyEvents { .. } | SimulateError::TooManyItems { .. }) => {}
            Err(e) => return Err(e.into()),
        }
    }
    let skipped = "too large to simulate";
    if least.is_none() {
        session.note(format!("all configurations are {skipped}: T is from SPIN"));
    }
    Ok(Ok(least))
}
