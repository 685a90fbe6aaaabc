//! What small kernels use of a device, each for one rule of `docs/opencl.md`.

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_model::Problem;
use tickbound_opencl::attach;

use crate::parse::tree::ready;

/// The usage of a kernel `k` over rows of 128 items in groups of 32 and 4 of them, with the scalar
/// argument `n`.
fn usage(source: &str, arguments: Value, source_order: i64) -> IndexMap<&'static str, i64> {
    usage_with(source, arguments, json!({ "source_order": source_order }))
}

/// The same on a device that has more.
fn usage_with(source: &str, arguments: Value, more: Value) -> IndexMap<&'static str, i64> {
    usages(source, arguments, more, &[2]).swap_remove(0)
}

/// The same for each of some values of `T`. The rule under `without` in `more` is left out.
fn usages(
    source: &str,
    arguments: Value,
    mut more: Value,
    values: &[i64],
) -> Vec<IndexMap<&'static str, i64>> {
    let without = more.as_object_mut().unwrap().swap_remove("without");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.cl"), source).unwrap();
    let mut value = json!({
        "profile": "resources",
        "platform": {
            "units_per_device": 2, "elements_per_unit": 32, "global_access": 4,
            "resources": {
                "warp_width": 32, "banks": 32, "line_bytes": 128, "l1_size": 4096
            }
        },
        "inputs": { "n": 100 }, "parameters": { "T": values },
        "launch": { "global_size": [128, 8], "local_size": [32, 4] },
        "kernel": { "opencl": "k.cl", "entry": "k", "arguments": arguments }
    });
    value["without"] = without.map_or(json!([]), |rule| json!([rule]));
    let resources = value["platform"]["resources"].as_object_mut().unwrap();
    resources.extend(more.as_object().unwrap().clone());
    let none = |_: &str| unreachable!("the platform is in the file");
    let mut problem = Problem::from_value(&value, &IndexMap::new(), &none).unwrap();
    attach(&mut problem, folder.path()).unwrap().expect("a source");
    let of = |value: &i64| {
        let bound = problem.bind(&IndexMap::from([("T".to_owned(), *value)])).unwrap();
        problem.usage().entries().map(|(name, e)| (name, e.eval(&bound.env).unwrap())).collect()
    };
    values.iter().map(of).collect()
}

fn buffers(names: &[&str]) -> Value {
    let buffer = |name: &&str| json!({ "name": name, "type": "float", "length": 4096 });
    let n = json!({ "name": "n", "type": "int", "value": "n" });
    Value::Array(names.iter().map(buffer).chain([n]).collect())
}

/// The arguments with one more.
fn inserted(mut arguments: Value, place: usize, argument: Value) -> Value {
    arguments.as_array_mut().unwrap().insert(place, argument);
    arguments
}

#[test]
fn items_beyond_an_edge_do_nothing() {
    if !ready() {
        return;
    }
    let source = "kernel void k(global float *a, int n) {
        const int x = get_global_id(0);
        if (x < n) {
            float s = 0.0f;
            for (int i = 0; i < n; i++) s += 2.0f;
            a[x] = s;
        }
    }";
    // 100 of 128 items add up 100 numbers.
    assert_eq!(usage(source, buffers(&["a"]), 0)["real"], 100 * 100 / 128 + 1);
    let tiled = "kernel void k(global float *a, int n) {
        for (int t = 0; t < T; t++) {
            const int x = T * get_global_id(0) + t;
            if (x < n) for (int i = 0; i < n; i++) a[x] += 2.0f;
        }
    }";
    // 100 of 256 places.
    let real = usage(tiled, buffers(&["a"]), 0)["real"];
    assert!((100 * 2 * 100 / 256..=100 * 2 * 100 / 256 + 2).contains(&real), "{real}");
}

