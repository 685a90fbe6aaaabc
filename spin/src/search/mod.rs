//! The searches; each is a way to ask the verifier.

mod bisect;
mod branch_and_bound;
mod exhaustive;
mod swarm;

use super::question::Answer;
use super::session::{Ending, Session};
use super::{Search, SpinError};

/// Runs the search that was asked for.
pub(super) fn run(session: &Session<'_>) -> Result<Ending, SpinError> {
    match session.options.search {
        Search::Exhaustive => exhaustive::run(session),
        Search::Bisect => bisect::run(session),
        Search::BranchAndBound => branch_and_bound::run(session),
        Search::Swarm => swarm::run(session),
    }
}

/// The seed of SPIN's simulator.
const SEED: u64 = 1;

/// A first time, `T_ini` of Fig. 1: one random run in SPIN's simulator, or, if that does not come
/// to an end, the first run that the verifier finds. `Err` inside says how the search ended
/// instead.
fn first_time(session: &Session<'_>) -> Result<Result<i64, Ending>, SpinError> {
    if let Some(time) = session.simulate(SEED)? {
        return Ok(Ok(time));
    }
    if session.watch.stop().is_some() {
        return Ok(Err(cut(session.stopped())));
    }
    match session.any_end()? {
        Answer::Found(time) => Ok(Ok(time)),
        Answer::Holds => Err(SpinError::Model {
            what: "NonTerm".into(),
            said: "no run of the model comes to an end".into(),
        }),
        Answer::Cut(reason) => Ok(Err(Ending { stopped_by: Some(reason), ..Ending::default() })),
    }
}

fn cut(answer: Answer) -> Ending {
    let stopped_by = match answer {
        Answer::Cut(reason) => Some(reason),
        Answer::Holds | Answer::Found(_) => None,
    };
    Ending { stopped_by, ..Ending::default() }
}
