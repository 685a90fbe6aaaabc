//! Random tuning problems, as the JSON a person would write.
//!
//! Every problem has the parameter `WG` and the names `A` and `B`, each a parameter with a small
//! domain or an input, the inputs `groups` and `size`, and the definitions `d` and `e`; so any
//! expression over these fits any problem. Barriers stand only where all items of a group take
//! them: the statements are of two kinds, `quiet` ones, in which items may differ and which hold no
//! barrier, and `loud` ones, which are the same for all items.

use std::fmt;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// A problem; its `Debug` form is a file that the command line reads.
#[derive(Clone)]
pub struct Written(pub Value);

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Problems of the profile `opencl`.
pub fn of_opencl() -> BoxedStrategy<Written> {
    with(opencl())
}

/// Problems of the published profiles.
pub fn of_published() -> BoxedStrategy<Written> {
    prop_oneof![with(published_2023()), with(published_2021())].boxed()
}

/// Problems of launches whose groups differ, up to 9 of them.
pub fn of_groups() -> BoxedStrategy<Written> {
    let guard = (0..40_i64, some(quiet(), 1..3))
        .prop_map(|(n, body)| json!({ "if": format!("gid < {n}"), "then": body }));
    let ways = prop_oneof![
        Just(None),
        guard.prop_map(Some),
        (1..4_i64, 0..3_i64).prop_map(|(k, c)| Some(json!(format!("group % {k} == {c}")))),
        (1..4_i64).prop_map(|k| Some(json!(format!("group // {k} % 3")))),
        Just(Some(json!("1 if group == A else 2"))),
    ];
    (prop_oneof![4 => with(opencl()), 1 => with(published_2021())], ways, 1..10_i64)
        .prop_map(|(Written(mut problem), way, groups)| {
            problem["inputs"]["groups"] = json!(groups);
            let kernel = problem["kernel"].take();
            problem["kernel"] = match way {
                // Items see their place in the launch, not in the group.
                None => {
                    let text = kernel.to_string().replace("WG - 1 - lid", "max(0, 9 - lid)");
                    serde_json::from_str(&text.replace("lid", "gid")).expect("JSON")
                }
                Some(guard @ Value::Object(_)) => {
                    json!([{ "repeat": 1, "body": kernel }, guard])
                }
                Some(count) => {
                    json!([{ "repeat": count, "body": kernel }, { "work": "group % 2" }])
                }
            };
            Written(problem)
        })
        .boxed()
}

/// A problem on the given platform and launch.
fn with(frame: BoxedStrategy<Value>) -> BoxedStrategy<Written> {
    let names = (numbers(), dependent(), any::<[bool; 2]>(), definitions(), constraints());
    let programs = (programs(), prop_oneof![3 => Just(vec![]), 2 => some(quiet(), 0..4)]);
    let marks = prop::bool::weighted(0.6);
    (frame, names, programs, marks)
        .prop_map(|(mut problem, (a, b, inputs, definitions, constraints), programs, marks)| {
            for (name, domain, input) in [("A", a, inputs[0] && inputs[1]), ("B", b, inputs[0])] {
                match domain.as_array().and_then(|v| v[0].as_i64()).filter(|_| input) {
                    Some(value) => problem["inputs"][name] = json!(value),
                    None => problem["parameters"][name] = domain,
                }
            }
            problem["definitions"] = definitions;
            problem["constraints"] = json!(constraints);
            let (kernel, finish) = programs;
            problem["kernel"] = if marks { json!(kernel) } else { without_marks(&kernel) };
            problem["finish"] = json!(finish);
            Written(problem)
        })
        .boxed()
}

/// Up to three values from 0 to 4.
fn numbers() -> BoxedStrategy<Value> {
    prop_oneof![
        3 => prop::collection::vec(0..5_i64, 1..3).prop_map(|v| json!(v)),
        1 => (0..2_i64, 1..3_i64).prop_map(|(a, s)| json!(format!("range({a}, {}, {s})", a + 2))),
        1 => (2..5_i64).prop_map(|n| json!(format!("divisors({n})"))),
        1 => (2..5_i64).prop_map(|n| json!(format!("powers_of_two(1, {n})"))),
    ]
    .boxed()
}

/// As [`numbers`], or a domain that depends on `A` or `WG`; it may be empty for some of them.
fn dependent() -> BoxedStrategy<Value> {
    let texts = ["range(0, A)", "range(A, 4, 2)", "divisors(A + 1)", "powers_of_two(1, A)"];
    prop_oneof![
        3 => numbers(),
        2 => select(texts.to_vec()).prop_map(|t| json!(t)),
        1 => Just(json!([0, "A", "WG % 3"])),
    ]
    .boxed()
}

