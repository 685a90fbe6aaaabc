//! Kernels with one property each, and what is right of them: counted by brute force over items or
//! lanes, or by hand in a line.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A kernel `f` with a problem file for it.
struct Case {
    folder: TempDir,
}

/// A platform without resources, on which every access takes 4 ticks.
fn toy() -> Value {
    json!({ "units_per_device": 2, "elements_per_unit": 4, "global_access": 4, "compute_op": 0 })
}

/// `{ "name": ..., "type": ..., "length": ... }`
fn buffer(name: &str, element: &str, length: impl Into<Value>) -> Value {
    json!({ "name": name, "type": element, "length": length.into(), "output": name == "y" })
}

fn number(name: &str, value: &str) -> Value {
    json!({ "name": name, "type": "int", "value": value })
}

impl Case {
    /// `more` replaces fields of a problem on the toy platform with groups of 8 in 16 items.
    fn new(kernel: &str, arguments: &[Value], more: Value) -> Case {
        let folder = TempDir::new().expect("a folder");
        let mut problem = json!({
            "version": 1, "name": "p", "platform": toy(),
            "launch": { "global_size": 16, "local_size": 8 },
            "kernel": { "opencl": "k.cl", "entry": "f", "arguments": arguments }
        });
        for (key, value) in more.as_object().expect("an object") {
            match (key.as_str(), value) {
                ("kernel", Value::Object(fields)) => {
                    let kernel = problem["kernel"].as_object_mut().expect("an object");
                    kernel.extend(fields.clone());
                }
                _ => problem[key] = value.clone(),
            }
        }
        fs::write(folder.path().join("p.json"), problem.to_string()).expect("written");
        fs::write(folder.path().join("k.cl"), kernel).expect("written");
        Case { folder }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = cargo_bin_cmd!("tickbound");
        command.current_dir(self.folder.path()).args(arguments).output().expect("it runs")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {errors}"))
    }

    fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8")
    }

    /// Global accesses of a launch, and an answer `both` for each branch on data.
    fn accesses(&self) -> i64 {
        self.json(&["simulate", "p.json"])["counts"]["global"].as_i64().expect("a number")
    }

    /// A number of what a launch uses of an H200.
    fn used(&self, name: &str) -> i64 {
        self.json(&["explain", "p.json"])["usage"][name].as_i64().expect("a number")
    }
}

/// Without libclang kernels cannot be read; in CI that is a failure.
fn can_read() -> bool {
    let case = Case::new("kernel void f(global int *y) { y[0] = 1; }", &[], json!({}));
    let errors = String::from_utf8(case.run(&["explain", "p.json"]).stderr).expect("UTF-8");
    let missing = errors.contains("libclang");
    assert!(!missing || std::env::var_os("CI").is_none(), "{errors}");
    !missing
}

fn counted(kernel: &str) -> i64 {
    Case::new(kernel, &[buffer("y", "int", 4096)], json!({})).accesses()
}

#[test]
fn counts_of_loops_and_conditions() {
    if !can_read() {
        return;
    }
    let items = || 0..16_i64;
    let in_group = |g: i64| g % 8;
    // A condition on a counter and an item is known in each iteration.
    let bits = items().map(|g| i64::from((in_group(g) as u64).count_ones())).sum::<i64>();
    let kernel = "kernel void f(global int *y) { int l = get_local_id(0);
        for (int j = 0; j < 3; j++) { if (l & (1 << j)) y[l] = 1; } }";
    assert_eq!((counted(kernel), bits), (24, 24));
    // What a loop multiplies is known after it; so is what it halves, and what depends on both.
    for (change, after) in [("n *= 2", 8), ("n += n + 1", 15), ("n = 3 * n - 1", 14)] {
        let kernel = format!(
            "kernel void f(global int *y) {{ int n = 1; for (int i = 0; i < 3; i++) {change};
             for (int i = 0; i < n; i++) y[i] = 1; }}"
        );
        assert_eq!(counted(&kernel), 16 * after, "{change}");
    }
    // A loop that is left in a way that cannot be read is no question of data.
    let kernel = "kernel void f(global int *y) { int l = get_local_id(0);
        for (int i = 0; i < 12; i++) { if (i % 3 == 1) continue; if (i == l + 4) break; y[i] = 1; \
        } }";
    let case = Case::new(kernel, &[buffer("y", "int", 4096)], json!({}));
    let said = case.text(&["simulate", "p.json"]);
    assert!(said.contains("the loop's iterations cannot be counted"), "{said}");
}

