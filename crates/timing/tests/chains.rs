//! Random problems under the profile `resources`: quotients, sides of conditionals that have a
//! value only where they are taken, and conditions over several parameters.

use serde_json::{Map, Value, json};
use tickbound_model::random::SplitMix64;

/// Random choices.
pub struct Random(pub SplitMix64);

impl Random {
    /// One of `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.draw() as usize % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const CONSTRAINTS: [&str; 7] = [
    "X * Y <= 512",
    "n % (A * X) == 0",
    "C % A == 0 or S == 0",
    "A * B <= 16",
    "B % (Y // 8) == 0",
    "n // (A * B) >= C",
    "C >= A",
];

const DEFINITIONS: [&str; 6] = [
    "n // (A * B)",
    "ceil_div(n, X) // A",
    "max(1, C // A) * B",
    "n // (C // A) if C >= A else B",
    "A * B if S else ceil_div(n, A * X)",
    "min(A * X, B * Y)",
];

/// Of these, one may be negative, and one may divide by 0.
const AMOUNTS: [&str; 10] = [
    "q * A + r * B",
    "q // X + r",
    "(q * B + C if S else r * A + B) if T else q + C",
    "n // (C // A) * B if C >= A else r",
    "q + r - min(q + r, n // B)",
    "max(q, C * B) - C * B + A",
    "ceil_div(q * A, Y) * (1 + S) + T * r",
    "q // (B - 1) if B > 1 else r * r // A",
    "q - A",
    "r // (C - 2)",
];

/// A problem with up to some thousand configurations.
pub fn problem(seed: u64) -> Value {
    let mut r = Random(SplitMix64(seed));
    let mut usage = Map::new();
    for name in NAMES {
        // Few problems have a fault.
        let choices = if r.below(40) == 0 { AMOUNTS.len() } else { AMOUNTS.len() - 2 };
        if r.below(4) > 0 {
            usage.insert(name.into(), r.one(&AMOUNTS[..choices]).into());
        }
    }
    usage.insert("registers".into(), "A * B + C + 8 * S + 10".into());
    usage.insert("local_bytes".into(), r.one(&["S * X * B * 64", "C * Y * 16", "0"]).into());
    let kept = |r: &mut Random, all: &[&str], part: usize| -> Vec<Value> {
        all.iter().filter(|_| r.below(part) == 0).map(|one| (*one).into()).collect()
    };
    let mut platform = json!({
        "units_per_device": 1 + r.below(60), "elements_per_unit": 32, "global_access": 7,
        "local_memory": 65536, "clock_mhz": 1500, "resources": { "warp_width": 32 }
    });
    for (name, number) in RESOURCES {
        if r.below(5) > 0 {
            platform["resources"][name] = number.into();
        }
    }
    let parameters = json!({
        "A": [1, 2, 4, 8], "B": [1, 2, 4], "C": [1, 2, 3, 8], "S": [0, 1], "T": [0, 1],
        "X": [8, 16, 32], "Y": [8, 16]
    });
    json!({
        "profile": "resources", "platform": platform, "inputs": { "n": 96 << r.below(8) },
        "without": kept(&mut r, &["mixing", "tail", "spill", "latency", "occupancy"], 5),
        "parameters": parameters, "constraints": kept(&mut r, &CONSTRAINTS, 3),
        "definitions": { "q": r.one(&DEFINITIONS), "r": r.one(&DEFINITIONS) },
        "launch": { "global_size": ["n * X", "B * Y"], "local_size": ["X", "Y"] },
        "kernel": [], "usage": usage, "finish": []
    })
}

const NAMES: [&str; 14] = [
    "real",
    "integer",
    "special",
    "branches",
    "local_requests",
    "local_wavefronts",
    "global_requests",
    "global_wavefronts",
    "global_lines",
    "barriers",
    "l2_bytes",
    "dram_bytes",
    "far_steps",
    "near_steps",
];

const RESOURCES: [(&str, i64); 20] = [
    ("real_lanes", 64),
    ("integer_lanes", 32),
    ("special_lanes", 16),
    ("issue_rate", 4),
    ("schedulers", 4),
    ("load_store_lanes", 32),
    ("local_bytes_per_clock", 128),
    ("l1_bytes_per_clock", 64),
    ("l1_lines_per_clock", 1),
    ("l2_bytes_per_clock", 2048),
    ("l2_size", 1 << 16),
    ("l2_latency", 250),
    ("l1_latency", 33),
    ("dram_latency", 600),
    ("dram_megabytes_per_second", 400_000),
    ("barrier_latency", 20),
    ("warps_per_unit", 48),
    ("groups_per_unit", 16),
    ("registers_per_unit", 65536),
    ("registers_per_item", 64),
];
