//! The program as a person or a script meets it: what it prints, where, and with which exit status.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

/// The program, run in the repository.
fn tickbound() -> Command {
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).timeout(Duration::from_secs(120));
    command
}

const ABSTRACT: &str = "examples/problems/abstract.json";
const MATMUL: &str = "examples/problems/matmul.json";

fn json_of(command: &mut Command) -> Value {
    let output = command.output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "one object on one line: {text}");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

// Bad input.

/// A small problem that is in order.
fn good() -> Value {
    json!({
        "name": "small",
        "inputs": { "size": 8 },
        "platform": { "units_per_device": 1, "elements_per_unit": 2, "global_access": 3 },
        "parameters": { "WG": [1, 2] },
        "constraints": [ "WG <= size" ],
        "definitions": { "d": "size / WG" },
        "launch": { "global_size": "size", "local_size": "WG" },
        "kernel": [ { "global": "d" }, "barrier", { "compute": 1 } ],
        "finish": [ { "compute": 1 } ]
    })
}

/// Status 2, nothing on standard output, and one line on standard error with all of `parts`.
fn refused(command: &mut Command, about: &str, parts: &[&str]) {
    let output = command.output().expect("the program runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{about}: {error}");
    assert!(output.stdout.is_empty(), "{about}: {}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(error.lines().count(), 1, "{about}: one line: {error}");
    assert!(error.starts_with("tickbound: "), "{about}: {error}");
    assert!(!error.contains("panicked"), "{about}: {error}");
    for part in parts {
        assert!(error.contains(part), "{about}: `{part}` is missing: {error}");
    }
}

/// No command opens a device or a pipe, so that reading ends.
#[cfg(unix)]
#[test]
fn inputs_are_regular_files() {
    const ENDLESS: &str = "/dev/zero";
    let connector = "examples/connectors/alternator.treo";
    let commands: [&[&str]; 11] = [
        &["tune", ENDLESS],
        &["simulate", ENDLESS],
        &["explain", ENDLESS],
        &["export", ENDLESS, "--to", "promela"],
        &["measure", ENDLESS],
        &["tune", ABSTRACT, "--platform", ENDLESS],
        &["score", ABSTRACT, "--against", ENDLESS],
        &["report", ENDLESS, "--output", "unwritten.html"],
        &["reo", "compose", ENDLESS],
        &["reo", "run", connector, "--set", "n=2", "--steps", ENDLESS],
        &["platforms", ENDLESS],
    ];
    for command in commands {
        let about = command.join(" ");
        refused(tickbound().args(command), &about, &[ENDLESS, "regular file"]);
    }
    refused(tickbound().args(["tune", "examples"]), "a folder", &["examples", "folder"]);
}

#[test]
fn a_problem_on_standard_input() {
    let of = |path: &str, input: &[u8]| {
        let mut command = tickbound();
        command.args(["simulate", path, "--set", "WG=4", "--set", "TS=4", "--json"]);
        json_of(command.write_stdin(input))
    };
    let text = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(ABSTRACT)).unwrap();
    let marked = [b"\xef\xbb\xbf", &text[..]].concat();
    assert_eq!(of("-", &text)["time"], of(ABSTRACT, b"")["time"]);
    assert_eq!(of("-", &marked), of("-", &text));
}

