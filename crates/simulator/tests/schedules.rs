//! Open schedules: hand-made cases, and every schedule of small random problems.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use proptest::prelude::*;
use serde_json::{Value, json};
use tickbound_model::{Bound, Problem};
use tickbound_simulator::{
    Decision, ExploreLimits, Explored, FirstCome, Scripted, SimulateError, SimulateOptions,
    SimulatedRun, Span, SpanKind, Trace, WarpTicks, explore, simulate, simulate_with,
};

fn only(value: &Value) -> (Problem, Bound) {
    let problem = Problem::from_value(value, &IndexMap::new(), &|_| unreachable!("no names"))
        .unwrap_or_else(|e| panic!("{e}"));
    let mut bounds = problem.space().unwrap_or_else(|e| panic!("{e}")).bound;
    assert_eq!(bounds.len(), 1);
    (problem, bounds.remove(0))
}

fn run(value: &Value) -> Result<SimulatedRun, SimulateError> {
    let (problem, bound) = only(value);
    simulate(&problem, &bound, &SimulateOptions { trace: true, ..SimulateOptions::default() })
}

fn all(value: &Value) -> Result<Explored, SimulateError> {
    let (problem, bound) = only(value);
    explore(&problem, &bound, &ExploreLimits::default())
}

/// Answers with the given choices, then with 0; tells how many options there were each time.
fn replay(value: &Value, choices: &[usize]) -> (i64, Vec<usize>) {
    let (problem, bound) = only(value);
    let mut offered = Vec::new();
    let mut choose = |_: i64, options: &[Decision]| {
        offered.push(options.len());
        choices.get(offered.len() - 1).copied().unwrap_or(0)
    };
    let run = simulate_with(&problem, &bound, &SimulateOptions::default(), &mut choose);
    (run.unwrap_or_else(|e| panic!("{e}")).time, offered)
}

/// The least and the greatest time over all sequences of choices; `None` if there are too many.
fn brute_force(value: &Value, most: usize) -> Option<(i64, i64)> {
    let (mut best, mut worst, mut choices) = (i64::MAX, i64::MIN, Vec::new());
    for _ in 0..most {
        let (time, offered) = replay(value, &choices);
        best = best.min(time);
        worst = worst.max(time);
        choices.resize(offered.len(), 0);
        // The next sequence: the last choice that has another option moves on.
        while choices.last().is_some_and(|last| last + 1 == offered[choices.len() - 1]) {
            choices.pop();
        }
        match choices.last_mut() {
            Some(last) => *last += 1,
            None => return Some((best, worst)),
        }
    }
    None
}

/// One unit, one dispatcher, warps of one item; a global access occupies the dispatcher for 2
/// ticks, and 6 more pass until the data are there.
fn unit(local: i64, kernel: Value) -> Value {
    json!({ "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 9,
            "global_issue": 2, "global_latency": 6, "warps": { "width": 1, "dispatchers": 1 } },
        "launch": { "global_size": local, "local_size": local }, "kernel": kernel })
}

fn with(mut value: Value, changes: &[(&str, Value)]) -> Value {
    for (path, new) in changes {
        let (parent, key) = path.rsplit_once('/').expect("a path");
        let parent = value.pointer_mut(parent).unwrap_or_else(|| panic!("{path}"));
        parent[key] = new.clone();
    }
    value
}

/// The first-come, the least and the greatest time, each found in two ways.
fn times(name: &str, value: &Value) -> (i64, i64, i64) {
    let (problem, bound) = only(value);
    let first = run(value).unwrap_or_else(|e| panic!("{name}: {e}")).time;
    let asked = simulate_with(&problem, &bound, &SimulateOptions::default(), &mut FirstCome);
    assert_eq!(asked.unwrap().time, first, "{name}: first come");
    let all = all(value).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(brute_force(value, 20_000), Some((all.best, all.worst)), "{name}: brute force");
    (first, all.best, all.worst)
}

// ---- by hand
// --------------------------------------------------------------------------------------

/// Warp 0 computes for `ticks`, warp 1 loads one value.
fn compute_or_load(ticks: i64) -> Value {
    json!({ "if": "lid == 0", "then": [{ "work": ticks }], "else": [{ "global": 1 }] })
}