#[test]
fn conversions_wrap_in_large_launches() {
    if !can_read() {
        return;
    }
    for (conversion, factor) in [("(int)", 100_000_i64), ("", 100_000), ("(short)", 7)] {
        let kernel = format!(
            "kernel void f(global int *y) {{ {} g = {conversion}(get_global_id(0) * \
             (size_t){factor});
             if (g >= 0) y[0] = 1; }}",
            if conversion == "(short)" { "short" } else { "int" }
        );
        let stores = (0..40_000_i64).filter(|g| match conversion {
            "(short)" => (g * factor) as i16 >= 0,
            _ => (g * factor) as i32 >= 0,
        });
        let launch = json!({ "launch": { "global_size": 40_000, "local_size": 8 } });
        let case = Case::new(&kernel, &[buffer("y", "int", 4096)], launch);
        assert_eq!(case.accesses(), stores.count() as i64, "{kernel}");
    }
}

/// What is known of a condition holds on the side that the problem file answers for its rest.
#[test]
fn known_parts_of_conditions_on_data() {
    if !can_read() {
        return;
    }
    let arguments = [buffer("x", "int", 64), buffer("y", "int", 64)];
    let branches = |side: &str| json!({ "kernel": { "branches": { "f": side } } });
    let of = |condition: &str, side: &str| {
        let kernel = format!(
            "kernel void f(global const int *x, global int *y) {{
             int l = get_local_id(0), g = get_group_id(0);
             if ({condition}) for (int k = 0; k < 10; k++) y[g] = 1; }}"
        );
        Case::new(&kernel, &arguments, branches(side)).accesses()
    };
    // Two groups of 8: the load of x, then 10 stores.
    assert_eq!(of("l == 0 && x[g] > 0", "both"), 2 * (1 + 10));
    assert_eq!(of("l == 0 && x[g] > 0", "then"), 2 * (1 + 10));
    assert_eq!(of("l == 0 && x[g] > 0", "else"), 2);
    assert_eq!(of("l == 0 || x[g] > 0", "both"), 2 * (7 + 8 * 10));
    assert_eq!(of("l == 0 || x[g] > 0", "else"), 2 * (7 + 10));
}

/// A number of iterations that the item chooses is a branch: the same counts and usage as `if`.
#[test]
fn trips_that_items_choose() {
    if !can_read() {
        return;
    }
    let arguments = [
        buffer("x", "float", "n * m"),
        buffer("y", "float", "n"),
        number("n", "n"),
        number("m", "m"),
    ];
    let of = |body: &str| {
        let kernel = format!(
            "kernel void f(global const float *x, global float *y, int n, int m) {{
             int i = get_global_id(0); {body} y[i] += x[i + k * n]; }}"
        );
        let more = json!({ "platform": "h200", "inputs": { "n": 65_536, "m": 40 },
            "launch": { "global_size": "n", "local_size": 256 } });
        let case = Case::new(&kernel, &arguments, more);
        (case.accesses(), case.used("global_requests"), case.used("dram_bytes"))
    };
    let with_if = of("if (i < n / 4) for (int k = 0; k < m; k++)");
    assert_eq!(with_if.0, 65_536 / 4 * 40 * 3);
    assert_eq!(of("for (int k = 0; k < (i < n / 4 ? m : 0); k++)"), with_if);
    assert_eq!(of("for (int k = 0; k < m * (i < n / 4); k++)"), with_if);
}

/// Lines of 128 bytes that a warp in the midst of a row of 4096 floats touches, by brute force.
fn lines(at: impl Fn(i64) -> i64) -> i64 {
    let first = 5 * 4096 + 1024;
    let lanes = first..first + 32;
    lanes.map(|i| at(i) * 4 / 128).collect::<BTreeSet<i64>>().len() as i64
}