/// Hash functions have thousands; a problem's expressions nest up to 600 levels.
#[test]
fn a_kernel_may_have_many_lines() {
    if !ready() {
        return;
    }
    let lines = "for (int i = 0; i < T; i++) s = s * s + 2.0f;\n".repeat(1500);
    let source = format!(
        "kernel void k(global float *a, int n) {{
            float s = a[get_global_id(0)];
            {lines}
            a[get_global_id(0)] = s;
        }}"
    );
    assert_eq!(usage(&source, buffers(&["a"]), 0)["real"], 2 * 1500);
}

#[test]
fn a_loop_without_an_iteration_moves_nothing() {
    if !ready() {
        return;
    }
    let source = "kernel void k(global const float *a, global float *b, int n) {
        const int x = get_global_id(0);
        float s = 0.0f;
        for (int i = n / T * T; i < n; i++) s += a[128 * (n - i) + x];
        b[x] = s;
    }";
    // 100 is a multiple of 2; one of 3 and one more, 10 of 32 and 4 more: so many rows of 32 items,
    // four of which are the same.
    let usages = usages(source, buffers(&["a", "b"]), json!({ "sector_bytes": 4 }), &[2, 3, 32]);
    let moved: Vec<i64> = usages.iter().map(|usage| usage["l2_bytes"]).collect();
    assert_eq!(moved, [0, 1, 4].map(|rows| 4 * 32 * (rows + 1)));
    let loaded: Vec<i64> = usages.iter().map(|usage| usage["global_requests"] - 1).collect();
    assert_eq!(loaded, [0, 1, 4]);
}

#[test]
fn a_pitch_that_the_source_has_as_a_number_is_one_of_rows() {
    if !ready() {
        return;
    }
    let source = "kernel void k(global float *a, int n) {
        for (int j = 0; j < 256 / T; j++)
            for (int i = 0; i < T; i++)
                a[256 * get_global_id(1) + T * j + i] = 0.0f;
    }";
    // Groups have 4 of 8 rows, of 1024 bytes, whatever the pieces are in which items go over them.
    for usage in usages(source, buffers(&["a"]), json!({}), &[2, 4, 16, 64]) {
        assert_eq!((usage["l2_bytes"], usage["dram_bytes"]), (4 * 1024, 8 * 1024));
    }
}

#[test]
fn what_one_item_loads_its_warp_waits_for() {
    if !ready() {
        return;
    }
    let source = "kernel void k(global const float *a, global float *b, int n) {
        float s = 0.0f;
        for (int i = 0; i < n; i++) {
            if (get_local_id(0) == 1) s += a[i];
            s += 1.0f;
        }
        b[get_global_id(0)] = s;
    }";
    let used = usage(source, buffers(&["a", "b"]), 0);
    assert!(used.values().all(|n| *n >= 0), "{used:?}");
    // Each row of items is a warp, with an item 1. Its 100 loads are 25 waits, as four iterations
    // wait together, four of them for another line of 128 bytes.
    assert_eq!((used["far_steps"], used["near_steps"], used["global_requests"]), (4, 21, 101));
}

#[test]
fn what_nobody_writes_takes_its_own_path() {
    if !ready() {
        return;
    }
    for (kind, through) in [
        ("const float *restrict", 1),
        ("const float *", 0),
        ("float *restrict", 0),
        ("const float *const restrict", 1),
    ] {
        let source = format!(
            "kernel void k(global {kind} a, global float *b, int n) {{
                const int x = get_global_id(0);
                b[x] = a[x];
            }}"
        );
        let used = usage(&source, buffers(&["a", "b"]), 0);
        assert_eq!((used["read_only_requests"], used["global_requests"]), (through, 2), "{kind}");
    }
}

