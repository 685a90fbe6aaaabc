//! The Python package in `python/`, with its own tests, on the program that was built.

use std::path::PathBuf;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;

use crate::compare::python_with;

/// Runs the package's tests with the Python that has `package`; prints what ran. Tests that need an
/// absent package are skipped.
fn tested(folder: &str, package: &str, arguments: &[&str], ran: &str) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let python = python_with(folder, package).unwrap_or_else(|| "python3".into());
    let run = Command::new(&python)
        .args(["-W", "ignore", "-m", "unittest"])
        .args(arguments)
        .current_dir(root.join("python/tests"))
        .env("TICKBOUND", cargo_bin("tickbound"))
        .env("PYTHONPATH", root.join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    let Ok(run) = run else {
        eprintln!("skipped: there is no {}", python.display());
        return;
    };
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stdout));
    eprintln!("{said}");
    assert!(said.contains(ran), "{said}");
}

#[test]
fn the_package_does_what_it_promises() {
    tested("kernel-tuner", "kernel_tuner", &["discover", "-v"], "test_a_file_and_a_dictionary");
}

#[test]
fn a_sampler_of_optuna() {
    let trials = "test_trials_are_those_of_a_study";
    tested("optuna", "optuna", &["-v", "test_tickbound.Optuna"], trials);
}