#[test]
fn addresses_at_borders_and_of_any_distance() {
    if !can_read() {
        return;
    }
    let of = |index: &str, more: &str| {
        let kernel = format!(
            "kernel void f(global const float *x, global float *y, int w, int step) {{
             int i = get_global_id(0) % w, j = get_global_id(0) / w; {more}
             y[get_global_id(0)] = {index}; }}"
        );
        let arguments = [
            buffer("x", "float", "4 * w * h"),
            buffer("y", "float", "w * h"),
            number("w", "w"),
            number("step", "step"),
        ];
        let inputs = json!({ "w": 4096, "h": 4096, "step": 4 });
        let launch = json!({ "global_size": "w * h", "local_size": 256 });
        let more = json!({ "platform": "h200", "inputs": inputs, "launch": launch });
        // Without the line of y.
        Case::new(&kernel, &arguments, more).used("global_lines") - 1
    };
    let neighbours = [1, lines(|i| i - 1)];
    for index in [
        "x[j * w + max(i - 1, 0)]",
        "x[j * w + min(i + 1, w - 1)]",
        "x[j * w + (i + 1) % w]",
        "x[j * w + (i == 0 ? 0 : i - 1)]",
        "x[j * w + (i < w - 1 ? i + 1 : i)]",
        "x[j * w + clamp(i + 2, 0, w - 1)]",
    ] {
        let own = of(index, "");
        assert!(neighbours.contains(&own), "{index}: {own} lines, not {neighbours:?}");
    }
    // A pitch in bytes, whose value is known.
    assert_eq!(of("*(global const float *)((global const char *)x + i * step)", ""), 1);
    // Far apart in either direction.
    let g = "int g = get_global_id(0) % 4096;";
    assert_eq!(lines(|i| i * (1 - 4096)), 32);
    assert_eq!(of("x[g * (1 - w) + w * w]", g), 32);
    assert_eq!(of("x[g * (w - 1)]", g), 32);
    // Two and three floats apart: the lines and the bytes of their sectors.
    assert_eq!(of("x[2 * g]", g), lines(|i| 2 * i));
    assert_eq!(of("x[3 * g]", g), lines(|i| 3 * i));
}

/// Bytes of sectors of 32 bytes: all that lie between strided elements, and one for each where they
/// are farther apart.
#[test]
fn sectors_of_strided_accesses() {
    if !can_read() {
        return;
    }
    for stride in [1, 2, 3, 4, 8, 16] {
        let kernel = format!(
            "kernel void f(global const float *x, global float *y) {{
             int i = get_global_id(0); y[i] = x[{stride} * i]; }}"
        );
        let arguments = [buffer("x", "float", "16 * n"), buffer("y", "float", "n")];
        let more = json!({ "platform": "h200", "inputs": { "n": 1 << 20 },
            "launch": { "global_size": "n", "local_size": 256 } });
        let case = Case::new(&kernel, &arguments, more);
        let sectors = |items: i64| {
            let all: BTreeSet<i64> = (0..items).map(|i| stride * i * 4 / 32).collect();
            32 * all.len() as i64
        };
        assert_eq!(case.used("l2_bytes"), sectors(256) + 1024, "{stride}");
        let (own, wanted) = (case.used("dram_bytes"), sectors(1 << 20) + (4 << 20));
        assert!((own - wanted).abs() <= 64, "{stride}: {own}, {wanted}");
    }
}

/// The device's memory moves 8, 12 and 16 bytes for each item at strides of 1, 2 and 3. At a stride
/// of 1 the start of the 65,536 groups takes longer than that: 605 ps each on an H200.
#[test]
fn times_of_strided_accesses() {
    if !can_read() {
        return;
    }
    for (stride, bytes) in [(1, 8), (2, 12), (3, 16)] {
        let kernel = format!(
            "kernel void f(global const float *x, global float *y) {{
             int i = get_global_id(0); y[i] = x[{stride} * i]; }}"
        );
        let arguments = [buffer("x", "float", "3 * n"), buffer("y", "float", "n")];
        let more = json!({ "platform": "h200", "inputs": { "n": 1 << 24 },
            "launch": { "global_size": "n", "local_size": 256 } });
        let case = Case::new(&kernel, &arguments, more);
        let of = |more: &[&str]| case.json(&[&["simulate", "p.json"], more].concat());
        let alone = of(&["--without", "dispatch", "--without", "launch"]);
        // 4.3 TB/s at 1,980 MHz.
        let clocks = (f64::from(bytes << 24) * 1980.0 / 4_300_000.0).ceil();
        assert_eq!(alone["time"].as_f64(), Some(clocks), "{stride}");
        let bound = if stride == 1 { "dispatch" } else { "dram" };
        assert_eq!(of(&[])["resources"]["bound_by"], bound, "{stride}");
    }
}

