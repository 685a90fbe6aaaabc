//! Certificates: written for random problems and held against the simulator; spoiled in many ways,
//! and rejected.

#[path = "../../solver/tests/problems.rs"]
#[allow(dead_code, reason = "the tests of the searches use more of it")]
mod problems;
#[path = "../../timing/tests/chains.rs"]
#[allow(dead_code, reason = "the tests of bounds use more of it")]
mod random_chains;
#[path = "../../solver/tests/shared_problems.rs"]
mod shared_problems;

mod chains;
mod labels;
mod large;
mod marked;
mod mutations;
mod optimise;
mod outside;
mod random;
mod schedules;

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_certificate::check::CheckReport;
use tickbound_certificate::tools::ProofTools;
use tickbound_certificate::{Certificate, Refusal};
use tickbound_model::{Configuration, Problem};
use tickbound_simulator::{SimulateOptions, simulate};

/// The report of a check.
fn check(
    certificate: &Certificate,
    tools: Option<&ProofTools<'_>>,
    stop: &dyn Fn() -> bool,
) -> Result<CheckReport, Refusal> {
    let mut report = CheckReport::default();
    tickbound_certificate::check::check(certificate, tools, stop, &mut report).map(|()| report)
}

/// Nothing stops a check.
fn never() -> bool {
    false
}

fn read(value: &Value) -> Problem {
    let nowhere = |_: &str| unreachable!("the problem names no platform");
    Problem::from_value(value, &IndexMap::new(), &nowhere)
        .unwrap_or_else(|e| panic!("{e}: {value}"))
}

/// The least time and its first configuration, by simulating every one; `None` if the problem is at
/// fault or has none.
fn least(problem: &Problem) -> Option<(Configuration, i64)> {
    let space = problem.space().ok()?;
    let times = space.bound.iter().map(|bound| {
        let time = simulate(problem, bound, &SimulateOptions::default()).ok()?.time;
        Some((bound.configuration.clone(), time))
    });
    let times: Vec<(Configuration, i64)> = times.collect::<Option<_>>()?;
    times.into_iter().min_by_key(|(_, time)| *time)
}

fn certificate(
    problem: &Problem,
    configuration: &Configuration,
    time: i64,
) -> Result<Certificate, Refusal> {
    tickbound_certificate::write::certificate("a test", problem, (configuration, time), &never)
}
