#!/usr/bin/env bash
# Makes sure that libclang and clang's own headers are here, for reading OpenCL kernels.
#
# Installs what is missing where that is possible without a question. Where it is not, CI fails; on
# anybody else's machine a message says what to install, and the tests that need it are skipped.
set -euo pipefail

# The folders of all versions of clang that distributions install.
folders=(/usr/lib/llvm-*/lib /usr/lib/llvm/*/lib /usr/lib /usr/lib64 /usr/local/lib)

library() {
    local ldconfig folder
    if [ -n "${LIBCLANG_PATH:-}" ]; then
        [ -f "$LIBCLANG_PATH" ] || compgen -G "$LIBCLANG_PATH/libclang*.so*" >/dev/null
        return
    fi
    ldconfig=$(command -v ldconfig || echo /sbin/ldconfig)
    { "$ldconfig" -p 2>/dev/null || true; } | grep -q 'libclang[-.0-9]*\.so' && return 0
    for folder in "${folders[@]}"; do
        compgen -G "$folder/libclang.so*" >/dev/null && return 0
        compgen -G "$folder/libclang-[0-9]*.so*" >/dev/null && return 0
    done
    return 1
}

headers() {
    local folder
    for folder in "${folders[@]}" ${LIBCLANG_PATH:+"$LIBCLANG_PATH" "$LIBCLANG_PATH/../lib"}; do
        compgen -G "$folder/clang/*/include/opencl-c-base.h" >/dev/null && return 0
    done
    return 1
}

# The version that is installed, or the one that `libclang1` would bring: 15 of libclang1-15.
version() {
    local number='s/.*libclang1-\([0-9]\+\).*/\1/p'
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' 'libclang1-*' 2>/dev/null |
        sed -n '/^installed /'"$number" | sort -rn | grep -m 1 . ||
        apt-cache depends libclang1 2>/dev/null | sed -n "$number" | grep -m 1 . || true
}

install() {
    local here found
    here=$(dirname "${BASH_SOURCE[0]}")
    found=$(version)
    if [ -z "$found" ]; then
        # A fresh image has no package lists; this brings them.
        bash "$here/install-packages.sh" libclang1 || return 1
        found=$(version)
    fi
    [ -n "$found" ] || return 1
    bash "$here/install-packages.sh" "libclang1-$found" "libclang-common-$found-dev"
}

library && headers && exit 0
install || true
library && headers && exit 0
if [ -n "${CI:-}" ]; then
    echo "setup-libclang: libclang and its headers are needed in CI" >&2
    exit 1
fi
echo "setup-libclang: the tests that read OpenCL kernels are skipped; to run them, install libclang (libclang1) and clang's headers (libclang-common-*-dev of the same version)" >&2
