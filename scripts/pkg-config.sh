#!/usr/bin/env bash
# pkg-config, as .cargo/config.toml gives it to the build scripts. Asked for z3 in a checkout that `make setup` has not seen, it
# does that first, so that `cargo build` and `cargo install --path .` work in a fresh clone. A crate elsewhere that uses these
# crates names this file in the variable PKG_CONFIG.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case " $* " in
*" z3 "*)
    if [ ! -f "$here/../.deps/z3/stamp" ]; then
        # Several build scripts may ask at the same time.
        mkdir -p "$here/../.deps"
        exec 9>"$here/../.deps/setup.lock"
        ! command -v flock >/dev/null || flock 9
        [ -f "$here/../.deps/z3/stamp" ] || bash "$here/setup-z3.sh" >&2 9>&-
    fi
    export PKG_CONFIG_PATH=$here/../.deps/z3/pkgconfig
    ;;
esac
exec pkg-config "$@"
