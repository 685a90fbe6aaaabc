#!/usr/bin/env bash
# Changes bounds, caches and the reachable product in small ways, one at a time, and tells which changes no test sees.
#
#   scripts/mutants.sh [PART...]        parts: bounds caches reachable; all if there is none
#
# SHARD=K/N does the part K, from 0, of N. What was tried stays in target/mutants/PART: the same command tries again what no
# test saw, and what was left when it was stopped. .cargo/mutants.toml says which files, and which changes nobody can see.
# cargo-mutants is taken from the PATH or from CARGO_MUTANTS, a folder with bin/cargo-mutants. Figures go into docs/reliability.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=27.1.0
[ -z "${CARGO_MUTANTS:-}" ] || export PATH="$CARGO_MUTANTS/bin:$PATH"
if ! command -v cargo-mutants >/dev/null; then
    echo "mutants: no cargo-mutants here; install it, then try again: cargo install --locked --version $version cargo-mutants" >&2
    exit 1
fi
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(bounds caches reachable)

# Each package's own tests; of the program those of the cache, as the others start it and take minutes.
mutants() {
    local out=$1
    shift
    mkdir -p "target/mutants/$out"
    cargo mutants --output "target/mutants/$out" --iterate --no-shuffle ${SHARD:+--shard "$SHARD"} "$@"
}
# 0: all were seen; 2 and 3: some were not, or did not end, which is told at the end and no reason to leave out the next part.
survivors=0
try() {
    local status=0
    mutants "$@" || status=$?
    case $status in
        0) ;;
        2 | 3) survivors=1 ;;
        *) exit "$status" ;;
    esac
}
for part in "${parts[@]}"; do
    case $part in
        bounds)
            try bounds/encodings -p tickbound-encodings
            try bounds/schedules -p tickbound-schedules
            try bounds/solve -p tickbound-solver
            ;;
        caches)
            try caches/opencl-c -p tickbound-opencl
            try caches/measure -p tickbound -- --lib measure::
            ;;
        reachable) try reachable -p tickbound-reo ;;
        *)
            echo "mutants: no part is called $part; known here: bounds caches reachable" >&2
            exit 2
            ;;
    esac
done
echo "mutants: what no test saw:"
cat target/mutants/*/mutants.out/missed.txt target/mutants/*/*/mutants.out/missed.txt 2>/dev/null | sort -u || true
python3 scripts/reliability.py - docs/reliability.md --date "$(date +%F)" --inputs 0 --stops 0 --kills 0
exit "$survivors"
