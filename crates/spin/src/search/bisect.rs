//! Fig. 1 of seed 000: bisection with the property `OverTime`.
//!
//! The least time lies between a bound that a complete run has proved and a time that a trail has
//! shown. Each run halves what is left: a trail gives its own time, which may be far below the
//! bound asked for; a run without an error raises the lower bound.

use super::first::{cut, first_time};
use crate::error::SpinError;
use crate::question::VerifierAnswer;
use crate::result::SpinProof;
use crate::state::{Ending, SearchState};

pub(super) fn run(state: &SearchState<'_>) -> Result<Ending, SpinError> {
    if let Err(ending) = first_time(state)? {
        return Ok(ending);
    }
    loop {
        let (lower, upper) = state.bounds();
        let Some(upper) = upper else { return Ok(Ending::default()) };
        if lower >= upper {
            // No run at all is needed where the first time is 0.
            return Ok(Ending { proof: Some(SpinProof::OverTime), stopped_by: None });
        }
        let middle = lower + (upper - 1 - lower) / 2;
        match state.over_time(middle)? {
            VerifierAnswer::Holds | VerifierAnswer::Found(_) => {}
            VerifierAnswer::Cut(reason) => return Ok(cut(reason)),
        }
    }
}
