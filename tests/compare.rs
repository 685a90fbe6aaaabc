//! Engines side by side, as a person or a script meets them.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use indexmap::IndexMap;
use predicates::str::contains;
use serde_json::{Value, json};
use tickbound_compare::{CompareOptions, Input, SideBySide, engine};
use tickbound_model::Problem;
use tickbound_report::answer::comparison::{Comparison, RowStatus};

const ABSTRACT: &str = "examples/problems/abstract.json";
const MINIMUM: &str = "examples/problems/minimum.json";

/// The program, run in the repository.
fn tickbound() -> Command {
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).timeout(Duration::from_secs(300));
    command
}

fn compare(arguments: &[&str]) -> Command {
    let mut command = tickbound();
    command.arg("compare").args(arguments);
    command
}

/// What the program prints with `--json`, and its exit status.
fn json_of(command: &mut Command) -> (Value, Option<i32>) {
    let output = command.arg("--json").output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    let value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{errors}"));
    (value, output.status.code())
}

/// Rows of the first problem.
fn rows(comparison: &Value) -> &Vec<Value> {
    comparison["cases"][0]["rows"].as_array().expect("rows")
}

/// Replaces what differs from run to run and from machine to machine.
fn steady(comparison: &mut Value) {
    comparison["machine"] = json!("MACHINE");
    comparison["tickbound"] = json!("VERSION");
    comparison["seconds"] = json!("SECONDS");
    for case in comparison["cases"].as_array_mut().expect("cases") {
        case["about"]["tickbound"] = json!("VERSION");
    }
    for case in comparison["cases"].as_array_mut().expect("cases") {
        for row in case["rows"].as_array_mut().expect("rows") {
            for (field, stands_for) in
                [("seconds", "SECONDS"), ("process_seconds", "SECONDS"), ("memory", "BYTES")]
            {
                assert!(row[field].is_number(), "{field}: {row}");
                row[field] = json!(stands_for);
            }
            row["tool"] = json!("TOOL");
        }
    }
}

