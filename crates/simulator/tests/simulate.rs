//! The reference simulator against the published numbers, closed formulas and hand-made cases.

use indexmap::IndexMap;
use itertools::Itertools;
use proptest::prelude::*;
use serde_json::{Value, json};
use tickbound_model::{Bound, Problem};
use tickbound_simulator::{
    MAX_ITEMS, SimulateError, SimulateOptions, SimulatedRun, Span, SpanKind, simulate,
};

fn read(path: &str) -> String {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn example(name: &str) -> Value {
    serde_json::from_str(&read(&format!("examples/problems/{name}.json"))).expect("JSON")
}

fn named(values: &[(&str, i64)]) -> IndexMap<String, i64> {
    values.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect()
}

fn problem(value: &Value, inputs: &[(&str, i64)]) -> Problem {
    Problem::from_value(value, &named(inputs), &|_| unreachable!("no named platform"))
        .unwrap_or_else(|e| panic!("{e}"))
}

fn time(problem: &Problem, bound: &Bound) -> i64 {
    simulate(problem, bound, &SimulateOptions::default()).unwrap_or_else(|e| panic!("{e}")).time
}

fn time_at(problem: &Problem, values: &[(&str, i64)]) -> i64 {
    time(problem, &problem.bind(&named(values)).unwrap_or_else(|e| panic!("{e}")))
}

fn all(problem: &Problem) -> Vec<Bound> {
    problem.space().unwrap_or_else(|e| panic!("{e}")).bound
}

/// The only configuration of a problem that has one.
fn only(value: &Value) -> (Problem, Bound) {
    let problem = problem(value, &[]);
    let mut bounds = all(&problem);
    assert_eq!(bounds.len(), 1);
    (problem, bounds.remove(0))
}

fn run_only(value: &Value, options: &SimulateOptions) -> Result<SimulatedRun, SimulateError> {
    let (problem, bound) = only(value);
    simulate(&problem, &bound, options)
}

fn literal() -> SimulateOptions {
    SimulateOptions { skip_repetition: false, ..SimulateOptions::default() }
}

// ---- published-2023: the abstract kernel of seed 000 -------------------------------------------

/// Section 3 of the design, with the activation count of the authors' reduced model.
fn abstract_formula(size: i64, wg: i64, ts: i64) -> i64 {
    let (np, gmt, units) = (4, 4, 2);
    let groups = size / wg;
    let per_unit = groups / units + groups % units;
    let activations = if per_unit == 1 { 1 } else { per_unit + 1 };
    activations * (wg / np).max(1) * ((size / ts) * (gmt * ts + 1) + (ts + 1) + (gmt + 1))
}

#[test]
fn abstract_kernel_has_the_times_of_table_1() {
    let rows = [
        (8, 4, 4, 44),
        (16, 8, 4, 156),
        (32, 16, 4, 584),
        (64, 32, 8, 2224),
        (128, 64, 64, 9344),
        (256, 4, 4, 36234),
        (512, 4, 4, 142_090),
        (1024, 16, 32, 549_912),
    ];
    for (size, wg, ts, published) in rows {
        let p = problem(&example("abstract"), &[("size", size)]);
        assert_eq!(time_at(&p, &[("WG", wg), ("TS", ts)]), published, "size {size}");
    }
}

#[test]
fn abstract_kernel_has_the_known_minima() {
    let rows = [
        (8, 44, vec![(4, 2), (4, 4)]),
        (16, 156, vec![(8, 4)]),
        (32, 584, vec![(16, 4), (16, 8)]),
        (64, 2224, vec![(32, 8)]),
        (128, 8672, vec![(64, 8), (64, 16)]),
        (256, 33984, vec![(128, 16)]),
        (512, 134_528, vec![(256, 16), (256, 32)]),
        (1024, 533_248, vec![(512, 32)]),
    ];
    for (size, least, optima) in rows {
        let p = problem(&example("abstract"), &[("size", size)]);
        let times: Vec<_> =
            all(&p).iter().map(|b| (time(&p, b), b.configuration.0.clone())).collect();
        assert_eq!(times.iter().map(|(t, _)| *t).min(), Some(least), "size {size}");
        let found: Vec<_> =
            times.iter().filter(|(t, _)| *t == least).map(|(_, c)| (c[0], c[1])).collect();
        assert_eq!(found, optima, "size {size}");
    }
}

#[test]
fn abstract_kernel_follows_its_closed_formula() {
    for size in [8, 16, 32, 64] {
        let p = problem(&example("abstract"), &[("size", size)]);
        for b in all(&p) {
            let (wg, ts) = (b.configuration.0[0], b.configuration.0[1]);
            let expected = abstract_formula(size, wg, ts);
            let slow = simulate(&p, &b, &literal()).unwrap().time;
            assert_eq!((time(&p, &b), slow), (expected, expected), "size {size}, {wg}, {ts}");
        }
    }
}

#[test]
fn a_huge_problem_takes_few_events() {
    let size = 1 << 30;
    let p = problem(&example("abstract"), &[("size", size)]);
    let bounds = all(&p);
    assert_eq!(bounds.len(), 28 * 29);
    for b in bounds {
        let (wg, ts) = (b.configuration.0[0], b.configuration.0[1]);
        let run = simulate(&p, &b, &SimulateOptions::default()).unwrap();
        assert_eq!(run.time, abstract_formula(size, wg, ts), "{wg}, {ts}");
        assert!(run.events < 2000, "{} events at {wg}, {ts}", run.events);
    }
}

// ---- published-2023: the Minimum problem of seed 000 ------------------------------------------

fn minimum_formula(size: i64, np: i64, wg: i64, ts: i64) -> i64 {
    let gmt = 4;
    let tile = if wg * ts > size { size / wg } else { ts };
    let activations = (size / (wg * tile)).max(1);
    activations * (wg / np).max(1) * (gmt * tile + 1) + (wg.min(np) - 1) + gmt
}

#[test]
fn minimum_follows_its_closed_formula() {
    for np in [4, 64] {
        for size in [16, 32, 64, 128, 256] {
            let p = problem(&example("minimum"), &[("size", size), ("elements_per_unit", np)]);
            for b in all(&p) {
                let (wg, ts) = (b.configuration.0[0], b.configuration.0[1]);
                let expected = minimum_formula(size, np, wg, ts);
                let slow = simulate(&p, &b, &literal()).unwrap().time;
                assert_eq!((time(&p, &b), slow), (expected, expected), "{size} {np} {wg} {ts}");
            }
        }
    }
}

#[test]
fn minimum_has_the_known_minima() {
    for (size, np, least) in
        [(16, 4, 24), (64, 64, 36), (128, 64, 52), (256, 64, 68), (1024, 64, 132)]
    {
        let p = problem(&example("minimum"), &[("size", size), ("elements_per_unit", np)]);
        assert_eq!(all(&p).iter().map(|b| time(&p, b)).min(), Some(least), "size {size}");
    }
}

#[test]
fn minimum_has_the_times_of_table_3() {
    let mut wider = example("minimum");
    wider["parameters"]["WG"] = json!("powers_of_two(2, size/2)");
    // Row, elements, size, WG, TS, time. Rows 1, 3 and 12 are published as 20, 25 and 295.
    let rows = [
        (1, 4, 16, 8, 2, 25),
        (2, 4, 16, 4, 4, 24),
        (3, 4, 16, 2, 4, 39),
        (4, 64, 64, 16, 4, 36),
        (5, 64, 64, 8, 8, 44),
        (6, 64, 64, 4, 4, 75),
        (7, 64, 128, 8, 16, 76),
        (8, 64, 128, 4, 16, 137),
        (9, 64, 128, 4, 8, 139),
        (10, 64, 256, 4, 8, 271),
        (11, 64, 256, 4, 4, 279),
        (12, 64, 256, 2, 4, 549),
    ];
    for (row, np, size, wg, ts, expected) in rows {
        let p = problem(&wider, &[("size", size), ("elements_per_unit", np)]);
        assert_eq!(time_at(&p, &[("WG", wg), ("TS", ts)]), expected, "row {row}");
    }
}

// ---- published-2021: Fermi, seed 001
// -------------------------------------------------------------

fn fermi_formula(size: i64, units: i64, wg: i64, warp: i64) -> i64 {
    let groups = size / wg;
    (groups + units - 1) / units * (wg / 32) * warp
}

#[test]
fn fermi_follows_its_closed_formulas() {
    let gmt = 100;
    for (size, units) in [(64, 16), (256, 3), (1024, 16), (4096, 7)] {
        let inputs = [("size", size), ("units_per_device", units)];
        for (name, listed) in [("fermi-listed", true), ("fermi", false)] {
            let p = problem(&example(name), &inputs);
            let bounds = all(&p);
            assert!(!bounds.is_empty());
            for b in bounds {
                let (wg, ts) = (b.configuration.0[0], b.configuration.0[1]);
                let warp = if listed {
                    2 * (gmt + 1) + 2 * (size / ts + 1)
                } else {
                    (size / ts) * (gmt + 2) + gmt
                };
                let expected = fermi_formula(size, units, wg, warp);
                assert_eq!(time(&p, &b), expected, "{name}: {size} {wg} {ts}");
            }
        }
    }
}

#[test]
fn fermi_offers_the_choices_of_listing_8() {
    // size = 1024: WG = 2^d for d in 1..9, of which warps and dispatchers divide those from 32 on;
    // TS = 2^d for d in 1..5.
    let space = problem(&example("fermi-listed"), &[]).space().unwrap();
    assert_eq!((space.bound.len(), space.unlaunchable), (5 * 5, 4 * 5));
}

#[test]
fn rounds_of_equal_warps_are_skipped() {
    let value = json!({ "profile": "published-2021",
        "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 5,
                      "warps": { "width": 2, "dispatchers": 2 } },
        "launch": { "global_size": 1_i64 << 40, "local_size": 1_i64 << 38 },
        "kernel": [ { "global": 1 }, "barrier", { "until": 7 } ] });
    let run = run_only(&value, &SimulateOptions::default()).unwrap();
    assert_eq!(run.time, 2 * (1 << 36) * 8);
    assert!(run.events < 100, "{} events", run.events);
}