#[test]
fn compilers_that_keep_the_order_of_loads_keep_what_is_used_again() {
    if !ready() {
        return;
    }
    let kernel = |guard: &str| {
        format!(
            "kernel void k(global const float *a, global float *b, int n) {{
                const int x = get_global_id(0);
                float s[2] = {{ 0.0f, 0.0f }};
                for (int i = 0; i < 5; i++)
                    for (int t = 0; t < 2; t++) s[t] += 3.0f * a[x + (i + t) * n];
                for (int t = 0; t < 2; t++) {guard} b[x + t * n] = s[t];
            }}"
        )
    };
    let registers = |guard: &str, order| {
        let used = usage(&kernel(guard), buffers(&["a", "b"]), order);
        (used["registers"], used["global_requests"])
    };
    // Six elements, of which two are live at once; behind a guard all of them.
    assert_eq!(registers("", 0), (22, 6 + 2));
    assert_eq!(registers("", 1), (24, 6 + 2));
    assert_eq!(registers("if (x < n)", 1), (24 + 6, 6 + 2));
}

#[test]
fn neighbours_of_what_data_multiply_are_apart_as_it_is() {
    if !ready() {
        return;
    }
    // Also where C converts, adds a number, or wraps around.
    for far in ["(int)((float)y * f[i])", "(int)((0.5f + y * 2.0f) * f[i])", "(uint)(y * f[i])"] {
        let source = format!(
            "kernel void k(global const float *a, constant float *f, global float *b, int n) {{
                const int x = get_global_id(0);
                const int y = get_global_id(1);
                float s = 0.0f;
                for (int i = 0; i < n; i++) s += a[i * 1024 + (x + {far})];
                b[x] = s;
            }}"
        );
        // A unit holds one group, so that nothing is shared.
        let used = usage_with(&source, buffers(&["a", "f", "b"]), json!({ "groups_per_unit": 1 }));
        // 35 elements and the rest of a sector in each of 100 rows; 32 elements of the result.
        assert_eq!(used["l2_bytes"], 100 * (4 * 35 + 28) + 4 * 32, "{far}");
        // Of four iterations at once: new lines, and before them what the address needs.
        assert_eq!((used["far_steps"], used["near_steps"]), (25, 25), "{far}");
    }
}

#[test]
fn a_pragma_that_unrolls_by_0_is_none() {
    if !ready() {
        return;
    }
    let used = |pragma: &str| usage(&columns(pragma, 64), buffers(&["a", "b"]), 0);
    assert_eq!(used("#pragma unroll 0"), used(""));
    assert_ne!(used("#pragma unroll 1"), used(""));
}

/// A sum of 8 elements for each of `n` atoms, the loop over elements with this pragma.
fn columns(pragma: &str, elements: i64) -> String {
    format!(
        "#define HALF (4 / T)
        kernel void k(global const float *a, global float *b, int n) {{
            float s[{elements}];
            for (int i = 0; i < {elements}; i++) s[i] = 0.0f;
            for (int t = 0; t < n; t++) {{
                const float x = a[t];
                {pragma}
                for (int i = 0; i < {elements}; i++) s[i] += x;
            }}
            for (int i = 0; i < {elements}; i++) b[get_global_id(0) + 128 * i] = s[i];
        }}"
    )
}

#[test]
fn private_arrays_with_an_index_live_in_memory() {
    if !ready() {
        return;
    }
    let of = |pragma: &str, elements| usage(&columns(pragma, elements), buffers(&["a", "b"]), 0);
    let numbers = |used: &IndexMap<&'static str, i64>| {
        ["registers", "global_requests", "global_wavefronts", "branches"].map(|name| used[name])
    };
    // Unrolled as a whole, by the compiler and by the source: 8 registers, a load for each of 100
    // atoms, 8 results.
    for pragma in ["", "#pragma unroll", "#pragma unroll 8", "#pragma unroll 3 * T + 4"] {
        let used = of(&format!("\n{pragma}\n"), 8);
        assert_eq!(numbers(&used), [28, 108, 108, 100], "{pragma}");
        assert_eq!(used["real"], 800, "{pragma}");
    }
    // 10 vectors of four are stored at first and loaded at last; in between loads and stores of so
    // many at once, and branches of both loops.
    for (pragma, bodies, moves) in [
        ("1", 40, 40),
        ("HALF", 20, 20),
        ("T", 20, 20),
        ("4", 10, 10),
        ("(2 * T)", 10, 10),
        ("3", 14, 14),
        ("7", 6, 12),
    ] {
        let used = of(&format!("\n#pragma unroll {pragma}\n"), 40);
        let wanted = [20, 140 + 20 + 200 * moves, 140 + 80 + 8000, 100 + 100 * bodies];
        assert_eq!(numbers(&used), wanted, "{pragma}");
        assert_eq!(used["real"], 4000, "{pragma}");
    }
    // An array of an odd length: the last body is not whole.
    let used = of("\n#pragma unroll 2\n", 33);
    assert_eq!(numbers(&used), [20, 133 + 18 + 200 * 17, 133 + 66 + 6600, 100 + 1700]);
}

