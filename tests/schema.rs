//! The JSON schemas say what the reader of problem files and the writers of answers do.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::cargo::cargo_bin_cmd;
use indexmap::IndexMap;
use jsonschema::Validator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tickbound_model::{ModelError, Platform, Problem, platforms};
use tickbound_report::answer::comparison::Comparison;
use tickbound_report::answer::{Answer, Checked, Explained, Simulated};
use tickbound_report::answer::{Measurement, Raced, Scored, SizeMix, SizeRule, Verified};
use tickbound_why::Why;

fn schema() -> Value {
    serde_json::from_str(include_str!("../docs/reference/problem.schema.json")).expect("JSON")
}

/// Validates against the part of the schema for platforms.
fn platform_schema() -> Value {
    let mut root = schema();
    let reference = json!({ "$ref": "#/$defs/platform" });
    let defs = root["$defs"].take();
    json!({ "$schema": root["$schema"], "$defs": defs, "allOf": [reference] })
}

fn validator(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).expect("a schema")
}

fn complaints(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

fn read(value: &Value) -> Result<Problem, ModelError> {
    Problem::from_value(value, &IndexMap::new(), &platforms::find)
}

fn examples() -> Vec<(PathBuf, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut found: Vec<_> = ["problems", "kernels", "published", "spaces"]
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).expect("examples"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .map(|p| {
            let text = fs::read_to_string(&p).expect("text");
            let value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{p:?}: {e}"));
            (p, value)
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn the_schema_is_a_schema() {
    jsonschema::meta::validate(&schema()).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn examples_are_valid_and_can_be_read() {
    let validator = validator(&schema());
    let examples = examples();
    assert!(!examples.is_empty());
    for (path, value) in examples {
        assert_eq!(complaints(&validator, &value), [""; 0], "{path:?}");
        let problem = read(&value).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        problem.space().unwrap_or_else(|e| panic!("{path:?}: {e}"));
    }
}

#[test]
fn platforms_are_valid_and_can_be_read() {
    let validator = validator(&platform_schema());
    for name in platforms::names() {
        let value = platforms::find(name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(complaints(&validator, &value), [""; 0], "{name}");
        Platform::from_json(name, &value).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn the_matrix_multiplication_has_a_space_worth_searching() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/problems/matmul.json");
    let text = fs::read_to_string(path).expect("matmul.json");
    let space = |inputs: &IndexMap<String, i64>| {
        let problem = Problem::from_json(&text, inputs, &platforms::find);
        let space = problem.and_then(|p| p.space()).unwrap_or_else(|e| panic!("{e}"));
        (space.bound.len(), space.unlaunchable)
    };
    assert_eq!(space(&IndexMap::new()), (231, 0));
    // 960 = 64 * 15: tiles that do not divide it are left out, none fails at launch.
    let n = |n| IndexMap::from([("n".to_owned(), n)]);
    assert_eq!(space(&n(960)).1, 0);
    assert_eq!(space(&n(4)), (1, 0));
}

/// A problem that uses every part of the format.
fn small() -> Value {
    json!({
        "version": 1,
        "name": "example",
        "inputs": { "size": 64 },
        "platform": { "units_per_device": 2, "elements_per_unit": 4,
                      "global_access": { "value": 4, "unit": "ticks", "source": "a guess" } },
        "parameters": { "WG": "powers_of_two(1, 8)", "TS": [1, "WG"], "U": 2 },
        "constraints": ["size % WG == 0"],
        "definitions": { "steps": "size / TS" },
        "launch": { "global_size": "size", "local_size": "WG" },
        "kernel": [
            "mark",
            { "repeat": "steps", "body": [{ "global": "TS", "name": "load" }, "barrier"] },
            { "if": "lid % 2 == 0", "then": [{ "compute": 1 }], "else": [] },
            { "until": 3 }
        ],
        "finish": [{ "atomic": 1 }]
    })
}

/// A kernel in OpenCL C with one more field.
fn source(field: &str, value: Value) -> Value {
    let mut kernel = json!({ "opencl": "k.cl", "entry": "k", "reference": "k.c", "tolerance": 0.5,
                             "bytes": "4 * size", "operations": "size" });
    kernel[field] = value;
    kernel
}

/// A kernel with one argument, an int `a` unless said otherwise.
fn argument(fields: Value) -> Value {
    let mut argument = json!({ "name": "a", "type": "int" });
    for (name, value) in fields.as_object().expect("an object") {
        argument[name] = value.clone();
    }
    source("arguments", json!([argument]))
}

#[test]
fn accepted_by_both() {
    let validator = validator(&schema());
    let change = |path: &str, value: Value| {
        let mut problem = small();
        set(&mut problem, path, value);
        problem
    };
    for problem in [
        small(),
        change("/profile", json!("opencl")),
        change("/notes", json!(["one", "two"])),
        change("/kernel", json!([])),
        change("/kernel", json!([{ "barrier": true, "name": "b" }, { "mark": true }])),
        change("/platform", json!("h200")),
        change("/parameters/WG", json!(4)),
        change("/sizes", json!({ "large": { "size": 128 } })),
        change("/launch", json!({ "global_size": ["size", 4], "local_size": ["WG", 2] })),
        change("/platform/constant_access", json!(2)),
        change("/kernel/0", json!({ "constant": "TS", "name": "coefficients" })),
        change("/kernel", source("standard", json!("CL3.0"))),
        change("/kernel", source("defines", json!({ "WG": "WG", "T": { "text": "int" } }))),
        change("/kernel", source("bounds", json!({ "line 14": "size" }))),
        change("/kernel", source("branches", json!({ "line 14": "both" }))),
        change("/kernel", argument(json!({ "value": "size" }))),
        change("/kernel", argument(json!({ "type": "float", "real": 0.5 }))),
        change("/kernel", argument(json!({ "length": "WG", "space": "local" }))),
        change("/kernel", argument(json!({ "length": 8, "fill": "index", "output": true }))),
        change("/kernel", argument(json!({ "length": 8, "fill": { "random": [0, 9] } }))),
        change("/parameters/V", json!("range(1, size, 3)")),
        change("/parameters/V", json!(" [1, 2] ")),
        change("/profile", json!("published-2023")).tap(|p| {
            set(p, "/launch", json!({ "local_size": 4, "activations": 2 }));
        }),
        change("/profile", json!("published-2021")).tap(|p| {
            set(p, "/platform/warps", json!({ "width": 2, "dispatchers": 2 }));
        }),
    ] {
        assert_eq!(complaints(&validator, &problem), [""; 0], "{problem}");
        read(&problem).unwrap_or_else(|e| panic!("{e}: {problem}"));
    }
}

/// Each row: what is put where in the small problem, and how the reader's complaint begins.
#[test]
fn refused_by_both() {
    let validator = validator(&schema());
    for (path, value, complaint) in [
        ("", json!([]), "the file: found []"),
        ("/platform", Value::Null, "platform: is missing"),
        ("/launch", Value::Null, "launch: is missing"),
        ("/kernel", Value::Null, "kernel: is missing"),
        ("/knernel", json!([]), "knernel: unknown field"),
        ("/version", json!(2), "version: found 2"),
        ("/name", json!(3), "name: found 3"),
        ("/profile", json!("cuda"), "profile: unknown profile `cuda`"),
        ("/inputs/size", json!("64"), "inputs.size: found \"64\""),
        ("/inputs/size", json!(1.5), "inputs.size: found 1.5"),
        ("/inputs/lid", json!(1), "inputs.lid: `lid` cannot be a name"),
        ("/inputs/2x", json!(1), "inputs.2x: `2x` cannot be a name"),
        ("/inputs/and", json!(1), "inputs.and: `and` cannot be a name"),
        ("/inputs/barrier", json!(1), "platform: `barrier` is already the name of an input"),
        ("/parameters", json!([]), "parameters: found []"),
        ("/parameters/V", json!(true), "parameters.V: found true"),
        ("/parameters/V", json!("powers(1, 2)"), "parameters.V: `powers(1, 2)` is not a domain"),
        ("/parameters/V", json!("size"), "parameters.V: `size` is not a domain"),
        ("/parameters/V", json!([1, null]), "parameters.V[1]: found null"),
        ("/constraints", json!("size > 1"), "constraints: found \"size > 1\""),
        ("/constraints", json!([1]), "constraints[0]: found 1"),
        ("/definitions/steps", json!([1]), "definitions.steps: found [1]"),
        ("/definitions/steps", json!(""), "definitions.steps: `` is not an expression"),
        ("/definitions/steps", json!("1+".repeat(1001) + "1"), "definitions.steps: expression of"),
        ("/launch", json!({ "local_size": 4 }), "launch.global_size: is missing"),
        ("/launch/activations", json!(1), "launch.activations: unknown field"),
        ("/profile", json!("published-2023"), "launch.activations: is missing"),
        ("/profile", json!("published-2021"), "platform.warps: is missing"),
        ("/kernel", json!({ "opencl": "k.cl" }), "kernel.entry: is missing"),
        (
            "/kernel",
            source("standard", json!("CL2.0")),
            "kernel.standard: unknown standard `CL2.0`",
        ),
        ("/kernel", source("tolerance", json!(2)), "kernel.tolerance: found 2"),
        ("/kernel", source("defines", json!({ "A-B": 1 })), "kernel.defines.A-B: `A-B` is no name"),
        ("/kernel", source("defines", json!({ "A": { "txt": "" } })), "kernel.defines.A.text: is"),
        (
            "/kernel",
            source("bounds", json!({ "14": 2 })),
            "kernel.bounds.14: `14` is no place in the source",
        ),
        ("/kernel", source("branches", json!({ "line 4": "left" })), "kernel.branches.line 4: unk"),
        ("/kernel", argument(json!({})), "kernel.arguments[0]: neither a buffer nor a scalar"),
        ("/kernel", argument(json!({ "type": "half" })), "kernel.arguments[0].type: unknown type"),
        ("/kernel", argument(json!({ "real": 0.5 })), "kernel.arguments[0].real: found 0.5; write"),
        (
            "/kernel",
            argument(json!({ "length": 4, "fill": { "random": [1] } })),
            "kernel.arguments[0].fill.random: found [1]",
        ),
        (
            "/kernel",
            argument(json!({ "length": 4, "space": "global" })),
            "kernel.arguments[0].space: unknown space `global`",
        ),
        ("/sizes", json!({ "small": { "size": "4" } }), "sizes.small.size: found \"4\""),
        ("/launch/global_size", json!([]), "launch.global_size: found []"),
        ("/kernel/0", json!("wait"), "kernel[0]: unknown statement `wait`"),
        ("/kernel/0", json!({ "wait": 3 }), "kernel[0]: unknown statement `wait`"),
        ("/kernel/0", json!({}), "kernel[0]: found {}"),
        ("/kernel/0", json!(3), "kernel[0]: found 3"),
        ("/kernel/0", json!({ "mark": false }), "kernel[0].mark: found false"),
        ("/kernel/0", json!({ "global": 1, "local": 1 }), "kernel[0].local: unknown field"),
        ("/kernel/0", json!({ "work": 1, "nane": "x" }), "kernel[0].nane: unknown field"),
        ("/kernel/0", json!({ "work": 1, "name": 2 }), "kernel[0].name: found 2"),
        ("/kernel/0", json!({ "repeat": 2 }), "kernel[0].body: is missing"),
        ("/kernel/0", json!({ "if": 1 }), "kernel[0].then: is missing"),
        ("/finish", json!("mark"), "finish: found \"mark\""),
        ("/platform", json!(3), "platform: found 3"),
        ("/platform/global_access", Value::Null, "platform.global_access: is missing"),
        ("/platform/global_acces", json!(4), "platform.global_acces: unknown field"),
        ("/platform/devices", json!(0), "platform.devices: found 0"),
        ("/platform/barrier", json!(-1), "platform.barrier: found -1"),
        ("/platform/barrier", json!(1i64 << 41), "platform.barrier: found 2199023255552"),
        ("/platform/barrier", json!({ "source": "s" }), "platform.barrier.value: is missing"),
        ("/platform/barrier", json!({ "value": 1, "x": 1 }), "platform.barrier.x: unknown field"),
        ("/platform/warps", json!({ "width": 2 }), "platform.warps.dispatchers: is missing"),
    ] {
        let mut problem = small();
        set(&mut problem, path, value);
        assert_ne!(complaints(&validator, &problem), [""; 0], "schema accepts {problem}");
        let error = read(&problem).expect_err(complaint).to_string();
        assert!(error.starts_with(complaint), "expected {complaint}\nfound {error}");
    }
}

/// What only the reader can know; the documentation says so.
#[test]
fn refused_by_the_reader_only() {
    let validator = validator(&schema());
    for (path, value, complaint) in [
        ("/platform", json!("h20"), "platform: no platform is called `h20`"),
        ("/parameters/size", json!([1]), "parameters.size: `size` is already the name of an input"),
        ("/definitions/steps", json!("sise / TS"), "definitions.steps: unknown name `sise`"),
        ("/definitions/steps", json!("steps + 1"), "definitions.steps: `steps` is defined by"),
        ("/definitions/steps", json!("1 +"), "definitions.steps: `1 +` is not an expression"),
        ("/launch/local_size", json!("lid"), "launch.local_size: unknown name `lid`"),
        ("/finish", json!(["barrier"]), "finish: a barrier, but only element 0"),
        ("/sizes", json!({ "small": { "sise": 4 } }), "sizes.small.sise: no input has this name"),
        ("/launch/global_size", json!([4, 4]), "launch.local_size: found \"WG\"; write 2 sizes"),
    ] {
        let mut problem = small();
        set(&mut problem, path, value);
        assert_eq!(complaints(&validator, &problem), [""; 0], "{problem}");
        let error = read(&problem).expect_err(complaint).to_string();
        assert!(error.starts_with(complaint), "expected {complaint}\nfound {error}");
    }
}

const DOCUMENTATION: &str = include_str!("../docs/problem-format.md");

/// The running example of the documentation.
fn documented() -> Value {
    let text =
        DOCUMENTATION.split("```json\n").find(|b| b.starts_with("{\n  \"version\"")).expect("it");
    serde_json::from_str(text.split("```").next().expect("an end"))
        .unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_documented_example_is_valid() {
    assert_eq!(complaints(&validator(&schema()), &documented()), [""; 0]);
    let space = read(&documented()).and_then(|p| p.space()).unwrap_or_else(|e| panic!("{e}"));
    // WG=1: TS=1; WG=2: TS=1, 2; WG=4 and WG=8: TS=1, 2, WG.
    assert_eq!(space.bound.len(), 9);
}

/// The complaints that the documentation shows are those that a person gets.
#[test]
fn documented_complaints() {
    for (path, value, complaint) in [
        ("", json!([]), "the file: found []; write an object { ... }"),
        ("/launch", Value::Null, "launch: is missing; add how the kernel is launched"),
        ("/version", json!(2), "version: found 2; write 1, the only version so far"),
        ("/profile", json!("cuda"), "profile: unknown profile `cuda`; known here: "),
        (
            "/inputs/size",
            json!("64"),
            "inputs.size: found \"64\"; write a whole number of at most 63 bits",
        ),
        (
            "/inputs/lid",
            json!(1),
            "inputs.lid: `lid` cannot be a name; use letters, digits and `_`, and no reserved word",
        ),
        (
            "/parameters/size",
            json!([1]),
            "parameters.size: `size` is already the name of an input; rename one of them",
        ),
        (
            "/definitions/steps",
            json!("sise / TS"),
            "definitions.steps: unknown name `sise`; did you mean `size`?",
        ),
        ("/definitions", json!({ "a": "b", "b": 1 }), "definitions.a: `b` is defined only later; "),
        ("/definitions", json!({ "a": "a" }), "definitions.a: `a` is defined by itself; break"),
        (
            "/definitions/steps",
            json!("1 +"),
            "definitions.steps: `1 +` is not an expression: stuck at `the end` (column 4)",
        ),
        (
            "/parameters/WG",
            json!("powers(1, 8)"),
            "parameters.WG: `powers(1, 8)` is not a domain (",
        ),
        ("/parameters/WG", json!([]), "parameters.WG: the domain is empty; widen its bounds"),
        ("/parameters/WG", json!("range(1, 99999)"), "parameters.WG: more than 65536 values; "),
        (
            "/launch/global_size",
            json!("2 ** 70"),
            "launch: none of 9 configurations can be launched (9: an expression has no value",
        ),
        ("/launch/local_size", json!("0 * WG"), "launch.local_size: is 0 for WG="),
        ("/profile", json!("published-2023"), "launch.activations: is missing; "),
        (
            "/platform/devices",
            json!(0),
            "platform.devices: found 0; write the number of devices, from 1 to",
        ),
        ("/platform", json!("h20"), "platform: no platform is called `h20`; did you mean `h200`?"),
        ("/kernel/0", json!("wait"), "kernel[0]: unknown statement `wait`; "),
        ("/kernel/0", json!({ "repeat": 2 }), "kernel[0].body: is missing; add the statements to"),
        (
            "/finish",
            json!(["barrier"]),
            "finish: a barrier, but only element 0 runs this program; ",
        ),
    ] {
        let mut problem = documented();
        set(&mut problem, path, value);
        let error = read(&problem).and_then(|p| p.space()).expect_err(complaint).to_string();
        assert!(error.starts_with(complaint), "expected {complaint}\nfound {error}");
        assert!(DOCUMENTATION.contains(complaint), "not documented: {complaint}");
    }
}

/// Constraints that nothing satisfies are no fault: the space is empty, which `tune` reports.
#[test]
fn an_empty_space_is_no_complaint() {
    let mut problem = documented();
    set(&mut problem, "/constraints", json!(["WG > 8"]));
    let space = read(&problem).and_then(|p| p.space()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((space.bound.len(), space.unlaunchable), (0, 0));
}

/// Puts `value` at a JSON pointer, adding the last key if need be; null removes it.
fn set(problem: &mut Value, path: &str, value: Value) {
    let Some((parent, key)) = path.rsplit_once('/') else {
        *problem = value;
        return;
    };
    match problem.pointer_mut(parent).expect("a parent") {
        Value::Array(items) => items[key.parse::<usize>().expect("an index")] = value,
        Value::Object(map) if value.is_null() => drop(map.shift_remove(key)),
        Value::Object(map) => drop(map.insert(key.to_owned(), value)),
        other => panic!("{other} has no {key}"),
    }
}

trait Tap: Sized {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Tap for Value {}

// Answers.

const ABSTRACT: &str = "examples/problems/abstract.json";
const LATENCY: &str = "examples/problems/latency.json";
const REDUCTION: &str = "examples/kernels/reduction.json";

/// What a command prints with `--json`; nothing if it needs a tool that is not on this machine.
fn printed(arguments: &[&str]) -> Option<String> {
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).arg("--json");
    let output = command.output().expect("the program runs");
    let error = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(2) => eprintln!("skipped: {arguments:?}: {error}"),
        Some(0 | 1) => return Some(String::from_utf8(output.stdout).expect("UTF-8")),
        _ => panic!("{arguments:?}: {error}"),
    }
    None
}

/// The object in the text, read as a `T` and written again.
fn again<T: Serialize + DeserializeOwned>(text: &str) -> String {
    let read: T = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    serde_json::to_string(&read).expect("JSON")
}

/// An answer, of which a command prints its own keys.
fn answer_again(text: &str) -> String {
    serde_json::from_str::<Answer>(text).expect("an answer").json().to_string()
}

/// The arguments of a command, how its object is read and written again, and a key that it must
/// have.
type Printed<'a> = (&'a [&'a str], fn(&str) -> String, &'a str);

/// What the command prints is valid and survives being read, and is not valid without the key. True
/// if it could be tried.
fn is_kept(validator: &Validator, (arguments, again, key): Printed<'_>) -> bool {
    let Some(text) = printed(arguments) else { return false };
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(complaints(validator, &value), [""; 0], "{arguments:?}: {text}");
    assert_eq!(again(&text), text.trim_end(), "{arguments:?}");
    let object = value.as_object_mut().expect("an object");
    if let Some(about) = object.get("about") {
        let units = &about["units"];
        assert_eq!((&units["model"], &units["wall"]), (&json!("ticks"), &json!("seconds")));
        assert_eq!(about["tickbound"], env!("CARGO_PKG_VERSION"), "{arguments:?}");
    }
    assert!(object.shift_remove(key).is_some(), "{arguments:?} has no {key}");
    assert!(!validator.is_valid(&value), "{arguments:?} without {key}");
    true
}

#[test]
fn answers_are_valid_and_survive_being_read() {
    let schema =
        serde_json::from_str(include_str!("../docs/reference/answer.schema.json")).expect("JSON");
    jsonschema::meta::validate(&schema).unwrap_or_else(|e| panic!("{e}"));
    let validator = &validator(&schema);
    let answers: [&[&str]; 6] = [
        &["tune", ABSTRACT],
        &["tune", ABSTRACT, "--top", "5", "--strategy", "enumerate"],
        &["tune", "examples/problems/matmul.json", "--set", "TM=128", "--set", "TN=128"],
        &["tune", ABSTRACT, "--input", "size=64", "--encoding", "tick", "--timeout", "0.2"],
        &["tune", LATENCY, "--objective", "robust"],
        &["tune", "examples/problems/matmul.json"],
    ];
    for arguments in answers {
        for key in ["time", "status", "lower", "optima", "replayed"] {
            assert!(is_kept(validator, (arguments, answer_again, key)), "{arguments:?}");
        }
    }
    let with_tools: [&[&str]; 5] = [
        &["spin", ABSTRACT, "--input", "size=8"],
        &["spin", ABSTRACT, "--input", "size=8", "--search", "swarm", "--timeout", "5"],
        &["spin", LATENCY, "--search", "bisect", "--timeout", "5"],
        &["spin", "examples/problems/matmul.json", "--set", "TM=128", "--set", "TN=128"],
        &["cp-sat", ABSTRACT, "--input", "size=8"],
    ];
    for arguments in with_tools {
        is_kept(validator, (arguments, answer_again, "status"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let certificate = &folder.path().join("c").display().to_string();
    printed(&["tune", ABSTRACT, "--certificate", certificate]).expect("a certificate");
    let wg_ts = ["--set", "WG=4", "--set", "TS=2"];
    let others: [Printed<'_>; 7] = [
        (
            &["compare", ABSTRACT, "--engines", "enumerate,smt,cp-sat", "--input", "size=8"],
            again::<Comparison>,
            "machine",
        ),
        (&["why", ABSTRACT], again::<Why>, "constraints"),
        (&["check", certificate, "--no-tools"], again::<Checked>, "trusted"),
        (&[&["simulate", ABSTRACT][..], &wg_ts].concat(), again::<Simulated>, "time"),
        (&["explain", ABSTRACT], again::<Explained>, "choices"),
        (&[&["explain", ABSTRACT][..], &wg_ts].concat(), again::<Explained>, "about"),
        (
            &["score", REDUCTION, "--against", "python/examples/reduction.cache.json"],
            again::<Scored>,
            "entries",
        ),
    ];
    for one in others {
        let needs_clang = one.0.contains(&REDUCTION);
        assert!(is_kept(validator, one) || needs_clang, "{:?}", one.0);
    }
}

/// Objects of commands that need libclang or a device, which not every machine has.
#[test]
fn answers_about_sources_are_valid_and_survive_being_read() {
    let schema =
        serde_json::from_str(include_str!("../docs/reference/answer.schema.json")).expect("JSON");
    let validator = &validator(&schema);
    let folder = tempfile::tempdir().expect("a folder");
    let cache = &folder.path().join("cache.json").display().to_string();
    let coulomb = "examples/problems/coulomb-resources.json";
    let set = ["WORK_GROUP_SIZE_X=16", "WORK_GROUP_SIZE_Y=8", "Z_ITERATIONS=4"];
    let set = set.iter().chain(&["INNER_UNROLL_FACTOR=2", "USE_SOA=0"]);
    let set: Vec<&str> = set.flat_map(|value| ["--set", *value]).collect();
    let resources = |command| [&[command, coulomb][..], &set].concat();
    let two = ["measure", REDUCTION, "--size", "small", "--sample", "2", "--cache", cache];
    let all: [Printed<'_>; 9] = [
        (&["verify", REDUCTION, "--size", "small"], again::<Verified>, "judged"),
        (&["race", REDUCTION, REDUCTION, "--size", "small"], again::<Raced>, "slower"),
        (
            &["tune", "examples/problems/matmul.json", "--over", "n=16,32"],
            again::<SizeRule>,
            "worst",
        ),
        (&["tune", REDUCTION, "--mix"], again::<SizeMix>, "launches"),
        (&["explain", REDUCTION, "--size", "small"], again::<Explained>, "about"),
        (&two, again::<Measurement>, "device"),
        (&two, again::<Measurement>, "results"),
        (&resources("simulate"), again::<Simulated>, "configuration"),
        (&resources("explain"), again::<Explained>, "name"),
    ];
    let tried = all.map(|one| is_kept(validator, one));
    // The last two name no source.
    assert_eq!(tried[7..], [true; 2]);
}