#[test]
fn json() {
    let arguments = [ABSTRACT, "--input", "size=8", "--engines", "smt:event:descend,enumerate"];
    let (mut comparison, status) = json_of(&mut compare(&arguments));
    assert_eq!(status, Some(0));
    steady(&mut comparison);
    insta::assert_json_snapshot!(comparison, @r#"
    {
      "format": "tickbound comparison 1",
      "tickbound": "VERSION",
      "machine": "MACHINE",
      "timeout": 60.0,
      "memory_limit": null,
      "interrupted": false,
      "agree": true,
      "seconds": "SECONDS",
      "cases": [
        {
          "about": {
            "name": "abstract kernel, as published",
            "inputs": {
              "size": 8
            },
            "platform": "",
            "profile": "published-2023",
            "tickbound": "VERSION",
            "units": {
              "model": "ticks",
              "tick": null,
              "tick_microseconds": null,
              "wall": "seconds",
              "memory": "bytes"
            }
          },
          "problem": "abstract kernel, as published",
          "file": "examples/problems/abstract.json",
          "inputs": {
            "size": 8
          },
          "configurations": 2,
          "rows": [
            {
              "engine": "smt:event:descend",
              "status": "optimal",
              "time": 44,
              "lower": 44,
              "configuration": {
                "WG": 4,
                "TS": 2
              },
              "replayed": true,
              "seconds": "SECONDS",
              "process_seconds": "SECONDS",
              "memory": "BYTES",
              "search_memory": null,
              "states": null,
              "solver_calls": 1,
              "tool": "TOOL",
              "reason": null,
              "command": "tickbound tune examples/problems/abstract.json --strategy descend --encoding event --input size=8 --timeout 60 --json"
            },
            {
              "engine": "enumerate",
              "status": "optimal",
              "time": 44,
              "lower": 44,
              "configuration": {
                "WG": 4,
                "TS": 2
              },
              "replayed": true,
              "seconds": "SECONDS",
              "process_seconds": "SECONDS",
              "memory": "BYTES",
              "search_memory": null,
              "states": null,
              "solver_calls": null,
              "tool": "TOOL",
              "reason": null,
              "command": "tickbound tune examples/problems/abstract.json --strategy enumerate --input size=8 --timeout 60 --json"
            }
          ],
          "disagreements": []
        }
      ]
    }
    "#);
}

#[test]
fn words() {
    compare(&[ABSTRACT, MINIMUM, "--engines", "smt,enumerate", "--input", "size=16"])
        .assert()
        .success()
        .stdout(contains("abstract kernel, as published (size = 16), 6 configurations"))
        .stdout(contains("least time: 156 ticks, proved in the model by 2 engines"))
        .stdout(contains("least time: 24 ticks, proved in the model by 2 engines"))
        .stdout(contains("smt         156  WG=8, TS=4  proved"));
}

#[test]
fn bad_input_is_refused_before_anything_runs() {
    for (arguments, part) in [
        (vec![ABSTRACT, "--engines", "smt:evnt"], "did you mean `event`?"),
        (vec![ABSTRACT, "--timeout", "0"], "--timeout"),
        (vec![ABSTRACT, "no-such-file.json"], "no-such-file.json"),
        (vec![ABSTRACT, "--input", "sise=8"], "sise"),
    ] {
        compare(&arguments).assert().code(2).stdout("").stderr(contains(part));
    }
    compare(&[]).assert().code(2).stderr(contains("PROBLEMS"));
    compare(&[ABSTRACT, "--memory", "lots"]).assert().code(2).stderr(contains("512M or 8G"));
}

#[test]
fn what_does_not_end_or_is_not_there_is_a_row_with_its_reason() {
    let arguments = [ABSTRACT, "--input", "size=64", "--timeout", "0.3"];
    let engines = ["--engines", "smt:tick,smt-fresh:event,cp-sat,enumerate"];
    let (comparison, status) =
        json_of(compare(&arguments).args(engines).env("PYTHON", "no-such-python-here"));
    assert_eq!(status, Some(0));
    let [tick, fresh, cp_sat, enumerate] = rows(&comparison).as_slice() else {
        panic!("{comparison}")
    };
    // Too deep to unroll, or not done in time.
    assert!(["refused", "bounded"].contains(&tick["status"].as_str().unwrap()), "{tick}");
    assert_eq!(
        (&fresh["status"], &fresh["reason"]),
        (&json!("bounded"), &json!("time-out of 0.3 s"))
    );
    assert_eq!(cp_sat["status"], "not-installed");
    assert!(cp_sat["reason"].as_str().unwrap().starts_with("no-such-python-here: "), "{cp_sat}");
    assert_eq!((&enumerate["status"], &enumerate["time"]), (&json!("optimal"), &json!(2224)));
}

#[test]
fn nothing_found_is_status_1() {
    compare(&[ABSTRACT, "--engines", "cp-sat"]).env("PYTHON", "no-such-python").assert().code(1);
}

#[test]
fn memory_is_limited() {
    let engines = ["--engines", "smt:tick,enumerate", "--memory", "40000000", "--input", "size=32"];
    let (comparison, status) = json_of(compare(&[ABSTRACT]).args(engines));
    assert_eq!(status, Some(0));
    assert_eq!(rows(&comparison)[0]["reason"], "memory limit of 40 MB", "{comparison}");
    assert_eq!(rows(&comparison)[1]["status"], "optimal");
    assert_eq!(comparison["memory_limit"], 40_000_000);
}

#[test]
fn ctrl_c_keeps_the_rows_so_far() {
    let child = Process::new(cargo_bin!("tickbound"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["compare", ABSTRACT, "--engines", "enumerate,smt:tick,smt-fresh:tick", "--json"])
        .args(["--input", "size=32"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    // Once the second engine runs, the first row is there.
    let pid = child.id().to_string();
    let started = Instant::now();
    while !runs_tick(&pid) && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Process::new("kill").args(["-INT", &pid]).status().expect("kill runs");
    assert!(sent.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let comparison: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(comparison["interrupted"], true);
    let [first, second, third] = rows(&comparison).as_slice() else { panic!("{comparison}") };
    assert_eq!((&first["status"], &first["time"]), (&json!("optimal"), &json!(584)));
    assert_eq!((&second["status"], &second["reason"]), (&json!("bounded"), &json!("interrupt")));
    assert_eq!((&third["status"], &third["reason"]), (&json!("not-run"), &json!("interrupt")));
}

/// True if a process that this one has started searches with the tick encoding, and listens to
/// Ctrl-C by now.
fn runs_tick(parent: &str) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|t| std::fs::read_to_string(t.path().join("children")).ok());
    children.flat_map(|c| c.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).any(
        |child| {
            std::fs::read(format!("/proc/{child}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains("\0tick\0"))
                && catches_interrupts(&child)
        },
    )
}

/// True if a process has a handler for SIGINT.
fn catches_interrupts(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 0b10 != 0)
}

/// A session whose engines are a shell script: `$1` is the subcommand, the rest follows.
fn with_script(script: &str, engines: &str) -> Comparison {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("engine");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
    executable(&program);
    let text = std::fs::read_to_string(root(ABSTRACT)).expect("the problem");
    let problem = Problem::from_json(&text, &IndexMap::new(), &tickbound_model::platforms::find)
        .expect("valid");
    let options = CompareOptions { program, timeout: Duration::from_secs(60), memory: None };
    let never = AtomicBool::new(false);
    let mut session = SideBySide::new(options, &never, &|_| {});
    let input = Input { problem: &problem, file: "a.json".into(), replaced: IndexMap::new() };
    session.run(&input, &engine::parse(engines).expect("engines"), &|_, _| None);
    session.finish()
}

fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("executable");
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn contradictions_are_found() {
    // Two proofs that differ: `enumerate` is one tick too high.
    let script = r#"case "$*" in
        *enumerate*) t=157 ;;
        *) t=156 ;;
    esac
    echo "{\"time\":$t,\"status\":\"optimal\",\"lower\":$t,\"configuration\":{\"WG\":8},\"seconds\":0.1}""#;
    let comparison = with_script(script, "smt,smt:event,enumerate");
    assert!(!comparison.agree);
    let said = &comparison.cases[0].disagreements;
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(
        said[0],
        "enumerate says that nothing takes less than 157 ticks, but smt takes 156 at WG=8"
    );
}

#[test]
fn engines_that_fail_are_rows() {
    let script = r#"case "$*" in
        *bisect*) echo "tickbound: no" >&2; exit 2 ;;
        *ascend*) kill -9 $$ ;;
        *descend*) echo nonsense ;;
        *optimize*) echo "tickbound: a fault, please report it" >&2; exit 3 ;;
    esac"#;
    let engines = "smt:bisect,smt:ascend,smt:descend,smt:optimize";
    let comparison = with_script(script, engines);
    let rows: Vec<(RowStatus, &str)> = comparison.cases[0]
        .rows
        .iter()
        .map(|r| (r.status, r.reason.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(rows[0], (RowStatus::Refused, "no"));
    assert_eq!(rows[1], (RowStatus::Failed, "signal 9 (killed)"));
    assert_eq!(rows[2], (RowStatus::Failed, "exit status: 0"));
    assert_eq!(rows[3].0, RowStatus::Failed);
    assert!(comparison.agree);
}

#[test]
fn spin_is_an_engine() {
    if let Err(e) = tickbound_spin::SpinTools::find() {
        eprintln!("skipped: {e}");
        return;
    }
    let engines = ["--engines", "spin,spin:exhaustive,enumerate", "--memory", "2G"];
    let (comparison, status) = json_of(compare(&[ABSTRACT, "--input", "size=8"]).args(engines));
    assert_eq!((status, &comparison["agree"]), (Some(0), &json!(true)));
    for row in &rows(&comparison)[..2] {
        assert_eq!((&row["status"], &row["time"]), (&json!("optimal"), &json!(44)), "{row}");
        assert!(
            row["states"].as_u64() > Some(0) && row["search_memory"].as_u64() > Some(0),
            "{row}"
        );
        assert!(row["tool"].as_str().is_some_and(|t| t.starts_with("SPIN 6.")), "{row}");
        assert_eq!(row["replayed"], true, "{row}");
    }
}

// CP-SAT.

/// A Python with OR-Tools; without it these tests check nothing.
fn python() -> Option<PathBuf> {
    python_with("cp-sat", "ortools")
}

/// A Python with a package: the one that PYTHON names, the one that `scripts/setup-python.sh` made
/// in a folder of `.deps`, or python3; `None`, after a word about it, if none has it.
pub fn python_with(folder: &str, package: &str) -> Option<PathBuf> {
    let named = std::env::var_os("PYTHON").map(PathBuf::from);
    let own = root(&format!(".deps/{folder}/bin/python"));
    let candidates = [named, Some(own), Some("python3".into())];
    let found = candidates.into_iter().flatten().find(|python| {
        let ask = format!("import importlib.metadata as m; m.version('{package}')");
        Process::new(python).args(["-c", &ask]).output().is_ok_and(|o| o.status.success())
    });
    if found.is_none() {
        eprintln!(
            "skipped: no Python with {package}; scripts/setup-python.sh {folder} {package} fetches \
             it"
        );
    }
    found
}

fn cp_sat(python: &Path, arguments: &[&str]) -> Value {
    let mut command = tickbound();
    let (value, status) = json_of(command.arg("cp-sat").args(arguments).env("PYTHON", python));
    assert_eq!(status, Some(0), "{arguments:?}: {value}");
    value
}

#[test]
fn cp_sat_proves_the_known_times() {
    let Some(python) = python() else { return };
    for (file, inputs, encoding, least) in [
        (ABSTRACT, "size=8", "summary", 44),
        (ABSTRACT, "size=8", "event", 44),
        (ABSTRACT, "size=8", "tick", 44),
        (ABSTRACT, "size=16", "summary", 156),
        (ABSTRACT, "size=1024", "summary", 533_248_i64),
        (MINIMUM, "size=16", "summary", 24),
        (MINIMUM, "size=16", "event", 24),
    ] {
        let solved = cp_sat(&python, &[file, "--input", inputs, "--encoding", encoding]);
        let about = format!("{file} {inputs} {encoding}: {solved}");
        assert_eq!((&solved["time"], &solved["lower"]), (&json!(least), &json!(least)), "{about}");
        assert_eq!((&solved["status"], &solved["replayed"]), (&json!("optimal"), &json!(true)));
    }
}

/// A problem with branches, loops, marks and a dependent domain; numbers depend on the seed.
fn varied(seed: i64) -> Value {
    let n = |k: i64, m: i64| (seed * k + k) % m;
    let inner = if seed % 2 == 0 {
        json!({ "repeat": "A", "body": [ "mark", { "until": n(3, 5) }, "barrier" ] })
    } else {
        json!({ "repeat": n(5, 3) + 1,
            "body": [ { "local": "A" }, "barrier", { "compute": "lid % 2" } ] })
    };
    json!({
        "name": "varied",
        "inputs": { "size": 4 },
        "platform": { "units_per_device": n(7, 3) + 1, "elements_per_unit": n(5, 4) + 1,
                      "global_access": n(3, 7) + 1, "barrier": n(2, 3), "group_start": n(11, 4) },
        "parameters": { "WG": [1, 2, 4], "A": "range(1, WG + 1)" },
        "constraints": [ format!("WG * A != {}", n(13, 9)) ],
        "launch": { "global_size": "size", "local_size": "WG" },
        "kernel": [ { "global": format!("{} - A % 2", n(9, 4) + 1) }, "mark", inner,
                    { "if": format!("lid < {}", n(4, 5)), "then": [ { "work": "A * 3" } ],
                      "else": [ { "compute": n(6, 9) } ] } ],
        "finish": [ { "compute": "4 / A" } ]
    })
}

#[test]
fn cp_sat_agrees_on_varied_problems() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 0..20 {
        let file = folder.path().join(format!("{seed}.json"));
        std::fs::write(&file, varied(seed).to_string()).expect("written");
        let encoding = if seed % 4 == 3 { "cp-sat:event" } else { "cp-sat" };
        let engines = format!("enumerate,{encoding}");
        let mut command = compare(&[&file.to_string_lossy(), "--engines", &engines]);
        let (comparison, status) = json_of(command.env("PYTHON", &python));
        assert_eq!(status, Some(0), "{seed}: {comparison}");
        for row in rows(&comparison) {
            assert_eq!(row["status"], "optimal", "{seed}: {row}\n{}", varied(seed));
        }
        assert_eq!(rows(&comparison)[1]["replayed"], true, "{seed}");
    }
}

