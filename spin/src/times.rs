//! Every time of every configuration, from one exhaustive run.
//!
//! The least time is one number; this is the whole function that the model computes. A run in the
//! mode `TIMES` prints a line for each pair of configuration and time that it reaches, and has to
//! end without a deadlock. Where schedules are closed each configuration must have the one time
//! that our simulator computes, on every interleaving.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::output::Verdict;
use super::process::Watch;
use super::result::{RunLog, StopReason};
use super::session::Session;
use super::trail::Lines;
use super::verifier::{Goal, Order, Storage};
use super::{Observer, Options, SpinError, Subject, Tools};

/// What a run has listed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Times {
    /// For each configuration of the space, in its order, the times it can take, in ticks.
    pub times: Vec<BTreeSet<i64>>,
    /// What cut the run short; `None` if it was complete, and then the lists are, too.
    pub stopped_by: Option<StopReason>,
    /// The run, unless it was stopped before it could start.
    pub run: Option<RunLog>,
}

/// Lists the times of every configuration. Of the options, the search and the workers do not
/// matter.
///
/// # Errors
/// As [`super::search`]; a deadlock of the model is a fault of it.
pub fn times(
    subject: Subject<'_>,
    tools: &Tools,
    options: &Options,
    interrupt: &AtomicBool,
    observer: Observer<'_>,
) -> Result<Times, SpinError> {
    options.check()?;
    let empty = vec![BTreeSet::new(); subject.space.bound.len()];
    if empty.is_empty() {
        return Ok(Times::default());
    }
    let deadline = options.timeout.and_then(|t| Instant::now().checked_add(t));
    let watch = Watch { interrupt, deadline, round: None, settled: None };
    let session = Session::new(subject, tools, options, watch, observer)?;
    let Some(build) = session.build(Goal::Times, Storage::Full)? else {
        let stopped_by = watch.stop().map(|stop| session.reason(stop));
        return Ok(Times { times: empty, stopped_by, run: None });
    };
    let memory = session.memory_for(Storage::Full);
    let mut depth = session.depth();
    loop {
        let next = session.deeper(depth, memory);
        let order = Order {
            what: "times",
            claim: None,
            bound: None,
            depth,
            stop_when_cut: next.is_some(),
            errors: Some(1),
            bits: None,
            watch,
        };
        let outcome = session.run(&build, &order)?;
        let stopped_by = match (outcome.verdict, next) {
            (Verdict::Holds, _) => None,
            (Verdict::DepthLimit, Some(next)) => {
                depth = next;
                continue;
            }
            (Verdict::DepthLimit, None) => Some(StopReason::Depth(depth)),
            (Verdict::OutOfMemory, _) => Some(StopReason::Memory(memory)),
            (Verdict::Stopped(stop), _) => Some(session.reason(stop)),
            (other, _) => {
                let said = other.word().to_owned();
                return Err(SpinError::Model { what: order.what.into(), said });
            }
        };
        let Some(printed) = outcome.printed else {
            let why = "it lists more pairs of a configuration and a time than can be read".into();
            return Err(SpinError::Unreadable { what: order.what.into(), why });
        };
        let times = read(subject, empty, &printed)?;
        return Ok(Times { times, stopped_by, run: session.entry(outcome.run) });
    }
}

fn read(
    subject: Subject<'_>,
    mut times: Vec<BTreeSet<i64>>,
    printed: &[String],
) -> Result<Vec<BTreeSet<i64>>, SpinError> {
    for line in printed {
        let fault = || SpinError::Trail { why: format!("it prints `{line}`") };
        let lines = Lines::parse(std::slice::from_ref(line)).map_err(|_| fault())?;
        let (time, values) = lines.end.ok_or_else(fault)?;
        let values: Vec<i64> = values.into_iter().map(|(_, value)| value).collect();
        let of = |b: &tickbound_model::Bound| b.configuration.0 == values;
        let index = subject.space.bound.iter().position(of).ok_or_else(fault)?;
        times[index].insert(time);
    }
    Ok(times)
}