fn definitions() -> BoxedStrategy<Value> {
    let e = vec!["max(A - d, 0)", "(A + d) % 4", "WG // (d + 1)", "ceil_div(WG, 4)"];
    (over(&["A", "B", "WG % 3"]), select(e)).prop_map(|(d, e)| json!({ "d": d, "e": e })).boxed()
}

fn constraints() -> BoxedStrategy<Vec<&'static str>> {
    let all = ["A <= WG", "A + B < 6", "WG % 2 == 0 or A > 0", "A / 2 >= B / 3", "d != 3", "e < 4"];
    prop_oneof![3 => Just(vec![]), 2 => prop::sample::subsequence(all.to_vec(), 1..3)].boxed()
}

// ---- platforms and launches ---------------------------------------------------------------------

fn platform() -> BoxedStrategy<Value> {
    let elements = prop_oneof![1 => Just(1), 5 => 2..5_i64];
    (1..4_i64, elements, 0..6_i64, 0..3_i64, prop::bool::weighted(0.2))
        .prop_map(|(units, elements, global, local, devices)| {
            let mut platform = json!({ "units_per_device": units, "elements_per_unit": elements,
                "global_access": global, "local_access": local, "compute_op": 1,
                "local_atomic_access": 2 * local + 3, "shared_atomic_access": global + 5 });
            if devices {
                platform["devices"] = json!(2);
            }
            platform
        })
        .boxed()
}

fn opencl() -> BoxedStrategy<Value> {
    let price = || prop_oneof![3 => Just(0_i64), 2 => 1..4_i64];
    let sizes = vec![(8, "powers_of_two(1, size)"), (6, "divisors(size)"), (12, "range(2, 6, 2)")];
    let launch = prop_oneof![
        select(sizes).prop_map(|(size, domain)| (size, json!(domain), "size")),
        prop::collection::vec(1..9_i64, 1..4).prop_map(|wg| (1, json!(wg), "WG * groups")),
    ];
    (platform(), price(), price(), price(), launch, 1..5_i64)
        .prop_map(|(mut platform, barrier, start, kernel, (size, wg, global), groups)| {
            platform["barrier"] = json!(barrier);
            platform["group_start"] = json!(start);
            platform["kernel_launch"] = json!(kernel);
            json!({ "inputs": { "groups": groups, "size": size }, "platform": platform,
                "parameters": { "WG": wg }, "launch": { "global_size": global,
                    "local_size": "WG" } })
        })
        .boxed()
}

fn published_2023() -> BoxedStrategy<Value> {
    let activations = vec!["groups", "1 if groups == 1 else groups + 1", "1 + A % 2"];
    let wg = prop_oneof![
        prop::collection::vec(1..9_i64, 1..4).prop_map(|wg| json!(wg)),
        Just(json!("powers_of_two(1, 8)")),
    ];
    (platform(), wg, select(activations), 1..4_i64)
        .prop_map(|(platform, wg, activations, groups)| {
            json!({ "profile": "published-2023", "inputs": { "groups": groups, "size": 8 },
                "platform": platform, "parameters": { "WG": wg },
                "launch": { "local_size": "WG", "activations": activations } })
        })
        .boxed()
}

fn published_2021() -> BoxedStrategy<Value> {
    let wg = vec!["range(size, 3 * size, size)", "[size, 3 * size]", "[2 * size]", "[5 * size]"];
    (platform(), 1..5_i64, 1..4_i64, select(wg), 1..5_i64)
        .prop_map(|(mut platform, width, dispatchers, wg, groups)| {
            platform["warps"] = json!({ "width": width, "dispatchers": dispatchers });
            json!({ "profile": "published-2021", "platform": platform,
                "inputs": { "groups": groups, "size": width * dispatchers },
                "parameters": { "WG": wg },
                "launch": { "global_size": "WG * groups", "local_size": "WG" } })
        })
        .boxed()
}

// ---- expressions --------------------------------------------------------------------------------

/// An expression that is the same for all items, from 0 to 8.
fn uniform() -> BoxedStrategy<String> {
    over(&["A", "B", "d", "e", "WG % 3"])
}

