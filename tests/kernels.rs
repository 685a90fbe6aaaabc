//! The example kernels on a device: from OpenCL C to a model, its optimum, measured times, and how
//! well the two agree; and right results over their spaces.
//!
//! A device is needed, such as PoCL. Where there is none these tests say so and do nothing, except
//! on CI, where that is a failure.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::TempDir;

/// Whether there is a device; says so if not.
fn device() -> bool {
    let listing = tickbound_device::list();
    let absent = listing.absent();
    assert!(absent.is_none() || std::env::var_os("CI").is_none(), "{absent:?}");
    if let Some(why) = &absent {
        eprintln!("skipped: {why}");
    }
    absent.is_none()
}

fn kernel(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/kernels/{name}.json"))
}

/// Runs a command about an example kernel of size `small` and reads what it prints as JSON.
fn tickbound(command: &str, name: &str, arguments: &[&str]) -> Value {
    let mut program = cargo_bin_cmd!("tickbound");
    program.arg(command).arg(kernel(name)).args(["--size", "small", "--json"]).args(arguments);
    let output = program.timeout(Duration::from_secs(600)).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command} {name}: {error}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {error}"))
}

#[test]
fn minimum_from_its_source_to_the_comparison() {
    if !device() {
        return;
    }
    // Extract: in one launch every element is read once, and every group writes its minimum.
    let explained = tickbound("explain", "minimum", &["--set", "WG=128", "--set", "TS=16"]);
    assert_eq!(explained["configurations"], 56);
    assert_eq!(explained["counts"]["global"], 65536 + 32);
    assert_eq!(explained["counts"]["local"], 2 * 65536 + 65536 / 16 + 32 * 128);

    // Tune: the paper's kernel on the platform of its problem file.
    let tuned = tickbound("tune", "minimum", &["--profile", "opencl"]);
    assert_eq!(tuned["status"], "optimal");
    assert_eq!(tuned["time"], 28844);
    assert_eq!(tuned["configuration"], serde_json::json!({ "WG": 128, "TS": 16 }));

    // Measure: the whole space, every result right.
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (cache, t4, plot) = (path("cache.json"), path("t4.json"), path("plot.svg"));
    let measured = tickbound(
        "measure",
        "minimum",
        &["--all", "--profile", "opencl", "--cache", &cache, "--t4", &t4, "--plot", &plot],
    );
    assert_eq!((&measured["asked"], &measured["measured"]), (&56.into(), &56.into()));
    assert_eq!(measured["checked"], true);
    let results = measured["results"].as_array().expect("results");
    for result in results {
        assert!(result["time"].as_f64().is_some_and(|t| t > 0.0), "{result}");
        assert!(result["GB/s"].as_f64().is_some_and(|t| t > 0.0), "{result}");
    }
    // The model's times are those of the kernel alone, without what the host does at the end.
    let ticks = |result: &Value| result["ticks"].as_i64().expect("ticks");
    let least = results.iter().map(ticks).min().expect("a result");
    let fastest: Vec<_> = results.iter().filter(|r| ticks(r) == least).collect();
    assert!(least < 28844, "{least}");
    assert_eq!(fastest.len(), 1, "the model's optimum is among what was measured");
    assert_eq!(fastest[0]["configuration"], serde_json::json!({ "WG": 128, "TS": 4 }));
    assert!(std::fs::read_to_string(&plot).expect("a plot").contains("GB/s"));

    // Compare: how well the model ranks what was measured.
    for results in [&cache, &t4] {
        let score = tickbound("score", "minimum", &["--against", results]);
        assert_eq!(score["entries"], 56);
        let spearman = score["spearman"].as_f64().expect("a correlation");
        assert!((-1.0..=1.0).contains(&spearman), "{score}");
        let reached = score["reached"][0]["model"].as_f64().expect("a fraction");
        assert!(reached > 0.0 && reached <= 1.0, "{score}");
    }
}

/// Every configuration that was asked for has a time, which it has only with right results.
fn right(name: &str, which: &[&str], configurations: usize) {
    if !device() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let cache = folder.path().join("cache.json").to_string_lossy().into_owned();
    let mut arguments = vec!["--cache", &cache, "--run-timeout", "60"];
    arguments.extend(which);
    let measured = tickbound("measure", name, &arguments);
    assert_eq!(measured["asked"], configurations, "{name}");
    assert_eq!(measured["measured"], configurations, "{name}: {}", measured["failed"]);
    assert_eq!(measured["checked"], true, "{name}");
}

#[test]
fn whole_spaces_are_right() {
    right("reduction", &["--all"], 144);
    right("transpose", &["--all"], 40);
}

/// Few of each, which a compiler of OpenCL takes seconds for: `crates/opencl/tests/kernels` has 20
/// of the same spaces, built by the compiler of the host, against the same references.
#[test]
fn samples_of_large_spaces_are_right() {
    for name in
        ["gemm", "convolution", "dedispersion", "nbody", "coulomb", "coulomb-column", "stencil"]
    {
        right(name, &["--sample", "6", "--seed", "5"], 6);
    }
}
