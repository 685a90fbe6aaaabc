//! Finding the least run time of a kernel and proving it.
//!
//! In goes a [`Problem`], out comes a [`TuneResult`]: the least time over all configurations, the
//! configurations that reach it, and what the proof is; or, if the search was stopped, the bracket
//! it had reached. The five steps, which [`listed`] takes in sequence:
//!
//! 1. list the space, work out the plan, and bound every configuration from below by its critical
//!    path;
//! 2. simulate the most promising configurations: the best one is the first incumbent, and every
//!    configuration whose lower bound exceeds it is pruned;
//! 3. encode, unroll, and let a strategy close the bracket on live solvers ([`strategy`]);
//! 4. confirm: a fresh solver reports unsat below the least time - with a closed summary over *all*
//!    configurations, so that the lower bounds need not be trusted;
//! 5. simulate every configuration that may be optimal, so that all optima are listed.
//!
//! The simulator runs every configuration that a solver proposes. Where warps share dispatchers a
//! configuration has many run times; `schedule_search` explores the schedules as well.
//!
//! This crate holds Z3 and nothing else of weight: no command line, no plots, no devices.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use indexmap::IndexMap;
//! use tickbound_model::{Problem, platforms, verdict::Status};
//! use tickbound_solver::{SearchOptions, tune};
//!
//! let text = r#"{ "inputs": { "size": 64 },
//!   "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4,
//!                 "group_start": 3 },
//!   "parameters": { "WG": "powers_of_two(1, 32)" },
//!   "launch": { "global_size": "size", "local_size": "WG" },
//!   "kernel": [ { "global": 1 }, "barrier", { "compute": "WG" } ] }"#;
//! let problem = Problem::from_json(text, &IndexMap::new(), &platforms::find)?;
//! let result = tune(&problem, &SearchOptions::default(), &AtomicBool::new(false), &|_| {})?;
//! assert_eq!((result.status, result.upper), (Status::Optimal, Some(88)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod box_bounds;
pub mod bracket;
mod cross_check;
mod error;
pub mod formula;
pub mod instance;
mod least;
pub mod listed;
mod listed_search;
mod options;
pub mod prepare;
mod program_classes;
mod proof;
pub mod result;
mod schedule_search;
pub mod search;
mod simulated;
pub mod strategy;
pub mod symbolic;
pub mod table_encoding;
pub mod task;
mod top_list;
pub mod unroll;

use std::sync::atomic::AtomicBool;

pub use tickbound_encodings::Encoding;
use tickbound_encodings::plan::{Plan, PlanError};
use tickbound_model::Problem;
use tickbound_model::space::MAX_CONFIGURATIONS;
pub use tickbound_model::verdict::StopReason;
use tickbound_model::verdict::{Status, TimedConfiguration};
use tickbound_timing::{Cost, Term, Uncovered};

use bracket::{Bounds, Bracket, Incumbent};
pub use error::SolveError;
pub use least::{LeastTime, least, within};
use listed_search::ListedSearch;
pub use options::{Objective, SearchOptions};
pub use program_classes::{ProgramClass, ProgramClasses};
pub use proof::Proof;
pub use result::TuneResult;
pub use strategy::Strategy;

/// Searches for the least time of `problem`. `interrupt` ends the search when it becomes true;
/// `observer` is called with every change of the bracket.
///
/// # Errors
/// A fault of the problem, a problem that the chosen encoding does not cover, or a fault found in
/// this program by its own checks.
pub fn tune(
    problem: &Problem,
    options: &SearchOptions,
    interrupt: &AtomicBool,
    observer: bracket::Observer<'_>,
) -> Result<TuneResult, SolveError> {
    // A search that is stopped soon has something to show.
    let is_least = options.objective == Objective::Best || !problem.has_open_schedule();
    let early = if is_least { early(problem) } else { None };
    let with_early = |known: &Incumbent| match (&known.best, &early) {
        (None, Some(found)) => observer(&Incumbent {
            bounds: Bounds {
                lower: known.bounds.lower.min(found.time),
                best: Some((0, found.time)),
            },
            best: Some(found.configuration.clone()),
        }),
        _ => observer(known),
    };
    if early.is_some() {
        with_early(&Incumbent::default());
    }
    let bracket = Bracket::new(options.timeout, interrupt, &with_early).since(options.since);
    let symbolic = match may_be_symbolic(options) {
        true => symbolic(problem, options, &bracket)?,
        false => None,
    };
    let mut result = match symbolic {
        Some(result) => result,
        None => listed(problem, options, &bracket)?,
    };
    if result.programs.list.is_empty() {
        let whole = result.configurations == Some(result.optima.len().into());
        result.programs =
            program_classes::of_listed(problem, options.top, (&result.optima, whole))?;
    }
    bracket.fault()?;
    let stop = || bracket.out_of_time();
    let limits = search::limits(search::MAX_ROWS, &stop);
    // These counts are optional: they get no time beyond the limit.
    result.left_out = problem.left_out(&limits).ok().flatten();
    if result.status == Status::Bounded && result.best.is_none() {
        result.upper = early.as_ref().map(|found| found.time);
        result.best = early;
    }
    Ok(result)
}

/// Choices among which the first configuration is looked for.
const EARLY_CHOICES: u64 = 20_000;
/// Events of a simulation that takes some milliseconds.
const EARLY_EVENTS: u64 = 20_000;