/// Rows of 24 items in groups of any size; the last row may not be whole.
#[test]
fn rows_that_are_not_whole() {
    if !can_read() {
        return;
    }
    let kernel = "kernel void f(global const float *x, global float *y, int pitch) {
        int l = get_local_id(0); y[get_global_id(0)] = x[get_group_id(0) * 4096 + l / 24 * pitch \
        + l % 24]; }";
    for group in [4, 8, 16, 24, 32, 40, 48, 64] {
        let arguments = [
            buffer("x", "float", 4096 * 3840),
            buffer("y", "float", 15_360),
            number("pitch", "1024"),
        ];
        let more =
            json!({ "platform": "h200", "launch": { "global_size": 15_360, "local_size": group } });
        let case = Case::new(kernel, &arguments, more);
        // Sectors of 32 bytes: those of each row of x, and of y.
        let sectors = |items: i64| (items * 4 + 31) / 32 * 32;
        let rows = (0..group).step_by(24).map(|first| sectors((group - first).min(24)));
        let wanted = rows.sum::<i64>() + sectors(group);
        let own = case.used("l2_bytes");
        assert!((8 * group..=wanted).contains(&own), "groups of {group}: {own}, {wanted}");
    }
}

#[test]
fn the_default_profile_is_that_of_the_platform() {
    if !can_read() {
        return;
    }
    let kernel = "kernel void f(global int *y) { y[get_global_id(0)] = 1; }";
    let of = |more: Value| {
        let case = Case::new(kernel, &[buffer("y", "int", 16)], more);
        case.json(&["tune", "p.json"])["about"]["profile"].as_str().expect("a text").to_owned()
    };
    assert_eq!(of(json!({ "platform": "h200" })), "resources");
    assert_eq!(of(json!({ "platform": "h200", "profile": "opencl" })), "opencl");
    assert_eq!(of(json!({})), "opencl");
    assert_eq!(of(json!({ "platform": "h200", "kernel": [{ "global": 1 }] })), "opencl");
    let case = Case::new(kernel, &[buffer("y", "int", 16)], json!({ "platform": "h200" }));
    let said = case.text(&["tune", "p.json"]);
    assert!(said.contains("\nmodel:      profile resources, platform h200\n"), "{said}");
    assert!(said.contains("\nproved in the model: "), "{said}");
    assert!(said.contains(" microseconds ("), "{said}");
}

/// Counting this kernel for all configurations takes seconds.
#[test]
fn a_stop_while_the_kernel_is_read_leaves_a_configuration() {
    if !can_read() {
        return;
    }
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["tune", "examples/kernels/gemm.json", "--timeout", "0.3", "--json"]);
    let output = command.output().expect("it runs");
    let found: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    assert_eq!((&found["status"], output.status.code()), (&json!("bounded"), Some(1)));
    assert_eq!(found["stopped_by"], "time-out of 0.3 s");
    assert!(found["configuration"].is_object() && found["upper"].is_i64(), "{found}");
}

/// Sizes whose counts leave 64 bits are a fault of the input, not of the counting.
#[test]
fn counts_beyond_64_bits() {
    if !can_read() {
        return;
    }
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["simulate", "--set", "WG=64"]);
    command.args(["--set", "TS=4", "--input", "size=4611686018427387904"]);
    let output = command.arg("examples/kernels/minimum.json").output().expect("it runs");
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(errors.contains("usage.dram_bytes: overflow beyond 64 bits for WG=64"), "{errors}");
    assert_eq!(output.status.code(), Some(2), "{errors}");
}

