//! A space of 10^11 configurations, proved and checked.

use crate::check;
use serde_json::{Map, Value, json};
use tickbound_certificate::folder::{CertificateKind, Proved};
use tickbound_model::Configuration;

use crate::{certificate, never, read};

/// Parameters `P0`, `P1`, ... of which each pair of neighbours has a price, and must not be too
/// large together.
pub fn chain(parameters: usize, values: i64) -> Value {
    let name = |i: usize| format!("P{i}");
    let domains: Map<String, Value> =
        (0..parameters).map(|i| (name(i), format!("range(1, {values})").into())).collect();
    let pairs = (1..parameters).map(|i| (name(i - 1), name(i)));
    let kernel: Vec<Value> = pairs
        .clone()
        .map(|(a, b)| json!({ "compute": format!("abs(3 * {a} - 2 * {b}) + {b} % 3") }))
        .collect();
    let constraints: Vec<String> = pairs.map(|(a, b)| format!("{a} + {b} >= 4")).collect();
    json!({
        "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
        "parameters": domains, "constraints": constraints,
        "launch": { "global_size": 64, "local_size": 8 }, "kernel": kernel
    })
}

#[test]
fn ten_to_the_eleventh() {
    let value = chain(13, 8);
    let problem = read(&value);
    let count = problem.configurations(&Default::default()).unwrap().count().unwrap();
    println!("{count}");
    // The least of all neighbours, found by dynamic programming over the chain.
    let cost = |a: i64, b: i64| (3 * a - 2 * b).abs() + b % 3;
    let mut to_go = vec![vec![(0, Vec::new()); 9]];
    for _ in 1..13 {
        let last = to_go.last().unwrap().clone();
        let best = |a: i64| {
            let next = (1..=8).filter(|b| a + b >= 4).map(|b| {
                let (more, path) = &last[b as usize];
                (cost(a, b) + more, [&[b], path.as_slice()].concat())
            });
            next.min().unwrap()
        };
        let own = (0..=8).map(|a| if a == 0 { (0, Vec::new()) } else { best(a) }).collect();
        to_go.push(own);
    }
    let last = to_go.last().unwrap();
    let (sum, path) =
        (1..=8).map(|a| (last[a].0, [&[a as i64], last[a].1.as_slice()].concat())).min().unwrap();
    // 64 items in groups of 8 on two units of four elements: four waves of two items each.
    let time = 4 * 2 * sum;
    let written = certificate(&problem, &Configuration(path.clone()), time).unwrap();
    assert_eq!(written.claim.proof, CertificateKind::Inequalities);
    let report = check(&written, None, &never).unwrap();
    println!("{report:?}");
    assert!(certificate(&problem, &Configuration(path), time + 8).is_err());
}

/// Eight parameters in one condition that is not a sum: a table over all is too large, but few
/// boxes are enough. 4 * 10^8 choices.
pub fn wide() -> Value {
    let name = |i: usize| format!("P{i}");
    let domains: Map<String, Value> = (0..8).map(|i| (name(i), "range(1, 12)".into())).collect();
    let kernel: Vec<Value> =
        (0..8).map(|i| json!({ "compute": format!("{} * (12 - P{i})", i + 2) })).collect();
    let all = (0..8).map(name).collect::<Vec<_>>().join(" + ");
    json!({
        "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
        "parameters": domains, "constraints": [format!("abs({all}) <= 88")],
        "launch": { "global_size": 64, "local_size": 8 }, "kernel": kernel
    })
}

#[test]
fn one_condition_over_all() {
    let problem = read(&wide());
    // The first parameter is the cheapest to make smaller: by 8, each 2 ticks, for 2 items in 4
    // waves.
    let best = Configuration(vec![4, 12, 12, 12, 12, 12, 12, 12]);
    let time = 4 * 2 * (2 * 8);
    let written = certificate(&problem, &best, time).unwrap();
    let Proved::Branches(tree) = &written.proof else { panic!("{:?}", written.proof) };
    assert_eq!(tree.boxes.len(), 671);
    check(&written, None, &never).unwrap();
    assert!(certificate(&problem, &best, time + 1).is_err());
}

/// A part that has no value for values of its own parameters: the condition that it has one
/// excludes them, so inequalities prove the rest.
#[test]
fn no_value_where_nothing_is_valid() {
    let problem = read(&json!({
        "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
        "parameters": { "A": [0, 1, 2], "B": [0, 1] }, "constraints": ["A >= 1 - B", "A >= B"],
        "launch": { "global_size": 64, "local_size": 8 }, "kernel": [{ "compute": "12 // A" }]
    }));
    let written = certificate(&problem, &Configuration(vec![2, 0]), 4 * 2 * 6).unwrap();
    assert_eq!(written.claim.proof, CertificateKind::Inequalities);
    check(&written, None, &never).unwrap();
}
