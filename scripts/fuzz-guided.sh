#!/usr/bin/env bash
# Fuzzes the readers with inputs that are guided by coverage (libFuzzer, the targets in fuzz/), for SECONDS in all.
#
#   scripts/fuzz-guided.sh SECONDS [READER...]
#
# Needs a nightly Rust; cargo-fuzz is taken from the PATH or built once into .deps. What is found is in fuzz/artifacts: put it
# into tests/corpus/READER under a name that begins with `bad` if it cannot be read, and `cargo test` tries it ever after. Figures go
# into docs/reliability.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=0.13.2
if [ $# -eq 0 ]; then
    echo "usage: $0 SECONDS [READER...]" >&2
    exit 2
fi
seconds=$1
shift
readers=("$@")
[ ${#readers[@]} -gt 0 ] || readers=(problem platform t1 opencl treo cat reo automata measured)

if ! command -v rustup >/dev/null || ! rustup toolchain list | grep -q '^nightly'; then
    echo "fuzz-guided: no nightly Rust here (rustup toolchain install nightly); \`cargo xtask run fuzz\` works without" >&2
    exit 1
fi
if ! command -v cargo-fuzz >/dev/null; then
    export PATH="$PWD/.deps/cargo-fuzz/bin:$PATH"
    command -v cargo-fuzz >/dev/null ||
        cargo install --quiet --locked --version "$version" --root .deps/cargo-fuzz cargo-fuzz
fi

# Beside the targets, so that libz3 is found from there.
unset CARGO_TARGET_DIR
mkdir -p target/fuzz-guided
failed=0
for reader in "${readers[@]}"; do
    mkdir -p "fuzz/corpus/$reader"
    # No reader comes to unsafe code, so the address sanitizer, which halves the speed, has nothing to find.
    cargo +nightly fuzz run --sanitizer none "$reader" "fuzz/corpus/$reader" "tests/corpus/$reader" -- \
        -max_total_time=$((seconds / ${#readers[@]} + 1)) -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
        2>&1 | tee "target/fuzz-guided/$reader.log" || failed=1
done
python3 scripts/reliability.py - docs/reliability.md --date "$(date +%F)" --inputs 0 --stops 0 --kills 0
exit "$failed"