#[test]
fn cp_sat_refuses_what_it_cannot_do() {
    tickbound()
        .args(["cp-sat", ABSTRACT])
        .env("PYTHON", "no-such-python-here")
        .assert()
        .code(2)
        .stderr(contains("name a Python interpreter in the variable PYTHON"));
    let Some(python) = python() else { return };
    for (arguments, part) in [
        (vec!["examples/problems/latency.json"], "open schedules"),
        (vec![ABSTRACT, "--encoding", "tick", "--input", "size=1024"], "steps"),
        (vec![ABSTRACT, "--input", "size=1073741824"], "2^60"),
    ] {
        let mut command = tickbound();
        command.arg("cp-sat").args(arguments).env("PYTHON", &python);
        command.assert().code(2).stdout("").stderr(contains(part));
    }
}

#[test]
fn a_fault_of_ours_is_status_3() {
    let folder = tempfile::tempdir().expect("a folder");
    let python = folder.path().join("python");
    let script =
        r#"case "$2" in *importlib.metadata*) echo 9.9 ;; *) echo Boom >&2; exit 1 ;; esac"#;
    std::fs::write(&python, format!("#!/bin/sh\n{script}\n")).expect("written");
    executable(&python);
    let mut command = tickbound();
    command.args(["cp-sat", ABSTRACT]).env("PYTHON", &python);
    command.assert().code(3).stdout("").stderr(contains("Boom; please report it"));
    let mut command = compare(&[ABSTRACT, "--engines", "cp-sat,enumerate"]);
    let (comparison, status) = json_of(command.env("PYTHON", &python));
    assert_eq!((status, &rows(&comparison)[0]["status"]), (Some(0), &json!("failed")));
}