// ---- opencl
// -----------------------------------------------------------------------------------------

#[test]
fn opencl_examples_follow_their_formulas() {
    let div = |a: i64, b: i64| (a + b - 1) / b;
    let p = problem(&example("abstract-opencl"), &[]);
    let mut least = (i64::MAX, 0, 0);
    for b in all(&p) {
        let (wg, ts) = (b.configuration.0[0], b.configuration.0[1]);
        let (rounds, items, loads) = (div(1024 / wg, 6), div(wg, 8), div(ts, wg));
        let tile = items * loads * (40 + 2) + 10 + items * 4 * ts + 10;
        let group = (1024 / ts) * tile + items * 40;
        let expected = 100 + rounds * (25 + group);
        assert_eq!(time(&p, &b), expected, "{wg} {ts}");
        least = least.min((expected, wg, ts));
    }
    assert_eq!(least, (116_047, 64, 128));

    let p = problem(&example("minimum-opencl"), &[]);
    let mut least = (i64::MAX, 0, 0);
    for b in all(&p) {
        let (wg, ts) = (b.configuration.0[0], b.configuration.0[1]);
        let groups = div(65536, wg * ts);
        let group = div(wg, 16) * (2 + 27 * ts) + 8 + 2 + 3 * (wg - 1) + 24;
        let expected = 200 + div(groups, 15) * (30 + group) + groups * (24 + 1);
        assert_eq!(time(&p, &b), expected, "{wg} {ts}");
        least = least.min((expected, wg, ts));
    }
    assert_eq!(least, (10_995, 16, 64));
}

