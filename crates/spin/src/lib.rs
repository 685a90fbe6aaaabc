//! Running SPIN on a problem's Promela text: as the papers do, for the least run time.
//!
//! In goes a problem with its space and its [`promela::Model`], out comes a [`SpinResult`]: the
//! least time that SPIN has found, what it rests on, and every run and trail on the way. No solver
//! and none of the encodings is involved, so an answer that agrees with the solver's confirms both.
//!
//! A search generates verifiers (`spin -a`, a C compiler) in its own folder, runs them with
//! limits of time and memory, and reads what they print:
//!
//! - [`Search::Bisect`] (Fig. 1 of seed 000): a first time from SPIN's simulator, then the property
//!   `OverTime` with ever better bounds, one verifier run each;
//! - [`Search::Exhaustive`]: the least time of our own simulator as a guess, refuted at T and
//!   proved at T - 1;
//! - [`Search::BranchAndBound`]: one run, with the best time in a C variable that prunes the
//!   search;
//! - [`Search::Swarm`] (Fig. 5): many bitstate runs with different seeds and hash arrays.
//!
//! What is promised:
//!
//! - A lower bound comes from a run that was complete and exhaustive, and from nothing else
//!   ([`output::VerifierReport::complete`]). A search cut by its depth limit, by memory or by time
//!   says nothing, and neither does a bitstate run that has found nothing: a swarm gives upper
//!   bounds only.
//! - Every upper bound comes from a trail that was replayed, and that our simulator has run with
//!   the same schedule and the same time ([`trail`]). Where they differ, there is no result but an
//!   error that shows both. A run too large for the simulator counts, and is marked as unconfirmed.
//! - No process is left behind, whatever ends the search ([`tickbound_os::process`]).
//!
//! The same input gives the same answer, except where time matters: a time-out, and the rounds of a
//! swarm, which end with the first worker that finds something.

mod error;
mod options;
mod orders;
pub mod output;
pub mod promela;
mod question;
pub mod result;
mod search;
mod state;
pub mod times;
pub mod tools;
pub mod trail;
mod verifier;
mod version;
mod watch;

use std::sync::atomic::AtomicBool;

pub use error::SpinError;
pub use options::{
    LEAST_MEMORY, MAX_DEPTH, Search, SpinEvent, SpinObserver, SpinOptions, SpinSubject,
};
pub use result::{SpinResult, SpinStop};
use state::SearchState;
pub use tools::SpinTools;
use watch::Watch;

/// Searches for the least time with SPIN. `interrupt` ends the search when it becomes true, with
/// what is known by then.
///
/// # Errors
/// An option that makes no sense, files or programs that cannot be used, and every fault of the
/// model or of this program that shows on the way.
pub fn search(
    subject: SpinSubject<'_>,
    tools: &SpinTools,
    options: &SpinOptions,
    interrupt: &AtomicBool,
    observer: SpinObserver<'_>,
) -> Result<SpinResult, SpinError> {
    options.check()?;
    if subject.space.bound.is_empty() {
        return Ok(SpinResult::infeasible(options.search, subject.model.style, tools));
    }
    let watch = Watch::new(interrupt, options.timeout, options.since);
    let state = SearchState::new(subject, tools, options, watch, observer)?;
    let ending = search::run(&state)?;
    Ok(state.result(ending))
}
