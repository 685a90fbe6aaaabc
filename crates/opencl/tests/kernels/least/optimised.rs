//! Least counts beside what clang's -O3 leaves of random kernels, executed on the host.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_model::{Bound, LeastCount, LeastUsage, Problem};
use tickbound_opencl::{KernelReading, attach, least};

use super::written::Writer;
use super::{Own, of_all};
use crate::kernels::example::Kernel;
use crate::kernels::instrument;
use crate::kernels::instrumented::{Counts, Instrument, Touch};

/// Items of a warp, and of a group.
const WARP: usize = 4;
const GROUP: usize = 8;

/// A problem file with a kernel that [`Writer`] wrote, in `k.cl`.
fn problem_file() -> Value {
    json!({
        "profile": "resources",
        "platform": {
            "units_per_device": 2, "elements_per_unit": 32, "global_access": 4,
            "resources": { "warp_width": WARP, "banks": 4, "line_bytes": 128, "l1_size": 4096 }
        },
        "inputs": { "n": 5 }, "parameters": { "T": [1, 2, 3] },
        "launch": { "global_size": [32], "local_size": [GROUP] },
        "kernel": { "opencl": "k.cl", "entry": "k", "defines": { "T": "T" }, "arguments": [
            { "name": "a", "type": "float", "length": 4096, "fill": { "random": [0, 1] } },
            { "name": "v", "type": "float", "length": 2048, "fill": { "random": [0, 1] } },
            { "name": "index", "type": "int", "length": 64, "fill": { "random": [0, 63] } },
            { "name": "out", "type": "float", "length": 1024, "fill": 0, "output": true },
            { "name": "n", "type": "int", "value": "n" }
        ] }
    })
}

/// The problem, read, with an answer to each question about what depends on data.
fn read(folder: &Path) -> Result<(Problem, KernelReading), String> {
    let mut file = problem_file();
    loop {
        let none = |_: &str| unreachable!("the platform is in the file");
        let problem = Problem::from_value(&file, &IndexMap::new(), &none);
        let mut problem = problem.map_err(|e| e.to_string())?;
        let message = match attach(&mut problem, folder) {
            Ok(reading) => return Ok((problem, reading.ok_or("no source")?)),
            Err(e) => e.to_string(),
        };
        let answers = [("bounds", json!(3)), ("branches", json!("both"))];
        let asked = answers.into_iter().find_map(|(what, answer)| {
            let (_, rest) = message.split_once("add \"")?;
            let place = match rest.strip_prefix(&format!("{what}\": {{ \"")) {
                Some(rest) => rest.split_once("\": ")?.0,
                None => {
                    rest.split_once('"').filter(|_| rest.ends_with(&format!("kernel.{what}")))?.0
                }
            };
            Some((what, place.to_owned(), answer))
        });
        let (what, place, answer) = asked.ok_or(message.clone())?;
        if file["kernel"][what].get(&place).is_some() {
            return Err(message);
        }
        file["kernel"][what][place] = answer;
    }
}

/// What one run did, in the terms of least counts.
struct Done {
    /// Of each warp, group by group: most of what one of its lanes does.
    warps: Vec<Own>,
    /// Of each group.
    groups: Vec<Own>,
    launch: Own,
}

impl Done {
    fn new(items: &[Counts], touches: &[Touch]) -> Done {
        let of_item = |c: &Counts| {
            let global = c.global_loads + c.global_stores + c.constant_loads;
            let all = [
                (LeastCount::Real, c.real),
                (LeastCount::Special, c.special),
                (LeastCount::Convert, c.conversions),
                (LeastCount::GlobalRequests, global),
                (LeastCount::LocalRequests, c.local_loads + c.local_stores),
            ];
            all.map(|(what, n)| (what, n as i64))
        };
        let of_warp = |items: &[Counts]| {
            let mut most = Own::new();
            for (what, n) in items.iter().flat_map(of_item) {
                let own = most.entry(what).or_insert(0);
                *own = n.max(*own);
            }
            most
        };
        let groups = items.len() / GROUP;
        let mut done = Done {
            warps: items.chunks(WARP).map(of_warp).collect(),
            groups: vec![Own::new(); groups],
            launch: Own::new(),
        };
        done.add_bytes(touches);
        done
    }

