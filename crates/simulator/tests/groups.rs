//! Launches whose groups differ: many groups at once against one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use indexmap::IndexMap;
use proptest::prelude::*;
use serde_json::{Value, json};
use tickbound_model::{Bound, Problem};
use tickbound_simulator::{SimulateError, SimulateOptions, simulate};

fn only(value: &Value) -> (Problem, Bound) {
    let problem = Problem::from_value(value, &IndexMap::new(), &|_| unreachable!()).unwrap();
    let bound = problem.space().unwrap().bound.swap_remove(0);
    (problem, bound)
}

fn time(value: &Value, options: &SimulateOptions) -> Result<(i64, u64), SimulateError> {
    let (problem, bound) = only(value);
    simulate(&problem, &bound, options).map(|run| (run.time, run.events))
}

fn literal() -> SimulateOptions {
    SimulateOptions { skip_repetition: false, max_events: 2_000_000, ..SimulateOptions::default() }
}

/// A launch of groups in two dimensions; `x` and `y` are the place of an item.
fn launch(sizes: [i64; 4], units: i64, elements: i64, kernel: &Value) -> Value {
    let [local_x, local_y, groups_x, groups_y] = sizes;
    let text = kernel.to_string();
    let text = text
        .replace('X', &format!("((group % {groups_x}) * {local_x} + lid % {local_x})"))
        .replace('Y', &format!("((group // {groups_x}) * {local_y} + lid // {local_x})"));
    let kernel: Value = serde_json::from_str(&text).unwrap();
    json!({
        "platform": { "units_per_device": units, "elements_per_unit": elements, "global_access": 3,
                      "barrier": 1, "group_start": 2, "kernel_launch": 5 },
        "launch": { "global_size": local_x * local_y * groups_x * groups_y,
                    "local_size": local_x * local_y },
        "kernel": kernel
    })
}

fn amount() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0..9_i64).prop_map(|n| n.to_string()),
        Just("X".to_owned()),
        Just("Y".to_owned()),
        Just("gid".to_owned()),
        Just("group".to_owned()),
        Just("lid".to_owned()),
    ];
    (leaf.clone(), leaf, 0..12_i64, 0..15).prop_map(|(a, b, n, shape)| match shape {
        0 => a,
        1 => format!("{a} + {b}"),
        2 => format!("max({a} - {b}, 0)"),
        3 => format!("min({a}, {n})"),
        4 => format!("({a} + {n}) // 3"),
        5 => format!("ceil_div({a}, {})", n + 1),
        6 => format!("abs({a} - {n})"),
        7 => format!("({a} + {n}) % 4"),
        8 => format!("min(max(({a} - {b}) // 3, 0), {n})"),
        9 => format!("max(({n} - 2 * {a}) // 4 + 1, ceil_div({b} - {n}, 2), 0)"),
        11 => format!("({a} - {n}) // 3 * ({b} // 2 - 3) % 50"),
        12 => format!("max(({a} + {n}) // ({b} % 3 + 1), {b} // 2, ({a} - 4) * {b})"),
        13 => format!("abs(ceil_div({a} - {n}, -2) * (not {b} // 3)) % 9"),
        10 => format!("min(5, {n} - min({n}, max(0, -ceil_div({n} - {a}, 3)), {b}))"),
        _ => format!("{n} * {a} if {a} < {b} else {n}"),
    })
}

fn condition() -> impl Strategy<Value = String> {
    let side = amount();
    (side, 0..60_i64, 0..9).prop_map(|(a, n, shape)| match shape {
        0 => format!("gid < {}", 3 * n),
        1 => format!("X < {} and Y < {}", n % 17, n % 11),
        2 => format!("X > 0 and X < {}", n % 13),
        3 => "X <= Y".to_owned(),
        4 => format!("Y == {} or X == 0", n % 7),
        5 => format!("lid < {}", n % 7),
        6 => format!("{a} < {n}"),
        7 => format!("{a} // 3 + X % 5 < {}", n % 9),
        _ => format!("not ({a} == {n})"),
    })
}

