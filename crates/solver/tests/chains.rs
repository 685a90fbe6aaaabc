//! Boxes bounded by the steps of the profile `resources`, against simulating every configuration.

use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
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
    assert_eq!((proved, at_fault, boxes, all), (194, 6, 7940, 158_276));
}