#[test]
fn a_few_places_are_chosen_from_registers() {
    if !ready() {
        return;
    }
    let of = |factor: i64, elements: i64| {
        let source = columns(&format!("\n#pragma unroll {factor}\n"), elements);
        let used = usage(&source, buffers(&["a", "b"]), 0);
        ["registers", "global_requests", "integer"].map(|name| used[name])
    };
    // Iterations of both loops, the address of an atom in each, that of a result.
    let plain = |bodies: i64| 3 * 100 + 3 * 100 * bodies + 100 + 1;
    for (factor, places) in [(1, 4), (2, 2), (3, 2)] {
        let chosen = 2 * 100 * 4 * 2 * places;
        assert_eq!(of(factor, 4), [24, 104, plain(places) + chosen], "{factor}");
    }
    // Five are too many: addresses of the array where it is cleared, changed, and stored.
    assert_eq!(of(2, 10), [20, 110 + 6 + 1000, plain(5) + 1 + 1000 + 1]);
}

#[test]
fn what_does_not_fit_l1_moves_beyond() {
    if !ready() {
        return;
    }
    // A group's arrays: 4 warps of 32 lanes with 4 bytes for each element; a unit holds 4 groups of
    // 8, L1 has 4096 bytes. All that is stored goes on to L2.
    let l2 = |elements: i64| {
        usage(&columns("\n#pragma unroll 1\n", elements), buffers(&["a", "b"]), 0)["l2_bytes"]
    };
    let place = |elements: i64| 4 * 128 * 4 * elements;
    let words = |elements: i64| 128 * 4 * 101 * elements;
    // Rows of the group have the same results; the four groups of a unit load the same atoms.
    let own = |elements: i64| 4 * 100 / 4 + 128 * elements;
    for elements in [8, 16] {
        let share = 64 * (place(elements) - 4096).max(0) / place(elements);
        let moved = words(elements) + words(elements) * share / 64;
        assert_eq!(l2(elements) - own(elements), moved, "{elements}");
    }
    assert_eq!((place(8), place(16)), (16384, 32768));
}

#[test]
fn a_place_that_items_or_arguments_decide_is_an_index_too() {
    if !ready() {
        return;
    }
    for (index, memory) in [("n", true), ("get_local_id(0) % 4", true), ("T", false)] {
        let source = format!(
            "kernel void k(global const float *a, global float *b, int n) {{
                float s[4];
                for (int i = 0; i < 4; i++) s[i] = a[i];
                b[get_global_id(0)] = s[{index}];
            }}"
        );
        let used = usage(&source, buffers(&["a", "b"]), 0);
        let wanted = if memory { (20, 5 + 2) } else { (24, 5) };
        assert_eq!((used["registers"], used["global_requests"]), wanted, "{index}");
    }
}

