//! `tickbound init`, as somebody uses it who has a kernel and nothing else.

use std::fs;
use std::path::Path;

use assert_cmd::cargo::cargo_bin_cmd;
use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

fn tickbound(folder: &Path, arguments: &[&str]) -> (String, String, i32) {
    let mut command = cargo_bin_cmd!("tickbound");
    let output = command.current_dir(folder).args(arguments).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
}

/// A folder with a copy of an example kernel; `None` where libclang is missing, which CI forbids.
fn folder_with(kernel: &str) -> Option<TempDir> {
    let folder = tempfile::tempdir().expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels").join(kernel);
    fs::copy(from, folder.path().join(kernel)).expect("copied");
    let (_, errors, _) = tickbound(folder.path(), &["init", kernel, "--output", "probe.json"]);
    let missing = errors.contains("libclang");
    assert!(!missing || std::env::var_os("CI").is_none(), "{errors}");
    (!missing).then_some(folder)
}

/// From a kernel to a proved answer in two commands.
#[test]
fn from_a_kernel_to_an_answer() {
    let Some(folder) = folder_with("minimum.cl") else { return };
    let (text, errors, status) =
        tickbound(folder.path(), &["init", "minimum.cl", "--platform", "h200"]);
    assert_eq!((errors.as_str(), status), ("", 0));
    assert_snapshot!(text);
    let (text, errors, status) = tickbound(folder.path(), &["tune", "minimum.json"]);
    let guesses = "tickbound: guesses: items = 1048576\ntickbound: not verified; \
                   `tickbound verify minimum.json` shows whether all configurations are safe\n";
    assert_eq!((errors.as_str(), status), (guesses, 0), "{text}");
    assert!(text.contains("\nleast time: ") && text.contains("\nproved in the model: "), "{text}");
}

/// A reference that nobody has filled in is no reference.
#[test]
fn a_reference_is_filled_in_or_refused() {
    let Some(folder) = folder_with("minimum.cl") else { return };
    let arguments = ["init", "minimum.cl", "--reference"];
    let (text, errors, status) = tickbound(folder.path(), &arguments);
    assert_eq!((errors.as_str(), status), ("", 0), "{text}");
    let problem = fs::read_to_string(folder.path().join("minimum.json")).expect("written");
    let problem: Value = serde_json::from_str(&problem).expect("JSON");
    assert_eq!(problem["kernel"]["reference"], "minimum.ref.c");
    let reference = fs::read_to_string(folder.path().join("minimum.ref.c")).expect("written");
    assert!(reference.contains("void reference(const int *input, int *minima)"), "{reference}");
    let (_, errors, status) = tickbound(folder.path(), &arguments);
    let why = "tickbound: minimum.json: it exists; add --force to replace it, or choose another \
        name with --output\n";
    assert_eq!((errors.as_str(), status), (why, 2));
}

#[test]
fn mistakes_name_the_fix() {
    let Some(folder) = folder_with("minimum.cl") else { return };
    fs::write(folder.path().join("broken.cl"), "kernel void k(global int *a) { a[0] = ; }")
        .expect("written");
    let cases: [(&[&str], &str); 7] = [
        (
            &["probe.json"],
            "probe.json: is no source of a kernel; `tickbound tune probe.json` takes problem files",
        ),
        (&["none.cl"], "none.cl: there is no such file; give the path of a kernel's source"),
        (&["broken.cl"], "broken.cl:1: expected expression; correct the source"),
        (
            &["minimum.cl", "--entry", "maximum"],
            "minimum.cl: there is no kernel `maximum`; --entry may be minimum",
        ),
        (
            &["minimum.cl", "--output", "../a.json"],
            "--output ../a.json: the problem file names the source beside it; \
             choose a name in the source's folder",
        ),
        (
            &["minimum.cl", "--output", "minimum.cl", "--force"],
            "--output minimum.cl: this command reads or keeps \
             that file; choose another name",
        ),
        (
            &["minimum.cl", "--platform", "h2000", "--force"],
            "platform: no platform is called `h2000`",
        ),
    ];
    for (arguments, expected) in cases {
        let all: Vec<&str> = ["init"].iter().chain(arguments).copied().collect();
        let (text, errors, status) = tickbound(folder.path(), &all);
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
        assert_eq!((text.as_str(), status), ("", 2), "{arguments:?}");
    }
}

/// A source that calls what another file defines.
#[test]
fn files_before_the_source() {
    let Some(folder) = folder_with("minimum.cl") else { return };
    fs::create_dir(folder.path().join("lib")).expect("made");
    fs::write(folder.path().join("lib/twice.cl"), "float twice(float x) { return x + x; }")
        .expect("written");
    let kernel = "kernel void k(global float *a) { a[get_global_id(0)] = twice(a[0]); }";
    fs::write(folder.path().join("k.cl"), kernel).expect("written");
    let (_, errors, status) = tickbound(folder.path(), &["init", "k.cl"]);
    assert_eq!(status, 2);
    assert!(errors.contains("k.cl:1: nothing defines `twice`, which the source calls"), "{errors}");
    let arguments = ["init", "k.cl", "--before", "lib/twice.cl", "--include", "lib"];
    let (_, errors, status) = tickbound(folder.path(), &arguments);
    assert_eq!((errors.as_str(), status), ("", 0));
    let problem = fs::read_to_string(folder.path().join("k.json")).expect("written");
    let problem: Value = serde_json::from_str(&problem).expect("JSON");
    assert_eq!(problem["kernel"]["opencl"], serde_json::json!(["lib/twice.cl", "k.cl"]));
    assert_eq!(problem["kernel"]["include"], serde_json::json!(["lib"]));
}
