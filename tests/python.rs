//! The Python package in `python/`, with its own tests, on the program that was built.

use std::path::PathBuf;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;

use crate::compare::python_with;

/// With Kernel Tuner all of them run; without it, those that need it are skipped.
#[test]
fn the_package_does_what_it_promises() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let python = python_with("kernel-tuner", "kernel_tuner").unwrap_or_else(|| "python3".into());
    let run = Command::new(&python)
        .args(["-W", "ignore", "-m", "unittest", "discover", "-v", "-s", "python/tests"])
        .current_dir(&root)
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
    assert!(said.contains("test_a_file_and_a_dictionary"), "{said}");
}