fn program() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => amount().prop_map(|a| json!({ "work": a })),
        1 => amount().prop_map(|a| json!({ "global": a })),
        1 => Just(json!("mark")),
        1 => amount().prop_map(|a| json!({ "until": a })),
    ];
    let inner = leaf.prop_recursive(3, 10, 3, |inner| {
        let body = prop::collection::vec(inner, 0..3);
        prop_oneof![
            (condition(), body.clone(), body.clone())
                .prop_map(|(c, a, b)| json!({ "if": c, "then": a, "else": b })),
            (amount(), body).prop_map(|(n, body)| json!({ "repeat": n, "body": body })),
        ]
    });
    let all_meet = prop_oneof![
        5 => inner.clone(),
        1 => Just(json!("barrier")),
        1 => (0..4_i64, inner).prop_map(|(n, s)| json!({ "repeat": n, "body": [s, "barrier"] })),
        1 => Just(json!({ "repeat": "group",
            "body": [{ "work": "lid" }, "barrier", { "work": 2 }] })),
    ];
    prop::collection::vec(all_meet, 1..4).prop_map(Value::Array)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn pieces_of_a_launch_change_nothing(
        kernel in program(),
        local in (1..5_i64, 1..4_i64),
        groups in (1..9_i64, 1..6_i64),
        device in (1..6_i64, 1..5_i64),
    ) {
        let sizes = [local.0, local.1, groups.0, groups.1];
        let value = launch(sizes, device.0, device.1, &kernel);
        let slow = time(&value, &literal());
        prop_assume!(!matches!(slow, Err(SimulateError::TooManyEvents { .. })));
        let fast = time(&value, &SimulateOptions::default());
        prop_assert_eq!(
            fast.as_ref().map(|(time, _)| time),
            slow.as_ref().map(|(time, _)| time)
        );
        if let (Ok((_, fast)), Ok((_, slow))) = (fast, slow) {
            prop_assert!(fast <= slow, "{fast} events instead of {slow}");
        }
    }
}

/// Ticks of a large launch on 132 units of 128 elements; it takes few events.
fn large(sizes: [i64; 4], kernel: &Value) -> i64 {
    let (ticks, events) =
        time(&launch(sizes, 132, 128, kernel), &SimulateOptions::default()).unwrap();
    assert!(events < 60_000, "{sizes:?} {kernel}: {events} events");
    ticks
}

/// When groups of these ticks end if each goes to the unit that is free first.
fn one_after_the_other(ticks: impl Iterator<Item = i64>) -> i64 {
    let mut free: BinaryHeap<Reverse<i64>> = (0..132).map(|_| Reverse(5)).collect();
    let mut end = 5;
    for ticks in ticks {
        let Reverse(at) = free.pop().unwrap();
        end = end.max(at + 2 + ticks);
        free.push(Reverse(at + 2 + ticks));
    }
    end
}

/// Launches of 2^10 to 2^30 items: groups of 256 in a row, and of 16 times 16 in a square.
fn shapes() -> impl Iterator<Item = ([i64; 4], [i64; 4])> {
    [10, 16, 20, 24, 30].into_iter().map(|bits: u32| {
        let side = 1i64 << (bits / 2);
        ([256, 1, (1 << bits) / 256, 1], [16, 16, side / 16, side / 16])
    })
}

#[test]
fn guards_that_always_hold() {
    for (row, square) in shapes() {
        let (items, side) = (256 * row[2], 16 * square[2]);
        let waves = 5 + (row[2] + 131) / 132 * (2 + 14);
        // Two items an element.
        let guarded = |c: String| json!([{ "if": c, "then": [{ "work": 7 }] }]);
        assert_eq!(large(row, &guarded(format!("gid < {items}"))), waves);
        assert_eq!(large(square, &guarded(format!("X < {side} and Y < {side}"))), waves);
    }
}

#[test]
fn launches_that_are_rounded_up() {
    for (row, square) in shapes() {
        // The last group is half empty: one item for each of its elements.
        let items = 256 * row[2] - 128;
        let kernel = json!([{ "if": format!("gid < {items}"), "then": [{ "work": 7 }] }]);
        let ticks = (1..=row[2]).map(|group| if group == row[2] { 7 } else { 14 });
        assert_eq!(large(row, &kernel), one_after_the_other(ticks));
        // So is the last column, and the last row.
        let (n, side) = (square[2], 16 * square[2] - 8);
        let kernel =
            json!([{ "if": format!("X < {side} and Y < {side}"), "then": [{ "work": 7 }] }]);
        let half = |at: i64| if at == n - 1 { 1 } else { 2 };
        // Items 8 rows apart share an element.
        let ticks = (0..n * n).map(|group| 7 * half(group / n));
        assert_eq!(large(square, &kernel), one_after_the_other(ticks));
    }
}