#[test]
fn one_dispatcher_by_hand() {
    let both = json!([{ "global": 1 }, { "work": 6 }]);
    let cases = [
        // Warp 0 first: it works to 6, then warp 1 issues to 8 and has its data at 14. Warp 1
        // first: it issues to 2 and has its data at 8, when warp 0 has worked.
        ("latency is hidden", unit(2, json!([compute_or_load(6)])), (14, 8, 14)),
        // Issues at 0 and 2, data at 8 and 10; work 8 to 14 and 14 to 20.
        ("equal warps", unit(2, both.clone()), (20, 20, 20)),
        // The data of 3 values are there 6 ticks after the last issue: 6 + 6.
        ("latency counts once", unit(1, json!([{ "global": 3 }])), (12, 12, 12)),
        // Nobody else could have used the dispatcher: 8 + 5 + 8.
        (
            "one warp alone",
            unit(1, json!([{ "global": 1 }, { "work": 5 }, { "global": 1 }])),
            (21, 21, 21),
        ),
        // Amounts of 0 pass at once, also in a loop that is very long.
        (
            "nothing to do",
            unit(
                2,
                json!([{ "global": 0 }, { "repeat": 1_i64 << 50, "body": [{ "compute": 0 }] }]),
            ),
            (0, 0, 0),
        ),
        // The warp that works first has its mark passed; both marks are 0: until time > 4. Warp 0
        // works to 3, warp 1 to 6.
        (
            "the mark is that of the group's start",
            unit(2, json!([{ "work": 3 }, { "until": 4 }])),
            (6, 6, 6),
        ),
        // T is 21 ticks after the later mark. Taking turns, the marks are at 2 and 4; if warp 0
        // comes to its until first, warp 1 sets its mark at 5 + 2.
        (
            "when the mark is set is open",
            unit(2, json!([{ "work": 2 }, "mark", { "work": 2 }, { "work": 1 }, { "until": 20 }])),
            (25, 25, 28),
        ),
        // Waiting occupies nobody: warp 1 works while warp 0 waits up to 7.
        (
            "waiting is free",
            unit(
                2,
                json!([{ "if": "lid == 0", "then": [{ "until": 6 }], "else": [{ "work": 7 }] }]),
            ),
            (7, 7, 7),
        ),
        // Warps on dispatchers 0, 1, 0: 2 * 5 on dispatcher 0.
        (
            "two dispatchers",
            with(unit(3, json!([{ "work": 5 }])), &[("/platform/warps/dispatchers", json!(2))]),
            (10, 10, 10),
        ),
        // Dispatcher 0 has warps 0 and 2 with 1 and 3 ticks, dispatcher 1 has warp 1 with 2.
        (
            "a warp stays with its dispatcher",
            with(
                unit(3, json!([{ "work": "lid + 1" }])),
                &[("/platform/warps/dispatchers", json!(2))],
            ),
            (4, 4, 4),
        ),
    ];
    for (name, value, expected) in cases {
        assert_eq!(times(name, &value), expected, "{name}");
    }
}

#[test]
fn memory_slots_by_hand() {
    let slots = |slots: i64, local: i64, kernel: Value| {
        with(unit(local, kernel), &[("/platform/warps/memory_slots", json!(slots))])
    };
    let load = json!([{ "global": 1 }]);
    let two = |value| with(value, &[("/platform/warps/dispatchers", json!(2))]);
    // Warp 0 loads and computes, warp 1 loads.
    let mixed = json!([{ "global": 1 }, { "if": "lid == 0", "then": [{ "work": 5 }] }]);
    let cases = [
        // A slot is held for all 8 ticks: 0 to 8, 8 to 16, 16 to 24.
        ("one slot", slots(1, 3, load.clone()), (24, 24, 24)),
        // 0 to 8 and 2 to 10; the third takes the first's slot at 8.
        ("two slots", slots(2, 3, load.clone()), (16, 16, 16)),
        ("slots enough", slots(3, 3, load.clone()), (12, 12, 12)),
        // Both dispatchers are free, but only one can start.
        ("one slot, two dispatchers", two(slots(1, 2, load.clone())), (16, 16, 16)),
        ("two slots, two dispatchers", two(slots(2, 2, load.clone())), (8, 8, 8)),
        // Warp 0 first: 8, then it works to 13 while warp 1 loads to 16. Warp 1 first: 8, warp 0
        // loads to 16 and works to 21.
        ("who gets the slot", two(slots(1, 2, mixed)), (16, 16, 21)),
        // The dispatcher may not wait for the slot while there is work: warp 0 loads to 8, warp 1
        // needs the slot, warp 2 works 2 to 9. Warp 1 goes on at 9, not at 8, up to 17. Worked
        // first: 7, 15, 23.
        (
            "work does not wait for a slot",
            slots(
                1,
                3,
                json!([{ "if": "lid < 2", "then": [{ "global": 1 }], "else": [{ "work": 7 }] }]),
            ),
            (17, 17, 23),
        ),
    ];
    for (name, value, expected) in cases {
        assert_eq!(times(name, &value), expected, "{name}");
    }
}

