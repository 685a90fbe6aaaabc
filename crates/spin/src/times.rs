//! Every time of every configuration, from one exhaustive run.
//!
//! The least time is one number; this is the whole function that the model computes. A run in the
//! mode `TIMES` prints a line for each pair of configuration and time that it reaches, and has to
//! end without a deadlock. Where schedules are closed each configuration must have the one time
//! that our simulator computes, on every interleaving.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use crate::error::SpinError;
use crate::options::{SpinObserver, SpinOptions, SpinSubject};
use crate::orders::{Goal, Order, Storage};
use crate::output::VerifierVerdict;
use crate::result::{RunLog, SpinStop};
use crate::state::SearchState;
use crate::tools::SpinTools;
use crate::trail::Lines;
use crate::watch::Watch;

/// What a run has listed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerifierTimes {
    /// For each configuration of the space, in its order, the times it can take, in ticks.
    pub times: Vec<BTreeSet<i64>>,
    /// What cut the run short; `None` if it was complete, and then the lists are, too.
    pub stopped_by: Option<SpinStop>,
    /// The run, unless it was stopped before it could start.
    pub run: Option<RunLog>,
}

/// Lists the times of every configuration; the search and the workers do not matter.
pub fn times(
    subject: SpinSubject<'_>,
    tools: &SpinTools,
    options: &SpinOptions,
    interrupt: &AtomicBool,
    observer: SpinObserver<'_>,
) -> Result<VerifierTimes, SpinError> {
    options.check()?;
    let empty = vec![BTreeSet::new(); subject.space.bound.len()];
    if empty.is_empty() {
        return Ok(VerifierTimes::default());
    }
    let watch = Watch::new(interrupt, options.timeout, options.since);
    let state = SearchState::new(subject, tools, options, watch, observer)?;
    let Some(build) = state.build(Goal::Times, Storage::Full)? else {
        let stopped_by = watch.stop().map(|stop| state.reason(stop));
        return Ok(VerifierTimes { times: empty, stopped_by, run: None });
    };
    let mut order = Order::first_error("times", state.depth(), watch);
    let run = state.run_deep_enough(&build, &mut order)?;
    let stopped_by = match run.verdict {
        VerifierVerdict::Holds => None,
        verdict => Some(state.cut_by(&verdict, &order)?),
    };
    let Some(printed) = run.printed else {
        let why = "it lists more pairs of a configuration and a time than can be read";
        return Err(order.unreadable(why));
    };
    let times = read(subject, empty, &printed)?;
    Ok(VerifierTimes { times, stopped_by, run: state.entry(run.run) })
}

fn read(
    subject: SpinSubject<'_>,
    mut times: Vec<BTreeSet<i64>>,
    printed: &[String],
) -> Result<Vec<BTreeSet<i64>>, SpinError> {
    for line in printed {
        let fault = || SpinError::Trail(format!("it prints `{line}`"));
        let lines = Lines::parse(std::slice::from_ref(line)).map_err(|_| fault())?;
        let (time, values) = lines.end.ok_or_else(fault)?;
        let values: Vec<i64> = values.into_iter().map(|(_, value)| value).collect();
        let of = |b: &tickbound_model::Bound| b.configuration.0 == values;
        let index = subject.space.bound.iter().position(of).ok_or_else(fault)?;
        times[index].insert(time);
    }
    Ok(times)
}