#[test]
fn halos() {
    for (_, square) in shapes() {
        let (n, last) = (square[2], 16 * square[2] - 1);
        let border = format!("X == 0 or X == {last} or Y == 0 or Y == {last}");
        let kernel = json!([{ "if": border, "then": [{ "work": 9 }], "else": [{ "work": 4 }] }]);
        let edge = |at: i64| at == 0 || at == n - 1;
        // The elements of the first and of the last column have two items at the border each.
        let ticks = (0..n * n).map(|group| match (edge(group % n), edge(group / n)) {
            (true, _) => 18,
            (false, true) => 13,
            (false, false) => 8,
        });
        assert_eq!(large(square, &kernel), one_after_the_other(ticks));
    }
}

#[test]
fn triangular_loops() {
    for (row, _) in shapes() {
        let items = 256 * row[2];
        let rising = json!([{ "repeat": "gid + 1", "body": [{ "work": 1 }] }]);
        // Element 127 has items 127 and 255 of a group.
        let ticks = (0..row[2]).map(|group| 2 * 256 * group + 128 + 256);
        assert_eq!(large(row, &rising), one_after_the_other(ticks));
        let falling = json!([{ "repeat": format!("{items} - gid"), "body": [{ "work": 1 }] }]);
        let ticks = (0..row[2]).map(|group| 2 * (items - 256 * group) - 128);
        assert_eq!(large(row, &falling), one_after_the_other(ticks));
    }
}

/// Loops over what of a tile lies within an edge: a quotient between the ends of a clamp. Only
/// groups across the edge differ.
#[test]
fn clamped_quotients() {
    for (row, _) in shapes() {
        let (groups, edge) = (row[2], 3 * row[2] / 2);
        let within = format!("min(4, max(0, ceil_div({edge} - 6 * group, 4)))");
        let kernel = json!([{ "repeat": within, "body": [{ "work": 7 }] }]);
        let loops = |group: i64| (edge - 6 * group + 3).div_euclid(4).clamp(0, 4);
        let ticks = (0..groups).map(|group| 14 * loops(group));
        assert_eq!(large(row, &kernel), one_after_the_other(ticks));
    }
}

/// Ticks that are (x + 1)² (12 - x) lie on a line at the first two groups and at the last, and
/// nowhere else.
#[test]
fn loops_that_grow_together_are_no_line() {
    let inner = json!({ "repeat": "group + 1", "body": [{ "work": "12 - group" }] });
    let kernel = json!([{ "repeat": "group + 1", "body": [inner] }]);
    let ticks = (0..10).map(|x: i64| (x + 1) * (x + 1) * (12 - x));
    assert_eq!(large([1, 1, 10, 1], &kernel), one_after_the_other(ticks));
    let (ticks, _) =
        time(&launch([1, 1, 10, 1], 1, 1, &kernel), &SimulateOptions::default()).unwrap();
    let all: i64 = (0..10).map(|x: i64| 2 + (x + 1) * (x + 1) * (12 - x)).sum();
    assert_eq!(ticks, 5 + all);
}

/// Telling these items apart by which of three they are would look at them as often as there are
/// pairs.
#[test]
fn very_large_groups() {
    let value = json!({
        "platform": { "units_per_device": 2, "elements_per_unit": 3, "global_access": 4 },
        "launch": { "global_size": 600_000, "local_size": 300_000 },
        "kernel": [{ "work": "lid" }, { "until": "lid % 3" }, "mark", "barrier"]
    });
    // Element 2 runs the items 2, 5, ..., each for as many ticks, but the first for 3.
    let ticks: i64 = (2..300_000).step_by(3).sum();
    assert_eq!(time(&value, &SimulateOptions::default()).unwrap().0, ticks + 1);
}

/// What is larger than can be simulated is refused before anything is made for each item.
#[test]
fn groups_beyond_simulation() {
    for local in [(1i64 << 20) + 1, 1 << 40, i64::MAX / 2] {
        let value = json!({
            "platform": { "units_per_device": 2, "elements_per_unit": 3, "global_access": 4 },
            "launch": { "global_size": local, "local_size": local },
            "kernel": [{ "work": "lid" }, { "until": "lid % 3" }]
        });
        let (problem, bound) = only(&value);
        let refused = simulate(&problem, &bound, &SimulateOptions::default()).unwrap_err();
        let found = matches!(refused, SimulateError::TooManyItems { items, .. } if items == local);
        assert!(found, "{refused}");
    }
}
