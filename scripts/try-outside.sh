#!/usr/bin/env bash
# Builds and runs crates outside the workspace that use the optimiser alone, as somebody else's would: one on `tickbound-solver`,
# one on `tickbound-report` without its features. Nothing of this folder's configuration reaches them but what docs/install.md says.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { echo "try-outside: $*" >&2; }

outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
# Both crates have fewer dependencies than the workspace, hence other features of them, so nothing that its tests have built can be
# used here. What is built for this alone is not optimised, which takes less, and goes to another folder: nothing of the workspace is
# overwritten, as z3-sys was, and nothing that is tested meanwhile is waited for.
target=${CARGO_TARGET_DIR:-$project/target}/outside

# make_crate NAME DEPENDENCY: `bitflags` and `serde` are there for their features, which the second crate's dependencies turn on
# anyway, and which add nothing where a crate has `std`. So the second crate uses what was built for the first.
make_crate() {
    mkdir -p "$outside/$1/src"
    cat >"$outside/$1/Cargo.toml" <<TOML
[package]
name = "$1"
edition = "2024"

[dependencies]
bitflags = { version = "2", features = ["std"] }
indexmap = "2"
serde = { version = "1", features = ["alloc"] }
tickbound-model = { path = "$project/crates/model" }
tickbound-solver = { path = "$project/crates/solver" }
$2

[profile.dev]
opt-level = 0
debug = false
TOML
    # The versions that are tried here.
    cp "$project/Cargo.lock" "$outside/$1/"
}

run() {
    (cd "$outside/$1" && PKG_CONFIG=$project/scripts/pkg-config.sh CARGO_TARGET_DIR=$target cargo run --quiet "${@:2}")
}

make_crate alone ""
cp "$project/examples/tune_kernel.rs" "$outside/alone/src/main.rs"
run alone | tee "$outside/said" >&2
grep -q "^proved: nothing is faster" "$outside/said" || { say "the optimiser alone proves no least time"; exit 1; }

make_crate bare "tickbound-report = { path = \"$project/crates/report\", default-features = false }"
cat >"$outside/bare/src/main.rs" <<'RUST'
use std::error::Error;
use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
use tickbound_model::{Problem, platforms};

fn main() -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(std::env::args().nth(1).ok_or("name a problem file")?)?;
    let problem = Problem::from_json(&text, &IndexMap::new(), &platforms::find)?;
    let result = tickbound_solver::tune(&problem, &Default::default(), &AtomicBool::new(false), &|_| {})?;
    println!("{}", tickbound_report::answer::tune::answer(&problem, &result).json());
    Ok(())
}
RUST
run bare -- "$project/examples/problems/abstract.json" >"$outside/said"
grep -q '"time":156,' "$outside/said" || { say "the library without features answers: $(cat "$outside/said")"; exit 1; }
if (cd "$outside/bare" && cargo tree --offline --edges normal --prefix none) | grep -E '^(clap|opencl3|plotters|signal-hook|indicatif) '; then
    say "the library without features depends on these"
    exit 1
fi
say "two crates outside the workspace use the optimiser alone"
