#!/usr/bin/env bash
# Measures both ends of open schedules, beside CP-SAT, and writes docs/results/schedules.md.
#
#   scripts/schedules-report.sh PROGRAM
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=target/schedules.md
# The bench runs in the folder of its crate.
python=$(bash scripts/setup-python.sh cp-sat ortools)
export PYTHON=${python:+$(realpath -s "$python")}
# shellcheck disable=SC2046
cargo bench --locked $(cat .deps/z3/cargo-flags) -p tickbound-schedules --bench ends >$page
python3 scripts/schedules-space.py "$1" crates/schedules/benches/space.json >>$page
printf '\nWritten on %s, on %s cores of%s.\n' "$(date -u +%F)" "$(nproc)" \
    "$(sed -n 's/^model name.*://p' /proc/cpuinfo | head -n 1)" >>$page
mv $page docs/results/schedules.md
