#!/usr/bin/env bash
# Finds or fetches cvc5 for the test that has another solver answer our questions: a virtual environment
# in .deps/cvc5, made once (about 50 MB). If it cannot be made, it says why, and the test skips itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "setup-cvc5: $*" >&2; }
environment=.deps/cvc5
if ! "$environment/bin/python" -c 'import cvc5' >/dev/null 2>&1; then
    say "fetching the Python package cvc5"
    rm -rf "$environment"
    if ! python3 -m venv "$environment" >&2 ||
        ! "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-input cvc5 >&2; then
        rm -rf "$environment"
        say "cvc5 could not be fetched; its test is left out (pip install cvc5)"
    fi
fi
