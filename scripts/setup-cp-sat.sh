#!/usr/bin/env bash
# Finds or fetches OR-Tools for `make compare`, and prints the Python that has it:
#
#   1. $PYTHON, or python3, if it has the package ortools;
#   2. else a virtual environment in .deps/cp-sat, made once (about 270 MB).
#
# If neither works it says why and prints `python3`; the comparison then says that CP-SAT is not
# installed and goes on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "setup-cp-sat: $*" >&2; }
has_ortools() { "$1" -c 'import importlib.metadata as m; m.version("ortools")' >/dev/null 2>&1; }

python=${PYTHON:-python3}
environment=.deps/cp-sat
if has_ortools "$python"; then
    echo "$python"
elif has_ortools "$environment/bin/python"; then
    echo "$environment/bin/python"
else
    say "fetching the Python package ortools"
    rm -rf "$environment"
    if python3 -m venv "$environment" >&2 &&
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-input ortools >&2; then
        echo "$environment/bin/python"
    else
        rm -rf "$environment"
        say "OR-Tools could not be fetched; the comparison goes without CP-SAT (pip install ortools)"
        echo python3
    fi
fi
