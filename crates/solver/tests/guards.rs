//! Kernels with guards, whose groups differ.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use tickbound_model::verdict::Status;
use tickbound_solver::bracket::Bracket;
use tickbound_solver::{Proof, SearchOptions, Strategy, symbolic, tune};
use tickbound_timing::Cost;

use crate::problems::Random;
use crate::symbolic::parsed;

/// A launch that is rounded up, in one dimension or two, with a guard.
fn problem(seed: u64) -> Value {
    let mut r = Random(seed);
    let n = 1 + r.below(90) as i64;
    let (row, column) = ("group % BX * WX + lid % WX", "group // BX * WY + lid // WX");
    let guard = match r.below(4) {
        0 => "gid < n".to_owned(),
        1 => format!("{row} < n and {column} < m"),
        2 => format!("not ({row} >= n or {column} >= m)"),
        _ => format!("{row} > 0 and {row} < n - 1"),
    };
    let work = |r: &mut Random| match r.below(4) {
        0 => json!({ "work": "4 - A" }),
        1 => json!({ "work": "WX * A + lid % 2" }),
        2 => json!({ "repeat": "A", "body": [{ "global": 1 }, { "work": "WX" }] }),
        _ => json!({ "if": "lid < 2", "then": [{ "work": "B" }] }),
    };
    let guarded = match r.below(3) {
        0 => json!({ "if": guard, "then": [], "else": [work(&mut r), work(&mut r)] }),
        _ => json!({ "if": guard, "then": [work(&mut r), work(&mut r)], "else": [{ "work": 1 }] }),
    };
    json!({
        "inputs": { "n": n, "m": 1 + r.below(9) },
        "platform": { "units_per_device": 1 + r.below(4), "elements_per_unit": 1 + r.below(5),
                      "global_access": 3, "barrier": 1, "group_start": r.below(3) },
        "parameters": { "WX": [1, 2, 4, 5], "WY": [1, 2], "A": [1, 2, 3], "B": [0, 5, 9] },
        "definitions": { "BX": "ceil_div(n, WX)", "BY": "ceil_div(m, WY)" },
        "launch": { "global_size": "BX * BY * WX * WY", "local_size": "WX * WY" },
        "kernel": [work(&mut r), "barrier", guarded, work(&mut r)]
    })
}

#[test]
fn guarded_kernels_are_proved_on_bounds() {
    for seed in 0..150 {
        let value = problem(seed);
        let problem = parsed(&value);
        let space = problem.space().unwrap();
        let time = |b| {
            tickbound_simulator::simulate(
                &problem,
                b,
                &tickbound_simulator::SimulateOptions::default(),
            )
            .unwrap()
            .time
        };
        let times: Vec<i64> = space.bound.iter().map(time).collect();
        let least = times.iter().copied().min().unwrap();
        let cost = Cost::new(&problem).unwrap();
        assert!(!cost.is_exact(), "seed {seed}: {value}");
        let configurations = problem.configurations(&Default::default()).unwrap();
        for strategy in [Strategy::Eliminate, Strategy::Race] {
            let never = AtomicBool::new(false);
            let bracket = Bracket::new(None, &never, &|_| {});
            let options = SearchOptions { strategy, ..SearchOptions::default() };
            let result = symbolic::tune(&configurations, &cost, &options, &bracket).unwrap();
            let about = format!("seed {seed}, {strategy:?}: {result:?}\n{value}");
            assert_eq!((result.status, result.upper), (Status::Optimal, Some(least)), "{about}");
        }
        // No bound is above the time, and in most launches some groups do the same.
        for (b, time) in space.bound.iter().zip(&times) {
            let bound = cost.term().value(&b.env).unwrap();
            assert!(bound <= *time, "seed {seed}: {bound} above {time} for {:?}", b.configuration);
        }
    }
}

