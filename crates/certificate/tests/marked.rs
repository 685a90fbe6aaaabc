//! Random programs that mark and wait, of items that are alike, under the published profiles.

use serde_json::{Value, json};

use crate::problems::Random;

/// The problem with this seed: two parameters, loops up to three deep.
pub fn problem(seed: u64) -> Value {
    let mut r = Random(seed);
    let kernel = program(&mut r, 3);
    let finish: Value = program(&mut r, 0).into_iter().filter(|s| s != "barrier").collect();
    let (profile, launch, warps) = match r.below(2) {
        0 => (
            "published-2023",
            json!({ "local_size": "2 * A", "activations": "B + 1" }),
            json!(null),
        ),
        _ => (
            "published-2021",
            json!({ "global_size": 96, "local_size": "4 * A" }),
            json!({ "width": 2, "dispatchers": 2 }),
        ),
    };
    let mut platform = json!({ "units_per_device": 2, "elements_per_unit": 4, "global_access": 3 });
    if warps != json!(null) {
        platform["warps"] = warps;
    }
    json!({
        "profile": profile, "platform": platform,
        "parameters": { "A": [1, 2, 3, 6], "B": [0, 1, 2, 4] },
        "launch": launch, "kernel": kernel, "finish": finish
    })
}

fn program(r: &mut Random, deep: u64) -> Vec<Value> {
    (0..1 + r.below(3)).map(|_| statement(r, deep)).collect()
}

fn statement(r: &mut Random, deep: u64) -> Value {
    let amount = r.one_of(&["1", "A", "B", "2 * B", "A * B", "7 - A"]);
    match r.below(if deep > 0 { 9 } else { 6 }) {
        0 => json!({ "work": amount }),
        1 => json!({ "global": amount }),
        2 | 3 => json!({ "until": r.one_of(&["3 * A", "9 - B", "A * B", "-2", "A", "20"]) }),
        4 => json!("mark"),
        5 => json!("barrier"),
        6 | 7 => {
            let count = r.one_of(&["A", "B", "B - 1", "3", "1", "0"]);
            json!({ "repeat": count, "body": program(r, deep - 1) })
        }
        _ => {
            let condition = r.one_of(&["A > B", "B == 2", "A % 2", "1"]);
            let then = program(r, deep - 1);
            // Sides that do the same may be taken by whoever; under `published-2021` they come one
            // after the other.
            match r.below(4) {
                0 => json!({ "if": "lid % 2", "then": then, "else": then }),
                _ => json!({ "if": condition, "then": then, "else": program(r, deep - 1) }),
            }
        }
    }
}