#[test]
fn barriers_and_branches_by_hand() {
    let wide = |width: i64, local: i64, kernel: Value| {
        with(unit(local, kernel), &[("/platform/warps/width", json!(width))])
    };
    let priced = |value| with(value, &[("/platform/barrier", json!(3))]);
    let phases = json!([compute_or_load(6), "barrier", { "work": 1 }]);
    let sides = json!([{ "if": "lid % 2", "then": [{ "work": 3 }], "else": [{ "global": 1 }] }]);
    let cases = [
        // The phase before as above, 14 or 8; then one tick each.
        ("barrier", unit(2, phases.clone()), (16, 10, 16)),
        ("barrier price", priced(unit(2, phases.clone())), (19, 13, 19)),
        ("barriers at the end", priced(unit(2, json!(["barrier", "barrier"]))), (6, 6, 6)),
        // One warp of 2: `then` to 3, `else` to 3 + 8.
        ("both sides", wide(2, 2, sides.clone()), (11, 11, 11)),
        // Item 2 is alone in warp 1, so it only loads. Warp 0 works to 3, the two loads issue to 5
        // and 7, data at 13. Warp 1 first: it issues to 2, warp 0 works to 5, issues to 7, data at
        // 13.
        ("the last warp is partly filled", wide(2, 3, sides.clone()), (13, 13, 13)),
        ("greatest amount", wide(2, 4, json!([{ "work": "lid" }])), (4, 4, 4)),
        // Warp 0 runs the body 1 time, warp 1 3 times.
        (
            "greatest count",
            wide(2, 4, json!([{ "repeat": "lid", "body": [{ "work": 2 }] }])),
            (8, 8, 8),
        ),
        // Item 2 in warp 1 is alone, so `then` is not run there.
        (
            "a side that nobody takes",
            wide(
                2,
                3,
                json!([{ "if": "lid == 1", "then": [{ "work": 4 }], "else": [{ "work": 1 }] }]),
            ),
            (6, 6, 6),
        ),
        (
            "a barrier in a branch that whole warps take",
            wide(
                2,
                4,
                json!([{ "if": "lid < 9", "then": [{ "work": 2 }, "barrier", { "work": 1 }] }]),
            ),
            (6, 6, 6),
        ),
    ];
    for (name, value, expected) in cases {
        assert_eq!(times(name, &value), expected, "{name}");
    }
}

/// `groups` groups of one warp each on `units` units with `places` places.
fn groups(units: i64, places: i64, groups: i64, kernel: Value) -> Value {
    with(
        unit(1, kernel),
        &[
            ("/platform/units_per_device", json!(units)),
            ("/platform/warps/resident_groups", json!(places)),
            ("/launch/global_size", json!(groups)),
        ],
    )
}