    fn add_bytes(&mut self, touches: &[Touch]) {
        // Different bytes of each warp, and of the launch, by direction; of local memory those of
        // each execution of an access.
        let mut of_warps: BTreeSet<(usize, bool, u64)> = BTreeSet::new();
        let mut of_launch: BTreeSet<(bool, u64)> = BTreeSet::new();
        let mut of_local: BTreeSet<(usize, u32, usize, u64)> = BTreeSet::new();
        let mut before: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for touch in touches {
            let warp = touch.item as usize / WARP;
            let executions = before.entry((touch.item, touch.site)).or_insert(0);
            *executions += 1;
            for at in touch.at..touch.at + u64::from(touch.bytes) {
                match touch.space {
                    3 if touch.store => {}
                    3 => drop(of_local.insert((warp, touch.site, *executions, at))),
                    _ => {
                        of_warps.insert((warp, touch.store, at));
                        of_launch.insert((touch.store, at));
                    }
                }
            }
        }
        let group = |warp: usize| warp * WARP / GROUP;
        for (warp, ..) in of_warps {
            *self.groups[group(warp)].entry(LeastCount::GlobalBytes).or_insert(0) += 1;
        }
        for (warp, ..) in of_local {
            *self.groups[group(warp)].entry(LeastCount::LocalBytes).or_insert(0) += 1;
        }
        for (store, _) in of_launch {
            let what = if store { LeastCount::WrittenBytes } else { LeastCount::ReadBytes };
            *self.launch.entry(what).or_insert(0) += 1;
        }
    }

    /// Of what a count is: each warp, each group or the launch.
    fn of(&self, what: LeastCount) -> Vec<i64> {
        let all =
            |maps: &[Own]| maps.iter().map(|map| map.get(&what).copied().unwrap_or(0)).collect();
        match what {
            LeastCount::GlobalBytes | LeastCount::LocalBytes => all(&self.groups),
            LeastCount::ReadBytes | LeastCount::WrittenBytes => {
                all(std::slice::from_ref(&self.launch))
            }
            _ => all(&self.warps),
        }
    }
}

/// Counts above what was done.
fn violations(each: &Own, some: &Own, done: &Done) -> Vec<String> {
    let mut all = Vec::new();
    for what in compared() {
        let (own, places) = (each.get(&what).copied().unwrap_or(0), done.of(what));
        if let Some(less) = places.iter().find(|n| **n < own) {
            all.push(format!("{}: {own} of each, but {less}", what.name()));
        }
        let (counted, sum) = (of_launch(what, each, some, done), places.iter().sum::<i64>());
        if counted > sum {
            all.push(format!("{}: {counted} of all, but {sum}", what.name()));
        }
    }
    all
}

/// All that is counted but the dependent operations, which no code shows one by one.
fn compared() -> impl Iterator<Item = LeastCount> {
    LeastCount::ALL.iter().copied().filter(|what| *what != LeastCount::Chain)
}

/// What is counted for the whole launch.
fn of_launch(what: LeastCount, each: &Own, some: &Own, done: &Done) -> i64 {
    let number = |own: &Own| own.get(&what).copied().unwrap_or(0);
    number(each) * done.of(what).len() as i64 + number(some)
}

/// What kernels do beside what they do at least.
#[derive(Default)]
struct Comparison {
    /// Kernels that the reader refuses.
    refused: usize,
    violations: Vec<String>,
    /// Kernels in which a count is found that is too large by one.
    faults: usize,
    /// Counted and done, over all kernels.
    sums: IndexMap<LeastCount, [i64; 2]>,
}

impl Comparison {
    /// Adds the kernel of a seed.
    fn add(&mut self, seed: u64, instrument: &mut Instrument) {
        let text = Writer::new(seed).kernel();
        self.add_text((&format!("seed {seed}"), &text), seed % 3 + 1, instrument);
    }