#[test]
fn vectors_of_an_item() {
    if !ready() {
        return;
    }
    let usage = |source, more| {
        let used = usage_with(source, buffers(&["a", "b"]), more);
        ["real", "special", "global_requests", "global_wavefronts", "registers"].map(|n| used[n])
    };
    // Vectors of the source: 16 numbers are 16 instructions, and 4 requests of 4 words; or one of
    // each.
    let source = "kernel void k(global float16 *a, global float16 *b, int n) {
        const int x = get_global_id(0) + get_global_id(1) * 128;
        a[x] = b[x] + 1.0f;
    }";
    let [none, wide] = [json!({}), json!({ "vector_bytes": 64, "banks": 1, "warp_width": 1 })];
    assert_eq!(usage(source, none), [16, 0, 8, 32 * 4, 20]);
    assert_eq!(usage(source, wide.clone()), [1, 0, 2, 2, 20]);
    // Sums side by side are packed, and lie in one register; the sum of all is not.
    let source = "kernel void k(global float *a, global float *b, int n) {
        float s[16];
        float t = 0.0f;
        for (int i = 0; i < 16; i++) s[i] = 0.0f;
        for (int l = 0; l < n; l++)
            for (int i = 0; i < 16; i++) s[i] += b[l * 16 + i] / 3.0f;
        for (int i = 0; i < 16; i++) t += s[i];
        a[get_global_id(0)] = t;
    }";
    assert_eq!(usage(source, json!({})), [8 * 1600 + 16, 1600, 1601, 1601, 36]);
    let exact = json!({ "vector_bytes": 64, "real_division": 0, "banks": 1, "warp_width": 1 });
    assert_eq!(usage(source, exact), [100 + 16, 100, 1601, 1601, 21]);
}

#[test]
fn what_is_too_large_is_unrolled_in_part() {
    if !ready() {
        return;
    }
    // 6 iterations of 1000 loads and additions, 5 instructions each: 3 of them are within 16384.
    // Loads of one body are all live behind a condition.
    let source = "kernel void k(global float *a, global float *b, int n) {
        const int x = get_global_id(0);
        float s = 0.0f;
        if (x < n)
            #pragma unroll
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 1000; j++) s += a[(i * 1000 + j) * 128 + x];
        b[x] = s;
    }";
    let registers = |source: &str, order| usage(source, buffers(&["a", "b"]), order)["registers"];
    assert_eq!([registers(source, 0), registers(source, 1)], [20, 20 + 3000]);
    // Without the pragma: no more than 150 instructions in a body of several iterations.
    let unasked = source.replace("#pragma unroll", "");
    assert_eq!([registers(&unasked, 0), registers(&unasked, 1)], [20, 20 + 1000]);
    // 225 iterations of 8 loads with a product and a sum each, and of one load of what all 8 have
    // as a factor: 52 instructions, and not 80, of which 225 would be too many.
    let source = "kernel void k(global float *a, global float *b, global float *c, int n) {
        const int x = get_global_id(0);
        float s = 0.0f;
        if (x < n)
            #pragma unroll
            for (int i = 0; i < 225; i++)
                for (int j = 0; j < 8; j++) s += a[(i * 8 + j) * 128 + x] * c[i * 128 + x];
        b[x] = s;
    }";
    let own = usage(source, buffers(&["a", "b", "c"]), 1)["registers"];
    assert_eq!(own, 20 + 225 * 16);
}

#[test]
fn words_side_by_side_are_loaded_together() {
    if !ready() {
        return;
    }
    // 16 words for all items, and 16 of each item.
    let source = "kernel void k(global float *a, global float *b, int n) {
        const int x = get_global_id(0);
        float s = 0.0f;
        for (int i = 0; i < 16; i++) s += a[i] + a[16 + x * 16 + i];
        b[x] = s;
    }";
    let requests = |order| usage(source, buffers(&["a", "b"]), order)["global_requests"];
    assert_eq!([requests(0), requests(1)], [16 + 16 + 1, 4 + 16 + 1]);
}