#[test]
fn groups_and_units_by_hand() {
    let priced = |value| {
        with(
            value,
            &[
                ("/platform/group_start", json!(3)),
                ("/platform/kernel_launch", json!(10)),
                ("/finish", json!([{ "until": 1 }])),
            ],
        )
    };
    let load = json!([{ "global": 1 }]);
    let cases = [
        ("one place", groups(1, 1, 3, load.clone()), (24, 24, 24)),
        // Groups 0 and 1 load to 8 and 10; group 2 begins at 8.
        ("two places", groups(1, 2, 3, load.clone()), (16, 16, 16)),
        ("two units", groups(2, 1, 3, load.clone()), (16, 16, 16)),
        // All four places are free since 0. The first come fills unit 0 first: 2 * 5. Spread: 5.
        ("two units with two places", groups(2, 2, 2, json!([{ "work": 5 }])), (10, 5, 10)),
        ("by group", groups(1, 1, 3, json!([{ "work": "group" }])), (3, 3, 3)),
        ("by gid", groups(1, 1, 3, json!([{ "work": "gid + 1" }])), (6, 6, 6)),
        // 4, 1, 1, 4 ticks on two units: 4 | 1, 1, 4.
        (
            "the next group goes to the unit that is free first",
            groups(2, 1, 4, json!([{ "work": "4 if group % 3 == 0 else 1" }])),
            (6, 6, 6),
        ),
        // kernel_launch 10, start 3, load 8, until 2.
        ("prices", priced(groups(1, 1, 1, load.clone())), (23, 23, 23)),
        (
            "a group starts when its place is free",
            priced(groups(1, 1, 2, load.clone())),
            (34, 34, 34),
        ),
        // Groups 0 and 1 begin at 13; loads to 21 and 23; group 2 begins at 24 and loads to 32.
        ("group start and places", priced(groups(1, 2, 3, load)), (34, 34, 34)),
        // The mark is set at 13: until time > 13 + 4.
        (
            "the mark is set at the start",
            priced(groups(1, 1, 1, json!([{ "until": 4 }]))),
            (20, 20, 20),
        ),
        ("groups without work", groups(2, 1, 5, json!([])), (0, 0, 0)),
    ];
    for (name, value, expected) in cases {
        assert_eq!(times(name, &value), expected, "{name}");
    }
}

#[test]
fn a_tie_between_units_is_open() {
    // Groups 0 and 1 have 1 tick each and end together. Group 2 has 1 tick, group 3 loads.
    let value = groups(
        2,
        2,
        3,
        json!([{ "if": "group == 2", "then": [{ "work": 5 }],
        "else": [{ "work": 3 }] }]),
    );
    // First come: groups 0 and 1 on unit 0, group 2 on unit 1: 6. All on one unit is not possible.
    // Group 2 second on the unit of group 0: 3 + 5. Three on two units: 8 at worst.
    assert_eq!(times("tie", &value), (6, 6, 8));
    let (problem, bound) = only(&value);
    let mut places = Vec::new();
    let mut choose = |now: i64, options: &[Decision]| {
        if let Decision::Place { group, .. } = options[0] {
            places.push((now, group, options.len()));
        }
        options.len() - 1
    };
    simulate_with(&problem, &bound, &SimulateOptions::default(), &mut choose).unwrap();
    // After groups 0 and 1 are on unit 1, only unit 0 is left.
    assert_eq!(places, [(0, 0, 2), (0, 1, 2)]);
}

#[test]
fn options_are_in_order() {
    let value = with(
        unit(4, json!([{ "if": "lid % 2", "then": [{ "global": 1 }], "else": [{ "work": 1 }] }])),
        &[
            ("/platform/units_per_device", json!(2)),
            ("/platform/warps/dispatchers", json!(2)),
            ("/launch/global_size", json!(8)),
        ],
    );
    let (problem, bound) = only(&value);
    let mut asked = Vec::new();
    let mut choose = |now: i64, options: &[Decision]| {
        if let Decision::Start { .. } = options[0] {
            asked.push((now, options.to_vec()));
        }
        0
    };
    simulate_with(&problem, &bound, &SimulateOptions::default(), &mut choose).unwrap();
    let start = |unit, warp| {
        let (dispatcher, needs_slot) = (warp % 2, warp % 2 == 1);
        Decision::Start { unit, dispatcher, group: unit, warp, needs_slot, ready_since: 0 }
    };
    let first: Vec<_> = [(0, 0), (0, 2), (0, 1), (0, 3), (1, 0), (1, 2), (1, 1), (1, 3)]
        .map(|(u, w)| start(u, w))
        .into();
    assert_eq!(asked[0], (0, first.clone()));
    assert_eq!(asked[1], (0, first[2..].to_vec()));
}

// ---- the worked example of docs/semantics.md
// ------------------------------------------------------------

