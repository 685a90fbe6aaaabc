//! The scripts that `cargo xtask run NAME` starts, in the root of the project.
//!
//! Each is a line for bash. `$FLAGS` are the flags that cargo needs for the Z3 that `make setup`
//! has chosen, `$PROGRAM` is the optimised program, and `$@` what stands behind the name.

use std::error::Error;
use std::fmt::Write;
use std::process::{Command, ExitCode};

use crate::project::root;

/// A script: its name, what it does, and the line.
type Script = (&'static str, &'static str, &'static str);

const SCRIPTS: [Script; 21] = [
    (
        "advisories",
        "known faults of the dependencies (needs the network)",
        r#""$(bash scripts/setup-cargo-deny.sh)" --locked check advisories"#,
    ),
    ("bench", "the page docs/results/encodings.md", "cargo bench $FLAGS --bench report -- --write"),
    (
        "coverage",
        "how much of folders of kernels is read and tuned: docs/results/coverage.md",
        r#"python3 scripts/coverage.py $PROGRAM docs/results/coverage.md \
            --date $(date -I) "${@:-examples/kernels}""#,
    ),
    (
        "dist",
        "a tarball and a Python wheel that need the C library alone: target/dist (an hour at \
         first)",
        "bash scripts/dist.sh $@",
    ),
    (
        "fuzz",
        "fuzz all readers for the given seconds (600)",
        "TICKBOUND_FUZZ_SECONDS=${1:-600} cargo test --release $FLAGS --test tests -- --nocapture \
         fuzz::",
    ),
    (
        "fuzz-guided",
        "fuzz the readers guided by coverage for the given seconds (600); nightly Rust",
        "bash scripts/fuzz-guided.sh ${1:-600}",
    ),
    (
        "guards",
        "launches whose groups differ: docs/results/guards.md",
        "python3 scripts/guards-report.py $PROGRAM docs/results/guards.md --date $(date -I)",
    ),
    (
        "kernels",
        "the example kernels on the first OpenCL device, beside the model: docs/results/kernels.md",
        "python3 scripts/kernels-report.py $PROGRAM docs/results --date $(date -I) --size small \
         --sample 100 $@",
    ),
    ("mpi", "products by 1, 2 and 4 processes over MPI", "bash scripts/test-mpi.sh --locked"),
    (
        "mutants",
        "change bounds, caches and the reachable product, and tell what no test sees (hours)",
        "bash scripts/mutants.sh $@",
    ),
    (
        "oldest",
        "check with the oldest Rust that Cargo.toml names, where rustup has it",
        "bash scripts/check-oldest-rust.sh $FLAGS",
    ),
    (
        "outside",
        "build and run crates outside the workspace that use the optimiser alone",
        "bash scripts/try-outside.sh",
    ),
    (
        "readme",
        "run the commands of README.md and docs/, and replace what they print (--check compares)",
        "PYTHON=$(bash scripts/setup-python.sh cp-sat ortools) python3 scripts/readme-blocks.py \
         --program $PROGRAM $@",
    ),
    (
        "reliability",
        "bad inputs, stops at random moments, kills: docs/reliability.md (two hours)",
        "python3 scripts/reliability.py $PROGRAM docs/reliability.md --date $(date -I) $@",
    ),
    (
        "reo",
        "the products of connectors measured: docs/results/reo.md, docs/results/streams.md",
        "bash scripts/reo-report.sh $PROGRAM docs/results",
    ),
    (
        "schedules",
        "both ends of open schedules, beside CP-SAT: docs/results/schedules.md",
        "bash scripts/schedules-report.sh $PROGRAM",
    ),
    (
        "schema",
        "docs/reference/answer.schema.json, from the types",
        "WRITE_SCHEMA=1 cargo test $FLAGS -p tickbound-report --lib schema",
    ),
    (
        "scores",
        "the profile resources beside published measurements in a folder: \
         docs/results/predictions.md",
        "python3 scripts/scores.py $PROGRAM ${1:-../data} docs/results/predictions.md --date \
         $(date -I) ${2:+--problems $2} ${3:+--scored-only $3} ${4:+--sources $4}",
    ),
    (
        "spaces",
        "strategies, CP-SAT and Kernel Tuner over growing spaces: docs/results/spaces.*",
        "PYTHON=$(bash scripts/setup-python.sh cp-sat ortools) \
         HIGHS=$(bash scripts/setup-python.sh highs highspy) \
         KERNEL_TUNER=$(bash scripts/setup-python.sh kernel-tuner kernel_tuner) \
         cargo bench $FLAGS --bench spaces -- --write",
    ),
    (
        "test-long",
        "also the tests that are too slow for every day",
        "cargo test --release --workspace --lib --bins --tests $FLAGS -- --include-ignored",
    ),
    (
        "wheels",
        "renew versions and sums of the Python wheels that set-up fetches (needs the network)",
        "python3 scripts/wheels.py $@",
    ),
];

/// The scripts and what they do, a line each.
pub fn list() -> String {
    let mut text = String::new();
    for (name, about, _) in SCRIPTS {
        let _ = writeln!(text, "  {name:<12} {about}");
    }
    text
}

/// Runs a script.
///
/// # Errors
/// No script has this name, or bash cannot be started.
pub fn run(name: &str, arguments: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let Some((.., line)) = SCRIPTS.iter().find(|(own, ..)| *own == name) else {
        return Err(format!("no script is called {name}; there are\n{}", list()).into());
    };
    let build = if line.contains("$PROGRAM") { "cargo build --release $FLAGS\n" } else { "" };
    let whole = format!(
        "set -euo pipefail\nFLAGS=\"--locked $(cat .deps/z3/cargo-flags)\"\n\
         PROGRAM=${{CARGO_TARGET_DIR:-target}}/release/tickbound\n{build}{line}"
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &whole, name]).args(arguments).current_dir(root());
    let status = bash.status()?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