#[test]
fn a_faulty_problem_is_told_where_and_how_to_mend_it() {
    // Where in the file, what is written there, and what the message must contain.
    let cases: [(&str, Value, &[&str]); 26] = [
        ("/inputz", json!({}), &["inputz", "did you mean `inputs`"]),
        ("/inputs/size", json!("8"), &["inputs.size", "whole number"]),
        ("/platform", json!("h20"), &["platform", "h20", "did you mean `h200`"]),
        (
            "/platform",
            json!("there/is/none.json"),
            &["there/is/none.json", "cannot be read", "give"],
        ),
        ("/platform/unitz", json!(3), &["platform.unitz", "unknown field"]),
        ("/platform/units_per_device", json!(0), &["platform.units_per_device", "found 0"]),
        ("/profile", json!("cuda"), &["profile", "`cuda`", "opencl"]),
        (
            "/parameters/WG",
            json!("powers_of_two(1, sise)"),
            &["parameters.WG", "`sise`", "did you mean `size`"],
        ),
        ("/parameters/WG", json!("powers(1, 2)"), &["parameters.WG", "not a domain"]),
        ("/parameters/WG", json!("range(3, 2)"), &["parameters.WG", "empty", "widen"]),
        ("/parameters/WG", json!("range(1, 1000000)"), &["parameters.WG", "65536"]),
        ("/parameters/WG", json!([3]), &["launch", "none of 1", "change"]),
        ("/constraints", json!(["WGG == 1"]), &["constraints[0]", "`WGG`", "did you mean `WG`"]),
        ("/definitions/d", json!("sice + 1"), &["definitions.d", "`sice`", "did you mean `size`"]),
        (
            "/definitions/d",
            json!("9223372036854775807 * size"),
            &["definitions.d", "beyond 64 bits"],
        ),
        ("/definitions/d", json!("9223372036854775808"), &["definitions.d"]),
        ("/definitions/d", json!("d + 1"), &["definitions.d", "defined by itself", "recursion"]),
        (
            "/definitions",
            json!({ "a": "b", "b": "a", "d": "1" }),
            &["definitions.a", "`b` is defined only later", "recursive"],
        ),
        ("/launch/local_size", json!("WGS"), &["launch.local_size", "`WGS`", "did you mean `WG`"]),
        (
            "/launch/local_size",
            json!("WG - 1"),
            &["launch.local_size", "is 0 for WG=1", "at least 1"],
        ),
        ("/launch/activations", json!(1), &["launch"]),
        (
            "/kernel",
            json!([{ "gloobal": 1 }]),
            &["kernel[0]", "`gloobal`", "did you mean `global`"],
        ),
        (
            "/kernel",
            json!([{ "global": "sice" }]),
            &["kernel[0].global", "`sice`", "did you mean `size`"],
        ),
        (
            "/kernel",
            json!([{ "if": "lid == 0", "then": [ "barrier" ] }]),
            &["kernel[0]", "item 1 has ended", "move"],
        ),
        ("/kernel", json!([{ "global": -1 }]), &["kernel[0]", "negative"]),
        ("/finish", json!(["barrier"]), &["finish", "barrier", "remove"]),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("problem.json");
    for (place, value, parts) in cases {
        let mut problem = good();
        put(&mut problem, place, value.clone());
        std::fs::write(&file, problem.to_string()).expect("written");
        let about = format!("{place} = {value}");
        refused(tickbound().arg("tune").arg(&file), &about, parts);
        refused(tickbound().args(["tune", "--json"]).arg(&file), &about, parts);
    }
    std::fs::write(&file, good().to_string()).expect("written");
    tickbound().arg("tune").arg(&file).assert().success();
    // Configurations without a value are left out, with what has none.
    for (place, value, at) in [
        ("/constraints", json!(["size // (WG - 1) >= 1"]), "division by zero at constraints[0]"),
        ("/definitions/d", json!("size / (WG - 1)"), "division by zero at definitions.d"),
    ] {
        let mut problem = good();
        put(&mut problem, place, value);
        problem["parameters"]["WG"] = json!([1, 2, 4]);
        std::fs::write(&file, problem.to_string()).expect("written");
        let said = tickbound().arg("tune").arg(&file).assert().success();
        let said = text(&said.get_output().stdout);
        assert!(said.contains("left out:") && said.contains(at), "{place}: {said}");
    }
}

/// Sets the value at a JSON pointer whose parent exists.
fn put(problem: &mut Value, place: &str, value: Value) {
    let (parent, key) = place.rsplit_once('/').expect("a pointer");
    problem.pointer_mut(parent).expect("the parent")[key] = value;
}

#[test]
fn times_beyond_63_bits_and_spaces_that_are_too_large() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("problem.json");
    let mut long = good();
    long["kernel"] = json!([{ "repeat": "2 ** 62", "body": [{ "global": "2 ** 40" }, "barrier"] }]);
    std::fs::write(&file, long.to_string()).expect("written");
    for strategy in ["race", "enumerate", "bisect-fresh"] {
        let mut command = tickbound();
        command.args(["tune", "--strategy", strategy]).arg(&file);
        refused(&mut command, strategy, &["63 bits", "WG=1"]);
    }
    let mut huge = good();
    huge["parameters"] = json!({ "WG": "range(1, 60000)", "B": "range(1, 60000)" });
    huge["constraints"] = json!([]);
    std::fs::write(&file, huge.to_string()).expect("written");
    refused(
        tickbound().args(["tune", "--strategy", "enumerate"]).arg(&file),
        "space",
        &["parameters", "more than", "narrow"],
    );
}