// The report.

/// The page written from these results, checked for what every page must be.
fn report(results: &[&Path], folder: &Path) -> String {
    let page = folder.join("report.html");
    tickbound().arg("report").args(results).arg("-o").arg(&page).assert().success().stdout("");
    let text = std::fs::read_to_string(&page).expect("written");
    let text = without_script(&text);
    well_formed(&text);
    // Nothing is fetched and nothing else runs. A name is no address: xmlns is not followed.
    let plain = text.replace("http://www.w3.org/2000/svg", "");
    for banned in ["<script", "http://", "https://", "url(", "@import", "javascript:"] {
        assert!(!plain.contains(banned), "{banned}");
    }
    text
}

/// A page without its script, which is the same in every page.
fn without_script(page: &str) -> String {
    let script =
        std::fs::read_to_string(root("crates/report/src/html/page.js")).expect("the script");
    let element = format!("<script>\n{script}</script>");
    assert_eq!(page.matches(&element).count(), 1, "one script");
    page.replace(&element, "")
}

/// Every element that is opened is closed, in order; void elements apart.
fn well_formed(page: &str) {
    const VOID: [&str; 4] = ["meta", "br", "link", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').map(|e| start + e).expect("a tag ends");
        let tag = &rest[start + 1..end];
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "near {}", &rest[start..end]);
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_report_escapes_what_it_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let hostile = r#"<script>alert("1")</script>&amp;'<img src=x onerror=y>"#;
    let text = std::fs::read_to_string(root(ABSTRACT)).expect("the problem");
    let mut problem: Value = serde_json::from_str(&text).expect("JSON");
    problem["name"] = json!(hostile);
    let file = folder.path().join("<b>.json");
    std::fs::write(&file, problem.to_string()).expect("written");
    let (mut comparison, _) =
        json_of(&mut compare(&[&file.to_string_lossy(), "--engines", "smt,enumerate"]));
    // An engine's words, its name and its tool are somebody else's too.
    let row = &mut comparison["cases"][0]["rows"][0];
    for field in ["engine", "reason", "tool", "command"] {
        row[field] = json!(hostile);
    }
    row["configuration"] = json!({ hostile: 1 });
    comparison["machine"]["processor"] = json!(hostile);
    comparison["cases"][0]["disagreements"] = json!([hostile, hostile]);
    let results = folder.path().join("results.json");
    std::fs::write(&results, comparison.to_string()).expect("written");
    let page = report(&[&results], folder.path());
    assert!(!page.contains("<img"), "{page}");
    assert!(page.contains("&lt;script&gt;alert("), "{page}");
    assert!(page.contains("<svg"), "{page}");
}

