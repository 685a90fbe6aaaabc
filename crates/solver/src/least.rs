//! The least time alone, and what is near it: for many problems that differ in a few numbers.
//!
//! [`tune`](crate::tune) lists ties, names the next best and has others confirm. Here the bracket
//! is closed and nothing else, from configurations that are known to be good.

use std::sync::atomic::AtomicBool;

use tickbound_model::verdict::{Status, TimedConfiguration};
use tickbound_model::{Configuration, Problem};
use tickbound_timing::{Cost, Uncovered};

use crate::bracket::Bracket;
use crate::error::SolveError;
use crate::options::SearchOptions;
use crate::result::TuneResult;
use crate::search::{MAX_ROWS, Search, limits};
use crate::{strategy, symbolic};

/// How a search for a least time ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeastTime {
    /// A configuration, and no other takes less time.
    Proved(TimedConfiguration),
    /// No configuration is valid.
    Infeasible,
    /// The bracket is open: a stop, or a space that is too large.
    Open,
    /// The time has no closed form; [`tune`](crate::tune) simulates.
    NoClosedForm,
}

impl From<TuneResult> for LeastTime {
    fn from(result: TuneResult) -> LeastTime {
        match (result.status, result.best) {
            (Status::Optimal, Some(best)) => LeastTime::Proved(best),
            (Status::Infeasible, _) => LeastTime::Infeasible,
            _ => LeastTime::Open,
        }
    }
}

/// Finds and proves the least time of `problem`, where the configurations in `known` are tried
/// first; those that are not valid are left out.
///
/// # Errors
/// As for [`tune`](crate::tune).
pub fn least(
    problem: &Problem,
    known: &[Configuration],
    options: &SearchOptions,
    interrupt: &AtomicBool,
) -> Result<LeastTime, SolveError> {
    let Some(cost) = cost(problem)? else { return Ok(LeastTime::NoClosedForm) };
    let bracket = Bracket::new(options.timeout, interrupt, &|_| {}).since(options.since);
    let stop = || bracket.out_of_time();
    let configurations = problem.configurations(&limits(MAX_ROWS, &stop))?;
    if configurations.count().is_some_and(|n| n == num_bigint::BigUint::ZERO) {
        return Ok(LeastTime::Infeasible);
    }
    let search = Search::new(&configurations, &cost, &bracket);
    for configuration in known {
        if configurations.bind(configuration).is_ok() {
            search.offer(configuration.clone(), None)?;
        }
    }
    let proved = symbolic::closed(&search, options)?.is_some() && bracket.closed();
    bracket.fault()?;
    Ok(match bracket.bounds().best {
        Some((best, _)) if proved => LeastTime::Proved(search.found(best)),
        _ => LeastTime::Open,
    })
}

/// Configurations that take at most `ticks`, up to `most` of them, and whether these are all; if
/// not, which ones are listed is not specified, but the same each time. None, and not all, where
/// the time has no closed form.
///
/// # Errors
/// As for [`tune`](crate::tune).
pub fn within(
    problem: &Problem,
    (ticks, most): (i64, usize),
    options: &SearchOptions,
    interrupt: &AtomicBool,
) -> Result<(Vec<TimedConfiguration>, bool), SolveError> {
    let Some(cost) = cost(problem)? else { return Ok((Vec::new(), false)) };
    let bracket = Bracket::new(options.timeout, interrupt, &|_| {}).since(options.since);
    let stop = || bracket.out_of_time();
    let configurations = problem.configurations(&limits(MAX_ROWS, &stop))?;
    let search = Search::new(&configurations, &cost, &bracket);
    let (mut found, complete) = strategy::best(&search, ticks, (0, most))?;
    found.retain(|found| found.time <= ticks);
    Ok((found, complete))
}

/// The run time in closed form; `None` where it has none, so that all are simulated or listed.
fn cost(problem: &Problem) -> Result<Option<Cost>, SolveError> {
    match Cost::new(problem) {
        Ok(cost) => Ok(Some(cost).filter(Cost::is_exact)),
        Err(Uncovered::Model(e)) => Err(e.into()),
        Err(_) => Ok(None),
    }
}