#[test]
fn files_that_are_no_problems() {
    refused(
        tickbound().args(["tune", "no/such.json"]),
        "missing",
        &["no/such.json", "give the path"],
    );
    refused(tickbound().args(["simulate", "no/such.json"]), "missing", &["no/such.json"]);
    refused(tickbound().args(["tune", "examples"]), "a folder", &["examples", "give the path"]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("problem.json");
    for (text, parts) in [
        ("{", &["line 1", "not JSON"][..]),
        ("{\n \"name\": }", &["line 2", "not JSON"]),
        ("[]", &["write an object"]),
        ("", &["not JSON"]),
        ("{}", &["is missing"]),
        (
            "{\n\"n\": 1,\n\"n\": 2}",
            &["line 3", "the key \"n\" is there twice; remove one of the two"],
        ),
    ] {
        std::fs::write(&file, text).expect("written");
        refused(tickbound().arg("tune").arg(&file), text, parts);
    }
    let source = folder.path().join("k.cl");
    std::fs::write(&source, "__kernel void f(__global int *a) { a[0] = 1; }").expect("written");
    refused(tickbound().arg("tune").arg(&source), "a source", &["k.cl", "`tickbound init "]);
    let odd = folder.path().join("a\nb\u{1b}[1m.json");
    refused(
        tickbound().arg("tune").arg(&odd),
        "an odd name",
        &["a b\\u{1b}[1m.json: there is no such"],
    );
    std::fs::write(&file, [0xff, 0xfe, 0x00]).expect("written");
    refused(tickbound().arg("tune").arg(&file), "not UTF-8", &["problem.json"]);
}

#[test]
fn options_that_do_not_fit() {
    let cases: [(&[&str], &[&str]); 13] = [
        (&["tune", "--set", "WX=3"], &["--set WX", "known here: WG, TS"]),
        (&["tune", "--set", "WG=3"], &["parameters.WG", "3 is not in its domain", "4, 8"]),
        (&["tune", "--set", "WG=4", "--set", "WG=8"], &["--set WG", "given twice"]),
        (&["tune", "--input", "sise=3"], &["--input sise", "did you mean `size`"]),
        (&["tune", "--input", "size=8", "--input", "size=16"], &["--input size", "given twice"]),
        (&["tune", "--input", "size=0"], &["parameters.WG", "empty"]),
        (&["tune", "--timeout=-1"], &["--timeout -1", "positive"]),
        (&["tune", "--timeout", "nan"], &["--timeout", "positive"]),
        (&["tune", "--timeout", "1e40"], &["--timeout", "seconds"]),
        (&["simulate", "--set", "WG=4"], &["parameters.TS", "add --set TS=VALUE"]),
        (
            &["simulate", "--set", "WG=3", "--set", "TS=2"],
            &["parameters.WG", "3 is not in its domain", "4, 8"],
        ),
        (
            &["simulate", "--set", "WG=4", "--set", "TS=2", "--set", "X=1"],
            &["--set X", "known here"],
        ),
        (&["simulate", "--set", "WG=4", "--set", "WG=4"], &["--set WG", "given twice"]),
    ];
    for (args, parts) in cases {
        refused(tickbound().args(args).arg(ABSTRACT), &args.join(" "), parts);
    }
    refused(
        tickbound().args(["platforms", "h2000"]),
        "platforms",
        &["h2000", "did you mean `h200`"],
    );
    let nowhere = [
        "simulate",
        ABSTRACT,
        "--set",
        "WG=4",
        "--set",
        "TS=2",
        "--json",
        "--trace",
        "no/such/folder/x.json",
    ];
    tickbound().args(nowhere).assert().code(2).stderr(contains("no/such/folder/x.json"));
}

/// What the option parser itself refuses: its own words, on several lines.
#[test]
fn options_that_cannot_be_read() {
    for (args, part) in [
        (&["tune", "--strategy", "quick"][..], "bisect-fresh"),
        (&["tune", "--encoding", "bits"], "summary"),
        (&["tune", "--objective", "least"], "robust"),
        (&["tune", "--set", "WG"], "NAME=VALUE"),
        (&["tune", "--input", "size=99999999999999999999"], "NAME=VALUE"),
        (&["tune", "--timeout", "soon"], "write a number of seconds, such as 30"),
        (&["tune", "--timeout", "30x"], "write a number of seconds, such as 30"),
        (&["tune", "--top=-1"], "--top"),
        (&["tune", "--top", "abc"], "write a whole number"),
        (&["tune", "--seed", "1e3"], "write a whole number"),
    ] {
        let about = args.join(" ");
        let words = contains(part).and(contains("panicked").not());
        tickbound().args(args).arg(ABSTRACT).assert().code(2).stdout("").stderr(words);
        tickbound().args(args).arg(ABSTRACT).assert().stderr(contains("error: "));
        assert!(!about.is_empty());
    }
    tickbound().assert().code(2).stdout("").stderr(contains("Usage"));
}

#[test]
fn nothing_found_is_status_1() {
    tickbound()
        .args(["tune", MATMUL, "--set", "TM=128", "--set", "TN=128"])
        .assert()
        .code(1)
        .stdout(contains("no configuration"));
    let too_large = ["tune", MATMUL, "--set", "TM=128", "--set", "TN=128", "--json"];
    let result = json_of(tickbound().args(too_large));
    assert_eq!(result["status"], "infeasible");
    assert_eq!((&result["time"], &result["configuration"]), (&Value::Null, &Value::Null));
    has_the_fields(&result);
}

// Results.

/// The fields of `tune --json` (docs: the command line is a contract) and their types.
fn has_the_fields(result: &Value) {
    let at = |name: &str| result.get(name).unwrap_or_else(|| panic!("no `{name}`: {result}"));
    let number_or_null = |v: &Value| v.is_null() || v.is_i64();
    assert!(number_or_null(at("time")), "{result}");
    assert!(
        ["optimal", "bounded", "infeasible"].map(Value::from).contains(at("status")),
        "{result}"
    );
    assert!(at("lower").is_i64(), "{result}");
    assert!(number_or_null(at("upper")), "{result}");
    let configuration = at("configuration");
    assert!(configuration.is_null() || configuration.is_object(), "{result}");
    assert!(at("optima").is_array(), "{result}");
    assert!(at("encoding").is_string() && at("strategy").is_string(), "{result}");
    assert!(at("solver_calls").is_u64(), "{result}");
    assert!(at("seconds").is_f64(), "{result}");
    assert!(at("stopped_by").is_null() || at("stopped_by").is_string(), "{result}");
}

#[test]
fn tune_for_programs() {
    let result = json_of(tickbound().args(["tune", ABSTRACT, "--input", "size=8", "--json"]));
    has_the_fields(&result);
    for (name, value) in [
        ("time", json!(44)),
        ("status", json!("optimal")),
        ("lower", json!(44)),
        ("upper", json!(44)),
        ("configuration", json!({ "WG": 4, "TS": 2 })),
        ("optima", json!([{ "WG": 4, "TS": 2 }, { "WG": 4, "TS": 4 }])),
        ("encoding", json!("none")),
        ("strategy", json!("race")),
        ("stopped_by", json!(null)),
        ("configurations", json!(2)),
        ("optima_count", json!(2)),
        ("proved_by", json!(["simulation"])),
    ] {
        assert_eq!(result[name], value, "{name}");
    }
    let ranked = json_of(tickbound().args(["tune", ABSTRACT, "--top", "2", "--json"]));
    let expected = json!([
        { "time": 156, "configuration": { "WG": 8, "TS": 4 } },
        { "time": 160, "configuration": { "WG": 8, "TS": 8 } }
    ]);
    assert_eq!(ranked["optima"].as_array().map(Vec::len), expected.as_array().map(Vec::len));
    assert_eq!(ranked["optima"][0], expected[0]);
    assert!(ranked["optima"][1]["time"].as_i64() > Some(156), "{ranked}");
}

#[test]
fn tune_for_people() {
    tickbound()
        .args(["tune", ABSTRACT, "--input", "size=64", "--top", "3"])
        .assert()
        .success()
        .stdout(
            contains("least time: 2224 ticks at WG=32, TS=8")
                .and(contains("proved in the model:"))
                .and(contains("replayed:"))
                .and(contains("rank")),
        )
        .stderr("");
}

/// Where the time goes under the profile `resources`, and its parts.
#[test]
fn resources_for_both() {
    let set = [
        "--set",
        "WORK_GROUP_SIZE_X=16",
        "--set",
        "WORK_GROUP_SIZE_Y=8",
        "--set",
        "Z_ITERATIONS=4",
    ];
    let more = ["--set", "INNER_UNROLL_FACTOR=2", "--set", "USE_SOA=0"];
    let simulate = || {
        let mut command = tickbound();
        command.args(["simulate", "examples/problems/coulomb-resources.json"]);
        command.args(set).args(more);
        command
    };
    for line in [
        "bound by:   L1\n",
        "occupancy:  8 groups, 32 of 32 warps in a unit; limited by warps\n",
        ": 2572.093 microseconds (",
    ] {
        simulate().assert().success().stdout(contains(line));
    }
    let answer = json_of(simulate().arg("--json"));
    assert_eq!(answer["resources"]["bound_by"], "L1");
    assert_eq!(answer["resources"]["group"]["L1"], 5139.2);
    let with = answer["time"].as_i64().unwrap();
    let without = json_of(simulate().args(["--json", "--without", "pipe"]));
    assert!(without["time"].as_i64().unwrap() < with, "{without}");
    refused(simulate().args(["--without", "spills"]), "part", &["unknown part", "`spill`"]);
    refused(simulate().args(["--trace", "t.json"]), "trace", &["no timeline"]);
    refused(simulate().args(["--platform", "abstract-2023"]), "platform", &["warp_width"]);
    let size = ["--size", "cltune", "--set", "MWG=64", "--set", "NWG=64", "--set", "KWG=32"];
    let tune = ["tune", "examples/problems/gemm-resources.json", "--platform", "a100", "--json"];
    let tuned = json_of(tickbound().args(tune).args(size));
    assert_eq!(tuned["resources"]["most_warps"], 64, "{tuned}");
    assert_eq!(tuned["proved_by"], json!(["simulation"]));
    assert_eq!(tuned["programs"], json!(null));
    let listed = json_of(tickbound().args(tune).args(size).args(["--top", "4"]));
    let programs = listed["programs"].as_array().expect("programs");
    assert_eq!((programs.len(), &listed["programs_whole"]), (4, &json!(true)));
    let alike = |p: &&Value| p["configurations"].as_i64() > Some(1);
    assert!(programs.iter().all(|p| alike(&p) != p["differ"].as_array().unwrap().is_empty()));
    assert!(programs.iter().any(|p| alike(&p)), "{listed}");
    tickbound()
        .args(["tune", "examples/problems/gemm-resources.json", "--top", "4"])
        .args(size)
        .assert()
        .success()
        .stdout(contains("stands for").and(contains("are one program")));
}

#[test]
fn simulate_for_both() {
    let set = ["simulate", ABSTRACT, "--set", "WG=4", "--set", "TS=2", "--input", "size=8"];
    let object = json_of(tickbound().args(set).arg("--json"));
    assert_eq!(
        (&object["time"], &object["configuration"]),
        (&json!(44), &json!({ "WG": 4, "TS": 2 }))
    );
    assert_eq!(object["counts"]["barrier"], 32);
    let phases = object["phases"].as_array().expect("phases");
    assert_eq!((&phases[0]["start"], phases[0]["name"].is_string()), (&json!(0), true));
    assert!(phases.iter().all(|phase| phase["end"].as_i64() <= Some(44)), "{object}");
    assert_eq!(object["about"]["inputs"], json!({ "size": 8 }));
    tickbound().args(set).assert().success().stdout(contains("44 ticks with WG=4, TS=2"));
    // Table 1 of the paper; the model gives the paper's times at the paper's configurations.
    for (size, wg, ts, time) in [
        (8, 4, 4, 44),
        (16, 8, 4, 156),
        (32, 16, 4, 584),
        (64, 32, 8, 2224),
        (128, 64, 64, 9344),
        (256, 4, 4, 36_234),
        (512, 4, 4, 142_090),
        (1024, 16, 32, 549_912),
    ] {
        let [size, wg, ts] = [format!("size={size}"), format!("WG={wg}"), format!("TS={ts}")];
        let args = ["simulate", ABSTRACT, "--input", &size, "--set", &wg, "--set", &ts, "--json"];
        assert_eq!(json_of(tickbound().args(args))["time"], json!(time), "{size}");
    }
}

#[test]
fn platforms_with_their_sources() {
    let names = contains("h200").and(contains("gtx-570")).and(contains("132"));
    tickbound().arg("platforms").assert().success().stdout(names);
    let sources = contains("units_per_device").and(contains("whitepaper"));
    tickbound().args(["platforms", "h200"]).assert().success().stdout(sources);
}

/// What a file gives is shown as given, what it does not give as what it is taken for.
#[test]
fn a_platform_as_it_was_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.json");
    let platform = json!({ "name": "mine", "tick": "0.5 ns", "units_per_device": 2,
        "elements_per_unit": 4,
        "global_access": 7, "local_access": { "value": 3, "source": "a stopwatch" } });
    std::fs::write(&path, platform.to_string()).expect("a platform");
    let output = tickbound().arg("platforms").arg(&path).output().expect("the program runs");
    let shown = text(&output.stdout);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = shown.lines().map(words).collect();
    for line in [
        "mine",
        "a tick is 0.5 ns",
        "global_access 7 given without a source",
        "local_access 3 a stopwatch",
        "barrier 0 not given: the default",
        "atomic_access 7 not given: as global_access",
        "constant_access 3 not given: as local_access",
    ] {
        assert!(lines.iter().any(|l| l == line), "no `{line}`: {shown}");
    }
    // The length of a tick makes microseconds of it.
    let of = ["simulate", ABSTRACT, "--set", "WG=4", "--set", "TS=2", "--input", "size=8"];
    let mut command = tickbound();
    command.args(of).arg("--platform").arg(&path);
    let ticks = json_of(tickbound().args(of).arg("--json").arg("--platform").arg(&path));
    let units = &ticks["about"]["units"];
    assert_eq!((&units["tick"], &units["tick_microseconds"]), (&json!("0.5 ns"), &json!(0.0005)));
    let time = ticks["time"].as_i64().expect("ticks") as f64 * 0.0005;
    command.assert().success().stdout(contains(format!("{time:.3} microseconds (")));
    // Nothing is said of a clock that nobody knows.
    tickbound().args(of).assert().success().stdout(contains("microseconds").not());
}