/// Active items and warps of a branch, counted one by one in a group of 32 and 4 items.
#[test]
fn active_items_and_warps() {
    if !ready() {
        return;
    }
    type Holds = fn(i64, i64) -> bool;
    let cases: [(&str, Holds); 22] = [
        ("get_local_id(1) == 2", |_, y| y == 2),
        ("get_local_id(1) != 2", |_, y| y != 2),
        ("get_local_id(1) < 3", |_, y| y < 3),
        ("!(get_local_id(1) < 3)", |_, y| y >= 3),
        ("get_local_id(1) > 0", |_, y| y > 0),
        ("2 * get_local_id(1) < 3", |_, y| 2 * y < 3),
        ("get_local_id(1) == 9", |_, y| y == 9),
        ("get_local_id(0) == 5", |x, _| x == 5),
        ("get_local_id(0) < 7", |x, _| x < 7),
        ("get_local_id(0) + 32 * get_local_id(1) < 40", |x, y| x + 32 * y < 40),
        ("get_local_id(0) < 7 && get_local_id(1) < 2", |x, y| x < 7 && y < 2),
        ("get_local_id(1) < 2 || n < 0", |_, y| y < 2),
        ("get_local_id(1) / 2 == 0", |_, y| y / 2 == 0),
        ("get_local_id(1) / 2 != 1", |_, y| y / 2 != 1),
        ("get_local_id(1) >> 1 == 1", |_, y| y >> 1 == 1),
        ("(get_local_id(0) + 32 * get_local_id(1)) / 32 == 2", |_, y| y == 2),
        ("get_local_id(1) / 3 < 1", |_, y| y / 3 < 1),
        ("get_local_id(1) / 3 <= 0", |_, y| y / 3 <= 0),
        ("get_local_id(1) / 2 > 0", |_, y| y / 2 > 0),
        ("get_local_id(1) / 2 >= 1", |_, y| y / 2 >= 1),
        ("get_local_id(1) % 2 == 0", |_, y| y % 2 == 0),
        ("get_local_id(1) * get_local_id(1) < 5", |_, y| y * y < 5),
    ];
    for (condition, holds) in cases {
        let items = |y: i64| (0..32).filter(move |x| holds(*x, y)).count() as i64;
        let (all, warps) = (0..4)
            .fold((0, 0), |(all, warps), y| (all + items(y), warps + i64::from(items(y) > 0)));
        let source = format!(
            "kernel void k(global int *c, global float *a, int n) {{
                float s = 1.0f;
                if ({condition}) {{
                    for (int i = 0; i < 64; i++) s += sqrt(s);
                    atomic_inc(c);
                }}
                a[get_global_id(0)] = s;
            }}"
        );
        let counter = json!({ "name": "c", "type": "int", "length": 8 });
        let arguments = inserted(buffers(&["a"]), 0, counter);
        let used = usage(&source, arguments.clone(), 0);
        // Conditions on several numbers, or on one that does not change evenly: what is counted is
        // no less than what is active.
        let exact = !["&&", "||", "%", ") *"].iter().any(|other| condition.contains(other));
        let found = (used["special"], used["shared_atomics"]);
        let wanted = (64 * warps / 4, 8 * all);
        match exact {
            true => assert_eq!(found, wanted, "{condition}"),
            false => assert!(found.0 >= wanted.0 && found.1 >= wanted.1, "{condition}: {found:?}"),
        }
        let without = usage_with(&source, arguments, json!({ "without": "warps" }));
        assert_eq!(without["special"], if all > 0 { 64 } else { 0 }, "{condition}");
    }
}

/// A warp makes one request for an atomic operation, which its active lanes pass in sequence.
#[test]
fn atomics_of_active_items() {
    if !ready() {
        return;
    }
    // Items and warps of a group of 32 * 4.
    for (condition, items, warps) in [
        ("n > 0", 128, 4),
        ("get_local_id(0) < 1", 4, 4),
        ("get_local_id(0) + 32 * get_local_id(1) < 1", 1, 1),
        ("get_local_id(0) + 32 * get_local_id(1) < 40", 40, 2),
        ("get_local_id(1) < 3", 96, 3),
    ] {
        let source = format!(
            "kernel void k(global float *a, int n) {{
                local int sum;
                if ({condition}) for (int i = 0; i < 64; i++) atomic_inc(&sum);
                a[get_global_id(0)] = 0.0f;
            }}"
        );
        let used = usage(&source, buffers(&["a"]), 0);
        let found = (used["local_requests"], used["local_wavefronts"]);
        assert_eq!(found, (16 * warps, 16 * (items / warps) * warps), "{condition}");
    }
}