#[test]
fn a_report_of_several_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (compared, _) =
        json_of(&mut compare(&[ABSTRACT, MINIMUM, "--engines", "smt:event,enumerate"]));
    std::fs::write(at("compared.json"), compared.to_string()).expect("written");
    let (tuned, _) = json_of(tickbound().args(["tune", ABSTRACT]));
    std::fs::write(at("tuned.json"), tuned.to_string()).expect("written");
    let page = report(&[&at("compared.json"), &at("tuned.json")], folder.path());
    for text in ["156", "WG=8, TS=4", "tune race", "tuned.json", "Minimum, as published"] {
        assert!(page.contains(text), "{text}");
    }
    // From the comparison itself the page is the same, but for the name of the file.
    let direct = at("direct.html");
    compare(&[ABSTRACT, "--engines", "enumerate", "--html"]).arg(&direct).assert().success();
    well_formed(&without_script(&std::fs::read_to_string(direct).expect("written")));
}

#[test]
fn what_cannot_be_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let report = |file: &str| {
        let mut command = tickbound();
        command.args(["report", file, "-o"]).arg(&page);
        command
    };
    report("no-such-file.json").assert().code(2).stderr(contains("no-such-file.json"));
    report(ABSTRACT).assert().code(2).stderr(contains("compare --json"));
    report("README.md").assert().code(2).stderr(contains("not JSON"));
    assert!(!page.exists());
}