#[test]
fn quiet_leaves_the_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let plot = |quiet: &[&str]| {
        let mut command = tickbound();
        command.args(quiet).args(["tune", "examples/problems/matmul.json", "--plot"]);
        command.arg(folder.path().join("plot.svg")).output().expect("the program runs")
    };
    let loud = plot(&[]);
    assert!(text(&loud.stderr).contains("plot.svg written"), "{}", text(&loud.stderr));
    let quiet = plot(&["--quiet"]);
    assert_eq!((quiet.status.code(), text(&quiet.stderr)), (Some(0), String::new()));
    assert!(text(&quiet.stdout).contains("least time: 3118.513 microseconds (6,174,656 ticks)"));
    // What ends a command is said.
    refused(tickbound().args(["tune", "nothing.json", "-q"]), "no file", &["nothing.json"]);
    // What is piped has no colour.
    assert!(!quiet.stdout.contains(&0x1b));
}

/// Each command of the help, and of its own commands.
fn commands(of: &[&str]) -> Vec<String> {
    let output = tickbound().args(of).arg("--help").output().expect("the program runs");
    let help = text(&output.stdout);
    let about = of.join(" ");
    assert!(help.contains("Exit status:") && help.contains("--quiet"), "{about}: {help}");
    let listed = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    let listed = listed.take_while(|line| !["Options:", "Arguments:"].contains(line));
    let listed = listed.filter_map(|line| line.strip_prefix("  ")).filter(|l| !l.starts_with(' '));
    let names: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    let mut all = vec![["tickbound"].iter().chain(of).copied().collect::<Vec<_>>().join("-")];
    for name in names.into_iter().filter(|name| *name != "help") {
        all.extend(commands(&[of, &[name]].concat()));
    }
    all
}