/// A launch of `global` items in groups of `local` on 2 units of 2 elements.
fn small(global: i64, local: i64, kernel: Value) -> Value {
    json!({ "platform": { "units_per_device": 2, "elements_per_unit": 2, "global_access": 5 },
        "launch": { "global_size": global, "local_size": local }, "kernel": kernel })
}

#[test]
fn opencl_by_hand() {
    let priced = |mut value: Value| {
        value["platform"]["barrier"] = json!(1);
        value["platform"]["group_start"] = json!(3);
        value["platform"]["kernel_launch"] = json!(10);
        value["finish"] = json!([{ "until": 1 }]);
        value
    };
    let branch = json!({ "if": "lid == 2", "then": [{ "work": 7 }], "else": [{ "work": 1 }] });
    let cases = [
        ("nothing", small(2, 2, json!([])), 0),
        ("one item per element", small(2, 2, json!([{ "global": 1 }])), 5),
        ("a group smaller than a unit", small(1, 1, json!([{ "global": 1 }])), 5),
        ("three items on two elements", small(3, 3, json!([{ "global": 1 }])), 10),
        ("two groups, two units", small(4, 2, json!([{ "global": 1 }])), 5),
        ("three groups, two units", small(6, 2, json!([{ "global": 1 }])), 10),
        // Element 0 runs items 0 and 2, 1 + 7 ticks; element 1 items 1 and 3, 2 ticks.
        ("the slowest element", small(4, 4, json!([branch])), 8),
        ("each phase waits for its slowest", small(4, 4, json!([branch, "barrier", branch])), 16),
        // Item 0: 1, item 2: 1 + 7, both on element 0; then items 0 and 2 again.
        (
            "the same phase twice",
            small(4, 4, json!([{ "repeat": 2, "body": [branch, "barrier"] }])),
            16,
        ),
        // Item 2 begins at 3, when item 0 has waited: its mark is 3.
        ("the mark is the item's own", small(4, 4, json!([{ "until": 2 }])), 6),
        // After the barrier all items go on at 6: marks 0 and 3 lie 6 and 3 back.
        (
            "later phases keep it",
            small(4, 4, json!([{ "until": 2 }, "barrier", { "until": 4 }])),
            8,
        ),
        // Groups take 0, 1, 2, 3, 4 ticks: unit 0 takes 0 and 2 at 0; unit 1 takes 1 at 0 and 3 at
        // 1; unit 0 takes 4 at 2.
        ("groups that differ", small(5, 1, json!([{ "work": "group" }])), 6),
        ("by gid", small(5, 1, json!([{ "work": "gid" }])), 6),
        // 5, 4, 3, 2, 1: units 5 | 4, then 3 | at 4, 2 at 5, 1 at 7.
        ("the greatest first", small(5, 1, json!([{ "work": "5 - gid" }])), 8),
        ("prices", priced(small(2, 2, json!([{ "global": 1 }]))), 10 + 3 + 5 + 2),
        ("barrier price", priced(small(4, 4, json!(["barrier", "barrier"]))), 10 + 3 + 2 + 2),
        ("rounds pay again", priced(small(6, 2, json!([{ "global": 1 }]))), 10 + 2 * 8 + 2),
        (
            "a negative count is no count",
            small(2, 2, json!([{ "repeat": -1, "body": [{ "work": 1 }] }])),
            0,
        ),
        ("a past until", small(2, 2, json!([{ "work": 9 }, { "until": 3 }, { "until": -7 }])), 9),
    ];
    for (name, value, expected) in cases {
        for options in
            [SimulateOptions::default(), literal(), SimulateOptions { trace: true, ..literal() }]
        {
            let run = run_only(&value, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(run.time, expected, "{name}");
        }
    }
}

#[test]
fn atoms_have_their_prices() {
    let prices = [
        ("global", 40),
        ("local", 3),
        ("compute", 2),
        ("atomic", 70),
        ("local_atomic", 11),
        ("shared_atomic", 300),
        ("shared_local_atomic", 17),
        ("work", 1),
    ];
    for (atom, price) in prices {
        let value = json!({ "platform": { "units_per_device": 1, "elements_per_unit": 1,
                "global_access": 40, "local_access": 3, "compute_op": 2, "atomic_access": 70,
                "local_atomic_access": 11, "shared_atomic_access": 300,
                "shared_local_atomic_access": 17 },
            "launch": { "global_size": 1, "local_size": 1 }, "kernel": [{ atom: 6 }] });
        assert_eq!(
            run_only(&value, &SimulateOptions::default()).unwrap().time,
            6 * price,
            "{atom}"
        );
    }
}

/// Files from before there was a price of its own keep their times.
#[test]
fn atomics_cost_what_others_do_if_nothing_is_said() {
    let atoms = ["local_atomic", "shared_atomic", "shared_local_atomic"];
    for (atom, (atomic, price)) in
        atoms.into_iter().cartesian_product([(json!(70), 70), (json!(null), 40)])
    {
        let mut value = json!({ "platform": { "units_per_device": 1, "elements_per_unit": 1,
                "global_access": 40 },
            "launch": { "global_size": 1, "local_size": 1 }, "kernel": [{ atom: 6 }] });
        if !atomic.is_null() {
            value["platform"]["atomic_access"] = atomic;
        }
        assert_eq!(
            run_only(&value, &SimulateOptions::default()).unwrap().time,
            6 * price,
            "{atom}"
        );
    }
}

#[test]
fn a_replaced_price_moves_those_that_default_to_it() {
    let prices = |replaced: &[(&str, i64)]| {
        let value = json!({ "platform": { "units_per_device": 1, "elements_per_unit": 1,
                "global_access": 40, "local_access": 3 },
            "launch": { "global_size": 1, "local_size": 1 }, "kernel": [] });
        let replaced = replaced.iter().map(|(name, v)| ((*name).to_owned(), *v)).collect();
        let problem = Problem::from_value(&value, &replaced, &|_| unreachable!()).unwrap();
        let of = |name: &str| problem.platform.numbers().find(|(n, _)| *n == name).unwrap().1;
        [
            "atomic_access",
            "local_atomic_access",
            "shared_atomic_access",
            "shared_local_atomic_access",
            "constant_access",
        ]
        .map(of)
    };
    assert_eq!(prices(&[]), [40, 40, 40, 40, 3]);
    assert_eq!(prices(&[("global_access", 9)]), [9, 9, 9, 9, 3]);
    assert_eq!(prices(&[("local_access", 5)]), [40, 40, 40, 40, 5]);
    let both = [("local_atomic_access", 2), ("global_access", 9)];
    assert_eq!(prices(&both), [9, 2, 9, 2, 3]);
}

// ---- the worked examples of docs/semantics.md ---------------------------------------------------

#[test]
fn worked_examples_of_the_documentation() {
    let text = read("docs/semantics.md");
    let mut seen = 0;
    for block in text.split("```json\n").skip(1) {
        let (value, rest) = block.split_once("```").expect("the block ends");
        let value: Value = serde_json::from_str(value).expect("JSON");
        let problem = problem(&value, &[]);
        let bounds = all(&problem);
        for bound in &bounds {
            // Where there is a choice, each configuration has its own time.
            let which = match bounds.len() {
                1 => String::new(),
                _ => format!("({})", problem.name_values(&bound.configuration)),
            };
            let marker = format!("**T{which} = ");
            let (_, rest) = rest.split_once(&marker).expect("the time follows");
            let expected = rest.split_once("**").expect("bold").0;
            for options in [SimulateOptions::default(), literal()] {
                let found = match simulate(&problem, bound, &options) {
                    Err(SimulateError::Overflow { .. }) => "none".to_owned(),
                    run => run.unwrap_or_else(|e| panic!("{e}")).time.to_string(),
                };
                assert_eq!(found, expected, "{value} {which}");
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 10);
}

// ---- published-2021: lockstep
// ------------------------------------------------------------------------

#[test]
fn warps_move_in_lockstep() {
    let cases = [
        // Items 0 to 3 in two warps of 2, one per dispatcher.
        (
            "both sides",
            json!([{ "if": "lid % 2", "then": [{ "work": 3 }], "else": [{ "work": 4 }] }]),
            7,
        ),
        (
            "one side",
            json!([{ "if": "lid < 2", "then": [{ "work": 3 }], "else": [{ "work": 4 }] }]),
            4,
        ),
        ("greatest amount", json!([{ "work": "lid" }]), 3),
        ("greatest count", json!([{ "repeat": "lid - 2", "body": [{ "work": 5 }] }]), 5),
        ("greatest until", json!([{ "until": "10 * lid" }]), 31),
        // In a branch only the active items count.
        ("among the active", json!([{ "if": "lid % 2 == 0", "then": [{ "work": "lid" }] }]), 2),
        // `then` runs first: its mark is the warp's, at 0; `else` finds it there.
        (
            "one mark",
            json!([{ "if": "lid % 2", "then": ["mark", { "work": 3 }],
            "else": [{ "until": 4 }] }]),
            5,
        ),
        (
            "whole warps at a barrier in a branch",
            json!([{ "if": "lid < 9", "then": [{ "work": "lid" }, "barrier", { "work": 1 }] }]),
            4,
        ),
    ];
    for (name, kernel, expected) in cases {
        let value = json!({ "profile": "published-2021",
            "platform": { "units_per_device": 1, "elements_per_unit": 4, "global_access": 5,
                          "warps": { "width": 2, "dispatchers": 2 } },
            "launch": { "global_size": 4, "local_size": 4 }, "kernel": kernel });
        assert_eq!(run_only(&value, &SimulateOptions::default()).unwrap().time, expected, "{name}");
    }
}

// ---- rejected
// ------------------------------------------------------------------------------------------

#[test]
fn rejected_cases() {
    let warp = |kernel: Value| {
        json!({ "profile": "published-2021", "parameters": { "A": [7] },
            "platform": { "units_per_device": 1, "elements_per_unit": 4, "global_access": 5,
                          "warps": { "width": 2, "dispatchers": 2 } },
            "launch": { "global_size": 4, "local_size": 4 }, "kernel": kernel })
    };
    let only_one = json!([{ "if": "lid == 1", "then": ["barrier"] }]);
    let cases = [
        (
            small(4, 4, json!([{ "work": "0 // (lid - 3)" }])),
            "kernel[0]: division by zero in item 3 for this problem; guard it with",
        ),
        (
            warp(json!([{ "repeat": 2, "body": [{ "global": "2 - lid" }] }])),
            "kernel[0].body[0]: the amount -1 in item 3 is negative for A=7; write max(0, ...)",
        ),
        (
            small(4, 4, json!([{ "if": "lid < 2", "then": ["barrier"], "else": ["barrier"] }])),
            "barrier divergence: item 0 waits at kernel[0].then[0] but item 2 waits at \
             kernel[0].else[0] for this problem; every item must take the barrier: move it out of \
             the branch",
        ),
        (small(2, 2, only_one.clone()), "item 0 has ended but item 1 waits at kernel[0].then[0]"),
        (
            small(2, 2, json!([{ "repeat": "1 + lid", "body": ["barrier"] }])),
            "item 0 has ended but item 1 waits at kernel[0].body[0]",
        ),
        (
            warp(only_one),
            "item 1 waits at kernel[0].then[0] but item 0 of the same warp took the other side of \
             kernel[0] for A=7",
        ),
        (
            small(1, 1, json!([{ "repeat": "2 ** 40", "body": [{ "work": "2 ** 40" }] }])),
            "kernel[0].body[0]: the time exceeds 63 bits",
        ),
        (small(1, 1, json!([{ "global": "2 ** 62" }])), "kernel[0]: the time exceeds 63 bits"),
        (small(1, 1, json!([{ "until": "2 ** 62 - 1 + 2 ** 62" }])), "the time exceeds 63 bits"),
        (
            small(1 << 50, 2, json!([{ "work": "(group * group) % 2" }])),
            "more than 50000000 events for this problem; simulate a smaller input or raise",
        ),
        (
            small(1 << 22, 1 << 21, json!([])),
            "2097152 items on one unit at once, but at most 1048576 can be simulated",
        ),
    ];
    assert_eq!(MAX_ITEMS, 1 << 20);
    for (value, message) in cases {
        let error = run_only(&value, &SimulateOptions::default()).unwrap_err().to_string();
        assert!(error.contains(message), "found: {error}\nexpected: {message}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn a_configuration_of_another_problem_is_refused() {
    let (p, _) = only(&small(2, 2, json!([])));
    let (_, other) = only(&json!({ "profile": "published-2023",
        "platform": { "units_per_device": 1, "elements_per_unit": 4, "global_access": 5 },
        "launch": { "local_size": 4, "activations": 1 }, "kernel": [] }));
    assert!(matches!(
        simulate(&p, &other, &SimulateOptions::default()),
        Err(SimulateError::Model(_))
    ));
    let mut short = only(&small(2, 2, json!([]))).1;
    short.env.pop();
    assert!(matches!(
        simulate(&p, &short, &SimulateOptions::default()),
        Err(SimulateError::Model(_))
    ));
}

#[test]
fn deep_nesting_is_no_danger() {
    let mut kernel = json!([{ "repeat": 1_i64 << 50, "body": [{ "work": 1 }] }]);
    for level in 0..55 {
        let count = if level % 10 == 0 { 3 } else { 1 };
        kernel = json!([{ "repeat": count, "body": kernel }]);
    }
    let run = run_only(&small(1, 1, kernel), &SimulateOptions::default()).unwrap();
    assert_eq!(run.time, (1 << 50) * 3_i64.pow(6));
}

// ---- traces
// ----------------------------------------------------------------------------------------------

#[test]
fn a_trace_tells_what_happened() {
    let kernel = json!([{ "global": "1 - lid", "name": "load" }, "barrier", { "until": 6 }]);
    let options = SimulateOptions { trace: true, ..SimulateOptions::default() };
    let trace = run_only(&small(2, 2, kernel), &options).unwrap().trace.unwrap();
    let span = |element, kind, label: &str, start, end| {
        let label = label.to_owned();
        Span { unit: 0, element, group: 0, item: element, kind, label, start, end }
    };
    let load = SpanKind::Access(tickbound_model::AccessKind::Global);
    assert_eq!(
        trace.spans,
        [
            span(0, load, "load", 0, 5),
            span(1, SpanKind::Barrier, "barrier", 0, 5),
            span(0, SpanKind::Until, "until", 5, 7),
            span(1, SpanKind::Until, "until", 5, 7),
        ]
    );
    assert!(!trace.truncated);
}

#[test]
fn a_trace_has_a_limit_and_says_so() {
    let kernel = json!([{ "repeat": 1 << 30, "body": [{ "work": 1 }, "barrier"] }]);
    let options = SimulateOptions { trace: true, max_spans: 10, ..SimulateOptions::default() };
    let run = run_only(&small(1 << 20, 2, kernel), &options).unwrap();
    assert_eq!(run.time, 1 << 48);
    let trace = run.trace.unwrap();
    assert_eq!((trace.spans.len(), trace.truncated), (10, true));
}

#[test]
fn every_group_is_in_the_trace() {
    let options = SimulateOptions { trace: true, ..SimulateOptions::default() };
    let run = run_only(&small(6, 2, json!([{ "global": 1 }])), &options).unwrap();
    let spans: Vec<_> =
        run.trace.unwrap().spans.iter().map(|s| (s.unit, s.group, s.item, s.start)).collect();
    let expected =
        [(0, 0, 0, 0), (0, 0, 1, 0), (1, 1, 0, 0), (1, 1, 1, 0), (0, 2, 0, 5), (0, 2, 1, 5)];
    assert_eq!(spans, expected);
}

// ---- skipping repetition
// -----------------------------------------------------------------------------------

#[test]
fn skipping_keeps_marks_that_nobody_waits_for() {
    // The mark of the first line grows older in a loop that does not look at it.
    let kernel = json!([{ "work": 3 },
        { "repeat": 1_i64 << 40, "body": [{ "work": 1 }, "barrier"] },
        { "until": (1_i64 << 41) }]);
    let run = run_only(&small(2, 2, kernel), &SimulateOptions::default()).unwrap();
    assert_eq!(run.time, (1 << 41) + 1);
    assert!(run.events < 100);
}

#[test]
fn nested_loops_are_skipped_at_each_level() {
    let inner = json!({ "repeat": 1000, "body": [{ "until": 3 }, "mark", "barrier"] });
    let outer = json!([{ "repeat": 1 << 20, "body": [inner, { "work": "lid" }, "barrier"] }]);
    let run = run_only(&small(4, 4, outer), &SimulateOptions::default()).unwrap();
    assert!(run.events < 1000, "{} events", run.events);
    // In the first iteration of `inner` items 0 and 2 wait one after the other; see the literal
    // run.
    let few = json!([{ "repeat": 50, "body": [{ "repeat": 1000,
        "body": [{ "until": 3 }, "mark", "barrier"] }, { "work": "lid" }, "barrier"] }]);
    let fast = run_only(&small(4, 4, few.clone()), &SimulateOptions::default()).unwrap();
    let slow = run_only(&small(4, 4, few), &literal()).unwrap();
    assert_eq!(fast.time, slow.time);
}

/// Statements that every item of a group takes alike: they may contain barriers.
fn uniform() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        4 => leaf(),
        2 => Just(json!("barrier")),
        1 => branch(leaf()),
        1 => items_loop(),
    ];
    leaf.prop_recursive(3, 14, 4, |inner| {
        let body = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            4 => (count(), body.clone()).prop_map(|(n, body)| json!({ "repeat": n, "body": body })),
            1 => (condition(), body.clone(), body)
                .prop_map(|(c, a, b)| json!({ "if": c, "then": a, "else": b })),
            1 => branch(inner),
        ]
    })
    .boxed()
}

fn leaf() -> BoxedStrategy<Value> {
    let amount = prop_oneof![
        (0..6_i64).prop_map(|n| json!(n)),
        Just(json!("lid")),
        Just(json!("(3 * lid) % 4")),
        Just(json!("WG - lid % 2")),
        Just(json!("2 * (gid % 3)")),
        Just(json!("group % 2")),
    ];
    let until = prop_oneof![Just(0_i64), 0..30_i64, 100..400_i64, Just(-3_i64)];
    prop_oneof![
        2 => amount.clone().prop_map(|n| json!({ "work": n })),
        1 => amount.clone().prop_map(|n| json!({ "global": n })),
        2 => Just(json!("mark")),
        2 => until.prop_map(|d| json!({ "until": d })),
        1 => amount.prop_map(|d| json!({ "until": d })),
    ]
    .boxed()
}

/// Mostly the same for all items; otherwise a barrier in the loop diverges at its end.
fn count() -> BoxedStrategy<Value> {
    prop_oneof![
        18 => (0..5_i64).prop_map(|n| json!(n)),
        12 => (5..41_i64).prop_map(|n| json!(n)),
        1 => Just(json!("5 + lid % 2")),
    ]
    .boxed()
}

fn condition() -> BoxedStrategy<&'static str> {
    prop_oneof![Just("WG > 2"), Just("WG == 2"), Just("group % 2"), Just("lid >= 0")].boxed()
}

/// A branch that splits the items of a group, mostly without a barrier in it.
fn branch(inner: impl Strategy<Value = Value> + Clone + 'static) -> BoxedStrategy<Value> {
    let split = prop_oneof![Just("lid % 2 == 1"), Just("lid < 3"), Just("gid % 3 == 0")];
    let side = prop_oneof![
        9 => prop::collection::vec(leaf(), 0..3),
        1 => prop::collection::vec(inner, 0..3),
    ];
    (split, side.clone(), side)
        .prop_map(|(c, a, b)| json!({ "if": c, "then": a, "else": b }))
        .boxed()
}

/// A loop that items run differently often.
fn items_loop() -> BoxedStrategy<Value> {
    let count = prop_oneof![Just("lid"), Just("30 - 2 * lid"), Just("lid - 2")];
    (count, prop::collection::vec(leaf(), 0..3))
        .prop_map(|(n, body)| json!({ "repeat": n, "body": body }))
        .boxed()
}

fn any_problem() -> impl Strategy<Value = Value> {
    let kernel = prop::collection::vec(uniform(), 0..5);
    let numbers = (1..4_i64, 1..5_i64, 0..3_i64, 0..3_i64);
    let shape = (0..3_usize, 1..9_i64, 1..6_i64, 1..3_i64, 1..3_i64);
    (kernel, numbers, shape).prop_map(|(kernel, (units, elements, barrier, start), shape)| {
        let (profile, local, groups, width, dispatchers) = shape;
        let mut value = json!({
            "platform": { "units_per_device": units, "elements_per_unit": elements,
                "global_access": 3, "barrier": barrier, "group_start": start, "kernel_launch": 2 },
            "kernel": kernel, "finish": [{ "until": 2 }, { "repeat": 9, "body": [{ "work": 1 }] }],
        });
        let mut local = local;
        if profile == 1 {
            value["profile"] = json!("published-2023");
            value["launch"] = json!({ "activations": groups });
        } else {
            if profile == 2 {
                value["profile"] = json!("published-2021");
                value["platform"]["warps"] = json!({ "width": width, "dispatchers": dispatchers });
                local *= width * dispatchers;
            }
            value["launch"] = json!({ "global_size": groups * local });
        }
        value["parameters"] = json!({ "WG": [local] });
        value["launch"]["local_size"] = json!("WG");
        value
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn skipping_repetition_changes_nothing(value in any_problem()) {
        let (problem, bound) = only(&value);
        let slow = simulate(&problem, &bound,
            &SimulateOptions { max_events: 400_000, ..literal() });
        prop_assume!(!matches!(slow, Err(SimulateError::TooManyEvents { .. })));
        let fast = simulate(&problem, &bound, &SimulateOptions::default());
        let traced = SimulateOptions { trace: true, max_spans: 40, ..SimulateOptions::default() };
        let traced = simulate(&problem, &bound, &traced);
        prop_assert_eq!(fast.as_ref().map(|r| r.time), slow.as_ref().map(|r| r.time));
        prop_assert_eq!(traced.map(|r| r.time),
            slow.as_ref().map(|r| r.time).map_err(Clone::clone));
        if let (Ok(fast), Ok(slow)) = (fast, slow) {
            prop_assert!(fast.events <= slow.events);
        }
    }
}

#[test]
fn prices_are_clocks_under_the_profile_resources() {
    // A clock of 2.5 GHz is 40 ticks of 0.01 ns, so 139 of them are nearest to 3 clocks.
    let time = |profile: &str, tick: &str| {
        let value = json!({
            "profile": profile,
            "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 139,
                "tick": tick,
                          "clock_mhz": 2500, "resources": { "warp_width": 1 } },
            "launch": { "global_size": 1, "local_size": 1 }, "usage": { "local_bytes": 4 },
            "kernel": [],
            "finish": [{ "global": 10 }, { "work": 5 }]
        });
        time_at(&problem(&value, &[]), &[])
    };
    assert_eq!(time("resources", "0.01 ns"), 35);
    assert_eq!(time("resources", "one clock cycle of a unit"), 1395);
    assert_eq!(time("opencl", "0.01 ns"), 1395);
}
