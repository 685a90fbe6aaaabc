#!/usr/bin/env bash
# setup-python.sh FOLDER PACKAGE... finds or fetches Python packages, and prints the Python that has them:
#
#   1. $PYTHON, or python3, if it has the packages;
#   2. else a virtual environment in .deps/FOLDER, made once (ortools: about 270 MB, cvc5: 50 MB, duckdb: 90 MB, NVIDIA's compiler: 170 MB)
#      out of the wheels that scripts/wheels/PACKAGE.txt lists with their SHA-256 sums (`cargo xtask run wheels` renews it). Where a list
#      has none for this Python or system, or a sum is another one, nothing is installed.
#
# If neither works it says why and prints `python3`; what wanted the package says then that it is absent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ $# -lt 2 ]; then
    echo "usage: setup-python.sh FOLDER PACKAGE..." >&2
    exit 2
fi
environment=.deps/$1
shift
packages=("$@") lists=()
for package in "${packages[@]}"; do
    list=scripts/wheels/$package.txt
    [ -f "$list" ] || { echo "setup-python: $list is missing; scripts/wheels.py $package writes it" >&2; exit 2; }
    lists+=("$list")
done

say() { echo "setup-python: $*" >&2; }
has() { "$1" -c 'import importlib.metadata as m, sys; [m.version(p) for p in sys.argv[1:]]' "${packages[@]}" >/dev/null 2>&1; }

python=${PYTHON:-python3}
if has "$python"; then
    echo "$python"
elif has "$environment/bin/python" && cat "${lists[@]}" | cmp --quiet - "$environment/wheels.txt"; then
    echo "$environment/bin/python"
else
    say "fetching the Python package ${packages[*]}"
    rm -rf "$environment"
    if python3 -m venv "$environment" >&2 &&
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
            --no-compile --only-binary=:all: --require-hashes "${lists[@]/#/--requirement=}" >&2 &&
        cat "${lists[@]}" >"$environment/wheels.txt"; then
        echo "$environment/bin/python"
    else
        rm -rf "$environment"
        say "${packages[*]} could not be fetched as ${lists[*]} says (no network, no wheel for this Python, or another sum; see above); it is done without"
        echo python3
    fi
fi