#[test]
fn completions_and_a_manual_page_for_each_command() {
    for (shell, part) in
        [("bash", "complete -F"), ("zsh", "#compdef tickbound"), ("fish", "-l timeout")]
    {
        let output = tickbound().args(["completions", shell]).output().expect("the program runs");
        let text = text(&output.stdout);
        assert!(text.contains(part) && text.contains("simulate"), "{shell}: {text}");
        assert!(!text.contains("measure-worker"), "{shell} completes what is hidden");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let manual = folder.path().join("man1");
    tickbound().arg("manual").arg(&manual).assert().success().stdout("").stderr("");
    let pages = std::fs::read_dir(&manual).expect("pages").map(|page| {
        let path = page.expect("a page").path();
        let page = std::fs::read_to_string(&path).expect("UTF-8");
        assert!(page.contains("Exit status"), "{path:?}");
        path.file_stem().expect("a name").to_string_lossy().into_owned()
    });
    let mut pages: Vec<String> = pages.collect();
    let mut all = commands(&[]);
    pages.sort();
    all.sort();
    assert!(all.contains(&"tickbound-tune".to_owned()), "{all:?}");
    assert!(all.iter().any(|name| name.starts_with("tickbound-reo-")), "{all:?}");
    assert_eq!(pages, all);
}

#[test]
fn the_papers_table() {
    let table = tickbound_xtask::table1::table1().expect("a table");
    assert!(table.contains("533248") && table.contains("2^30") && !table.contains("open"));
}

// Files.

/// The complete events of each named track, by the name of its process and thread.
fn tracks(file: &Path) -> BTreeMap<(String, String), Vec<(i64, i64)>> {
    let text = std::fs::read_to_string(file).expect("the trace");
    let trace: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}"));
    let events = trace["traceEvents"].as_array().expect("events");
    let number = |e: &Value, name: &str| e[name].as_i64().unwrap_or_else(|| panic!("{name}: {e}"));
    let name = |e: &Value| e["args"]["name"].as_str().unwrap_or_default().to_owned();
    let (mut processes, mut threads) = (HashMap::new(), HashMap::new());
    let mut spans: HashMap<(i64, i64), Vec<(i64, i64)>> = HashMap::new();
    for e in events {
        let at = (number(e, "pid"), number(e, "tid"));
        match (e["ph"].as_str(), e["name"].as_str()) {
            (Some("M"), Some("process_name")) => drop(processes.insert(at.0, name(e))),
            (Some("M"), Some("thread_name")) => drop(threads.insert(at, name(e))),
            (Some("X"), Some(_)) => {
                let start = number(e, "ts");
                spans.entry(at).or_default().push((start, start + number(e, "dur")));
            }
            _ => {}
        }
    }
    let named = |at: (i64, i64)| (processes[&at.0].clone(), threads[&at].clone());
    spans.into_iter().map(|(at, spans)| (named(at), spans)).collect()
}