/// A value is loaded once until something may change it.
#[test]
fn what_is_known_is_not_loaded_again() {
    if !ready() {
        return;
    }
    for (body, loads, without) in [
        ("s += a[i]; s += a[i];", 1, 2),
        ("s += a[i]; s += a[i + 1];", 2, 2),
        ("s += a[i]; b[i] = s; s += a[i];", 2, 2),
        ("s += r[i]; b[i] = s; s += r[i];", 1, 2),
        ("s += a[i]; l[0] = s; s += a[i];", 1, 2),
        ("s += a[i]; barrier(CLK_LOCAL_MEM_FENCE); s += a[i];", 2, 2),
        ("s += r[i]; barrier(CLK_LOCAL_MEM_FENCE); s += r[i];", 1, 2),
        ("if (get_local_id(0) > 5) s += a[i]; s += a[i];", 2, 2),
        ("s += a[i]; if (get_local_id(0) > 5) s += a[i];", 1, 2),
        ("float4 v = vload4(i, a); s += v.x + v.y; s += vload4(i, a).z;", 1, 2),
        ("s += ((global float4 *)a)[i].x; s += ((global float4 *)a)[i].y;", 1, 2),
        ("for (int k = 0; k < n; k++) s += a[k]; for (int k = 0; k < n; k++) s += a[k];", 200, 200),
        (
            "for (int j = 0; j < n; j++) { s += a[j]; for (int k = 0; k < 3 * n; k++) s += a[k]; }",
            30100,
            30100,
        ),
        (
            "for (int j = 0; j < n; j++) { s += a[j]; for (int k = 0; k < n; k++) s += a[j]; }",
            100,
            10100,
        ),
        ("s += a[0]; for (int k = 0; k < n; k++) { s += a[0]; }", 1, 101),
        ("s += a[0]; for (int k = 0; k < n; k++) { s += a[0]; b[k] = s; }", 101, 101),
        ("s += a[c[i]]; s += a[c[i]];", 3, 4),
    ] {
        let source = format!(
            "kernel void k(global float *a, global float *b, global const float *restrict r,
                           global const int *restrict c, int n) {{
                local float l[4];
                int i = get_global_id(0);
                float s = 0.0f;
                {body}
                b[i] = s;
            }}"
        );
        let places = json!({ "name": "c", "type": "int", "length": 4096 });
        let arguments = inserted(buffers(&["a", "b", "r"]), 3, places);
        let of = |more| {
            let used = usage_with(&source, arguments.clone(), more);
            used["global_requests"]
        };
        let stores =
            body.matches("b[i] =").count() as i64 + 100 * body.matches("b[k] =").count() as i64;
        assert_eq!(of(json!({})) - 1 - stores, loads, "{body}");
        assert_eq!(of(json!({ "without": "repeated-loads" })) - 1 - stores, without, "{body}");
    }
}

/// A reciprocal root is one special function, which takes three instructions more for denormal
/// numbers.
#[test]
fn reciprocal_roots() {
    if !ready() {
        return;
    }
    let of = |number: &str, more: Value| {
        let source = format!(
            "kernel void k(global float *a, int n) {{
                float s = n;
                a[get_global_id(0)] = {number};
            }}"
        );
        let used = usage_with(&source, buffers(&["a"]), more);
        (used["real"], used["special"])
    };
    for number in ["1.0f / sqrt(s)", "1 / native_sqrt(s)"] {
        assert_eq!(of(number, json!({})), (3, 1), "{number}");
        assert_eq!(of(number, json!({ "without": "denormals" })), (0, 1), "{number}");
        assert_eq!(of(number, json!({ "without": "reciprocal-roots" })), (11, 2), "{number}");
    }
    // A quotient of another number is a division.
    assert_eq!(of("s / sqrt(s)", json!({})), (11, 2));
    // Compilers that keep the order of loads are not known to take more for denormal numbers.
    assert_eq!(of("rsqrt(s)", json!({ "source_order": 1 })), (0, 1));
}