#[test]
fn worked_example_of_the_documentation() {
    let path = format!("{}/../../docs/semantics.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("docs/semantics.md");
    let (_, section) = text.split_once("\n## Open schedules\n").expect("the section");
    let (_, rest) = section.split_once("```json\n").expect("an example");
    let (value, rest) = rest.split_once("```").expect("the block ends");
    let value: Value = serde_json::from_str(value).expect("JSON");
    let number = |key: &str| -> i64 {
        let (_, rest) = rest.split_once(&format!("**{key} = ")).expect("a time");
        rest.split_once("**").expect("bold").0.parse().expect("a number")
    };
    let expected = (number("T"), number("best"), number("worst"));
    assert_eq!(times("documentation", &value), expected);
}

// ---- traces and scripts
// ---------------------------------------------------------------------------------

#[test]
fn a_trace_shows_what_occupies_dispatchers() {
    let value = with(
        unit(
            3,
            json!([{ "global": 1, "name": "load" }, "barrier", { "until": 20 }, { "work": 2 }]),
        ),
        &[("/platform/warps/dispatchers", json!(2))],
    );
    let spans = run(&value).unwrap().trace.unwrap().spans;
    let spans: Vec<_> = spans
        .iter()
        .map(|s| (s.unit, s.element, s.group, s.item, s.label.as_str(), s.start, s.end))
        .collect();
    assert_eq!(
        spans,
        [
            (0, 0, 0, 0, "load", 0, 2),
            (0, 1, 0, 1, "load", 0, 2),
            (0, 0, 0, 2, "load", 2, 4),
            (0, 0, 0, 0, "work", 21, 23),
            (0, 1, 0, 1, "work", 21, 23),
            (0, 0, 0, 2, "work", 23, 25),
        ]
    );
}

#[test]
fn a_trace_shows_what_warps_wait_for() {
    // Two warps, one dispatcher, one slot: the second loads when the first one's datum is there.
    let value = with(
        unit(2, json!([{ "global": 1 }, "barrier", { "until": 20 }, { "work": 2 }])),
        &[("/platform/warps/memory_slots", json!(1)), ("/platform/barrier", json!(1))],
    );
    let run = run(&value).unwrap();
    let waits = run.trace.unwrap().waits;
    let waits: Vec<_> = waits.iter().map(|s| (s.item, s.label.as_str(), s.start, s.end)).collect();
    assert_eq!(
        waits,
        [
            (0, "wait for a load", 2, 8),
            (1, "wait for a memory slot", 0, 8),
            (1, "wait for a load", 10, 16),
            (0, "barrier", 8, 17),
            (1, "barrier", 16, 17),
            (0, "until", 17, 21),
            (1, "until", 17, 21),
            (1, "wait for a dispatcher", 21, 23),
        ]
    );
    let warps = WarpTicks { running: 8, load: 12, dispatcher: 2, slot: 8, until: 8, barrier: 10 };
    assert_eq!((run.time, run.warps), (25, Some(warps)));
}

#[test]
fn a_script_is_followed_or_says_that_it_was_not() {
    let value = unit(2, json!([compute_or_load(6)]));
    let (problem, bound) = only(&value);
    let run = |starts: &[(i64, i64, i64)], units: &[i64]| {
        let mut script = Scripted::new(starts.to_vec(), units.to_vec());
        let run =
            simulate_with(&problem, &bound, &SimulateOptions::default(), &mut script).unwrap();
        (run.time, script.followed())
    };
    assert_eq!(run(&[(0, 0, 1), (2, 0, 0)], &[0]), (8, true));
    assert_eq!(run(&[(0, 0, 0), (6, 0, 1)], &[0]), (14, true));
    // Another time, another unit, a start that does not happen, nothing at all.
    assert_eq!(run(&[(0, 0, 1), (3, 0, 0)], &[0]), (8, false));
    assert_eq!(run(&[(0, 0, 1), (2, 0, 0)], &[1]), (8, false));
    assert_eq!(run(&[(0, 0, 1), (2, 0, 0), (9, 0, 0)], &[0]), (8, false));
    assert_eq!(run(&[], &[]), (14, false));
}

/// The script of a run: its starts, and the unit of each group.
fn script(spans: &[Span], width: i64, places: &[i64]) -> Scripted {
    let starts = spans.iter().map(|s| (s.start, s.group, s.item / width)).collect();
    Scripted::new(starts, places.to_vec())
}

// ---- rejected
// ---------------------------------------------------------------------------------------------

#[test]
fn rejected_cases() {
    let set = |value: Value, path: &str, new: Value| with(value, &[(path, new)]);
    let two = |kernel: Value| set(unit(4, kernel), "/platform/warps/width", json!(2));
    let cases = [
        (
            set(unit(1, json!([])), "/platform/global_issue", json!(0)),
            "platform.global_issue: is 0, but a warp occupies its dispatcher; write at least 1",
        ),
        (
            set(unit(1, json!([])), "/platform/units_per_device", json!(1 << 21)),
            "platform.units_per_device: 2097152 units, but with `warps` at most 65536 can be",
        ),
        (two(json!([{ "global": "2 - lid" }])), "kernel[0]: the amount -1 in item 3 is negative"),
        (two(json!([{ "work": "1 // lid" }])), "kernel[0]: division by zero in item 0"),
        (
            two(json!([{ "if": "lid < 2", "then": ["barrier"],
                    "else": [{ "work": 1 }, "barrier"] }])),
            "item 0 waits at kernel[0].then[0] but item 2 waits at kernel[0].else[1]",
        ),
        (
            two(json!([{ "if": "lid < 2", "then": ["barrier"] }])),
            "item 0 waits at kernel[0].then[0] but item 2 has ended",
        ),
        (
            two(json!([{ "if": "lid == 1", "then": ["barrier"] }])),
            "item 1 waits at kernel[0].then[0] but item 0 of the same warp took the other side",
        ),
        (unit(1, json!([{ "global": "2 ** 62" }])), "kernel[0]: the time exceeds 63 bits"),
        (
            unit(1, json!([{ "work": "2 ** 62" }, { "work": "2 ** 62" }])),
            "kernel[1]: the time exceeds",
        ),
        (
            unit(1, json!([{ "repeat": 1_i64 << 40, "body": [{ "work": 1 }] }])),
            "more than 50000000 events",
        ),
        (unit(1 << 21, json!([])), "2097152 items on one unit at once"),
    ];
    for (value, message) in cases {
        let error = run(&value).unwrap_err().to_string();
        assert!(error.contains(message), "found: {error}\nexpected: {message}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn a_choice_that_does_not_exist_is_refused() {
    let (problem, bound) = only(&unit(2, json!([{ "work": 1 }])));
    let mut choose = |_: i64, options: &[Decision]| options.len();
    let error =
        simulate_with(&problem, &bound, &SimulateOptions::default(), &mut choose).unwrap_err();
    assert_eq!(error, SimulateError::NoSuchOption { index: 2, options: 2, time: 0 });
    assert_eq!(error.to_string(), "option 2 was chosen of 2 options at tick 0; count them from 0");
}

#[test]
fn an_exploration_has_a_limit_and_says_what_it_found() {
    let kernel =
        json!([{ "repeat": 6, "body": [{ "global": "lid + 1" }, { "work": "2 * lid + 1" }] }]);
    let value = with(unit(4, kernel), &[("/finish", json!([{ "work": 100 }]))]);
    let (problem, bound) = only(&value);
    let whole = explore(&problem, &bound, &ExploreLimits::default()).unwrap();
    assert!(whole.states > 200 && whole.best < whole.worst, "{whole:?}");
    let limits = ExploreLimits { max_states: 200, ..ExploreLimits::default() };
    let error = explore(&problem, &bound, &limits).unwrap_err();
    let SimulateError::TooManyStates { limit: 200, times: Some((best, worst)), .. } = error else {
        panic!("{error}")
    };
    assert!(whole.best <= best && best <= worst && worst <= whole.worst, "{best} {worst}");
    let error = explore(&problem, &bound, &ExploreLimits { max_states: 1, ..limits }).unwrap_err();
    let text = "more than 1 states for this problem; explore a smaller input or raise the limit";
    assert_eq!(error.to_string(), text);
    let error =
        explore(&problem, &bound, &ExploreLimits { max_events: 100, ..limits }).unwrap_err();
    assert!(matches!(error, SimulateError::TooManyEvents { limit: 100, .. }));
}

#[test]
fn a_closed_schedule_has_one_time() {
    let mut value = unit(4, json!([{ "global": 1 }]));
    value["platform"].as_object_mut().unwrap().remove("warps");
    let found = all(&value).unwrap();
    assert_eq!((found.best, found.worst, found.states), (36, 36, 0));
    assert_eq!(replay(&value, &[]), (36, vec![]));
}

#[test]
fn what_is_alike_is_explored_once() {
    // Without the symmetries there are 6! orders on each of 3 units.
    let value = with(
        unit(6, json!([{ "global": 1 }, { "work": 2 }])),
        &[("/platform/units_per_device", json!(3)), ("/launch/global_size", json!(18))],
    );
    let found = all(&value).unwrap();
    // Best: issues to 12, then work to 24. Worst: five warps issue to 10 and work to 20, the last
    // one issues to 22, has its data at 28 and works to 30.
    assert_eq!((found.best, found.worst), (24, 30));
    assert!(found.states < 3000, "{}", found.states);
    // Two equal warps: only who is first is open.
    assert_eq!(all(&unit(2, json!([{ "global": 1 }, { "work": 6 }]))).unwrap().states, 1);
    assert_eq!(all(&unit(1, json!([{ "global": 1 }, { "work": 6 }]))).unwrap().states, 0);
}

#[test]
fn a_real_launch_takes_seconds() {
    // 132 units with 4 dispatchers and 8 places, 1056 groups of 8 warps.
    let value = json!({ "platform": { "units_per_device": 132, "elements_per_unit": 128,
            "global_access": 9, "global_issue": 4, "global_latency": 500, "kernel_launch": 100,
            "warps": { "width": 32, "dispatchers": 4, "resident_groups": 8, "memory_slots": 48 } },
        "launch": { "global_size": 132 * 8 * 256, "local_size": 256 },
        "kernel": [{ "repeat": 8, "body": [{ "global": 1 }, "barrier", { "compute": 20 },
            "barrier"] }] });
    let time = run(&value).unwrap().time;
    // 16 warps on a dispatcher, 8 * (4 + 20) ticks each.
    assert!((100 + 16 * 8 * 24..20_000).contains(&time), "{time}");
}

// ---- all schedules of random problems
// -----------------------------------------------------------------

fn amount() -> BoxedStrategy<Value> {
    prop_oneof![
        3 => (0..4_i64).prop_map(|n| json!(n)),
        1 => Just(json!("lid")),
        1 => Just(json!("(gid + 1) % 3")),
        1 => Just(json!("2 * (group % 2) + 1")),
    ]
    .boxed()
}

fn quiet() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        3 => amount().prop_map(|n| json!({ "global": n })),
        2 => amount().prop_map(|n| json!({ "work": n })),
        1 => Just(json!("mark")),
        1 => (0..9_i64).prop_map(|n| json!({ "until": n })),
        1 => amount().prop_map(|n| json!({ "until": n })),
    ];
    leaf.prop_recursive(1, 4, 2, |inner| {
        let body = prop::collection::vec(inner, 0..3);
        let condition = prop_oneof![Just("lid % 2 == 0"), Just("lid < 2"), Just("group == 0")];
        prop_oneof![
            (amount(), body.clone()).prop_map(|(n, body)| json!({ "repeat": n, "body": body })),
            (condition, body.clone(), body)
                .prop_map(|(c, a, b)| json!({ "if": c, "then": a, "else": b })),
        ]
    })
    .boxed()
}

fn kernel() -> BoxedStrategy<Vec<Value>> {
    let statement = prop_oneof![4 => quiet(), 1 => Just(json!("barrier"))];
    prop::collection::vec(statement, 1..4).boxed()
}

fn small_problem() -> impl Strategy<Value = Value> {
    let unit = (1..3_i64, 1..3_i64, 1..3_i64, 0..3_i64);
    let prices = (1..3_i64, 0..6_i64, 0..3_i64, 0..3_i64);
    (kernel(), unit, prices, (1..6_i64, 1..4_i64), 1..3_i64).prop_map(
        |(kernel, unit, (issue, latency, barrier, start), (local, groups), units)| {
            let (width, dispatchers, places, slots) = unit;
            let mut value = json!({
                "platform": { "units_per_device": units, "elements_per_unit": 1,
                    "global_access": 3, "global_issue": issue, "global_latency": latency,
                    "barrier": barrier, "group_start": start, "kernel_launch": 1,
                    "warps": { "width": width, "dispatchers": dispatchers,
                               "resident_groups": places } },
                "launch": { "global_size": groups * local, "local_size": local },
                "kernel": kernel, "finish": [{ "until": 2 }, { "work": 1 }] });
            if slots > 0 {
                value["platform"]["warps"]["memory_slots"] = json!(slots);
            }
            value
        },
    )
}

/// A warp does or waits for one thing after another, without a gap, from the beginning of its group
/// to its end; the sums are those of all spans.
fn one_after_another(spans: &[Span], waits: &[Span], sums: WarpTicks) {
    let all = || spans.iter().chain(waits);
    let mut of_warps: BTreeMap<(i64, i64), Vec<(i64, i64)>> = BTreeMap::new();
    for span in all() {
        of_warps.entry((span.group, span.item)).or_default().push((span.start, span.end));
    }
    let mut begins: BTreeMap<i64, i64> = BTreeMap::new();
    for (warp, times) in &mut of_warps {
        times.sort_unstable();
        for (before, after) in times.iter().zip(times.iter().skip(1)) {
            assert_eq!(before.1, after.0, "warp {warp:?}: {times:?}");
        }
        assert_eq!(*begins.entry(warp.0).or_insert(times[0].0), times[0].0, "warp {warp:?}");
    }
    let ticks = |of: fn(SpanKind) -> bool| -> i64 {
        all().filter(|s| of(s.kind)).map(|s| s.end - s.start).sum()
    };
    let expected = WarpTicks {
        running: ticks(|kind| matches!(kind, SpanKind::Access(_))),
        load: ticks(|kind| kind == SpanKind::Load),
        dispatcher: ticks(|kind| kind == SpanKind::Dispatcher),
        slot: ticks(|kind| kind == SpanKind::Slot),
        until: ticks(|kind| kind == SpanKind::Until),
        barrier: ticks(|kind| kind == SpanKind::Barrier),
    };
    assert_eq!(sums, expected);
}

const FEW: ExploreLimits = ExploreLimits { max_states: 3000, max_events: 1_000_000 };

/// One random run, with its trace and the units of its groups.
fn random_run(problem: &Problem, bound: &Bound, seed: u64) -> (SimulatedRun, Vec<i64>) {
    struct Dice(u64, Vec<i64>);
    impl tickbound_simulator::Chooser for Dice {
        fn choose(&mut self, _: i64, options: &[Decision]) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            (self.0 >> 33) as usize % options.len()
        }
        fn taken(&mut self, _: i64, decision: &Decision) {
            if let Decision::Place { unit, .. } = decision {
                self.1.push(*unit);
            }
        }
    }
    let mut dice = Dice(seed, Vec::new());
    let options = SimulateOptions { trace: true, ..SimulateOptions::default() };
    let run = simulate_with(problem, bound, &options, &mut dice);
    (run.unwrap_or_else(|e| panic!("{e}")), dice.1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn exploration_is_brute_force(value in small_problem()) {
        let (problem, bound) = only(&value);
        let found = explore(&problem, &bound, &FEW);
        prop_assume!(found.is_ok(), "too many states, or divergence");
        let found = found.unwrap();
        if let Some(range) = brute_force(&value, 1000) {
            prop_assert_eq!((found.best, found.worst), range);
        }
    }

    #[test]
    fn every_schedule_lies_between(value in small_problem(), seeds in any::<[u64; 4]>()) {
        let (problem, bound) = only(&value);
        let found = explore(&problem, &bound, &FEW);
        prop_assume!(found.is_ok(), "too many states, or divergence");
        let found = found.unwrap();
        let between = found.best..=found.worst;
        let first = simulate(&problem, &bound, &SimulateOptions::default()).unwrap().time;
        prop_assert!(between.contains(&first), "first come: {} of {:?}", first, found);
        let asked = simulate_with(&problem, &bound, &SimulateOptions::default(),
            &mut FirstCome).unwrap();
        prop_assert_eq!(asked.time, first);
        let width = value["platform"]["warps"]["width"].as_i64().unwrap();
        for seed in seeds {
            let (run, places) = random_run(&problem, &bound, seed);
            prop_assert!(between.contains(&run.time), "{} of {:?}", run.time, found);
            // `finish` is in the trace, too, but no part of the schedule.
            let Trace { mut spans, waits, .. } = run.trace.unwrap();
            spans.retain(|s| s.start < run.time - 4);
            one_after_another(&spans, &waits, run.warps.unwrap());
            let mut script = script(&spans, width, &places);
            let again = simulate_with(&problem, &bound, &SimulateOptions::default(),
                &mut script).unwrap();
            prop_assert!(script.followed(), "{:?}", script);
            prop_assert_eq!(again.time, run.time);
        }
    }
}