fn no_overlap(tracks: &BTreeMap<(String, String), Vec<(i64, i64)>>) {
    for (name, spans) in tracks {
        let mut spans = spans.clone();
        spans.sort_unstable();
        for pair in spans.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{name:?}: {pair:?} overlap");
        }
    }
}

/// While a configuration with a better best case may be there, nothing is said of the worst case.
#[test]
fn a_worst_case_that_is_open_is_not_bracketed() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string("examples/problems/latency.json").expect("the example");
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    value["parameters"] = serde_json::json!({ "WG": [8], "UNROLL": [2], "LONG": [0, 1] });
    let long = serde_json::json!({ "compute": "LONG * 2147483648" });
    value["kernel"].as_array_mut().expect("a program").push(long);
    let file = folder.path().join("long.json");
    std::fs::write(&file, value.to_string()).expect("a file");
    let path = file.to_str().expect("UTF-8");
    let said = tickbound().args(["tune", path, "--objective", "worst"]).assert().code(1);
    let said = String::from_utf8(said.get_output().stdout.clone()).expect("UTF-8");
    let [bracket, worst] = [2, 3].map(|line| said.lines().nth(line).expect("a line"));
    assert_eq!(
        bracket,
        "not proved: the best case is between 0 and 54 ticks; best so far: WG=8, UNROLL=2, LONG=0"
    );
    assert_eq!(worst, "worst case: that of the configuration with the best case, once it is known");
}

/// Both ends of open schedules are drawn, dispatchers and warps.
#[test]
fn a_trace_can_be_a_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("runs.svg");
    let path = file.to_str().expect("UTF-8");
    let latency = "examples/problems/latency.json";
    tickbound().args(["tune", latency, "--trace", path]).assert().success();
    let svg = std::fs::read_to_string(&file).expect("a picture");
    for text in [
        "Best schedule: 54 ticks",
        "Worst schedule: 61 ticks",
        "Worst schedule, warps",
        "unit 0, dispatcher 1",
        "warp 1 of group 0",
        "wait for a load",
    ] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn a_trace_has_one_track_per_element() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trace.json");
    let path = file.to_str().expect("UTF-8");
    tickbound().args(["tune", ABSTRACT, "--trace", path]).assert().success();
    let published = tracks(&file);
    let expected: Vec<_> = (0..4).map(|e| ("unit 0".to_owned(), format!("element {e}"))).collect();
    assert_eq!(published.keys().cloned().collect::<Vec<_>>(), expected);
    let end = published.values().flatten().map(|span| span.1).max();
    assert_eq!(end, Some(156), "the last span ends when the run does");
    no_overlap(&published);

    let opencl = ["simulate", "examples/problems/abstract-opencl.json", "--input", "size=64"];
    let set = ["--set", "WG=16", "--set", "TS=8", "--json", "--trace", path];
    let time = json_of(tickbound().args(opencl).args(set))["time"].as_i64();
    let tracks = tracks(&file);
    assert_eq!(tracks.len(), 4 * 8, "4 groups on as many units of 8 elements: {:?}", tracks.keys());
    assert_eq!(tracks.values().flatten().map(|span| span.1).max(), time);
    no_overlap(&tracks);
}

