#!/usr/bin/env bash
# Puts the manual pages and completions of a program where shells and `man` look for them:
#
#   scripts/man-pages.sh PROGRAM SHARE     SHARE is PREFIX/share
set -euo pipefail

program=$1
share=$2

"$program" manual "$share/man/man1"
# complete SHELL FILE
complete() {
    mkdir -p "$share/$(dirname "$2")"
    "$program" completions "$1" >"$share/$2"
}
complete bash bash-completion/completions/tickbound
complete zsh zsh/site-functions/_tickbound
complete fish fish/vendor_completions.d/tickbound.fish
