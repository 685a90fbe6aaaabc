#!/usr/bin/env bash
# Finds or fetches Kernel Tuner for `make spaces-report`, and prints the Python that has it:
#
#   1. $KERNEL_TUNER, or python3, if it has the package kernel_tuner;
#   2. else a virtual environment in .deps/kernel-tuner, made once.
#
# If neither works it says why and prints `python3`; the report then goes without Kernel Tuner.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "setup-kernel-tuner: $*" >&2; }
has_kernel_tuner() { "$1" -c 'import kernel_tuner' >/dev/null 2>&1; }

python=${KERNEL_TUNER:-python3}
environment=.deps/kernel-tuner
if has_kernel_tuner "$python"; then
    echo "$python"
elif has_kernel_tuner "$environment/bin/python"; then
    echo "$environment/bin/python"
else
    say "fetching the Python package kernel_tuner"
    rm -rf "$environment"
    if python3 -m venv "$environment" >&2 &&
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-input kernel_tuner >&2; then
        echo "$environment/bin/python"
    else
        rm -rf "$environment"
        say "Kernel Tuner could not be fetched; the report goes without it (pip install kernel_tuner)"
        echo python3
    fi
fi