    /// Adds a kernel with a name, with this value of T. Returns what each item does at least.
    fn add_text(
        &mut self,
        (name, text): (&str, &str),
        value: u64,
        instrument: &mut Instrument,
    ) -> Option<Own> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.cl"), text).unwrap();
        let Ok((problem, reading)) = read(folder.path()) else {
            self.refused += 1;
            return None;
        };
        let counts: LeastUsage = least(&problem, &reading).unwrap();
        let kernel = Kernel { problem, folder: folder.path().to_owned() };
        let bound: Bound = kernel.bind(&[("T", value)]);
        let about = format!("{name}, T {value}");
        let run = kernel.optimised(instrument, &bound);
        let (items, touches) = run.unwrap_or_else(|e| panic!("{about}: {e}\n{text}"));
        let done = Done::new(&items, &touches);
        let [mut each, some] = [&counts.each, &counts.some].map(|own| of_all(own, &bound));
        for what in compared() {
            let sums = self.sums.entry(what).or_default();
            sums[0] += of_launch(what, &each, &some, &done);
            sums[1] += done.of(what).iter().sum::<i64>();
        }
        for violation in violations(&each, &some, &done) {
            self.violations.push(format!("{about}: {violation}\n{text}"));
        }
        let found = each.clone();
        let more = [LeastCount::Real, LeastCount::GlobalRequests, LeastCount::ReadBytes];
        more.iter().for_each(|what| *each.entry(*what).or_insert(0) += 1);
        self.faults += usize::from(!violations(&each, &some, &done).is_empty());
        Some(found)
    }
}

/// Compares the kernels of some seeds.
fn compare(seeds: std::ops::Range<u64>) {
    let Some(mut instrument) = instrument() else { return };
    let mut comparison = Comparison::default();
    let kernels = usize::try_from(seeds.end - seeds.start).unwrap();
    println!("seeds {seeds:?}");
    seeds.for_each(|seed| comparison.add(seed, &mut instrument));
    let Comparison { refused, violations, faults, sums } = comparison;
    for (what, [counted, done]) in &sums {
        println!("{}: {counted} of {done}", what.name());
    }
    println!("{refused} of {kernels} refused, one more found in {faults}");
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    // Neither is a test of counts of 0, nor one that finds nothing.
    assert!(refused < kernels / 10 && faults > kernels / 20, "{refused} {faults}");
    assert!(sums.values().all(|[counted, done]| counted * 20 > *done), "{sums:?}");
}

/// A load whose value is not known is needed by no other one that is not known.
#[test]
fn what_is_unknown_is_not_one_value() {
    let Some(mut instrument) = instrument() else { return };
    let text = "constant float table[8] = {1.5f, 2, 3, 4, 5, 6, 7, 8};
        kernel void k(global const float *restrict a, global const float4 *restrict v,
                      global const int *restrict index, global float *restrict out, int n) {
            const int gid = get_global_id(0);
            float unused = table[get_local_id(0)];
            out[gid] = as_float(gid);
        }";
    let mut comparison = Comparison::default();
    comparison.add_text(("a table", text), 1, &mut instrument);
    assert_eq!((comparison.refused, comparison.violations), (0, Vec::new()));
}