fn over(names: &[&'static str]) -> BoxedStrategy<String> {
    let atom = prop_oneof![
        2 => (0..5_i64).prop_map(|n| n.to_string()),
        4 => select(names.to_vec()).prop_map(str::to_owned),
    ];
    let two = (atom.clone(), atom.clone());
    prop_oneof![
        4 => atom,
        1 => two.clone().prop_map(|(x, y)| format!("({x} + {y}) % 5")),
        1 => two.clone().prop_map(|(x, y)| format!("max({x} - ({y}), 0)")),
        1 => two.prop_map(|(x, y)| format!("{x} if WG > 2 else {y}")),
    ]
    .boxed()
}

/// An expression that differs between items, from 0 to about 8.
fn of_item() -> BoxedStrategy<String> {
    let plain =
        ["lid", "lid % 2", "lid % 3 + 1", "(lid * A) % 4", "max(0, B - lid)", "WG - 1 - lid"];
    prop_oneof![
        3 => select(plain.to_vec()).prop_map(str::to_owned),
        1 => uniform().prop_map(|e| format!("{e} if lid == 0 else 1")),
        1 => uniform().prop_map(|e| format!("(lid + {e}) % 4")),
    ]
    .boxed()
}

fn any_amount() -> BoxedStrategy<String> {
    prop_oneof![uniform(), of_item()].boxed()
}

/// A number of iterations from 0 to 4.
fn count() -> BoxedStrategy<String> {
    prop_oneof![
        2 => (0..5_i64).prop_map(|n| n.to_string()),
        3 => uniform().prop_map(|e| format!("min({e}, 4)")),
        1 => uniform().prop_map(|e| format!("{e} - 1")),
    ]
    .boxed()
}

fn uniform_condition() -> BoxedStrategy<String> {
    let plain = ["A > 1", "WG > 4", "A == B", "d % 2", "WG % 4 == 0", "e < 2 and B > 0"];
    select(plain.to_vec()).prop_map(str::to_owned).boxed()
}

fn item_condition() -> BoxedStrategy<String> {
    prop_oneof![
        (1..4_i64, 0..3_i64).prop_map(|(k, c)| format!("lid % {k} == {c}")),
        uniform().prop_map(|e| format!("lid < ({e})")),
        Just("lid == 0".to_owned()),
        Just("lid % (A + 1) == 1".to_owned()),
    ]
    .boxed()
}

// ---- programs -----------------------------------------------------------------------------------

fn some<T: fmt::Debug + 'static>(
    one: impl Strategy<Value = T> + 'static,
    size: std::ops::Range<usize>,
) -> BoxedStrategy<Vec<T>> {
    prop::collection::vec(one, size).boxed()
}

fn leaf() -> BoxedStrategy<Value> {
    let access = select(vec![
        "work",
        "global",
        "local",
        "compute",
        "atomic",
        "local_atomic",
        "shared_atomic",
        "shared_local_atomic",
    ]);
    let until = prop_oneof![
        2 => (-3..15_i64).prop_map(|n| json!(n)),
        2 => any_amount().prop_map(|e| json!(format!("2 * ({e})"))),
    ];
    prop_oneof![
        5 => (access, any_amount()).prop_map(|(access, amount)| json!({ access: amount })),
        2 => Just(json!("mark")),
        3 => until.prop_map(|d| json!({ "until": d })),
    ]
    .boxed()
}

/// A statement without barriers; items may differ in it.
fn quiet() -> BoxedStrategy<Value> {
    leaf()
        .prop_recursive(2, 6, 3, |inner| {
            let body = some(inner, 0..3);
            let count = prop_oneof![2 => count(), 1 => of_item()];
            let condition = prop_oneof![2 => item_condition(), 1 => uniform_condition()];
            prop_oneof![
                (count, body.clone()).prop_map(|(n, body)| json!({ "repeat": n, "body": body })),
                (condition, body.clone(), body)
                    .prop_map(|(c, a, b)| json!({ "if": c, "then": a, "else": b })),
            ]
        })
        .boxed()
}

/// A statement that all items take alike, so that it may hold barriers.
fn loud() -> BoxedStrategy<Value> {
    let side = || some(leaf(), 1..3);
    let split = (item_condition(), side(), side())
        .prop_map(|(c, a, b)| json!({ "if": c, "then": a, "else": b }));
    let plain = prop_oneof![4 => quiet(), 2 => split, 4 => Just(json!("barrier"))];
    plain
        .prop_recursive(3, 16, 5, |inner| {
            let body = some(inner, 1..5);
            prop_oneof![
                4 => (count(), body.clone())
                    .prop_map(|(n, body)| json!({ "repeat": n, "body": body })),
                1 => (uniform_condition(), body.clone(), body)
                    .prop_map(|(c, a, b)| json!({ "if": c, "then": a, "else": b })),
            ]
        })
        .boxed()
}

fn programs() -> BoxedStrategy<Vec<Value>> {
    some(loud(), 0..6).boxed()
}

/// The program without `mark` and `until`.
fn without_marks(program: &[Value]) -> Value {
    let kept = program.iter().filter(|s| **s != json!("mark") && s.get("until").is_none());
    kept.map(|statement| {
        let mut statement = statement.clone();
        for key in ["body", "then", "else"] {
            if let Some(inner) = statement.get(key).and_then(Value::as_array) {
                statement[key] = without_marks(inner);
            }
        }
        statement
    })
    .collect()
}
