//! Proofs by prices and labels: for random problems, and spoiled.

use std::collections::HashMap;

use serde_json::{Value, json};
use tickbound_certificate::folder::CertificateKind;
use tickbound_certificate::labels::{LabelProof, check as check_labels, prove};
use tickbound_timing::obligation::Obligation;

use crate::shared_problems::{KINDS, Kind, problem};
use crate::{certificate, check, least, never, read};

/// Each random problem has a certificate that holds, and none of a tick more. So has what is proved
/// by labels; tables over pairs alone are not.
#[test]
fn random_problems_whose_parameters_share_something() {
    let (mut by_labels, mut labels) = (HashMap::new(), 0);
    for seed in 0..600 {
        let (kind, value) = problem(seed);
        let problem = read(&value);
        let Some((configuration, time)) = least(&problem) else { continue };
        let written = certificate(&problem, &configuration, time).unwrap();
        let report = check(&written, None, &never).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(report.checked.len() >= 2, "{report:?}");
        assert!(certificate(&problem, &configuration, time + 1).is_err(), "seed {seed}");
        let obligation = Obligation::new(&problem).unwrap();
        let Ok(proof) = prove(&obligation, time, &never) else { continue };
        let found = check_labels(&obligation, &proof, time, &never);
        labels += found.unwrap_or_else(|e| panic!("seed {seed}: {e}: {value}")).labels;
        check_labels(&obligation, &proof, time + 1, &never).unwrap_err();
        *by_labels.entry(kind).or_insert(0) += 1;
    }
    for kind in KINDS.into_iter().filter(|kind| *kind != Kind::Clique) {
        assert!(by_labels[&kind] > 20, "{kind:?}: {}", by_labels[&kind]);
    }
    println!("{by_labels:?}: {labels} labels");
    assert!(labels > 1000);
}

/// Two budgets and a maximum, so that there are labels.
fn spoilt() -> Value {
    json!({
        "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 3 },
        "parameters": { "A": "range(1, 6)", "B": "range(1, 6)", "C": "range(1, 6)",
            "D": "range(1, 6)", "E": "range(1, 6)" },
        "constraints": ["3 * A + 5 * B + 7 * C + 2 * D + 4 * E <= 61",
            "A * B + C * D + E >= 9", "A * B * C * D <= 200"],
        "launch": { "global_size": 1, "local_size": 1 },
        "kernel": [
            { "work": "ceil_div(60, A) + ceil_div(71, B) + ceil_div(83, C)" },
            { "work": "ceil_div(44, D) + ceil_div(95, E)" },
            { "work": "max(7 * A + 3 * B + C + 2 * D, 5 * E + 2 * C + A + 4 * D, 6 * D + B + E)" }]
    })
}

#[test]
fn what_does_not_follow_is_rejected() {
    let problem = read(&spoilt());
    let (_, time) = least(&problem).unwrap();
    let obligation = Obligation::new(&problem).unwrap();
    let proof = prove(&obligation, time, &never).unwrap();
    let why = |changed: &LabelProof| {
        let checked = check_labels(&obligation, changed, time, &never);
        checked.map_or_else(|e| e.to_string(), |found| format!("holds: {found:?}"))
    };
    assert!(why(&proof).starts_with("holds"));
    // Without a label, something is not covered; a label that is better than what it covers is as
    // good, one that is worse is not.
    let (mut missed, mut all) = (0, 0);
    for (at, labels) in proof.labels.iter().enumerate() {
        for i in 0..labels.len() {
            all += 1;
            let mut changed = proof.clone();
            changed.labels[at].remove(i);
            missed += usize::from(why(&changed).contains("none covers what follows with"));
            let mut changed = proof.clone();
            changed.labels[at][i].1[0] += 1;
            assert!(why(&changed).contains("none covers"), "{at} {i}: {}", why(&changed));
        }
    }
    assert!(all > 20, "{all}");
    assert_eq!(missed, all);
    let reject = |words: &str, change: &dyn Fn(&mut LabelProof)| {
        let mut changed = proof.clone();
        change(&mut changed);
        assert_ne!(changed, proof);
        assert!(why(&changed).contains(words), "{words}: {}", why(&changed));
    };
    // Of a price far up and one far down at least one has the wrong sign.
    for a in 0..proof.prices.len() {
        let changed = [-1, 1].map(|sign| {
            let mut changed = proof.clone();
            changed.prices[a] = sign * 1_000_000_000;
            why(&changed)
        });
        let wrong = |why: &String| why.contains("a price that gives no bound");
        assert!(changed.iter().any(wrong), "{a}: {changed:?}");
        assert!(!changed.iter().any(|why| why.starts_with("holds")), "{a}: {changed:?}");
    }
    reject("each parameter once", &|p| p.order[0] = p.order[1].clone());
    reject("each parameter once", &|p| p.order[0] = "X".into());
    reject("each parameter once", &|p| drop(p.order.pop()));
    reject("lists of labels", &|p| drop(p.labels.pop()));
    reject("lists of labels", &|p| p.prices.push(0));
    reject("that no parameters have", &|p| p.labels[0][0].0.push(1));
    reject("that no parameters have", &|p| p.labels[0][0].1.truncate(1));
    reject("are left after the last parameter", &|p| {
        let label = (Vec::new(), vec![0; p.prices.len()]);
        p.labels.last_mut().unwrap().push(label);
    });
}

/// Budgets over thirty parameters, 10^14 choices: more than can be listed, or tabulated.
#[test]
fn a_budget_over_thirty_parameters() {
    let names: Vec<String> = (0..30).map(|i| format!("S{i}")).collect();
    let domains: serde_json::Map<String, Value> =
        names.iter().map(|n| (n.clone(), json!([1, 2, 3]))).collect();
    let budget =
        (0..30).map(|i| format!("{} * S{i}", 3 + i * 7 % 19)).collect::<Vec<_>>().join(" + ");
    let kernel: Vec<Value> = (0..30)
        .map(|i| json!({ "work": format!("ceil_div({}, S{i})", 100 + i * 37 % 83) }))
        .collect();
    let value = json!({
        "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 3 },
        "parameters": domains, "constraints": [format!("{budget} <= 601")],
        "launch": { "global_size": 1, "local_size": 1 }, "kernel": kernel });
    let problem = read(&value);
    // Dynamic programming over what of the budget is spent.
    let mut best: Vec<Option<(i64, Vec<i64>)>> = vec![None; 602];
    best[0] = Some((0, Vec::new()));
    for i in 0..30i64 {
        let mut next: Vec<Option<(i64, Vec<i64>)>> = vec![None; 602];
        for (spent, known) in best.iter().enumerate() {
            let Some((cost, chosen)) = known else { continue };
            for v in 1..=3 {
                let to = spent + ((3 + i * 7 % 19) * v) as usize;
                let cost = cost + (100 + i * 37 % 83 + v - 1) / v;
                if to <= 601 && next[to].as_ref().is_none_or(|(c, _)| cost < *c) {
                    next[to] = Some((cost, [chosen.as_slice(), &[v]].concat()));
                }
            }
        }
        best = next;
    }
    let (time, chosen) = best.into_iter().flatten().min().unwrap();
    let written = certificate(&problem, &tickbound_model::Configuration(chosen), time).unwrap();
    assert_eq!(written.claim.proof, CertificateKind::Labels);
    println!("{:?}", check(&written, None, &never).unwrap());
}