/// Statements, T, and the real and special operations of an item.
const BY_HAND: [(&str, u64, [i64; 2]); 14] = [
    // Rows of an array behind a pointer: what the column that is read needs.
    (
        "float q[2][3];
        for (int j = 0; j < 2; ++j) q[j][0] = q[j][1] = q[j][2] = 0.0f;
        for (int i = 0; i < 8; ++i) for (int j = 0; j < 2; ++j) {
            row(q[j], a[gid * 8 + i], a[gid * 8 + j + 512]);
        }
        for (int j = 0; j < 2; ++j) out[gid + 32 * j] = q[j][1];",
        1,
        [16, 0],
    ),
    // A sum by components behind a cast, of all vectors, and of one component.
    (
        "float4 w[2]; x = a[gid];
        for (int j = 0; j < 2; ++j) w[j] = sqrt(v[gid * 2 + j]);
        for (int j = 0; j < 2; ++j) for (int c = 0; c < 4; ++c) x += ((float *)&w[j])[c];",
        1,
        [8, 8],
    ),
    ("float4 w = v[gid] * v[gid + 32]; x = sqrt(((float *)&w)[2]);", 1, [1, 1]),
    // A vector that is stored hides what stood in it.
    ("float4 w = sqrt(v[gid]); ((float *)&w)[1] = sqrt(a[gid]); w = v[0]; x = w.y;", 1, [0, 0]),
    // A loop without an iteration needs nothing, and one of two iterations what is before it.
    ("float y = sqrt(a[gid]); for (int i = 1; i < T; ++i) x += y * y;", 1, [0, 0]),
    ("float y = sqrt(a[gid]); for (int i = 1; i < T; ++i) x += y * v[i].x;", 3, [2, 1]),
    // The last of all iterations.
    (
        "float q[2];
        for (int j = 0; j < 2; ++j) {
            for (int i = 0; i < n; ++i) q[j] = sqrt(a[gid] * v[i].x);
            out[gid + 32 * j] = q[j];
        }",
        1,
        [1, 1],
    ),
    // Twice a number, and a product before the loop that adds to it: one operation with a sum.
    ("x = a[gid]; x = x + (x + x);", 1, [1, 0]),
    // A sum of constants.
    (
        "float4 w[2]; for (int i = 0; i < 2 * T; ++i) w[1] = (float4)(x, 2.0f, 1.0f, 0.0f);
        for (int c = 0; c < 4; ++c) x += ((float *)&w[1])[c];
        x = x + a[gid] * x;",
        1,
        [1, 0],
    ),
    // What stays 0 in all iterations, as each makes it of constants.
    (
        "float r = a[gid];
        for (int i = 1; i < T; ++i) { x += x * (float)i + x; r += x * x; }
        x = r + a[gid + 1];",
        3,
        [1, 0],
    ),
    // Sums that are read two by two, and only one of two.
    (
        "float q[4] = {0, 0, 0, 0};
        for (int i = 0; i < 8; ++i) for (int j = 0; j < 4; ++j) q[j] += sqrt(a[gid * 4 + j + i]);
        for (int j = 0; j < 2; ++j) {
            float2 w; w.x = q[j * 2]; w.y = q[j * 2 + 1];
            *(global float2 *)&out[gid * 8 + 256 + j * 2] = w;
        }",
        1,
        [28, 11],
    ),
    (
        "float q[2] = {0, 0};
        for (int i = 0; i < 8; ++i)
            for (int j = 0; j < 2; ++j) q[j] += sqrt(a[gid * 4 + i * 2 + j]);
        float2 w; w.x = q[0]; w.y = q[1];
        *(global float2 *)&out[gid * 8 + 256] = w;",
        1,
        [14, 16],
    ),
    (
        "float q[4] = {0, 0, 0, 0};
        for (int i = 0; i < 8; ++i) for (int j = 0; j < 4; ++j) q[j] += sqrt(a[gid * 4 + j + i]);
        for (int j = 0; j < 2; ++j) out[gid * 8 + 256 + j] = q[j * 2];",
        1,
        [0, 0],
    ),
    ("x = a[gid] * a[gid + 1]; for (int i = 0; i < n; ++i) x += v[gid + i].x;", 1, [5, 0]),
];

#[test]
fn counts_by_hand() {
    let Some(mut instrument) = instrument() else { return };
    let mut comparison = Comparison::default();
    for (body, value, [real, special]) in BY_HAND {
        let text = format!(
            "void row(float *r, float x, float y) {{ r[0] += x / y; r[1] += x * y; r[2] += y; }}
            kernel void k(global const float *restrict a, global const float4 *restrict v,
                          global const int *restrict index, global float *restrict out, int n) {{
                const int gid = get_global_id(0);
                float x = 0.0f;
                {body}
                out[gid + 64] = x;
            }}"
        );
        let found = comparison.add_text((body, &text), value, &mut instrument).unwrap();
        let of = |what| found.get(&what).copied().unwrap_or(0);
        assert_eq!([of(LeastCount::Real), of(LeastCount::Special)], [real, special], "{body}");
    }
    assert_eq!((comparison.refused, comparison.violations), (0, Vec::new()));
}

#[test]
fn random_kernels() {
    compare(0..150);
}

#[test]
fn more_random_kernels() {
    compare(150..300);
}

#[test]
#[ignore = "ten minutes"]
fn many_random_kernels() {
    let seed = |name: &str, or| std::env::var(name).map_or(or, |seed| seed.parse().unwrap());
    compare(seed("FIRST_SEED", 300)..seed("LAST_SEED", 4000));
}
