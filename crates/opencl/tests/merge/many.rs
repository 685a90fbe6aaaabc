//! Structural parameters with many values, and sources that nest deeply.

use serde_json::{Value, json};
use tickbound_model::Problem;
use tickbound_opencl::attach;
use tickbound_simulator::{SimulateOptions, simulate};

use super::whole::problem;

/// The problem with a source that was read, or the message.
fn read(values: &[i64], source: &str) -> Result<Problem, String> {
    let value: Value = json!({
        "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 10, "compute_op": 0 },
        "parameters": { "P": values },
        "launch": { "global_size": 1, "local_size": 1 },
        "kernel": { "opencl": "k.cl", "entry": "k" }
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.cl"), source).unwrap();
    let mut problem = problem(&value)?;
    attach(&mut problem, folder.path()).map_err(|e| e.to_string())?;
    Ok(problem)
}

/// Ticks for each configuration, in order.
fn times(problem: &Problem) -> Vec<i64> {
    let space = problem.space().unwrap().bound;
    let time = |bound| simulate(problem, bound, &SimulateOptions::default()).unwrap().time;
    space.iter().map(time).collect()
}

/// `#if P == 1`, `#elif P == 2` and so on, each with what `each` says.
fn branches(most: i64, each: impl Fn(i64) -> String) -> String {
    let word = |v| if v == 1 { "#if" } else { "#elif" };
    (1..=most).map(|v| format!("{} P == {v}\n{}\n", word(v), each(v))).collect::<String>()
        + "#endif\n"
}

/// Iterations for a value: no form such as `2 * P` gives them.
fn iterations(v: i64) -> i64 {
    v * v % 97 + 3
}

#[test]
fn many_numbers() {
    for most in [60, 300] {
        let values: Vec<i64> = (1..=most).collect();
        let source = branches(most, |v| format!("#define N {}", iterations(v)))
            + "__kernel void k(__global int *a) { for (int j = 0; j < N; j++) a[j] = j; }";
        let expected: Vec<i64> = values.iter().map(|v| 10 * iterations(*v)).collect();
        assert_eq!(times(&read(&values, &source).unwrap()), expected);
    }
}

#[test]
fn many_statements() {
    for most in [60, 300] {
        let mut values: Vec<i64> = (1..=most).collect();
        values.rotate_left(7);
        let body = branches(most, |v| {
            let iterations = iterations(v);
            format!("for (int j = 0; j < {iterations}; j++) a[j] = j;")
        });
        let source = format!("__kernel void k(__global int *a) {{\n{body}\n}}");
        let expected: Vec<i64> = values.iter().map(|v| 10 * iterations(*v)).collect();
        assert_eq!(times(&read(&values, &source).unwrap()), expected);
    }
}

#[test]
fn many_values_with_one_statement() {
    let values: Vec<i64> = (1..=300).collect();
    let body = branches(300, |v| if v % 2 == 0 { "a[0] = 1;".into() } else { String::new() });
    let source = format!("__kernel void k(__global int *a) {{\n{body}\n}}");
    let expected: Vec<i64> = values.iter().map(|v| if v % 2 == 0 { 10 } else { 0 }).collect();
    assert_eq!(times(&read(&values, &source).unwrap()), expected);
}

#[test]
fn conditions_on_many_sizes_are_few_texts() {
    let sizes: Vec<i64> = (1..=20).collect();
    let value = json!({
        "platform": {
            "units_per_device": 1, "elements_per_unit": 1, "global_access": 10, "compute_op": 0
        },
        "parameters": { "P": sizes, "Q": sizes },
        "launch": { "global_size": 1, "local_size": 1 },
        "kernel": { "opencl": "k.cl", "entry": "k" }
    });
    let source = "#define AREA (P * Q)\nkernel void k(global int *a) {\n\
                  #if AREA % 3 == 0 && P > 4\n\
                  for (int j = 0; j < P; j++) a[j] = j;\n#else\na[Q] = 1;\n#endif\n}";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.cl"), source).unwrap();
    let mut problem = problem(&value).unwrap();
    let reading = attach(&mut problem, folder.path()).unwrap().unwrap();
    assert_eq!(reading.extracted.structural, ["if_line_3"]);
    assert_eq!(reading.extracted.variants.len(), 2);
    let all = (1..=20).flat_map(|p| (1..=20).map(move |q| (p, q)));
    let expected: Vec<i64> =
        all.map(|(p, q)| if p * q % 3 == 0 && p > 4 { 10 * p } else { 10 }).collect();
    assert_eq!(times(&problem), expected);
}

/// A source that computes a loop's bound in so many steps; nothing simplifies them.
fn chain(steps: usize) -> String {
    let steps = "n = (n + 7) / 3;\n".repeat(steps);
    let body = format!("int n = P;\n{steps}for (int j = 0; j < n; j++) a[j] = j;");
    format!("__kernel void k(__global int *a) {{\n{body}\n}}")
}

#[test]
fn deep_expressions() {
    // The steps end at 3, from 100 as from 5.
    assert_eq!(times(&read(&[5, 100], &chain(200)).unwrap()), [30, 30]);
    let deep = "kernel[0]: the program nests deeper than 600 levels; give intermediate results of \
                the source as macros, with their values in kernel.defines";
    assert_eq!(read(&[5, 100], &chain(320)).unwrap_err(), deep);
    // The deepest term that reading keeps, and one that it does not.
    assert_eq!(read(&[5, 100], &chain(990)).unwrap_err(), deep);
    let deeper = read(&[5, 100], &chain(20_000)).unwrap_err();
    assert!(deeper.contains("the loop's iterations cannot be counted"), "{deeper}");
}

#[test]
fn deep_branches() {
    let nested = |levels: usize| {
        let open: String = (0..levels).map(|i| format!("if (m > {i}) {{ a[{i}] = 1;\n")).collect();
        let body = format!("{open}{}", "}".repeat(levels));
        format!("__kernel void k(__global int *a) {{ int m = P;\n{body}\n}}")
    };
    assert_eq!(times(&read(&[50, 200], &nested(120)).unwrap()), [500, 1200]);
    let deep = read(&[50, 200], &nested(1000)).unwrap_err();
    assert!(deep.contains("nest"), "{deep}");
}
