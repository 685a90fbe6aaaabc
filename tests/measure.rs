//! Measuring kernels on a device: what comes out, and what happens to kernels that are wrong.
//!
//! A device is needed, such as PoCL. Where there is none these tests say so and do nothing, except
//! on CI, where that is a failure.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Whether there is a device; says so if not.
pub fn device() -> bool {
    let listing = tickbound_device::list();
    match listing.absent() {
        Some(why) if std::env::var_os("CI").is_none() => {
            eprintln!("skipped: {why}");
            false
        }
        Some(why) => panic!("{why}"),
        None => true,
    }
}

/// A problem in a folder of its own.
struct Case {
    folder: TempDir,
    problem: Value,
}

/// What a command said.
#[derive(Debug)]
struct Printed {
    status: Option<i32>,
    out: String,
    err: String,
}

/// Seconds after which something must have gone wrong.
const PATIENCE: &str = "600";

const TWICE: &str = "\
// Each item doubles one element, and adds WG.
kernel void twice(global const int *x, global int *y)
{
    size_t i = get_global_id(0);
    y[i] = 2 * x[i] + WG;
}
";

const TWICE_REFERENCE: &str = "\
long value(const char *name);

void reference(const int *x, int *y)
{
    for (long i = 0; i < value(\"n\"); i++)
        y[i] = 2 * x[i] + value(\"WG\");
}
";

impl Case {
    /// A kernel with its reference, four configurations.
    fn twice() -> Case {
        Case::new(TWICE, Some(TWICE_REFERENCE))
    }

    fn new(kernel: &str, reference: Option<&str>) -> Case {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("k.cl"), kernel).unwrap();
        let mut problem = json!({
            "name": "twice",
            "inputs": { "n": 64 },
            "sizes": { "tiny": { "n": 32 } },
            "platform": { "units_per_device": 1, "elements_per_unit": 4, "global_access": 4 },
            "parameters": { "WG": [4, 8, 16, 32] },
            "constraints": [ "n % WG == 0" ],
            "launch": { "global_size": "n", "local_size": "WG" },
            "kernel": {
                "opencl": "k.cl", "entry": "twice",
                "arguments": [
                    { "name": "x", "type": "int", "length": "n", "fill": { "random": [-9, 9] } },
                    { "name": "y", "type": "int", "length": "n", "fill": 7, "output": true }
                ],
                "bytes": "8 * n"
            }
        });
        if let Some(reference) = reference {
            std::fs::write(folder.path().join("k.ref.c"), reference).unwrap();
            problem["kernel"]["reference"] = json!("k.ref.c");
        }
        Case { folder, problem }
    }

    /// With a part of the problem replaced.
    fn with(mut self, pointer: &str, value: Value) -> Case {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        self.problem.pointer_mut(parent).unwrap()[name] = value;
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A measurement. Only tests that are about a limit set one: how long compiling takes depends
    /// on what else the machine does.
    fn command(&self, arguments: &[&str]) -> Process {
        std::fs::write(self.path("p.json"), self.problem.to_string()).unwrap();
        let mut command = Process::new(cargo_bin("tickbound"));
        command.current_dir(self.folder.path()).args(["measure", "p.json", "--cache", "c.json"]);
        if !arguments.contains(&"--run-timeout") {
            command.args(["--run-timeout", PATIENCE]);
        }
        command.args(arguments).stdin(Stdio::null());
        command
    }

    fn say(&self, arguments: &[&str]) -> Printed {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert!(!err.contains("panicked"), "{err}");
        Printed { status: output.status.code(), out, err }
    }

    fn json(&self, arguments: &[&str]) -> (Value, Printed) {
        let said = self.say(&[arguments, &["--json"]].concat());
        let value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.err));
        (value, said)
    }

    fn cache(&self) -> Value {
        read_json(&self.path("c.json"))
    }

    fn keys(&self) -> Vec<String> {
        self.cache()["cache"].as_object().unwrap().keys().cloned().collect()
    }
}

fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

const WHOLE: &str = "\
typedef struct { char c; int n; } part;
kernel void twice(global const int *x, global int *y, int4 v, part p)
{
    size_t i = get_global_id(0);
    y[i] = 2 * x[i] + v.w * WG + p.n;
}
";

const WHOLE_REFERENCE: &str = "\
long value(const char *name);

void reference(const int *x, int *y, const int *v, const unsigned char *p)
{
    for (long i = 0; i < value(\"n\"); i++)
        y[i] = 2 * x[i] + v[3] * (int)value(\"WG\") + p[4] + 256 * (p[5] + 256 * (p[6] + 256 * \
        p[7]));
}
";

/// The message of the only failure.
fn failures(result: &Value) -> Vec<(String, String)> {
    let results = result["results"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let failed = results.iter().filter(|r| r.get("failure").is_some());
    failed.map(|r| (text(&r["failure"]), text(&r["message"]))).collect()
}

#[track_caller]
fn refused(said: &Printed, parts: &[&str]) {
    assert_eq!(said.status, Some(2), "{}", said.err);
    let notes = ["no model", "not verified", "runs the kernel of"];
    let lines: Vec<&str> =
        said.err.lines().filter(|l| !notes.iter().any(|note| l.contains(note))).collect();
    assert_eq!(lines.len(), 1, "{}", said.err);
    parts.iter().for_each(|part| assert!(said.err.contains(part), "`{part}`: {}", said.err));
}

// What comes out.

/// The vector is (0, 1, 2, 3), the structure's eight bytes are 0 to 7.
#[test]
fn vectors_and_structures_by_value() {
    if !device() {
        return;
    }
    let mut case = Case::new(WHOLE, Some(WHOLE_REFERENCE));
    let arguments = case.problem["kernel"]["arguments"].as_array_mut().unwrap();
    arguments.push(
        json!({ "name": "v", "type": "int", "length": 4, "space": "private", "fill": "index" }),
    );
    arguments.push(
        json!({ "name": "p", "type": "uchar", "length": 8, "space": "private", "fill": "index" }),
    );
    let (result, said) = case.json(&[]);
    assert_eq!(
        (&result["measured"], &result["checked"]),
        (&json!(4), &json!(true)),
        "{}",
        said.err
    );
    case.problem["kernel"]["arguments"][3] = json!({ "name": "p", "type": "int", "value": 1 });
    let fix = "give it a \"length\" and \"space\": \"private\"";
    let said = case.say(&[]);
    let what = "`p` of `twice` is part, but this is a number";
    assert!(said.err.contains(&format!("{what}; {fix}")), "{}", said.err);
}

#[test]
fn a_whole_space() {
    if !device() {
        return;
    }
    let case = Case::twice();
    let (result, said) = case.json(&["--t4", "t4.json", "--cutoff", "1e9"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    let whose = "runs the kernel of k.cl on the device, at most 600 s for each configuration, in \
        what memory the device has; \
                 and the reference k.ref.c on this machine, as you, at most 600 s and 8590 MB for \
                 each run";
    assert_eq!(said.err.matches(whose).count(), 1, "{}", said.err);
    assert!(!case.path("c.json.lock").exists() && !case.path("c.json.old").exists());
    assert_eq!((&result["asked"], &result["measured"]), (&json!(4), &json!(4)), "{}", said.err);
    assert_eq!(result["checked"], true);
    for one in result["results"].as_array().unwrap() {
        assert_eq!((&one["checked"], &one["cached"]), (&json!(true), &json!(false)));
        assert!(one["runs"].as_array().unwrap().len() >= 7 && one["time"].as_f64() > Some(0.0));
        assert!(one["GB/s"].as_f64() > Some(0.0));
    }
    assert_eq!(case.keys(), ["4", "8", "16", "32"]);
    let cache = case.cache();
    assert_eq!(cache["kernel_name"], "twice");
    assert_eq!(cache["problem_size"], json!([64]));
    assert_eq!(cache["tune_params"], json!({ "WG": [4, 8, 16, 32] }));
    let entry = &cache["cache"]["16"];
    assert_eq!((&entry["WG"], &entry["verification"]), (&json!(16), &json!("correct")));
    for field in ["time", "compile_time", "verification_time", "benchmark_time", "framework_time"] {
        assert!(entry[field].is_number(), "{field}: {entry}");
    }
    let said = case.say(&[]);
    assert!(said.out.contains("4 of 4 configurations have a time; 4 results were in the cache"));
    assert!(!said.err.contains("runs the kernel"), "nothing is run: {}", said.err);
}

/// The parts of the T4 format that its readers need.
#[test]
fn results_for_other_tools() {
    if !device() {
        return;
    }
    let wrong = TWICE.replace("+ WG", "+ WG + (WG == 8)").replace("2 * x", "2 * WHERE x");
    let wrong = format!("#if WG != 16\n#define WHERE\n#endif\n{wrong}");
    let case = Case::new(&wrong, Some(TWICE_REFERENCE)).with("/parameters/WG", json!([4, 8, 16]));
    let said = case.say(&["--t4", "t4.json", "--plot", "times", "--html", "page.html"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    // The failures have no time, come last, and say why.
    let rows = "(press(0), column(all('#table th').length - 1).map((note) => note.split(':')[0]))";
    if let Some(notes) = crate::pages::done(&case.path("page.html"), rows) {
        let notes = notes.as_array().expect("notes");
        assert_eq!((notes.len(), notes.contains(&json!("compile"))), (3, true), "{notes:?}");
    }
    let t4 = read_json(&case.path("t4.json"));
    let schema = json!({
        "type": "object", "required": ["schema_version", "metadata", "results"],
        "properties": {
            "schema_version": { "const": "1.0.0" },
            "metadata": { "type": "object", "required": ["timeunit", "device"] },
            "results": { "type": "array", "minItems": 3, "maxItems": 3, "items": {
                "type": "object",
                "required": ["timestamp", "configuration", "times", "invalidity", "correctness",
                    "measurements", "objectives"],
                "properties": {
                    "timestamp": { "type": "string", "pattern": "^20.*\\+00:00$" },
                    "configuration": { "type": "object", "required": ["WG"] },
                    "times": {
                        "type": "object",
                        "required": ["compilation_time", "framework", "search_algorithm",
                            "validation", "runtimes"],
                        "properties": { "runtimes": { "type": "array",
                            "items": { "type": "number" } } },
                        "additionalProperties": { "type": "number", "minimum": 0 }
                    },
                    "invalidity": { "enum": ["timeout", "compile", "runtime", "correctness",
                        "constraints", "correct"] },
                    "correctness": { "enum": [0, 1] },
                    "measurements": { "type": "array", "items": {
                        "type": "object", "required": ["name", "value", "unit"],
                        "properties": { "name": { "type": "string" },
                            "value": { "type": "number" }, "unit": { "type": "string" } }
                    } },
                    "objectives": { "const": ["time"] }
                }
            } }
        }
    });
    let schema = jsonschema::validator_for(&schema).unwrap();
    schema.validate(&t4).unwrap_or_else(|e| panic!("{e}: {t4}"));
    let of = |field: &str| -> Vec<Value> {
        t4["results"].as_array().unwrap().iter().map(|r| r[field].clone()).collect()
    };
    assert_eq!(of("invalidity"), ["correct", "correctness", "compile"]);
    assert_eq!(of("correctness"), [1, 0, 0]);
    assert_eq!(t4["results"][0]["measurements"][0]["unit"], "ms");
    assert!(std::fs::read_to_string(case.path("times.svg")).unwrap().starts_with("<svg"));
    assert!(std::fs::read(case.path("times.png")).unwrap().starts_with(b"\x89PNG"));
}

/// Kernel Tuner itself, where Python has it.
#[test]
fn kernel_tuner_opens_the_cache() {
    if !device() {
        return;
    }
    let python = std::env::var("TICKBOUND_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = Process::new(&python).args(["-c", "import kernel_tuner"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {python} has no kernel_tuner");
        return;
    }
    let wrong = TWICE.replace("+ WG", "+ WG + (WG == 8)");
    let case = Case::new(&wrong, Some(TWICE_REFERENCE));
    case.say(&["--t4", "t4.json"]);
    cut(&case, 40);
    case.say(&["--t4", "t4.json"]);
    let script = "
import json, shutil, jsonschema, kernel_tuner
from kernel_tuner import util, file_utils
whole = json.load(open('c.json'))
shutil.copy('c.json', 'copy.json')
opened = util.read_cache('copy.json', open_cache=True)['cache']
assert sorted(opened) == ['16', '32', '4', '8'], opened.keys()
assert [k for k in opened if '__error__' in opened[k]] == ['8']
util.close_cache('copy.json')
assert json.load(open('copy.json')) == whole
for entry in opened.values():
    entry.setdefault('times', [])
file_utils.store_output_file('theirs.json', list(opened.values()), whole['tune_params'])
_, schema = file_utils.output_file_schema('results')
jsonschema.validate(json.load(open('theirs.json')), schema)
jsonschema.validate(json.load(open('t4.json')), schema)
results, _ = kernel_tuner.tune_kernel('twice', '', whole['problem_size'], [], whole['tune_params'],
    cache='c.json', simulation_mode=True, lang='OpenCL', quiet=True)
best = min((r for r in results if '__error__' not in r), key=lambda r: r['time'])
print(len(results), best['WG'])
";
    let output =
        Process::new(&python).args(["-c", script]).current_dir(case.folder.path()).output();
    let output = output.unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
    let (result, _) = case.json(&[]);
    assert!(out.trim_end().ends_with(&format!("4 {}", result["best"]["WG"])), "{out}");
}

#[test]
fn sizes_inputs_and_selections() {
    if !device() {
        return;
    }
    let case = Case::twice();
    let (result, _) = case.json(&["--size", "tiny", "--set", "WG=8"]);
    assert_eq!((&result["inputs"]["n"], &result["asked"]), (&json!(32), &json!(1)));
    assert_eq!(case.keys(), ["8"]);
    let said = case.say(&["--input", "n=128"]);
    refused(&said, &["c.json: its problem size is [32], not [128]", "--cache"]);
    let said = case.say(&["--size", "huge"]);
    refused(&said, &["huge", "tiny"]);
    let (result, _) = case.json(&["--size", "tiny", "--sample", "2", "--seed", "3"]);
    assert_eq!(result["asked"], 2);
    let case = Case::twice().with("/parameters/WG", json!("range(1, 600)"));
    let case = case.with("/inputs/n", json!(1)).with("/launch/global_size", json!("WG"));
    let case = case.with("/constraints", json!([]));
    refused(&case.say(&[]), &["600 configurations", "--sample", "--top", "--all"]);
}

#[test]
fn arguments_of_all_kinds() {
    if !device() {
        return;
    }
    let kernel = "\
kernel void every(global const float4 *v, global uchar *bytes, local float *part, const int scale,
                const double real, const ulong big, const char small, global short *sums,
                global const uint *index)
{
    int x = get_local_id(0), y = get_local_id(1);
    int i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    part[x + X * y] = v[i].x + v[i].y + v[i].z + v[i].w;
    barrier(CLK_LOCAL_MEM_FENCE);
    float other = part[(X - 1 - x) + X * (Y - 1 - y)];
    bytes[i] = bytes[i] + small + (big >> 40) + index[i];
    sums[i] = scale * convert_int_rte(other * (REAL)1) + (int)real;
}
";
    let reference = "\
#include <math.h>
long value(const char *name);
void reference(const float *v, unsigned char *bytes, int scale, double real, unsigned long big,
               char small, short *sums, const unsigned int *index)
{
    long w = value(\"w\"), h = value(\"h\"), X = value(\"X\"), Y = value(\"Y\");
    for (long y = 0; y < h; y++)
        for (long x = 0; x < w; x++) {
            long ox = x / X * X + (X - 1 - x % X), oy = y / Y * Y + (Y - 1 - y % Y);
            const float *e = v + 4 * (ox + w * oy);
            long i = x + w * y;
            bytes[i] = bytes[i] + small + (big >> 40) + index[i];
            sums[i] = scale * (int)nearbyintf(e[0] + e[1] + e[2] + e[3]) + (int)real;
        }
}
";
    let case = Case::new(kernel, Some(reference))
        .with("/inputs", json!({ "w": 32, "h": 16 }))
        .with("/sizes", json!({}))
        .with("/parameters", json!({ "X": [4, 8], "Y": [1, 2] }))
        .with("/constraints", json!([]))
        .with("/launch", json!({ "global_size": ["w", "h"], "local_size": ["X", "Y"] }))
        .with(
            "/kernel",
            json!({
                "opencl": "k.cl", "entry": "every", "reference": "k.ref.c",
                "defines": { "X": "X", "Y": "Y", "REAL": { "text": "float" } },
                "arguments": [
                    { "name": "v", "type": "float", "length": "4 * w * h",
                        "fill": { "random": [0, 100] } },
                    { "name": "bytes", "type": "uchar", "length": "w * h",
                        "fill": { "random": [0, 255] }, "output": true },
                    { "name": "part", "type": "float", "length": "X * Y", "space": "local" },
                    { "name": "scale", "type": "int", "value": "0 - 3" },
                    { "name": "real", "type": "double", "real": 12.75 },
                    { "name": "big", "type": "ulong", "value": "1099511627776 * 5" },
                    { "name": "small", "type": "char", "value": "0 - 2" },
                    { "name": "sums", "type": "short", "length": "w * h", "output": true },
                    { "name": "index", "type": "uint", "length": "w * h", "fill": "index" }
                ]
            }),
        );
    let (result, said) = case.json(&[]);
    assert_eq!(result["measured"], 4, "{}", said.err);
}

#[test]
fn images_are_made_and_compared() {
    if !device() {
        return;
    }
    let kernel = "\
kernel void mix2(read_only image2d_t a, read_only image2d_array_t layers, read_only image1d_t row,
                 read_only image3d_t volume, sampler_t clamped, write_only image2d_t sum,
                 write_only image2d_t count, read_only image2d_t whole)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 left = read_imagef(a, clamped, (int2)(x - 1, y));
    float4 layer = read_imagef(layers, (int4)(x, y, 1, 0));
    float4 own = read_imagef(row, x) + read_imagef(volume, (int4)(x, y, 2, 0));
    write_imagef(sum, (int2)(x, y), left + layer + WG * own);
    write_imagei(count, (int2)(x, y), read_imagei(whole, (int2)(x, y)) + (int4)(x, y, WG, 7));
}
";
    let reference = "\
long value(const char *name);
void reference(const float *a, const float *layers, const float *row, const float *volume,
               unsigned clamped, float *sum, int *count, const int *whole)
{
    long w = value(\"w\"), h = value(\"h\"), g = value(\"WG\");
    for (long y = 0; y < h; y++)
        for (long x = 0; x < w; x++)
            for (long c = 0; c < 4; c++) {
                long i = 4 * (y * w + x) + c, left = x > 0 ? i - 4 : i;
                float own = row[4 * x + c] + volume[2 * 4 * w * h + i];
                sum[i] = a[left] + layers[4 * w * h + i] + g * own;
                count[i] = whole[i] + (c == 0 ? x : c == 1 ? y : c == 2 ? g : 7);
            }
}
";
    let image = |name: &str, ty: &str, sizes: Value, output: bool| {
        let fill = if output { json!(0) } else { json!({ "random": [0, 100] }) };
        json!({ "name": name, "type": ty, "image": sizes, "fill": fill, "output": output })
    };
    let case = Case::new(kernel, Some(reference))
        .with("/inputs", json!({ "w": 33, "h": 16 }))
        .with("/sizes", json!({}))
        .with("/parameters", json!({ "WG": [1, 3, 11] }))
        .with("/constraints", json!([]))
        .with("/launch", json!({ "global_size": ["w", "h"], "local_size": ["WG", 1] }));
    let arguments = json!([
        image("a", "float", json!(["w", "h"]), false),
        image("layers", "float", json!(["w", "h", 2]), false),
        image("row", "float", json!(["w"]), false),
        image("volume", "float", json!(["w", "h", 3]), false),
        // CLAMP_TO_EDGE
        { "name": "clamped", "type": "uint", "value": 2 },
        image("sum", "float", json!(["w", "h"]), true),
        image("count", "int", json!(["w", "h"]), true),
        image("whole", "int", json!(["w", "h"]), false),
    ]);
    let source = json!({ "opencl": "k.cl", "entry": "mix2", "reference": "k.ref.c",
        "defines": { "WG": "WG" }, "arguments": arguments });
    let case = case.with("/kernel", source);
    let (result, said) = case.json(&[]);
    assert_eq!(
        (&result["measured"], &result["checked"]),
        (&json!(3), &json!(true)),
        "{}",
        said.err
    );
    // Without clamping the texel to the left of the first is another.
    let case = case.with("/kernel/arguments/4/value", json!(4));
    let (result, said) = case.json(&[]);
    assert_eq!(result["measured"], 0, "{}", said.err);
    // Sizes that do not belong to the type.
    let case = case.with("/kernel/arguments/2/image", json!(["w", 1]));
    let (_, said) = case.json(&[]);
    assert!(
        said.err.contains("argument `row`: `image1d_t` is no image of 2 dimensions"),
        "{}",
        said.err
    );
}

#[test]
fn no_reference_is_said_once() {
    if !device() {
        return;
    }
    let case = Case::new(TWICE, None);
    let (result, said) = case.json(&[]);
    assert_eq!((&result["measured"], &result["checked"]), (&json!(4), &json!(false)));
    assert_eq!(said.err.matches("not checked").count(), 1, "{}", said.err);
    assert_eq!(case.cache()["cache"]["4"]["verification"], "unchecked");
    assert!(case.say(&[]).out.contains("outputs unchecked"));
}

#[test]
fn outputs_are_restored_before_each_run() {
    if !device() {
        return;
    }
    // Each run doubles what is there; the output is checked after the last one, too.
    let kernel = "kernel void twice(global int *y) { y[get_global_id(0)] *= 2; }";
    let reference = "void reference(int *y) { for (int i = 0; i < 64; i++) y[i] *= 2; }";
    let case = Case::new(kernel, Some(reference)).with(
        "/kernel/arguments",
        json!([
            { "name": "y", "type": "int", "length": "n", "fill": 7, "output": true }
        ]),
    );
    let (result, said) = case.json(&[]);
    assert_eq!(result["measured"], 4, "{}", said.err);
}

/// A kernel whose time grows with what the model does not see as much as with what it sees.
#[test]
fn guided_by_the_model_and_the_times() {
    if !device() {
        return;
    }
    let case = Case::twice()
        .with("/platform/name", json!("nowhere"))
        .with("/parameters", json!({ "WG": [4, 8, 16, 32], "P": "range(1, 40)" }));
    let case = case.with("/kernel/defines", json!({ "WG": "WG" }));
    let (result, said) = case.json(&["--guided", "--seed", "3"]);
    assert_eq!((&result["candidates"], &result["failed"]["correctness"]), (&json!(160), &json!(0)));
    assert!(said.err.contains("--guided chooses from 160 programs of 160"), "{}", said.err);
    assert!(said.err.contains("the model is of the platform nowhere"), "{}", said.err);
    let asked = result["asked"].as_u64().unwrap();
    assert!(asked >= 8, "{asked}");
    assert_eq!(result["measured"], asked);
    // The model's five best come first. Without new times the same are asked for again.
    let keys = case.keys();
    let (again, _) = case.json(&["--guided", "--seed", "3"]);
    assert_eq!((&again["asked"], &again["cached"]), (&json!(asked), &json!(asked)));
    assert_eq!(case.keys(), keys);
    let ticks = |i: usize| result["results"][i]["ticks"].as_i64().expect("ticks");
    assert!((1..5).all(|i| ticks(i - 1) <= ticks(i)), "{result}");
    assert!(case.say(&["--guided"]).out.contains("chosen from 160"));
    for both in [["--guided", "--all"], ["--guided", "--top=3"], ["--guided", "--sample=3"]] {
        assert_eq!(case.say(&both).status, Some(2), "{both:?}");
    }
}

// At the device's speed.

/// A device whose compiler is slow (tests/slow_driver.c).
#[cfg(target_os = "linux")]
struct SlowDriver {
    folder: TempDir,
}

#[cfg(target_os = "linux")]
impl SlowDriver {
    /// Nothing without a C compiler.
    fn new() -> Option<SlowDriver> {
        let folder = TempDir::new().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slow_driver.c");
        let mut compiler = Process::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(folder.path().join("slow.so")).arg(source);
        compiler.args(["-Wl,--no-as-needed", "-l:libOpenCL.so.1", "-ldl"]);
        let made = compiler.output().is_ok_and(|output| output.status.success());
        if !made {
            eprintln!("skipped: cc makes no library that stands before libOpenCL.so.1");
        }
        made.then_some(SlowDriver { folder })
    }

    /// A measurement on it; what it prints as JSON, and on standard error.
    fn measure(&self, case: &Case, arguments: &[&str], gpu: bool) -> (Value, String) {
        let mut command = case.command(&[arguments, &["--json"]].concat());
        command.env("OPENCL_DYLIB_PATH", self.folder.path().join("slow.so"));
        command.env("SLOW_LOG", self.folder.path().join("log")).env("SLOW_MS", "300");
        // What was compiled before is of no use here.
        command.env("POCL_CACHE_DIR", case.folder.path());
        if gpu {
            command.env("SLOW_GPU", "1").env("POCL_DEVICES", "pthread pthread");
        }
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (json, err)
    }

    /// What happened, in order of time: `b`, `e`, `f` or `r`, and the process.
    fn log(&self) -> Vec<(char, u32)> {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap();
        let mut lines: Vec<(u64, char, u32)> = text
            .lines()
            .map(|line| {
                let [what, process, time] = line.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("{line}")
                };
                let what = what.chars().next().unwrap();
                (time.parse().unwrap(), what, process.parse().unwrap())
            })
            .collect();
        lines.sort_unstable();
        lines.into_iter().map(|(_, what, process)| (what, process)).collect()
    }
}

/// How many builds from source there were, the most at once, and how many launches while one was
/// under way.
fn builds(log: &[(char, u32)]) -> (usize, usize, usize) {
    let (mut all, mut open, mut most, mut launches) = (0, 0usize, 0, 0);
    for (what, _) in log {
        match what {
            'b' => {
                all += 1;
                open += 1;
                most = most.max(open);
            }
            'e' => open -= 1,
            _ => launches += usize::from(open > 0),
        }
    }
    (all, most, launches)
}

/// Eight processes compile. Those that run kernels compile their probe and nothing else.
#[cfg(target_os = "linux")]
#[test]
fn programs_are_compiled_ahead() {
    if !device() {
        return;
    }
    let (Some(slow), case) = (SlowDriver::new(), slow()) else { return };
    let (result, err) = slow.measure(&case, &["--compilers", "8"], true);
    assert_eq!(result["measured"], 20, "{err}");
    let (all, most, launches) = builds(&slow.log());
    // Twenty configurations and the probe; the best in turns are compiled once more.
    let finalists = result["results"].as_array().unwrap().iter();
    let finalists = finalists.filter(|r| r.get("rounds").is_some()).count();
    assert_eq!(all, 21 + finalists, "{err}");
    assert!((2..=8).contains(&most), "{most} at once");
    assert!(launches > 0, "the device waits for the compilers");
    for one in result["results"].as_array().unwrap() {
        assert_eq!(one["checked"], true);
    }
    // Another one with the compiler in the process that runs kernels: one at a time.
    let (slow, case) = (SlowDriver::new().unwrap(), self::slow());
    let (result, err) = slow.measure(&case, &["--compilers", "0", "--set", "WG=8"], true);
    assert_eq!(result["measured"], 10, "{err}");
    assert_eq!(builds(&slow.log()).1, 1);
}

/// Each run but the worker's own comes behind a launch that reads; its time is not taken for that
/// of a run with full caches.
#[cfg(target_os = "linux")]
#[test]
fn caches_are_emptied_before_each_run() {
    if !device() {
        return;
    }
    let (Some(slow), case) = (SlowDriver::new(), Case::twice()) else { return };
    let (result, err) =
        slow.measure(&case, &["--compilers", "0", "--flush-cache", "--set", "WG=8"], false);
    assert_eq!(result["measured"], 1, "{err}");
    let log = slow.log();
    let launches: String =
        log.iter().map(|(what, _)| *what).filter(|w| "fr".contains(*w)).collect();
    let runs = launches.strip_prefix('r').unwrap();
    assert!(runs.len() > 14 && runs == "fr".repeat(runs.len() / 2), "{launches}");
    let again =
        |more: &[&str]| case.json(&[&["--compilers", "0", "--set", "WG=8"], more].concat()).0;
    assert_eq!(again(&["--flush-cache"])["results"][0]["cached"], true);
    assert_eq!(again(&[])["results"][0]["cached"], false);
}

/// On a processor what is timed and what compiles would share its cores.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_compiled_while_a_processor_is_timed() {
    if !device() {
        return;
    }
    let (Some(slow), case) = (SlowDriver::new(), slow()) else { return };
    let (result, err) = slow.measure(&case, &["--compilers", "4"], false);
    assert_eq!(result["measured"], 20, "{err}");
    let (all, most, launches) = builds(&slow.log());
    assert!(all >= 21 && (2..=4).contains(&most), "{all} builds, {most} at once");
    assert_eq!(launches, 0, "a kernel ran while another one was compiled");
}

#[cfg(target_os = "linux")]
#[test]
fn equal_devices_measure_side_by_side() {
    if !device() {
        return;
    }
    let (Some(slow), case) = (SlowDriver::new(), slow()) else { return };
    let both = ["--device", "opencl:0,opencl:1", "--compilers", "4"];
    let (result, err) = slow.measure(&case, &both, true);
    assert_eq!((&result["measured"], &result["asked"]), (&json!(20), &json!(20)), "{err}");
    let order: Vec<&Value> =
        result["results"].as_array().unwrap().iter().map(|r| &r["configuration"]).collect();
    assert_eq!(
        order[..3],
        [&json!({"WG": 4, "V": 1}), &json!({"WG": 4, "V": 2}), &json!({"WG": 4, "V": 3})]
    );
    // Two processes ran kernels, not only their probe.
    let log = slow.log();
    let launches = |process: u32| log.iter().filter(|line| **line == ('r', process)).count();
    let mut processes: Vec<u32> = log.iter().map(|(_, process)| *process).collect();
    processes.sort_unstable();
    processes.dedup();
    assert_eq!(processes.into_iter().filter(|p| launches(*p) > 7).count(), 2);
    // The same device twice is refused.
    refused(&case.say(&["--device", "opencl:0,opencl:0"]), &["opencl:0", "twice"]);
    let (_, err) = slow.measure(&case, &["--device", "opencl:0,opencl:7"], true);
    assert!(err.contains("there is no OpenCL device 7"), "{err}");
}

/// V is how much there is to do.
fn growing() -> Case {
    let kernel = TWICE
        .replace("    y[i] =", "    volatile int k = 0; while (k < 1000 * V) k++;\n    y[i] =");
    Case::new(&kernel, Some(TWICE_REFERENCE))
        .with("/parameters", json!({ "WG": [16], "V": [1, 2, 40, 60] }))
        .with("/inputs/n", json!(512))
}

fn numbers(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

#[test]
fn what_is_slow_runs_once() {
    if !device() {
        return;
    }
    let (result, said) = growing().json(&["--compilers", "0"]);
    assert_eq!(result["measured"], 4, "{}", said.err);
    let runs = |i: usize| numbers(&result["results"][i]["runs"]);
    // The second may seem slow, too, where the machine is busy.
    assert!(runs(0) >= 7, "{result}");
    assert_eq!((runs(2), runs(3)), (1, 1), "{result}");
    assert_eq!(result["results"][3]["checked"], true);
    let (whole, _) = growing().json(&["--cutoff", "1e9"]);
    assert!((0..4).all(|i| numbers(&whole["results"][i]["runs"]) >= 7), "{whole}");
    refused(&growing().say(&["--cutoff", "0.5"]), &["--cutoff 0.5", "at least 1"]);
}

/// A platform for which each group takes at least this long.
fn platform(name: &str, picoseconds: i64) -> Value {
    json!({
        "name": name, "units_per_device": 1, "elements_per_unit": 4, "global_access": 4,
        "resources": { "greatest_mhz": 1_000_000, "least_group_picoseconds": picoseconds }
    })
}

/// What cannot be the best is not run; a time below its floor is a contradiction; floors of another
/// device are not used.
#[test]
fn floors_on_their_device() {
    let listing = tickbound_device::list();
    let Some(name) = listing.devices.first().map(|device| device.name.clone()) else {
        assert!(!device(), "a device without a name");
        return;
    };
    // 16, 8, 4 and 2 groups of a second each, which no device takes.
    let wrong = Case::twice().with("/platform", platform(&name, 1_000_000_000_000));
    let (result, said) = wrong.json(&["--compilers", "0", "--html", "page.html"]);
    let page = std::fs::read_to_string(wrong.path("page.html")).unwrap();
    // The only row: 16 groups, of 10^6 microseconds each at least.
    let floor = page.contains(r#"16000000.0],"binds":"dispatch""#);
    let space = page.contains(r#""measured":true}],"space":[2000000.0,"dispatch"]}"#);
    assert!(floor && space, "{page}");
    assert_eq!(
        (&result["measured"], &result["floor"]["skipped"]),
        (&json!(1), &json!(3)),
        "{said:?}"
    );
    assert_eq!(result["floor"]["contradicted"], json!({ "dispatch": 1 }));
    assert_eq!(result["floor"]["seconds"], 2.0);
    let (right, _) =
        Case::twice().with("/platform", platform(&name, 1)).json(&["--compilers", "0"]);
    assert_eq!((&right["measured"], &right["floor"]["skipped"]), (&json!(4), &json!(0)));
    assert_eq!(right["floor"]["contradicted"], json!({}));
    // Two groups of a warp with a load and a store, one a clock.
    assert_eq!(
        (&right["floor"]["seconds"], &right["floor"]["term"]),
        (&json!(4e-12), &json!("requests"))
    );
    let other = Case::twice().with("/platform", platform("another", 1_000_000_000_000));
    let (result, _) = other.json(&["--html", "page.html"]);
    assert_eq!((&result["measured"], &result["floor"]), (&json!(4), &Value::Null));
    let page = std::fs::read_to_string(other.path("page.html")).unwrap();
    assert!(!page.contains("\"roofline\":") && !page.contains("\"name\":\"floor, us\""));
}

/// The best have as many times in turns as one another; what is kept of them is enough to say the
/// same without a device.
#[test]
fn the_best_run_again_in_turns() {
    if !device() {
        return;
    }
    // Four configurations of one program: equal but for chance.
    let case = Case::twice().with("/parameters", json!({ "WG": [16], "V": [1, 2, 3, 4] }));
    let (first, said) = case.json(&[]);
    assert_eq!(first["measured"], 4, "{}", said.err);
    let rounds = |result: &Value| -> Vec<usize> {
        let results = result["results"].as_array().unwrap().iter();
        results.map(|r| numbers(&r["rounds"])).filter(|n| *n > 0).collect()
    };
    let turns = rounds(&first);
    if turns.is_empty() {
        // No second one was within 5 % of the best on a machine that was busy.
        return;
    }
    assert!(
        turns.len() >= 2 && turns[0] >= 10 && turns.iter().all(|n| *n == turns[0]),
        "{turns:?}"
    );
    let text = std::fs::read_to_string(case.path("c.json")).unwrap();
    assert_eq!(text.matches("times_in_turns").count(), turns.len());
    assert_eq!(case.keys().len(), text.matches("\n\"16,").count(), "one entry for each: {text}");
    let (again, said) = case.json(&[]);
    assert!(!said.err.contains("runs the kernel"), "{}", said.err);
    assert_eq!((&again["best"], rounds(&again)), (&first["best"], turns));
    let near = |a: &Value, b: &Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9;
    assert!(near(&again["time"], &first["time"]), "{first} {again}");
}

#[test]
fn compared_with_your_own_configuration() {
    if !device() {
        return;
    }
    let (result, said) = growing().json(&["--baseline", "WG=16,V=40"]);
    assert_eq!(said.status, Some(4), "{}", said.err);
    let versus = &result["baseline"];
    assert_eq!((&versus["configuration"]["V"], &versus["other"]["V"]), (&json!(40), &json!(1)));
    assert_eq!((&versus["faster"], &result["best"]["V"]), (&json!(true), &json!(1)));
    assert!(versus["low"].as_f64() > Some(2.0), "{versus}");
    assert!(versus["low"].as_f64() <= versus["ratio"].as_f64());
    assert!(versus["ratio"].as_f64() <= versus["high"].as_f64());
    // Measured first and whole, however slow it is, and listed where it belongs.
    assert_eq!(result["results"][2]["configuration"]["V"], 40);
    assert!(numbers(&result["results"][2]["runs"]) >= 7);
    let case = growing();
    let said = case.say(&["--baseline", "WG=16,V=1"]);
    assert_eq!(said.status, Some(0), "{}{}", said.out, said.err);
    assert!(
        said.out.contains("baseline:   no other one is faster; WG=16, V=2 is 0."),
        "{}",
        said.out
    );
    assert!(said.out.contains(" in turns at WG=16, V=1\n"), "{}", said.out);
    // One that the selection does not have is measured all the same.
    let (result, said) = case.json(&["--sample", "1", "--seed", "1", "--baseline", "WG=16,V=60"]);
    assert_eq!((&result["asked"], said.status), (&json!(2), Some(4)), "{}", said.err);
    refused(&case.say(&["--baseline", "V=1"]), &["parameters.WG", "add --baseline WG=VALUE"]);
    refused(&case.say(&["--baseline", "WG=16,V=3"]), &["V"]);
    assert_eq!(case.say(&["--baseline", "WG"]).status, Some(2));
}

#[test]
fn within_a_budget() {
    if !device() {
        return;
    }
    let case = slow().with("/parameters/V", json!("range(1, 1000)"));
    let (result, said) = case.json(&["--budget", "5s", "--all"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert_eq!((&result["budget_spent"], &result["stopped_by"]), (&json!(true), &Value::Null));
    let measured = result["measured"].as_u64().unwrap();
    assert!((1..2000).contains(&measured), "{measured}");
    // Nothing else said: guided by the model; without a model, in an order of chance.
    let (result, said) = case.json(&["--budget", "3s"]);
    assert!(said.err.contains("--guided chooses from"), "{}", said.err);
    assert!(result["candidates"].is_u64(), "{result}");
    let kernel = TWICE.replace("    y[i] =", "    for (int k = 0; k < x[i]; k++) ;\n    y[i] =");
    let unread = Case::new(&kernel, Some(TWICE_REFERENCE)).with("/parameters/WG", json!([4, 8]));
    let (result, said) = unread.json(&["--budget", "60s"]);
    assert!(said.err.contains("no model beside the times"), "{}", said.err);
    let found = [&result["measured"], &result["budget_spent"], &result["candidates"]];
    assert_eq!(found, [&json!(2), &json!(false), &Value::Null], "{}", said.err);
    let said = unread.say(&["--budget", "0s"]);
    refused(&said, &["--budget 0", "positive"]);
}

// What goes wrong with a kernel.

#[test]
fn wrong_numbers() {
    if !device() {
        return;
    }
    let wrong = TWICE.replace("+ WG", "+ WG + (WG == 8 && i == 3)");
    let case = Case::new(&wrong, Some(TWICE_REFERENCE));
    let (result, said) = case.json(&[]);
    assert_eq!(said.status, Some(0));
    assert_eq!(result["measured"], 3);
    let [(kind, message)] = &failures(&result)[..] else { panic!("{result}") };
    assert_eq!(kind, "correctness");
    assert!(
        message.starts_with("output `y[3]` is ") && message.contains(", expected "),
        "{message}"
    );
    assert!(said.err.contains("tickbound: WG=8: output `y[3]` is "), "{}", said.err);
    assert_eq!(case.cache()["cache"]["8"]["time"], "RuntimeFailedConfig");
}

/// What lies beside a buffer is no place for results, whatever they are.
#[test]
fn writes_past_an_argument() {
    if !device() {
        return;
    }
    let past = "\
    if (i == 0 && WG == 8) y[64] = 5;
    if (i == 0 && WG == 16) y[64 + 16000] = 5;
    if (i == 0 && WG == 32) y[-1] = 5;
    y[i] =";
    let case = Case::new(&TWICE.replace("    y[i] =", past), Some(TWICE_REFERENCE));
    let (result, said) = case.json(&["--unverified"]);
    assert_eq!(result["measured"], 1, "{}", said.err);
    let messages = [
        "writes behind the end of argument `y`: at `y[64]` of 64 elements",
        "writes behind the end of argument `y`: at `y[16064]` of 64 elements",
        "writes before the start of argument `y`: at `y[-1]` of 64 elements",
    ];
    let wrong = messages.map(|message| ("correctness".to_owned(), message.to_owned()));
    assert_eq!(failures(&result), wrong);
    // Inputs are guarded as well, and where nothing says what the outputs should be.
    let past = "    if (i == 0) ((global uchar *)x)[4 * 64] = 5;\n    y[i] =";
    let case = Case::new(&TWICE.replace("    y[i] =", past), None);
    let (result, _) = case.json(&["--set", "WG=4", "--unverified"]);
    let message = "writes behind the end of argument `x`: at `x[64]` of 64 elements";
    assert_eq!(failures(&result), [("correctness".to_owned(), message.to_owned())]);
}

/// What is refuted does not run; a fault that needs certain data leaves nothing out.
#[test]
fn what_is_not_safe_does_not_run() {
    if !device() {
        return;
    }
    let past = "    if (i == 0 && WG >= 16) y[n] = 5;\n    if (x[i] > 9) y[-1] = 5;\n    y[i] =";
    let kernel = TWICE.replace("    y[i] =", past).replace("global int *y", "global int *y, int n");
    let case = Case::new(&kernel, None);
    let n = json!({ "name": "n", "type": "int", "value": "n" });
    let mut arguments = case.problem["kernel"]["arguments"].clone();
    arguments.as_array_mut().unwrap().push(n);
    let case = case.with("/kernel/arguments", arguments);
    let case = case.with("/kernel/branches", json!({ "twice": "else" }));
    let (result, said) = case.json(&[]);
    assert_eq!((result["measured"].as_i64(), case.keys()), (Some(2), vec!["4".into(), "8".into()]));
    let note = "tickbound: 2 of 4 configurations are not run, as they are not safe: k.cl:5: access \
                out of bounds on y; `tickbound verify` shows an example, --unverified runs them";
    assert!(said.err.contains(note), "{}", said.err);
    let (result, said) = case.json(&["--budget", "20", "--guided"]);
    assert_eq!(result["measured"], 2, "{}", said.err);
    refused(&case.say(&["--baseline", "WG=32"]), &["--baseline: it is not safe: k.cl:5: access"]);
    let said = case.say(&["--set", "WG=16"]);
    assert_eq!((said.status, said.out.as_str()), (Some(1), ""), "{}", said.err);
    // What cannot be verified is measured.
}

/// A counterexample of `verify` is seen on the device, and is on the page.
#[test]
fn a_counterexample_is_run() {
    if !device() {
        return;
    }
    let past = "    if (i == 0 && WG >= 16) y[64] = 5;\n    y[i] =";
    let case = Case::new(&TWICE.replace("    y[i] =", past), Some(TWICE_REFERENCE));
    let verify = |arguments: &[&str]| {
        std::fs::write(case.path("p.json"), case.problem.to_string()).unwrap();
        let mut command = Process::new(cargo_bin("tickbound"));
        command.current_dir(case.folder.path()).args(["verify", "p.json"]).args(arguments);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    };
    let (out, err, status) = verify(&["--run", "--html", "v.html"]);
    assert_eq!(status, Some(1), "{err}");
    let fault = "k.cl:5: access out of bounds on y";
    assert!(out.contains(&format!("refuted: {fault}\n  configuration: WG=16\n")), "{out}");
    assert!(out.contains(": bytes 256 to 259\n  the array has 256 bytes\n"), "{out}");
    assert!(err.contains(&format!("tickbound: run: {fault}: on ")), "{err}");
    assert!(err.ends_with(": writes behind the end of argument `y`: at `y[64]` of 64 elements\n"));
    let page = std::fs::read_to_string(case.path("v.html")).unwrap();
    let row = "<td class=\"status\">refuted</td><td class=\"name\">k.cl:5</td>\
               <td>access out of bounds on y</td>";
    assert!(page.contains(row), "{page}");
    let (_, err, status) = verify(&["--run", "nowhere"]);
    assert_eq!(status, Some(2), "{err}");
}

#[test]
fn what_does_not_compile() {
    if !device() {
        return;
    }
    let wrong = TWICE.replace("2 * x[i]", "2 * x[i] + MISSING");
    let case = Case::new(&wrong, Some(TWICE_REFERENCE));
    let (result, said) = case.json(&["--set", "WG=4"]);
    assert_eq!(said.status, Some(1), "nothing has a time");
    let [(kind, message)] = &failures(&result)[..] else { panic!("{result}") };
    assert_eq!(kind, "compile");
    assert!(message.starts_with("k.cl:5: ") && message.contains("MISSING"), "{message}");
    assert_eq!(case.cache()["cache"]["4"]["time"], "CompilationFailedConfig");
    // In a file that it includes; and a kernel that is not there.
    let case = Case::new(&format!("#include \"h.h\"\n{TWICE}"), None);
    std::fs::write(case.path("h.h"), "\n\nint f(void) { return nothing; }\n").unwrap();
    let (result, _) = case.json(&["--set", "WG=4"]);
    assert!(failures(&result)[0].1.starts_with("h.h:3: "), "{result}");
    let case = Case::new(TWICE, None).with("/kernel/entry", json!("thrice"));
    let (result, _) = case.json(&["--set", "WG=4"]);
    assert_eq!(failures(&result)[0].1, "k.cl: there is no kernel `thrice`");
}

#[test]
fn what_cannot_be_launched() {
    if !device() {
        return;
    }
    let case = Case::new(TWICE, None)
        .with("/parameters/WG", json!([4, 1_048_576]))
        .with("/inputs/n", json!(1_048_576));
    let (result, said) = case.json(&[]);
    assert_eq!(result["measured"], 1, "{}", said.err);
    let [(kind, message)] = &failures(&result)[..] else { panic!("{result}") };
    assert_eq!(kind, "launch");
    assert!(message.contains("groups of 1048576 items"), "{message}");
    // Too few arguments, and one of another size.
    let case = Case::new(TWICE, None)
        .with("/kernel/arguments", json!([{ "name": "x", "type": "int", "length": "n" }]));
    let (result, _) = case.json(&["--set", "WG=4"]);
    assert!(failures(&result)[0].1.contains("takes 2 arguments, the problem gives 1"), "{result}");
    let scalar = "kernel void twice(global int *y, int n) { y[get_global_id(0)] = n; }";
    let case = Case::new(scalar, None).with(
        "/kernel/arguments",
        json!([
            { "name": "y", "type": "int", "length": "n", "output": true },
            { "name": "n", "type": "long", "value": "n" }
        ]),
    );
    let (result, _) = case.json(&["--set", "WG=4"]);
    assert!(failures(&result)[0].1.contains("argument 2 of `twice`"), "{result}");
}

#[test]
fn what_hangs_is_stopped_and_the_rest_goes_on() {
    if !device() {
        return;
    }
    let hangs = TWICE.replace(
        "    y[i] =",
        "    if (WG == 8) { volatile int k = 0; while (k == 0) ; }\n    y[i] =",
    );
    let case = Case::new(&hangs, Some(TWICE_REFERENCE));
    // Long enough for the others to be compiled and run on a machine that is busy with other
    // things.
    let (result, said) = case.json(&["--run-timeout", "20"]);
    assert_eq!(result["measured"], 3, "{}", said.err);
    let [(kind, message)] = &failures(&result)[..] else { panic!("{result}") };
    assert_eq!(kind, "timeout");
    assert!(message.contains("after 20 s in its first run"), "{message}");
}

#[test]
fn what_crashes_the_process_and_the_rest_goes_on() {
    if !device() {
        return;
    }
    let crashes = TWICE.replace(
        "    y[i] =",
        "    if (WG == 8) *(global volatile int *)(8 * (size_t)(x[0] == 77)) = 1;\n    y[i] =",
    );
    let case = Case::new(&crashes, Some(TWICE_REFERENCE));
    let (result, said) = case.json(&[]);
    assert_eq!(result["measured"], 3, "{}", said.err);
    let [(kind, message)] = &failures(&result)[..] else { panic!("{result}") };
    assert_eq!(kind, "runtime");
    assert!(
        message.contains("crashed with signal 11") && message.contains("in its first run"),
        "{message}"
    );
    // What kernels print is no part of what is said.
    let prints = TWICE.replace("    y[i] =", "    printf(\"{ noise %d\", (int)i);\n    y[i] =");
    let (result, said) = Case::new(&prints, Some(TWICE_REFERENCE)).json(&["--set", "WG=8"]);
    assert_eq!(result["measured"], 1, "{}", said.err);
}

// What goes wrong with the reference and the problem.

#[test]
fn references_that_fail() {
    if !device() {
        return;
    }
    let with = |reference: &str| Case::new(TWICE, Some(reference)).say(&[]);
    refused(&with(&TWICE_REFERENCE.replace("2 * x[i]", "2 * z[i]")), &["k.ref.c:6: ", "z"]);
    let declared = "write `void reference(const int *x, int *y)`";
    refused(&with(&TWICE_REFERENCE.replace("int *y)", "float *y)")), &["k.ref.c:3: ", declared]);
    refused(&with(&TWICE_REFERENCE.replace("\"n\"", "\"m\"")), &["k.ref.c:5: ", "`m`"]);
    refused(
        &with(&TWICE_REFERENCE.replace("void reference", "void other")),
        &["k.ref.c", declared],
    );
    refused(
        &with(&TWICE_REFERENCE.replace("y[i] =", "y[i + 1000000000] =")),
        &["k.ref.c:3: ", "signal 11"],
    );
    let endless = Case::new(TWICE, Some(&TWICE_REFERENCE.replace("i++", "i += 0")));
    refused(&endless.say(&["--reference-timeout", "1"]), &["k.ref.c:3: ", "after 1 s"]);
    let grows = "    for (int k = 0; k < 1024; k++) memset(malloc(1 << 20), k, 1 << 20);\n    for \
        (;;) ;\n    for";
    let grows = TWICE_REFERENCE.replacen("    for", grows, 1);
    let grows = format!("#include <stdlib.h>\n#include <string.h>\n{grows}");
    let said = Case::new(TWICE, Some(&grows)).say(&["--reference-memory", "100M"]);
    refused(&said, &["k.ref.c:5: ", "memory limit of 105 MB", "--reference-memory"]);
    let case = Case::twice();
    let mut command = case.command(&[]);
    let output = command.env("CC", "no-such-compiler -O3").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no-such-compiler") && text.contains("set CC"), "{text}");
}

#[test]
fn problems_that_cannot_be_measured() {
    if !device() {
        return;
    }
    refused(&Case::twice().with("/kernel", json!([])).say(&[]), &["names no kernel in OpenCL C"]);
    refused(&Case::twice().with("/kernel/opencl", json!("other.cl")).say(&[]), &["other.cl"]);
    refused(
        &Case::twice().with("/kernel/defines", json!({ "A": "1 // (WG - 4)" })).say(&[]),
        &["kernel.defines.A", "WG=4"],
    );
    refused(
        &Case::twice().with("/kernel/arguments/0/type", json!("uchar")).say(&[]),
        &["kernel.arguments[0].fill", "-9 is no uchar"],
    );
    refused(
        &Case::twice().with("/kernel/arguments/0/length", json!("0 - n")).say(&[]),
        &["kernel.arguments[0].length"],
    );
    refused(
        &Case::twice().say(&["--device", "opencl:77"]),
        &["opencl device 77", "tickbound devices"]
            .map(|s| if s.starts_with("opencl d") { "device 77" } else { s }),
    );
    refused(&Case::twice().say(&["--device", "cpu"]), &["--device opencl"]);
    refused(&Case::twice().say(&["--run-timeout", "0"]), &["--run-timeout 0"]);
}

#[test]
fn a_parameter_called_as_a_field_of_a_result() {
    if !device() {
        return;
    }
    for name in ["time", "times", "spread"] {
        let case = Case::twice().with(&format!("/parameters/{name}"), json!([1, 2]));
        refused(&case.say(&[]), &[&format!("parameters.{name}: `{name}` is the name of a field")]);
        assert!(!case.folder.path().join("c.json").exists());
    }
}

// The cache.

/// Cuts the cache after so many bytes from the end of the last entry.
fn cut(case: &Case, after: usize) {
    let text = std::fs::read_to_string(case.path("c.json")).unwrap();
    let last = text.rfind("\n\"32\"").unwrap();
    std::fs::write(case.path("c.json"), &text[..last + after]).unwrap();
}

#[test]
fn a_cut_cache_is_repaired() {
    if !device() {
        return;
    }
    let case = Case::twice();
    case.say(&[]);
    let before = case.cache();
    for after in [0, 3, 9, 40] {
        cut(&case, after);
        let (result, said) = case.json(&[]);
        assert_eq!(
            (&result["measured"], &result["cached"]),
            (&json!(4), &json!(3)),
            "cut after {after}"
        );
        assert_eq!(said.err.contains("c.json:14: cut short"), after > 1, "{}", said.err);
        assert_eq!(case.keys(), ["4", "8", "16", "32"]);
        for key in ["4", "8", "16"] {
            // Which are the best, and so run in turns, may change with the fourth.
            let [own, first] = [case.cache(), before.clone()].map(|mut cache| {
                let entry = &mut cache["cache"][key];
                entry.as_object_mut().unwrap().shift_remove("times_in_turns");
                entry.take()
            });
            assert_eq!(own, first, "nothing is measured twice");
        }
    }
    std::fs::write(case.path("c.json"), "{\"device_name\": \"po").unwrap();
    refused(&case.say(&[]), &["c.json", "is no cache"]);
    std::fs::write(case.path("c.json"), "").unwrap();
    assert_eq!(case.say(&[]).status, Some(0));
}

#[test]
fn another_source_is_measured_again() {
    if !device() {
        return;
    }
    let case = Case::twice();
    case.say(&[]);
    let before = std::fs::read_to_string(case.path("c.json")).unwrap();
    std::fs::write(case.path("k.cl"), TWICE.replace("doubles", "doubles, by now,")).unwrap();
    let (result, said) = case.json(&["--set", "WG=8"]);
    assert_eq!((&result["cached"], &result["measured"]), (&json!(0), &json!(1)));
    assert!(said.err.contains("1 entries are of another version"), "{}", said.err);
    assert_eq!(std::fs::read_to_string(case.path("c.json.old")).unwrap(), before);
    assert_eq!(case.keys().len(), 4);
    // Where the reference or the arguments change, so does what is measured.
    let case = case.with("/kernel/tolerance", json!(1e-3));
    assert_eq!(case.json(&[]).0["cached"], 0);
    assert_eq!(case.json(&[]).0["cached"], 4);
    let case = case.with("/name", json!("renamed"));
    assert_eq!(case.json(&[]).0["cached"], 4);
}

#[test]
fn another_kernels_cache_is_refused() {
    if !device() {
        return;
    }
    let case = Case::twice();
    case.say(&[]);
    let text = std::fs::read_to_string(case.path("c.json")).unwrap();
    let other = text.replacen("\"kernel_name\": \"twice\"", "\"kernel_name\": \"thrice\"", 1);
    std::fs::write(case.path("c.json"), &other).unwrap();
    refused(&case.say(&[]), &["its kernel name is \"thrice\", not \"twice\""]);
    assert_eq!(std::fs::read_to_string(case.path("c.json")).unwrap(), other);
}

/// A kernel that takes some milliseconds in each of 20 configurations, and is run up to a hundred
/// times.
fn slow() -> Case {
    let kernel =
        TWICE.replace("    y[i] =", "    volatile int k = 0; while (k < 20000) k++;\n    y[i] =");
    Case::new(&kernel, Some(TWICE_REFERENCE))
        .with("/parameters", json!({ "WG": [4, 8], "V": "range(1, 10)" }))
}

fn entries(case: &Case) -> usize {
    let text = std::fs::read_to_string(case.path("c.json")).unwrap_or_default();
    text.matches("\n\"4,").count() + text.matches("\n\"8,").count()
}

#[cfg(unix)]
#[test]
fn a_kill_costs_nothing_but_the_moment() {
    use rustix::process::{Pid, Signal, kill_process};

    if !device() {
        return;
    }
    for signal in [Signal::KILL, Signal::INT] {
        let case = slow();
        let child =
            case.command(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let began = Instant::now();
        while entries(&case) < 3 {
            assert!(began.elapsed() < Duration::from_secs(600), "nothing is measured");
            std::thread::sleep(Duration::from_millis(20));
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        let interrupted = child.wait_with_output().unwrap();
        let before = entries(&case);
        assert!((3..20).contains(&before));
        if signal == Signal::INT {
            let out = String::from_utf8(interrupted.stdout).unwrap();
            assert!(out.contains(&format!("{before} of 20 configurations have a time")), "{out}");
            assert!(out.contains("stopped by: interrupted"), "{out}");
            assert_eq!(interrupted.status.code(), Some(0));
            assert_eq!(case.keys().len(), before, "the cache is closed");
        }
        let (result, said) = case.json(&[]);
        assert_eq!(result["cached"], before, "{}", said.err);
        assert_eq!((&result["measured"], case.keys().len()), (&json!(20), 20));
    }
}

#[test]
fn a_time_that_is_up() {
    if !device() {
        return;
    }
    let began = Instant::now();
    slow().json(&["--set", "WG=4", "--set", "V=1"]);
    // Enough for some of the configurations and never for all of them, however busy the machine is.
    let time = (5 * began.elapsed()).as_secs_f64().to_string();
    let case = slow().with("/parameters/V", json!("range(1, 1000)"));
    let (result, said) = case.json(&["--all", "--timeout", &time]);
    assert_eq!(result["stopped_by"], "the time is up", "{}", said.err);
    let measured = result["measured"].as_u64().unwrap() as usize;
    assert_eq!(case.keys().len(), measured);
    assert!((1..2000).contains(&measured), "{measured}");
    let results = result["results"].as_array().unwrap();
    assert!(results.iter().all(|r| r["ticks"].is_i64()), "what was measured keeps its ticks");
    let said = case.say(&["--all", "--timeout", "0.000001"]);
    assert_eq!(said.status, Some(1), "{}", said.err);
    // On a busy machine the command's own clock may be the first to say so.
    let said_so = ["the time is up", "time-out of 0.000001 s"].map(|text| said.err.contains(text));
    assert!(said_so.contains(&true), "{}", said.err);
}

#[cfg(unix)]
#[test]
fn two_at_once_are_refused() {
    if !device() {
        return;
    }
    let case = slow();
    let mut child = case.command(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while entries(&case) < 1 {
        assert!(began.elapsed() < Duration::from_secs(600), "nothing is measured");
        std::thread::sleep(Duration::from_millis(20));
    }
    refused(&case.say(&[]), &["another process measures into it"]);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Two that begin at once on a cache that is not there: one may be refused, and no result is lost.
#[cfg(unix)]
#[test]
fn two_at_once_on_a_new_cache() {
    if !device() {
        return;
    }
    let case = Case::twice();
    let start = |setting: &str| {
        let mut command = case.command(&["--set", setting]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for child in ["WG=4", "WG=8"].map(start) {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let refused = said.contains("c.json: another process measures into it");
        assert_eq!(output.status.code(), Some(if refused { 2 } else { 0 }), "{said}");
    }
    for (setting, least) in [("WG=4", 1), ("WG=8", 2)] {
        assert_eq!(case.say(&["--set", setting]).status, Some(0));
        assert!(case.keys().len() >= least);
    }
    let mut keys = case.keys();
    keys.sort();
    assert_eq!(keys, ["4", "8"]);
    assert!(!case.path("c.json.lock").exists());
}

/// Where a result does not fit on the disk any more, those before it stay in the cache, and it is
/// in the report.
#[cfg(target_os = "linux")]
#[test]
fn a_cache_that_cannot_grow() {
    if !device() {
        return;
    }
    let case = Case::twice();
    case.say(&["--set", "WG=4"]);
    let text = std::fs::read_to_string(case.path("c.json")).unwrap();
    // An entry that nobody asks for, so long that no other fits into 1 MiB beside it.
    let entry = |length: usize| {
        let other =
            format!("\"1\": {{\"WG\": 1, \"time\": 1.0, \"m\": \"{}\"}},", "m".repeat(length));
        text.replace("\n\"4\"", &format!("\n{other}\n\"4\""))
    };
    let full = entry((1 << 20) - entry(0).len() - 100);
    std::fs::write(case.path("c.json"), &full).unwrap();
    let program = case.command(&[]);
    let arguments = program.get_args().map(|a| a.to_str().unwrap()).collect::<Vec<_>>().join(" ");
    let limited = format!(
        "trap '' XFSZ; ulimit -f 2048; exec '{}' {arguments} --set WG=8 --json",
        program.get_program().to_str().unwrap()
    );
    let output = Process::new("sh").args(["-c", &limited]).current_dir(case.folder.path()).output();
    let output = output.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("c.json: File too large") && said.contains("in the report"), "{said}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["measured"], 1, "the result is in the report: {said}");
    assert_eq!(case.keys(), ["1", "4"], "the cache is whole");
    let (result, said) = case.json(&["--set", "WG=4"]);
    assert_eq!((&result["cached"], result["measured"].as_u64()), (&json!(1), Some(1)));
    assert!(!said.err.contains("c.json:"), "nothing was left out: {}", said.err);
}

/// A loader of drivers that finds PoCL in a folder which is emptied while a kernel hangs.
#[cfg(target_os = "linux")]
#[test]
fn a_device_that_vanishes() {
    let drivers = Path::new("/etc/OpenCL/vendors/pocl.icd");
    if !device() || !drivers.is_file() {
        eprintln!("skipped: no {}", drivers.display());
        return;
    }
    let hangs = TWICE.replace(
        "    y[i] =",
        "    if (WG == 8) { volatile int k = 0; while (k == 0) ; }\n    y[i] =",
    );
    let case = Case::new(&hangs, Some(TWICE_REFERENCE));
    let vendors = case.path("vendors");
    std::fs::create_dir(&vendors).unwrap();
    std::fs::copy(drivers, vendors.join("pocl.icd")).unwrap();
    let mut command = case.command(&["--run-timeout", "20", "--json"]);
    command.env("OCL_ICD_VENDORS", &vendors);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let measured =
        || std::fs::read_to_string(case.path("c.json")).unwrap_or_default().contains("\n\"4\"");
    while !measured() {
        assert!(began.elapsed() < Duration::from_secs(600), "nothing is measured");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::remove_file(vendors.join("pocl.icd")).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert_eq!(err.matches("has vanished").count(), 1, "{err}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["measured"], 1, "{result}");
    // What had been measured and the one that hung are kept; nobody blames the others.
    assert_eq!(case.keys(), ["4", "8"]);
    let (result, _) = case.json(&[]);
    assert_eq!((&result["measured"], &result["cached"]), (&json!(3), &json!(2)));
}

// Scores.

/// What the published caches' own notes say that random choice reaches with 1, 10 and 100 trials.
#[test]
fn random_choice_on_published_measurements() {
    use tickbound_measure::score::{Results, TRIALS, reached};

    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    if !data.is_dir() {
        eprintln!("skipped: no {}", data.display());
        return;
    }
    let table = [
        ("gemm_opencl/RTX_2080_Ti.json.gz", 17_956, [0.31, 0.72, 0.87]),
        ("gemm_opencl/RTX_3090.json.gz", 17_956, [0.29, 0.66, 0.83]),
        ("convolution/A4000.json.gz", 4362, [0.29, 0.61, 0.82]),
        ("convolution/W6600.json.gz", 4362, [0.02, 0.33, 0.79]),
        ("dedispersion/W7800.json.gz", 11_130, [0.64, 0.83, 0.94]),
    ];
    for (file, entries, expected) in table {
        let results = Results::read(&data.join(file)).unwrap();
        assert_eq!(results.entries.len() + results.failed, entries, "{file}");
        let pairs: Vec<(i64, f64)> = results.entries.iter().map(|(_, time)| (0, *time)).collect();
        for (trials, expected) in TRIALS.into_iter().zip(expected) {
            let random = reached(&pairs, trials);
            assert!((random - expected).abs() < 0.006, "{file}, {trials} trials: {random}");
        }
    }
}

/// The examples have the configurations of the published spaces, neither fewer nor others.
#[test]
fn published_configurations_are_those_of_the_examples() {
    use tickbound_elimination::TableLimits;
    use tickbound_measure::score::Results;
    use tickbound_model::{Problem, platforms};

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [
        ("convolution", "convolution/W6600.json.gz", 4362u32),
        ("convolution", "convolution/A4000.json.gz", 4362),
        ("dedispersion", "dedispersion/W7800.json.gz", 11_130),
        ("coulomb-column", "coulomb3d/coulomb_2080_full_search_space.json.gz", 210),
    ];
    for (name, file, entries) in files {
        let data = root.join("../shared/data").join(file);
        let text =
            std::fs::read_to_string(root.join(format!("examples/kernels/{name}.json"))).unwrap();
        let size = serde_json::from_str::<Value>(&text).unwrap()["sizes"]["published"].clone();
        let size = size.as_object().unwrap().iter().map(|(n, v)| (n.clone(), v.as_i64().unwrap()));
        let problem = Problem::from_json(&text, &size.collect(), &platforms::find).unwrap();
        let all = problem.configurations(&TableLimits::default()).unwrap();
        assert_eq!(all.count(), Some(entries.into()), "{name}");
        if !data.is_file() {
            eprintln!("skipped: no {}", data.display());
            continue;
        }
        let mut results = Results::read(&data).unwrap();
        assert_eq!(results.entries.len() + results.failed, entries as usize, "{file}");
        let names: Vec<&str> = problem.parameters.iter().map(|p| p.name.as_str()).collect();
        results.only(&names).unwrap();
        for (configuration, _) in &results.entries {
            problem.bind(configuration).unwrap_or_else(|e| panic!("{file}: {e}"));
        }
    }
}

/// The profile `resources` on published measurements: what `docs/results/predictions.md` says it
/// reaches at least, over a thousand configurations of each file, evenly spaced.
#[test]
fn resources_rank_published_measurements() {
    resources_rank(1_000);
}

#[test]
#[ignore = "two minutes"]
fn resources_rank_all_published_measurements() {
    resources_rank(usize::MAX);
}

/// Ranks about `most` configurations of each file.
fn resources_rank(most: usize) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    if !data.is_dir() {
        eprintln!("skipped: no {}", data.display());
        return;
    }
    let table = [
        ("problems/gemm-resources.json", "rtx-2080-ti", "gemm_opencl/RTX_2080_Ti.json.gz", 0.95),
        ("problems/gemm-resources.json", "rtx-3090", "gemm_opencl/RTX_3090.json.gz", 0.92),
        ("problems/convolution-resources.json", "rtx-a4000", "convolution/A4000.json.gz", 0.93),
        ("problems/convolution-resources.json", "radeon-w6600", "convolution/W6600.json.gz", 0.86),
        (
            "problems/dedispersion-resources.json",
            "radeon-w7800",
            "dedispersion/W7800.json.gz",
            0.70,
        ),
        (
            "problems/coulomb-resources.json",
            "rtx-2080-ti",
            "coulomb3d/coulomb_2080_full_search_space.json.gz",
            0.65,
        ),
        // Counts that the front end makes from the source.
        (
            "kernels/gemm.json --input m=4096 --input n=4096 --input k=4096 --profile resources",
            "rtx-2080-ti",
            "gemm_opencl/RTX_2080_Ti.json.gz",
            0.93,
        ),
        (
            "kernels/gemm.json --input m=4096 --input n=4096 --input k=4096 --profile resources",
            "rtx-3090",
            "gemm_opencl/RTX_3090.json.gz",
            0.92,
        ),
        // The published program declares its filter, which is an operand then.
        (
            "kernels/convolution.json --size published --without constant-loads",
            "rtx-a4000",
            "convolution/A4000.json.gz",
            0.93,
        ),
        (
            "kernels/convolution.json --size published --profile resources",
            "radeon-w6600",
            "convolution/W6600.json.gz",
            0.85,
        ),
        (
            "kernels/dedispersion.json --size published --profile resources",
            "radeon-w7800",
            "dedispersion/W7800.json.gz",
            0.68,
        ),
        (
            "kernels/coulomb-column.json --size published --profile resources",
            "rtx-2080-ti",
            "coulomb3d/coulomb_2080_full_search_space.json.gz",
            0.90,
        ),
        (
            "kernels/minimum.json --size medium --profile resources",
            "h200",
            "h200/minimum-medium.cache.json.gz",
            0.8,
        ),
        (
            "kernels/nbody.json --size medium --profile resources",
            "h200",
            "h200/nbody-medium.cache.json.gz",
            0.94,
        ),
        (
            "kernels/coulomb.json --size medium --profile resources",
            "h200",
            "h200/coulomb-medium.cache.json.gz",
            0.53,
        ),
        (
            "kernels/gemm.json --size published --profile resources",
            "h200",
            "h200/gemm-published.cache.json.gz",
            0.79,
        ),
        (
            "kernels/convolution.json --size published --profile resources",
            "h200",
            "h200/convolution-published.cache.json.gz",
            0.74,
        ),
        (
            "kernels/reduction.json --size medium --profile resources",
            "h200",
            "h200/reduction-medium.cache.json.gz",
            0.65,
        ),
    ];
    let folder = TempDir::new().unwrap();
    for (problem, platform, file, least) in table {
        let some = folder.path().join("some.json");
        some_of(most, &data.join(file), &some);
        let Some(spearman) = ranked(&format!("{problem} --platform {platform}"), &some) else {
            return;
        };
        assert!(spearman > least, "{problem} on {platform}: {spearman}");
    }
}

/// Writes about `most` of the results in a file, as KTT writes them. The step from one to the next
/// is odd: parameters with a power of two of values keep all of these.
fn some_of(most: usize, file: &Path, some: &Path) {
    let all = tickbound_measure::score::Results::read(file).unwrap().entries;
    let results = all.iter().step_by((all.len() / most) | 1).map(|(configuration, time)| {
        let value = |(name, value)| json!({ "Name": name, "Value": value });
        json!({ "Configuration": configuration.iter().map(value).collect::<Value>(),
                "Status": "Ok", "ComputationResults": [{ "Duration": time }] })
    });
    let results: Value = results.collect();
    let written = json!({ "Metadata": { "TimeUnit": "Milliseconds" }, "Results": results });
    std::fs::write(some, written.to_string()).unwrap();
}

/// Spearman's correlation of all times in a file with an example; all are configurations of its.
///
/// `None` without libclang, which CI has.
fn ranked(problem: &str, against: &Path) -> Option<f64> {
    let mut command = Process::new(cargo_bin("tickbound"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.arg("score").args(format!("examples/{problem}").split(' ')).arg("--json");
    let answer = command.arg("--against").arg(against).output().unwrap();
    let complaints = String::from_utf8_lossy(&answer.stderr);
    if complaints.contains("libclang") {
        assert!(std::env::var_os("CI").is_none(), "{complaints}");
        return None;
    }
    let score: Value = serde_json::from_slice(&answer.stdout)
        .unwrap_or_else(|_| panic!("{problem}: {complaints}"));
    for left_out in ["outside", "not_simulated", "faults"] {
        assert_eq!(score[left_out], 0, "{problem}: {left_out}");
    }
    Some(score["spearman"].as_f64().unwrap())
}

/// The profile on a processor: the times that docs/results/kernels.md keeps, beside prices by kind
/// that were calibrated there.
#[test]
fn resources_rank_the_examples_on_a_processor() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results/kernels");
    let kernels = ["minimum", "reduction", "gemm", "convolution", "coulomb"];
    for kernel in kernels {
        let times = folder.join(format!("{kernel}.T4.json.gz"));
        let of = |more: &str| ranked(&format!("kernels/{kernel}.json --size small {more}"), &times);
        let prices = of("--platform docs/results/kernels/platform.json");
        let profile = of("--platform pocl-xeon --profile resources");
        let Some((prices, profile)) = prices.zip(profile) else { return };
        assert!(profile > prices, "{kernel}: {profile} by the profile, {prices} by prices");
    }
}

/// KTT's output, published and made up: microseconds, kernels that are added up, and what has
/// failed.
#[test]
fn results_of_ktt() {
    use tickbound_measure::score::Results;

    let folder = TempDir::new().unwrap();
    let result = |wg: Value, status: &str, durations: &[f64]| {
        let kernels: Vec<Value> = durations.iter().map(|d| json!({ "Duration": d })).collect();
        json!({ "Configuration": [{ "Name": "WG", "Value": wg, "ValueType": "UnsignedInt" }],
                "Status": status, "ComputationResults": kernels })
    };
    let file = json!({
        "Metadata": { "Device": "d", "TimeUnit": "Microseconds" },
        "Results": [result(json!(16), "Ok", &[3000.0, 37.5]), result(json!("32"), "Ok", &[5.0]),
                    result(json!(64), "ComputationFailed", &[7.0]), result(json!(128), "Ok", &[])]
    });
    let path = folder.path().join("ktt.json");
    std::fs::write(&path, file.to_string()).unwrap();
    let read = Results::read(&path).unwrap();
    let of = |wg| [("WG".to_owned(), wg)].into_iter().collect();
    assert_eq!(read.entries, [(of(16), 3.0375), (of(32), 0.005)]);
    assert_eq!((read.device.as_deref(), read.failed), (Some("d"), 2));

    let published = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data/coulomb3d/coulomb_2080_full_search_space.json.gz");
    if !published.is_file() {
        eprintln!("skipped: no {}", published.display());
        return;
    }
    let read = Results::read(&published).unwrap();
    assert_eq!((read.entries.len(), read.failed), (210, 0));
    let (first, time) = &read.entries[0];
    assert_eq!((first["WORK_GROUP_SIZE_X"], first["Z_ITERATIONS"]), (16, 1));
    assert!((time - 3.037_408).abs() < 1e-9, "{time} ms");
}

#[test]
fn a_model_against_results() {
    let folder = TempDir::new().unwrap();
    let problem = json!({
        "name": "linear", "inputs": { "n": 64 },
        "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 4 },
        "parameters": { "P": "range(1, 12)" },
        "launch": { "global_size": 1, "local_size": 1 },
        "kernel": [ { "compute": "P // 2" } ]
    });
    std::fs::write(folder.path().join("p.json"), problem.to_string()).unwrap();
    let entry =
        |p: i64, time: Value| format!("\n\"{p},32\": {{\"P\": {p}, \"X\": 32, \"time\": {time}}},");
    let mut cache =
        "{\"device_name\": \"d\", \"tune_params_keys\": [\"P\", \"X\"], \"cache\": {".to_owned();
    (1..=12).for_each(|p| cache += &entry(p, json!(p as f64)));
    cache += &entry(99, json!(1.0));
    cache += &entry(13, json!("RuntimeFailedConfig"));
    std::fs::write(folder.path().join("c.json"), &cache).unwrap();
    // Another device, on which the last two fail and the third is best.
    let mut other =
        cache.replace("\"time\": 3.0", "\"time\": 0.5").replace("\"time\": 1.0", "\"time\": 8.5");
    other = other.replace("\"device_name\": \"d\"", "\"device_name\": \"e\"");
    std::fs::write(folder.path().join("other.json"), other).unwrap();
    let run = |results: &str| {
        let mut command = Process::new(cargo_bin("tickbound"));
        command.current_dir(folder.path()).args(["score", "p.json", "--against", results]);
        command.args(["--guided", "5", "--other", "other.json", "--plot", "plot.svg"]);
        command.arg("--json").output().unwrap()
    };
    let output = run("c.json");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("the model is of"), "a platform without a name is any device: {said}");
    let score: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(score["guided"]["seeds"], 5);
    assert_eq!(score["guided"]["within_5_percent"], 1, "{score}");
    let others =
        json!([{ "results": "other.json", "device": "e", "reached": 1.0 / 3.0, "place": 1 }]);
    assert_eq!(score["others"], others);
    let plot = std::fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    assert!(plot.matches("<circle").count() == 11, "{plot}");
    assert_eq!(
        (&score["entries"], &score["outside"], &score["failed"]),
        (&json!(12), &json!(1), &json!(1))
    );
    // Ticks 0, 1, 1, 2, 2, ... 6 for times 1 .. 12: of 66 pairs 5 are tied in ticks, none the other
    // way.
    let kendall = (66.0 - 5.0) / ((66.0f64 - 5.0) * 66.0).sqrt();
    assert!((score["kendall"].as_f64().unwrap() - kendall).abs() < 1e-9, "{score}");
    assert_eq!(score["reached"][0]["model"], 1.0);
    // An entry whose key is not its values counts for nothing, and one with another value is mixed
    // up with others.
    let wrong = cache.replacen("\"X\": 32,", "\"X\": 16,", 1);
    std::fs::write(folder.path().join("wrong.json"), &wrong).unwrap();
    let score: Value = serde_json::from_slice(&run("wrong.json").stdout).unwrap();
    assert_eq!((&score["entries"], &score["broken"]), (&json!(11), &json!(1)));
    std::fs::write(folder.path().join("mixed.json"), wrong.replacen("\"1,32\"", "\"1,16\"", 1))
        .unwrap();
    let mixed = run("mixed.json");
    assert_eq!(mixed.status.code(), Some(2));
    assert!(String::from_utf8(mixed.stderr).unwrap().contains("`X` varies"));
    let none = run("p.json");
    assert!(
        String::from_utf8(none.stderr)
            .unwrap()
            .contains("neither a cache of Kernel Tuner nor a T4")
    );
}

/// What `race` says of the kernel in the case and another one.
fn raced(case: &Case, other: &str, arguments: &[&str]) -> (String, String, Option<i32>) {
    std::fs::write(case.folder.path().join("other.cl"), other).unwrap();
    let mut command = Process::new(cargo_bin("tickbound"));
    command.current_dir(case.folder.path()).args(["race", "p.json", "other.cl"]).args(arguments);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn a_race_compares_outputs_and_times() {
    if !device() {
        return;
    }
    let case = Case::twice();
    std::fs::write(case.folder.path().join("p.json"), case.problem.to_string()).unwrap();
    // It computes something long that changes nothing.
    let slow = TWICE.replace(
        "y[i] = 2 * x[i] + WG;",
        "uint v = x[i];
         for (int k = 0; k < 50000; k++) v = v * 1103515245u + 12345u;
         y[i] = 2 * x[i] + WG + (v == 4000000007u);",
    );
    let measured = ["--measure", "--pairs", "9", "--json"];
    let (text, error, status) = raced(&case, &slow, &measured);
    let answer: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {error}"));
    assert_eq!((status, &answer["slower"]), (Some(1), &json!(true)), "{text}");
    assert_eq!(answer["measured"]["a_seconds"].as_array().unwrap().len(), 9);
    assert!(answer["measured"]["interval"][0].as_f64().unwrap() > 1.0, "{text}");
    let (text, _, _) = raced(&case, &slow, &["--measure", "--pairs", "6", "--markdown"]);
    assert!(text.starts_with("| race | |\n| --- | --- |\n| a | p.json, "), "{text}");
    assert!(text.contains("too few pairs for an interval"), "{text}");
    // A kernel that computes something else is named, and one with other outputs.
    let wrong = TWICE.replace("+ WG", "+ WG + 1");
    let (_, error, status) = raced(&case, &wrong, &measured);
    let said = "race: the second kernel returned wrong numbers: output `y[0]`";
    assert!(status == Some(2) && error.contains(said), "{error}");
    let (_, error, status) = raced(&case, TWICE, &["--measure", "--device"]);
    assert!(status == Some(2) && error.contains("unexpected argument"), "{error}");
}

#[test]
fn a_race_without_a_device_is_predicted() {
    let case = Case::twice();
    std::fs::write(case.folder.path().join("p.json"), case.problem.to_string()).unwrap();
    let slow = TWICE.replace("2 * x[i]", "2 * x[i] + x[i + 0 * WG]");
    let (text, error, status) = raced(&case, &slow, &["--json"]);
    let answer: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {error}"));
    assert_eq!(status, Some(i32::from(answer["predicted"].as_f64().unwrap() > 1.02)));
    assert!(answer["measured"].is_null() && answer["b"]["file"] == "other.cl", "{text}");
    let (text, _, status) = raced(&case, TWICE, &[]);
    assert_eq!(status, Some(0));
    assert!(text.contains("predicted:  b takes 1.000 times a\n"), "{text}");
    assert!(text.contains("verdict:    b is not slower by more than 2 %, predicted\n"), "{text}");
}
