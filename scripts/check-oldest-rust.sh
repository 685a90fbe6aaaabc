#!/usr/bin/env bash
# Checks the workspace with the oldest Rust that Cargo.toml names, where rustup has that toolchain.
# Elsewhere clippy's lint `incompatible_msrv` is what holds the code to that version's library.
#
#   scripts/check-oldest-rust.sh [arguments of cargo]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if command -v rustup >/dev/null && rustup toolchain list | grep -q "^$oldest"; then
    cargo "+$oldest" check --workspace "$@"
else
    echo "check-oldest-rust: no Rust $oldest here (rustup toolchain install $oldest); only clippy looks at it"
fi