/// The first configuration with its time, if both are found at once.
fn early(problem: &Problem) -> Option<TimedConfiguration> {
    let bound = problem.first_configuration(EARLY_CHOICES)?;
    match simulated::simulated(problem, &bound, EARLY_EVENTS) {
        Ok(simulated::Simulated::Time { ticks: time, .. }) => {
            Some(TimedConfiguration { configuration: bound.configuration, time })
        }
        _ => None,
    }
}

/// Whether strategy and encoding allow a search without a list.
fn may_be_symbolic(options: &SearchOptions) -> bool {
    let SearchOptions { strategy, encoding, bounds, .. } = options;
    let may =
        strategy.is_symbolic() || (encoding.is_none() && strategy.needs_encoding() && *bounds);
    may && !strategy.entry().from_nothing
}

/// Whether an encoding is named, or a strategy that asks a solver about one.
fn names_a_solver(SearchOptions { strategy, encoding, .. }: &SearchOptions) -> bool {
    strategy.needs_encoding() && (encoding.is_some() || !strategy.leaves_choice())
}

/// Searches without a list, where the problem allows it.
fn symbolic(
    problem: &Problem,
    options: &SearchOptions,
    bracket: &Bracket<'_>,
) -> Result<Option<TuneResult>, SolveError> {
    let cost = Cost::new(problem);
    if let Ok(cost) = &cost
        && let Some(result) = symbolic::at_first(problem, cost, options, bracket)?
    {
        return Ok(Some(result));
    }
    on_structure(problem, cost, options, bracket)
}

fn on_structure(
    problem: &Problem,
    cost: Result<Cost, Uncovered>,
    options: &SearchOptions,
    bracket: &Bracket<'_>,
) -> Result<Option<TuneResult>, SolveError> {
    let strategy = options.strategy;
    let uncovered = matches!(&cost, Err(Uncovered::Statement(..))) && !strategy.is_symbolic();
    if uncovered && (problem.has_open_schedule() || !strategy.leaves_choice()) {
        return Ok(None);
    }
    let stop = || bracket.out_of_time();
    let configurations = problem.configurations(&search::limits(search::MAX_ROWS, &stop))?;
    let count = configurations.count();
    if count == Some(num_bigint::BigUint::default()) {
        let none = TuneResult::infeasible(options, bracket);
        return Ok(Some(TuneResult { configurations: count, ..none }));
    }
    let mut because = None;
    let cost = match cost {
        Err(Uncovered::Model(e)) => return Err(e.into()),
        // Without a cost all configurations are simulated, or they are listed.
        Err(why) if uncovered => {
            because = Some(why.to_string());
            let nothing = Cost::of_term(Term::Number(0), false);
            let search = search::Search::new(&configurations, &nothing, bracket);
            if let Some(result) = symbolic::simulated(&search, options)? {
                return Ok(Some(TuneResult { simulated_because: because, ..result }));
            }
            // Too many to be listed have a bound.
            let listed = count.as_ref().is_some_and(|n| *n <= MAX_CONFIGURATIONS.into());
            let bound = Cost::bound(problem).ok().filter(|_| !listed);
            let Some(bound) = bound else { return Ok(None) };
            bound
        }
        cost => cost?,
    };
    // Left to the encodings where a solver was chosen by name or the cost is only a bound.
    let few = count.is_some_and(|n| n <= num_bigint::BigUint::from(MAX_LISTED));
    if few && !strategy.is_symbolic() && !strategy.leaves_choice() {
        return Ok(None);
    }
    let result = symbolic::tune(&configurations, &cost, options, bracket)?;
    let result = TuneResult { simulated_because: because, ..result };
    let open = few && result.status == Status::Bounded && !bracket.out_of_time();
    Ok(Some(result).filter(|_| !(open && strategy.leaves_choice())))
}

/// Most configurations that solvers are asked about one by one.
const MAX_LISTED: u32 = 20_000;

fn listed(
    problem: &Problem,
    options: &SearchOptions,
    bracket: &Bracket<'_>,
) -> Result<TuneResult, SolveError> {
    let space = problem.space()?;
    bracket.take_best();
    let inquiry = ListedSearch { problem, space: &space, options, bracket };
    if space.bound.is_empty() {
        let result = inquiry.result(TuneResult::default());
        return Ok(TuneResult { status: Status::Infeasible, ..result });
    }
    match Plan::new(problem, &space) {
        Ok(plan) => match listed::tune(&inquiry, Some(plan)) {
            // No encoding was named, and the one taken is too large, or a group has no ticks in it.
            Err(SolveError::TooDeep(..) | SolveError::Overflow(_))
                if options.encoding.is_none() =>
            {
                listed::tune(&inquiry, None)
            }
            result => result,
        },
        Err(PlanError::OpenSchedule) if !names_a_solver(options) => schedule_search::tune(&inquiry),
        Err(e @ PlanError::OpenSchedule) => Err(e.into()),
        Err(PlanError::Model(e)) => Err(e.into()),
        // Without a plan every configuration is simulated, unless an encoding was requested.
        Err(e) if options.encoding.is_some() => Err(e.into()),
        Err(e) => {
            let result = listed::tune(&inquiry, None)?;
            Ok(TuneResult { simulated_because: Some(e.reason()), ..result })
        }
    }
}

/// The version of the Z3 that this program is linked with.
pub fn z3_version() -> &'static str {
    z3::full_version()
}
