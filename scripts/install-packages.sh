#!/usr/bin/env bash
# Installs Debian or Ubuntu packages that are missing.
#
#   scripts/install-packages.sh NAME...
#
# As root it does so directly, else through sudo where that asks for no
# password; where neither works it says what to install and exits with 1.
# Does nothing, at once, where all of them are there.
set -euo pipefail

if [ $# -eq 0 ]; then
    echo "usage: $0 PACKAGE..." >&2
    exit 2
fi

missing=()
for name in "$@"; do
    if ! command -v dpkg-query >/dev/null 2>&1 ||
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || true)" != installed ]; then
        missing+=("$name")
    fi
done
[ ${#missing[@]} -gt 0 ] || exit 0

give_up() {
    echo "install-packages: $1; please install: ${missing[*]}" >&2
    echo "    on Debian and Ubuntu: sudo apt-get install ${missing[*]}" >&2
    exit 1
}

command -v apt-get >/dev/null 2>&1 || give_up "this machine has no apt-get"
if [ "$(id -u)" -eq 0 ]; then
    as_root=(env)
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root=(sudo -n env)
else
    give_up "neither root nor sudo without a password"
fi

install() {
    "${as_root[@]}" DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null >&2
}

echo "install-packages: installing ${missing[*]}" >&2
# A fresh image has no package lists yet, an old one has stale ones.
if ! install; then
    "${as_root[@]}" apt-get update -q </dev/null >&2 || give_up "apt-get update failed"
    install || give_up "apt-get install failed"
fi
