//! `tickbound export --to btor2`. What the text means is tested where it is written, in
//! `encodings`.

use std::path::Path;

use assert_cmd::Command;
use predicates::str::contains;
use serde_json::{Value, json};
use tempfile::tempdir;

const ABSTRACT: &str = "examples/problems/abstract.json";
const MATMUL: &str = "examples/problems/matmul.json";
const MINIMUM: &str = "examples/problems/minimum.json";

fn export(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tickbound"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("export").args(arguments);
    command
}

fn text(arguments: &[&str]) -> String {
    let output = export(&[arguments, &["--to", "btor2"]].concat()).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Lines of this kind.
fn count(text: &str, kind: &str) -> usize {
    text.lines().filter(|line| line.split(' ').nth(1) == Some(kind)).count()
}

#[test]
fn the_least_time_is_the_bound_unless_another_is_named() {
    for (problem, size, encoding, least, steps) in [
        (ABSTRACT, "size=8", "tick", 44, 63),
        (ABSTRACT, "size=8", "event", 44, 19),
        (ABSTRACT, "size=16", "summary", 156, 2),
        (MINIMUM, "size=16", "summary", 24, 2),
    ] {
        let about = format!("{problem} {size} {encoding}");
        let text = text(&[problem, "--input", size, "--encoding", encoding]);
        let head: Vec<&str> = text.lines().take(4).collect();
        assert!(head[0].ends_with(&format!(", encoding {encoding}")), "{about}: {head:?}");
        assert_eq!(
            head[1],
            format!("; bad: a run has ended after fewer than {least} ticks"),
            "{about}"
        );
        assert_eq!(
            head[2],
            format!("; the least time is {least} ticks: no bad state can be reached")
        );
        assert_eq!(
            head[3],
            format!("; all runs have ended after {steps} steps; nothing changes then"),
            "{about}"
        );
        let kinds = ["bad", "constraint", "output", "input"].map(|kind| count(&text, kind));
        assert_eq!(kinds, [1, 1, 2, 0], "{about}");
        let kinds = ["state", "next", "init"].map(|kind| count(&text, kind));
        assert_eq!(
            kinds,
            [kinds[0], kinds[0], kinds[0] - 2],
            "{about}: two parameters have no first value"
        );
    }
    let weaker = text(&[ABSTRACT, "--input", "size=16", "--faster-than", "157"]);
    assert!(weaker.contains("; bad: a run has ended after fewer than 157 ticks\n"), "{weaker}");
    assert!(weaker.contains("156 ticks: a bad state is reached within 2 steps\n"), "{weaker}");
    let fixed = text(&[ABSTRACT, "--input", "size=16", "--set", "WG=4", "--set", "TS=4"]);
    assert!(fixed.contains("the least time is "), "{fixed}");
}

#[test]
fn a_file_is_written() {
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("abstract.btor2");
    let path = file.to_str().expect("UTF-8");
    export(&[ABSTRACT, "--to", "btor2", "-o", path]).assert().success().stdout("");
    assert_eq!(std::fs::read_to_string(&file).expect("a text"), text(&[ABSTRACT]));
}

#[test]
fn what_has_no_text_is_refused() {
    let refused = |arguments: &[&str], why: &[&str]| {
        let mut assert = export(arguments).assert().code(2).stdout("");
        for part in why {
            assert = assert.stderr(contains(*part));
        }
    };
    let btor2 =
        |arguments: &[&str], why: &[&str]| refused(&[arguments, &["--to", "btor2"]].concat(), why);
    for option in [["--encoding", "event"], ["--faster-than", "5"]] {
        for target in ["smt2", "promela", "t1"] {
            refused(
                &[&[ABSTRACT, "--to", target][..], &option].concat(),
                &[option[0], "only for --to btor2"],
            );
        }
    }
    btor2(&[ABSTRACT, "--faster-than", "0"], &["--faster-than", "0"]);
    btor2(&[ABSTRACT, "--encoding", "steps"], &["--encoding", "tick"]);
    btor2(
        &[ABSTRACT, "--input", "size=1000000000000", "--encoding", "tick"],
        &["--encoding tick", "1000000 steps"],
    );
    btor2(
        &[MATMUL, "--set", "TM=128", "--set", "TN=128"],
        &["--to btor2", "there is no valid configuration"],
    );
    let folder = tempdir().expect("a folder");
    let changed = |name: &str, change: &dyn Fn(&mut Value)| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/problems/minimum-opencl.json");
        let mut problem: Value =
            serde_json::from_str(&std::fs::read_to_string(path).expect("a problem")).expect("JSON");
        change(&mut problem);
        let path = folder.path().join(name);
        std::fs::write(&path, problem.to_string()).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let platform = json!({ "units_per_device": 1, "elements_per_unit": 4, "global_access": 4,
        "warps": { "width": 2, "dispatchers": 1 } });
    let warps = changed("warps.json", &|p| p["platform"] = platform.clone());
    btor2(&[&warps], &["--to btor2: platform.warps: the schedule is open", "tickbound tune"]);
    btor2(
        &["examples/problems/convolution-resources.json"],
        &["--to btor2: profile resources: the time is one expression", "tickbound tune"],
    );
    let differ = changed("differ.json", &|p| {
        p["kernel"] = json!([{ "work": "group" }]);
        p["inputs"]["size"] = json!(4096);
    });
    btor2(&[&differ], &["stretches of equal groups", "the encodings hold 256"]);
    let many = changed("many.json", &|p| {
        for n in 0..9 {
            p["parameters"][format!("X{n}")] = json!("range(1, 20)");
        }
    });
    btor2(&[&many], &["configurations"]);
}