/// Constant memory behind a pointer is loaded, 8 bytes at a time; what the program declares is an
/// operand.
#[test]
fn constant_memory() {
    if !ready() {
        return;
    }
    let of = |element: &str, parameter: bool, more: Value| {
        let kernel = |parameters: &str| {
            format!(
                "kernel void k(global float *a, int n{parameters}) {{
                    for (int i = 0; i < 4; i++) a[i] = ((constant {element} *)c)[i]{};
                }}",
                if element == "float4" { ".x" } else { "" }
            )
        };
        let source = match parameter {
            true => kernel(", constant float *c"),
            false => format!("constant float c[16] = {{0}};\n{}", kernel("")),
        };
        let mut arguments = buffers(&["a"]);
        if parameter {
            let c = json!({ "name": "c", "type": "float", "length": 16 });
            arguments = inserted(arguments, 2, c);
        }
        let used = usage_with(&source, arguments, more);
        (used["local_requests"], used["local_wavefronts"])
    };
    assert_eq!(of("float", true, json!({})), (4, 4));
    assert_eq!(of("float4", true, json!({})), (8, 8));
    assert_eq!(of("float", false, json!({})), (0, 0));
    assert_eq!(of("float", true, json!({ "without": "constant-loads" })), (0, 0));
    assert_eq!(of("float", true, json!({ "source_order": 1 })), (0, 0));
}

/// Loads before and after a barrier are waited for separately, and those that the registers left
/// have no room for in sequence.
#[test]
fn batches_of_loads() {
    if !ready() {
        return;
    }
    let of = |between: &str, more: Value| {
        let source = format!(
            "kernel void k(global const float *a, global float *b, int n) {{
                int i = get_global_id(0);
                float x = a[i];
                {between}
                for (int k = 1; k <= 8; k++) x += a[i + 4096 * k];
                b[i] = x;
            }}"
        );
        let used = usage_with(&source, buffers(&["a", "b"]), more);
        used["far_steps"] + used["near_steps"]
    };
    let barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
    assert_eq!(of("", json!({})), 1);
    assert_eq!(of(barrier, json!({})), 2);
    assert_eq!(of(barrier, json!({ "without": "barriers" })), 1);
    // A unit has 24 registers for each of 4 * 32 items of 4 groups: 20 are live, and 4 loads of 9
    // are in flight.
    let unit = json!({ "registers_per_unit": 24 * 4 * 128, "warps_per_unit": 16 });
    assert_eq!(of("", unit.clone()), 3);
    let mut without = unit;
    without["without"] = "load-registers".into();
    assert_eq!(of("", without), 1);
}

#[test]
fn an_addition_takes_one_of_two_products() {
    if !ready() {
        return;
    }
    let of = |sum: &str| {
        let source = format!(
            "kernel void k(global const float *a, global float *b, int n) {{
                const int i = get_global_id(0);
                b[i] = {sum};
            }}"
        );
        usage(&source, buffers(&["a", "b"]), 0)["real"]
    };
    assert_eq!(of("a[i] * 3.0f + a[i + 1]"), 1);
    assert_eq!(of("a[i] * 3.0f + a[i + 1] * 5.0f"), 2);
    assert_eq!(of("a[i] * 3.0f + (a[i + 1] * 5.0f - a[i + 2] * 7.0f)"), 3);
    assert_eq!(of("a[i] * 3.0f + a[i + 1] * 5.0f + a[i + 2] * 7.0f + a[i + 3]"), 4);
}
