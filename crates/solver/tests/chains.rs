//! Boxes bounded by the steps of the profile `resources`, against simulating every configuration.

use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
use serde_json::json;
use tickbound_model::Problem;
use tickbound_model::verdict::Status;
use tickbound_simulator::{SimulateOptions, simulate};
use tickbound_solver::{Proof, SearchOptions, Strategy, tune};

use crate::random_chains::problem;

/// The least time, how many take it, the next best and the ten best.
#[test]
fn random_problems_over_boxes() {
    let (mut proved, mut at_fault, mut boxes, mut all) = (0, 0, 0, 0);
    for seed in 1000..1200 {
        let value = problem(seed);
        let read = Problem::from_value(&value, &IndexMap::new(), &|_| unreachable!());
        let problem = read.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let options =
            SearchOptions { strategy: Strategy::Branch, top: 10, ..SearchOptions::default() };
        let result = tune(&problem, &options, &AtomicBool::new(false), &|_| {});
        let Ok(space) = problem.space() else {
            assert!(result.is_err(), "seed {seed}: a space at fault is searched");
            at_fault += 1;
            continue;
        };
        let time = |b| Some(simulate(&problem, b, &SimulateOptions::default()).ok()?.time);
        let times: Option<Vec<i64>> = space.bound.iter().map(time).collect();
        let Some(mut times) = times else {
            assert!(result.is_err(), "seed {seed}: a configuration without a time is passed over");
            at_fault += 1;
            continue;
        };
        times.sort_unstable();
        let result = result.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(result.status, Status::Optimal, "seed {seed}");
        assert_eq!(result.upper, times.first().copied(), "seed {seed}");
        let ties = times.iter().filter(|time| **time == times[0]).count();
        assert_eq!(result.optima_count, Some(ties.into()), "seed {seed}");
        assert_eq!(result.next, times.get(ties).copied(), "seed {seed}");
        let listed: Vec<i64> = result.optima.iter().take(10).map(|found| found.time).collect();
        assert_eq!(listed, times[..10.min(times.len())], "seed {seed}");
        let [Proof::Branching { boxes: own }] = result.proofs[..] else {
            panic!("seed {seed}: {:?}", result.proofs)
        };
        (proved, boxes, all) = (proved + 1, boxes + own, all + times.len());
    }
    assert_eq!((proved, at_fault, boxes, all), (194, 6, 7944, 158_276));
}

/// A condition over more combinations than a table has, and an end that waits, which has no bound.
#[test]
fn wide_conditions_and_ends_that_wait() {
    let wait = json!({ "repeat": "A", "body": ["mark", { "compute": "B" }, { "until": "3 * C" }] });
    let digits: Vec<i64> = (1..=9).collect();
    let value = json!({
        "profile": "resources",
        "platform": { "units_per_device": 3, "elements_per_unit": 32, "global_access": 7,
                      "resources": { "warp_width": 32, "real_lanes": 16, "issue_rate": 2 } },
        "parameters": { "A": digits, "B": digits, "C": digits, "D": digits, "E": digits },
        "constraints": ["A * B + C * D + E >= 140"],
        "launch": { "global_size": "64 * E", "local_size": 32 },
        "kernel": [], "usage": { "real": "A * C + 100 // B", "integer": "D * D + E" },
        "finish": [wait]
    });
    let problem = Problem::from_value(&value, &IndexMap::new(), &|_| unreachable!()).unwrap();
    let options = SearchOptions { strategy: Strategy::Branch, top: 20, ..SearchOptions::default() };
    let result = tune(&problem, &options, &AtomicBool::new(false), &|_| {}).unwrap();
    let time = |b| simulate(&problem, b, &SimulateOptions::default()).unwrap().time;
    let mut times: Vec<i64> = problem.space().unwrap().bound.iter().map(time).collect();
    times.sort_unstable();
    assert_eq!(result.status, Status::Optimal);
    let listed: Vec<i64> = result.optima.iter().take(20).map(|found| found.time).collect();
    assert_eq!(listed, times[..20]);
    let ties = times.iter().filter(|time| **time == times[0]).count();
    assert_eq!((result.optima_count, result.next), (Some(ties.into()), times.get(ties).copied()));
}
