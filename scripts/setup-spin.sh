#!/usr/bin/env bash
# Makes sure that spin and a C compiler are here, for the tests that run SPIN; tcc, too, where it can be had: it
# makes hundreds of small verifiers in a twentieth of the time.
#
# Installs what is missing where that is possible without a question. Where it is not, CI fails; on
# anybody else's machine a message says what to install, and the tests that need it are skipped.
set -euo pipefail

here() {
    command -v spin >/dev/null 2>&1 && command -v cc >/dev/null 2>&1
}

install=$(dirname "${BASH_SOURCE[0]}")/install-packages.sh
if ! command -v tcc >/dev/null 2>&1; then
    # Without it `cc` serves, so nothing is said.
    bash "$install" tcc >/dev/null 2>&1 || true
fi
here && exit 0
bash "$install" spin gcc libc6-dev || true
here && exit 0
if [ -n "${CI:-}" ]; then
    echo "setup-spin: spin and cc are needed in CI" >&2
    exit 1
fi
echo "setup-spin: the tests that run SPIN are skipped; to run them, install spin (https://spinroot.com) and a C compiler" >&2