/// What cannot be launched is left out, and counted by the reason.
#[test]
fn configurations_that_cannot_be_launched() {
    if !can_read() {
        return;
    }
    let fixed = "__attribute__((reqd_work_group_size(1 << 6, 1, 1)))
        kernel void f(global const float *a, global float *y) {
        int g = get_global_id(0); for (int k = 0; k < WPT; k++) y[g * WPT + k] = a[g * WPT + k]; }";
    let arguments = [buffer("a", "float", "n"), buffer("y", "float", "n")];
    let more = json!({ "platform": "h200", "inputs": { "n": 65_536 },
        "parameters": { "WG": [32, 64, 128, 256], "WPT": [1, 2, 4] },
        "launch": { "global_size": "n / WPT", "local_size": "WG" } });
    let found = Case::new(fixed, &arguments, more).json(&["tune", "p.json", "--profile", "opencl"]);
    assert_eq!(found["left_out"], json!({ "reqd_work_group_size": 9 }));
    let best = json!({ "WG": 64, "WPT": 1 });
    assert_eq!((&found["configurations"], &found["time"]), (&json!(3), &json!(7664)));
    assert_eq!(found["configuration"], best);

    let tile = "kernel void f(global const float *a, global float *y, int n) {
        local float seg[SEG]; int l = get_local_id(0); float s = 0.0f;
        for (int b = 0; b < n / SEG; b++) {
            for (int k = l; k < SEG; k += WG) seg[k] = a[b * SEG + k];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int k = 0; k < 16; k++) s += seg[(l + k) % SEG] * a[k];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        y[get_global_id(0)] = s; }";
    let arguments = [buffer("a", "float", "n"), buffer("y", "float", "n"), number("n", "n")];
    let more = json!({ "platform": "h200", "inputs": { "n": 1_048_576 },
        "parameters": { "SEG": [1024, 4096, 16_384, 65_536, 262_144], "WG": [64, 128, 256] },
        "launch": { "global_size": "n", "local_size": "WG" } });
    let found = Case::new(tile, &arguments, more).json(&["tune", "p.json", "--profile", "opencl"]);
    assert_eq!(found["left_out"], json!({ "local_memory": 6 }));
    let best = json!({ "SEG": 16_384, "WG": 256 });
    assert_eq!((&found["configuration"], &found["time"]), (&best, &json!(167_016_384)));

    // 64 / 8 groups on 2 units; 2 accesses an item, 2 items an element, 4 ticks each.
    let parts = json!({ "inputs": { "n": 64 }, "parameters": { "P": [0, 1, 2, 4] },
        "launch": { "global_size": "n", "local_size": 8 },
        "kernel": [{ "repeat": "8 / P", "body": [{ "global": 1 }] }] });
    let case = Case::new("", &[], parts);
    let found = case.json(&["tune", "p.json"]);
    assert_eq!(found["left_out"], json!({ "no_value": 1 }));
    assert_eq!((&found["configuration"]["P"], &found["time"]), (&json!(4), &json!(64)));
    let said = case.text(&["tune", "p.json"]);
    assert!(said.contains("such as P=0 (division by zero at kernel[0]"), "{said}");
    let refused = case.text(&["simulate", "p.json", "--set", "P=0"]);
    assert!(refused.contains("no value for P=0 (division by zero"), "{refused}");
}

/// Configurations for which a kernel divides by zero are left out, as no launch of them has a
/// meaning: of nine those with `A >= B` stay.
#[test]
fn a_kernel_that_divides_by_zero_is_not_launched() {
    let case = Case::new(
        "kernel void f(global int *y) { for (int i = 0; i < 16 / (A / B); i++) y[i] = A; }",
        &[buffer("y", "int", 16)],
        json!({
            "parameters": { "A": [1, 2, 4], "B": [1, 2, 4] },
            "platform": "h200", "profile": "resources",
            "kernel": { "defines": { "A": "A", "B": "B" } },
        }),
    );
    let found = case.json(&["tune", "p.json"]);
    assert_eq!(found["configurations"], 6, "{found}");
    let text = String::from_utf8(case.run(&["tune", "p.json"]).stdout).expect("text");
    assert!(text.contains("3: an expression has no value"), "{text}");
}
