//! Runs the real SPIN on exported models, without `tickbound_spin`, which has tests of its own, and
//! with a compiler that does not optimise: hundreds of small verifiers are made. `tcc` takes a
//! twentieth of the time that `cc -O0` takes; where it is not installed, `cc` does.
//!
//! Without spin or a C compiler the tests that need them are skipped, with a message; in CI that is
//! a failure.

pub mod here;

pub use here::here;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use indexmap::IndexMap;
use tickbound_model::Problem;
use tickbound_spin::promela::Model;

/// What SPIN says of a path that it has cut.
const TOO_DEEP: &str = "max search depth too small";

/// A problem from JSON, on a shipped platform or its own.
pub fn problem(text: &str, inputs: &[(&str, i64)]) -> Problem {
    let inputs: IndexMap<String, i64> = inputs.iter().map(|(n, v)| ((*n).into(), *v)).collect();
    Problem::from_json(text, &inputs, &tickbound_model::platforms::find).unwrap()
}

/// Every time of every configuration, as SPIN finds them in an exhaustive search that must come to
/// its end without a deadlock, a false assertion or a cut path.
pub fn times(model: &Model, optimise: &str) -> BTreeMap<Vec<i64>, BTreeSet<i64>> {
    let folder = tempfile::tempdir().unwrap();
    let run = |program: &str, arguments: &[&str]| run(folder.path(), program, arguments);
    std::fs::write(folder.path().join("model.pml"), &model.text).unwrap();
    run("spin", &["-DTIMES", "-a", "model.pml"]);
    let vector = format!("-DVECTORSZ={}", model.vector_bytes.max(1024));
    run(
        if optimise == "-O0" { here::compiler() } else { "cc" },
        &[optimise, "-w", "-DSAFETY", "-DNOCLAIM", "-DMEMLIM=4000", &vector, "-o", "pan", "pan.c"],
    );
    let pan = folder.path().join("pan").to_string_lossy().into_owned();
    // The verifier clears its stack, which takes longer than most searches.
    let searched =
        |depth| String::from_utf8_lossy(&run(&pan, &[depth, "-w16"]).stdout).into_owned();
    let text = Some(searched("-m50000")).filter(|text| !text.contains(TOO_DEEP));
    let text = text.unwrap_or_else(|| searched("-m5000000"));
    assert!(text.contains("errors: 0") && text.contains("Full statespace search"), "{text}");
    for cut in ["Search not completed", TOO_DEEP, "out of memory", "truncated"] {
        assert!(!text.contains(cut), "{text}");
    }
    let mut times: BTreeMap<Vec<i64>, BTreeSet<i64>> = BTreeMap::new();
    for line in text.lines().filter_map(|l| l.strip_prefix("tickbound: time=")) {
        let mut values = line.split(' ').map(|w| w.rsplit('=').next().unwrap().parse().unwrap());
        let time = values.next().unwrap();
        times.entry(values.collect()).or_default().insert(time);
    }
    times
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    let model = || std::fs::read_to_string(folder.join("model.pml")).unwrap_or_default();
    assert!(output.status.success(), "{program} {arguments:?}: {text}{complaint}\n{}", model());
    assert!(!text.contains("Error:"), "{program} {arguments:?}: {text}\n{}", model());
    output
}
