//! A first time, with which every search but the swarm begins.

use crate::error::SpinError;
use crate::orders::reported;
use crate::question::VerifierAnswer;
use crate::result::SpinStop;
use crate::state::{Ending, SearchState};

/// The seed of SPIN's simulator.
const SEED: u64 = 1;

/// A first time, `T_ini` of Fig. 1: one random run in SPIN's simulator, or, if that does not come
/// to an end, the first run that the verifier finds. `Err` inside states how the search ended
/// instead.
pub(super) fn first_time(state: &SearchState<'_>) -> Result<Result<i64, Ending>, SpinError> {
    if let Some(time) = state.simulate(SEED)? {
        return Ok(Ok(time));
    }
    if state.watch.stop().is_some() {
        return Ok(Err(cut(state.stop_reason())));
    }
    match state.any_end()? {
        VerifierAnswer::Found(time) => Ok(Ok(time)),
        VerifierAnswer::Holds => Err(reported("NonTerm", "no run of the model comes to an end")),
        VerifierAnswer::Cut(reason) => Ok(Err(cut(reason))),
    }
}

/// The end of a search that was stopped early by this.
pub(super) fn cut(reason: SpinStop) -> Ending {
    Ending { stopped_by: Some(reason), ..Ending::default() }
}
