//! Elimination with labels, against simulating every configuration.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_model::Problem;
use tickbound_model::verdict::Status;
use tickbound_simulator::{SimulateOptions, simulate};
use tickbound_solver::{Proof, SearchOptions, Strategy, TuneResult, tune};

use crate::shared_problems::{KINDS, problem};

fn parsed(value: &Value) -> Problem {
    let nowhere = |name: &str| unreachable!("no platform is named, but {name} was requested");
    Problem::from_value(value, &IndexMap::new(), &nowhere)
        .unwrap_or_else(|e| panic!("{e}: {value}"))
}

fn tuned(problem: &Problem, top: usize) -> TuneResult {
    let options = SearchOptions { strategy: Strategy::Labels, top, ..SearchOptions::default() };
    tune(problem, &options, &AtomicBool::new(false), &|_| {}).expect("a result")
}

/// The times of all configurations, the least first.
fn times(problem: &Problem) -> Vec<i64> {
    let bound = problem.space().expect("a space").bound;
    let time = |b| simulate(problem, b, &SimulateOptions::default()).expect("a time").time;
    let mut times: Vec<i64> = bound.iter().map(time).collect();
    times.sort_unstable();
    times
}

/// The status, the least time, how many have it, and the times of the five best.
#[test]
fn random_problems_whose_parameters_share_something() {
    let mut proved = HashMap::new();
    let (mut by_prices, mut by_labels, mut none) = (0, 0, 0);
    for seed in 0..2000 {
        let (kind, value) = problem(seed);
        let problem = parsed(&value);
        let (result, times) = (tuned(&problem, 5), times(&problem));
        if times.is_empty() {
            assert_eq!(result.status, Status::Infeasible, "seed {seed}: {value}");
            none += 1;
            continue;
        }
        assert_eq!(result.status, Status::Optimal, "seed {seed}: {value}");
        assert_eq!(result.upper, Some(times[0]), "seed {seed}: {value}");
        let least = times.iter().filter(|time| **time == times[0]).count();
        assert_eq!(result.optima_count, Some(least.into()), "seed {seed}: {value}");
        let listed: Vec<i64> = result.optima.iter().take(5).map(|found| found.time).collect();
        assert_eq!(listed, times[..5.min(times.len())], "seed {seed}: {value}");
        match result.proofs[..] {
            [Proof::Labels { labels: 0 }] => by_prices += 1,
            [Proof::Labels { .. }] => by_labels += 1,
            ref other => panic!("seed {seed}: {other:?}"),
        }
        *proved.entry(kind).or_insert(0) += 1;
    }
    for kind in KINDS {
        assert!(proved[&kind] > 80, "{kind:?}: {}", proved[&kind]);
    }
    println!("{by_prices} by prices, {by_labels} by labels, {none} have no configuration");
    assert!(by_prices > 300 && by_labels > 300 && none > 20);
}

/// Tables for all pairs: what boxes find after the first bound is offered too.
#[test]
fn a_table_for_each_pair() {
    let mut random = tickbound_model::random::SplitMix64(3);
    let mut within = |least: u32, most: u32| least + random.draw() % (most - least + 1);
    for _ in 0..5 {
        let pairs = (0..6).flat_map(|j| (0..j).map(move |i| (i, j)));
        let kernel = pairs.map(|(i, j)| {
            let [a, b, c] = [(); 3].map(|()| within(1, 97));
            let sum = format!("{a} * P{i} + {b} * P{j} + {c} * P{i} * P{j}");
            serde_json::json!({ "work": format!("({sum}) % {}", within(100, 300)) })
        });
        let kernel: Vec<Value> = kernel.collect();
        let parameters = (0..6).map(|i| (format!("P{i}"), Value::from("range(1, 12)")));
        let problem = parsed(&serde_json::json!({
            "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1 },
            "parameters": parameters.collect::<serde_json::Map<_, _>>(),
            "launch": { "global_size": 1, "local_size": 1 }, "kernel": kernel,
        }));
        let by = |strategy| {
            let options = SearchOptions { strategy, ..SearchOptions::default() };
            tune(&problem, &options, &AtomicBool::new(false), &|_| {}).expect("a result")
        };
        let (labels, exact) = (by(Strategy::Labels), by(Strategy::Eliminate));
        assert!(matches!(labels.proofs[0], Proof::Labels { .. }), "{kernel:?}");
        assert_eq!(labels.upper, exact.upper, "{kernel:?}");
        assert_eq!((labels.status, exact.status), (Status::Optimal, Status::Optimal));
    }
}

/// The study's sixteen problems, with their least times, where it is beside the project.
#[test]
fn problems_that_other_solvers_proved_faster() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/rivals");
    let Ok(answers) = std::fs::read_to_string(folder.join("answers.tsv")) else {
        println!("skipped: there is no {}", folder.display());
        return;
    };
    for answer in answers.lines().skip(1) {
        let fields: Vec<&str> = answer.split('\t').collect();
        let text = std::fs::read_to_string(folder.join(fields[0])).expect("a problem");
        let problem = parsed(&serde_json::from_str(&text).expect("JSON"));
        let never = AtomicBool::new(false);
        let result = tune(&problem, &SearchOptions::default(), &never, &|_| {}).expect("a result");
        let least = fields[3].parse().ok();
        assert_eq!((result.status, result.upper), (Status::Optimal, least), "{}", fields[0]);
        assert!(matches!(result.proofs[0], Proof::Labels { .. }), "{}", fields[0]);
    }
}