#[test]
fn plots_by_extension() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, files) in
        [("a.svg", &["a.svg"][..]), ("b.png", &["b.png"]), ("c", &["c.svg", "c.png"])]
    {
        let path = folder.path().join(name);
        tickbound().args(["tune", ABSTRACT, "--plot"]).arg(&path).assert().success();
        for file in files {
            let bytes = std::fs::read(folder.path().join(file)).expect("the picture");
            let start: &[u8] = if file.ends_with("png") { b"\x89PNG" } else { b"<svg" };
            assert!(bytes.starts_with(start), "{file}: {:?}", &bytes[..bytes.len().min(16)]);
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 4);
}

// Stopping.

/// A search that takes very long.
const LONG: [&str; 8] =
    ["tune", ABSTRACT, "--input", "size=64", "--encoding", "event", "--strategy", "bisect-fresh"];

fn spawn(args: &[&str]) -> Child {
    Process::new(cargo_bin!("tickbound"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// How late a stop may come: a second, on a machine that may be busy.
const LATE: Duration = Duration::from_secs(6);

/// What a program that was sent a signal after some time has printed, and its exit status.
#[cfg(unix)]
fn signalled(child: Child, signal: &str, after: Duration) -> (String, String, Option<i32>) {
    std::thread::sleep(after);
    let pid = child.id().to_string();
    let sent = Process::new("sh").args(["-c", &format!("kill -{signal} {pid}")]).status();
    assert!(sent.is_ok_and(|s| s.success()));
    let sent = Instant::now();
    let output = child.wait_with_output().expect("the program ends");
    assert!(sent.elapsed() < LATE, "{:?}", sent.elapsed());
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[cfg(unix)]
#[test]
fn signals_end_with_the_bracket() {
    for (json, signal) in [(true, "INT"), (false, "TERM"), (true, "HUP")] {
        let mut args = LONG.to_vec();
        args.extend(json.then_some("--json"));
        // Long enough to be in the middle of a solver call.
        let (out, err, status) = signalled(spawn(&args), signal, Duration::from_secs(3));
        assert_eq!(status, Some(1), "nothing is proved: {out}{err}");
        assert!(err.contains("interrupted") && !err.contains("panicked"), "{err}");
        if json {
            let result: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"));
            has_the_fields(&result);
            assert_eq!(result["stopped_by"], "interrupt");
            bracket_of_size_64(&result);
        } else {
            assert!(out.contains("the least time is between"), "{out}");
            assert!(out.contains("stopped by: interrupt"), "{out}");
        }
    }
}

/// `nohup` asks for the end of the terminal to be ignored.
#[cfg(unix)]
#[test]
fn an_ignored_hangup_stays_ignored() {
    let program = cargo_bin!("tickbound").display().to_string();
    let script = format!("trap '' HUP; exec '{program}' {} --timeout 4", LONG.join(" "));
    let mut command = Process::new("sh");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["-c", &script]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    let (out, err, status) = signalled(child, "HUP", Duration::from_secs(2));
    assert_eq!((status, err.as_str()), (Some(1), ""), "{out}");
    assert!(out.contains("stopped by: time-out of 4 s"), "{out}");
}

/// The encoding of this problem takes far longer than the time, and nothing in it looks at the
/// clock.
#[test]
fn work_that_does_not_listen_is_ended() {
    let args = ["tune", "examples/problems/reduction-h200.json", "--encoding", "event", "--json"];
    let started = Instant::now();
    let result = json_of(tickbound().args(args).args(["--timeout", "1"]));
    assert!(started.elapsed() < Duration::from_secs(1) + LATE, "{:?}", started.elapsed());
    has_the_fields(&result);
    assert_eq!(
        (&result["status"], &result["stopped_by"]),
        (&"bounded".into(), &"time-out of 1 s".into())
    );
}

/// The encoding takes gigabytes.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_limited() {
    let args = ["tune", "examples/problems/reduction-h200.json", "--encoding", "event", "--json"];
    let result = json_of(tickbound().args(args).args(["--memory", "200M"]));
    has_the_fields(&result);
    let stopped = (&result["status"], &result["stopped_by"]);
    assert_eq!(stopped, (&"bounded".into(), &"memory limit of 210 MB".into()));
}

#[test]
fn whatever_can_grow_has_limits() {
    let commands = "tune, check, why, simulate, explain, export, spin, compare, cp-sat, report, \
        measure, score, \
         calibrate, init, reo compose, reo check, reo equal, reo run, reo draw, reo \
         generate, reo verify";
    for command in commands.split(", ") {
        let output = tickbound().args(command.split(' ')).arg("--help").output().expect("it runs");
        let help = text(&output.stdout);
        assert!(help.contains("--timeout") && help.contains("--memory"), "{command}: {help}");
    }
}

/// A name may hold what a terminal would obey.
#[test]
fn what_acts_on_a_terminal_is_not_printed() {
    let mut problem = good();
    problem["name"] = "red \u{1b}[31m\u{202e}".into();
    let output = tickbound().args(["tune", "-"]).write_stdin(problem.to_string()).output();
    let out = text(&output.expect("it runs").stdout);
    assert!(out.starts_with("red \\u{1b}[31m\\u{202e} (size = 8)"), "{out:?}");
    problem["constraints"] = json!(["\u{1b}[2J"]);
    let output = tickbound().args(["tune", "-"]).write_stdin(problem.to_string()).output();
    let err = text(&output.expect("it runs").stderr);
    assert!(!err.contains('\u{1b}') && err.contains("[2J"), "{err:?}");
}

/// libclang crashes on this source. The program does not.
#[test]
fn a_source_that_crashes_what_reads_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = |body: &str| {
        let problem = json!({
            "platform": { "units_per_device": 1, "elements_per_unit": 4, "global_access": 4 },
            "parameters": { "WG": [1, 2] },
            "launch": { "global_size": 16, "local_size": "WG" },
            "kernel": { "opencl": "k.cl", "entry": "k" }
        });
        let path = folder.path().join("k.json");
        std::fs::write(&path, problem.to_string()).expect("a file");
        let source = format!("kernel void k(global int *x) {{ {body} }}");
        std::fs::write(folder.path().join("k.cl"), source).expect("a file");
        let mut command = tickbound();
        command.env("TICKBOUND_CACHE", "off").arg("tune").arg(path);
        command
    };
    if clang_missing(kernel("x[get_global_id(0)] = 1;").output().expect("it runs")) {
        return;
    }
    let deep = format!("x[get_global_id(0)] = {} x[1];", "- ".repeat(200_000));
    refused(&mut kernel(&deep), "200,000 operators", &["k.cl: libclang crashed", "signal 11"]);
}

/// Whether a kernel cannot be read because this machine has no libclang, which `make test`
/// installs.
fn clang_missing(output: std::process::Output) -> bool {
    let err = text(&output.stderr);
    let missing = err.contains("libclang") && std::env::var_os("CI").is_none();
    assert!(missing || output.status.success(), "{err}");
    missing
}

fn bracket_of_size_64(result: &Value) {
    assert_eq!(result["status"], "bounded");
    let (lower, upper) = (result["lower"].as_i64(), result["upper"].as_i64());
    assert!(lower <= Some(2224) && upper >= Some(2224), "{result}");
    assert_eq!(result["time"], result["upper"], "{result}");
    assert!(result["configuration"].is_object(), "{result}");
}

/// The space takes seconds to be structured.
#[test]
fn a_time_out_at_once_has_a_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("p.json");
    let problem = json!({
        "inputs": { "n": 1_048_576 }, "platform": "h200",
        "parameters": { "A": "range(1, 200)", "B": "range(1, 200)", "C": "range(1, 200)",
            "WG": [32, 64] },
        "constraints": ["A * B + C < 9000", "(A + B) % 3 == C % 3"],
        "launch": { "global_size": "n", "local_size": "WG" },
        "kernel": [ { "repeat": "A", "body": [ { "global": 1 },
            { "compute": "B % 7 + C // 3" } ] } ]
    });
    std::fs::write(&file, problem.to_string()).expect("written");
    let result = json_of(tickbound().arg("tune").arg(&file).args(["--timeout", "50ms", "--json"]));
    has_the_fields(&result);
    assert!(result["configuration"].is_object() && result["upper"].is_i64(), "{result}");
}

#[test]
fn a_name_that_acts_on_a_terminal_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut problem = good();
    problem["name"] = json!("a\u{1b}[31m\nleast time: 1 ticks");
    std::fs::write(folder.path().join("p.json"), problem.to_string()).expect("written");
    let mut command = tickbound();
    command
        .current_dir(folder.path())
        .args(["tune", "p.json", "--plot", "o.svg", "--html", "o.html"]);
    command.assert().success().stdout(contains("a\\u{1b}[31m least time: 1 ticks (size = 8)"));
    for file in ["o.svg", "o.html"] {
        let text = std::fs::read_to_string(folder.path().join(file)).expect("a file");
        assert!(!text.contains('\u{1b}'), "{file}");
    }
}

#[test]
fn a_problem_without_parameters_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("p.json");
    let mut problem = good();
    problem["parameters"] = json!({});
    problem["constraints"] = json!([]);
    problem["definitions"] = json!({ "d": 4 });
    problem["launch"]["local_size"] = json!(2);
    std::fs::write(&file, problem.to_string()).expect("written");
    // 8 items with 4 accesses each.
    tickbound()
        .arg("explain")
        .arg(&file)
        .assert()
        .success()
        .stdout(contains("one launch: global 32"));
}

#[test]
fn a_time_out_ends_with_the_bracket() {
    let started = Instant::now();
    let result = json_of(tickbound().args(LONG).args(["--timeout", "1", "--json"]));
    assert!(started.elapsed() < LATE, "{:?}", started.elapsed());
    assert_eq!(result["stopped_by"], "time-out of 1 s");
    bracket_of_size_64(&result);
    has_the_fields(&result);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for args in
        [&["platforms"][..], &["tune", ABSTRACT, "--top", "6"], &["tune", ABSTRACT, "--json"]]
    {
        let mut child = spawn(args);
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the program ends");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(text(&output.stderr), "", "{args:?}");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