#[test]
fn a_large_space_of_guarded_kernels() {
    let value = json!({
        "inputs": { "n": 1_000_000, "m": 1000 },
        "platform": { "units_per_device": 132, "elements_per_unit": 128, "global_access": 600,
                      "barrier": 10, "group_start": 100, "kernel_launch": 5000 },
        "parameters": { "WG": "range(1, 1024)", "TILE": "range(1, 64)", "UNROLL": "range(1, 32)" },
        "definitions": { "items": "ceil_div(n, TILE)" },
        "launch": { "global_size": "ceil_div(items, WG) * WG", "local_size": "WG" },
        "kernel": [{ "if": "gid < items", "then": [
            { "repeat": "TILE", "body": [{ "global": 1 }, { "compute": "UNROLL" }] },
            { "repeat": "ceil_div(64, UNROLL)", "body": [{ "compute": "9" }] }
        ] }]
    });
    let problem = parsed(&value);
    let result =
        tune(&problem, &SearchOptions::default(), &AtomicBool::new(false), &|_| {}).unwrap();
    assert_eq!(result.configurations, Some((1024u64 * 64 * 32).into()));
    assert!(matches!(result.proofs[..], [Proof::Elimination { exact: false, .. }]), "{result:?}");
    assert_eq!((result.status, result.upper), (Status::Optimal, Some(41478)));
    assert_eq!(result.optima_count, Some(2u32.into()));
}

/// Groups that differ otherwise than by a guard, in a space that cannot be listed: a bound without
/// what differs is never above the time, and closes where that is small.
#[test]
fn a_large_space_of_groups_that_differ() {
    let value = |most: i64| {
        json!({
            "platform": { "units_per_device": 4, "elements_per_unit": 8, "global_access": 20,
                "barrier": 2 },
            "parameters": { "WG": "powers_of_two(1, 64)", "T": format!("range(1, {most})"),
                "U": format!("range(1, {most})") },
            "launch": { "global_size": 4096, "local_size": "WG" },
            "kernel": [{ "global": "abs(T - 7) + abs(U - 9)" }, "barrier",
                { "compute": "1 if group % 3 == 1 else 2" },
                       { "repeat": "1 + group % 2", "body": [{ "work": "lid % 2" }] }]
        })
    };
    let small = parsed(&value(12));
    let space = small.space().unwrap();
    let bound = Cost::bound(&small).unwrap();
    assert!(!bound.is_exact() && Cost::new(&small).is_err());
    let mut least = i64::MAX;
    for b in &space.bound {
        let time = tickbound_simulator::simulate(
            &small,
            b,
            &tickbound_simulator::SimulateOptions::default(),
        )
        .unwrap()
        .time;
        let bound = bound.term().value(&b.env).unwrap();
        assert!((1..=time).contains(&bound), "{bound}, {time}: {:?}", b.configuration);
        least = least.min(time);
    }
    let large = parsed(&value(400));
    let result = tune(&large, &SearchOptions::default(), &AtomicBool::new(false), &|_| {}).unwrap();
    assert_eq!(result.configurations, Some((7u64 * 400 * 400).into()));
    assert_eq!((result.status, result.upper), (Status::Optimal, Some(least)), "{result:?}");
    assert!(result.simulated_because.is_some());
}

/// A configuration that is too large to be simulated does not end the search: the others are
/// simulated, and what is known of it bounds the answer.
#[test]
fn one_that_is_too_large_stays_open() {
    let problem = parsed(&json!({
        "platform": { "units_per_device": 2, "elements_per_unit": 2, "global_access": 5 },
        "parameters": { "WG": [32, 2_097_152, 64] },
        "launch": { "global_size": "2 * WG", "local_size": "WG" },
        "kernel": [ { "if": "(gid * gid) % 7 == 3", "then": [ { "compute": "1 + gid % 3" } ] },
                    { "global": 1 }, "barrier", { "compute": "lid * lid % 11" } ]
    }));
    let options = SearchOptions::default();
    let result = tune(&problem, &options, &AtomicBool::new(false), &|_| {}).expect("a result");
    let space = problem.space().expect("a space");
    let run = tickbound_simulator::simulate(
        &problem,
        &space.bound[0],
        &tickbound_simulator::SimulateOptions::default(),
    );
    assert_eq!((result.status, result.upper), (Status::Bounded, Some(run.expect("a run").time)));
    assert_eq!(result.best.expect("a configuration").configuration.0, [32]);
    let why = format!("{:?}", result.stopped_by.expect("a reason"));
    assert!(why.contains("2097152 items on one unit"), "{why}");
}
