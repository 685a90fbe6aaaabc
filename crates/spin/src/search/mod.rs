//! The searches; each asks the verifier in its own order.

mod bisect;
mod branch_and_bound;
mod exhaustive;
mod first;
mod swarm;

use crate::error::SpinError;
use crate::options::Search;
use crate::state::{Ending, SearchState};

pub(super) fn run(state: &SearchState<'_>) -> Result<Ending, SpinError> {
    match state.options.search {
        Search::Exhaustive => exhaustive::run(state),
        Search::Bisect => bisect::run(state),
        Search::BranchAndBound => branch_and_bound::run(state),
        Search::Swarm => swarm::run(state),
    }
}
