#!/usr/bin/env bash
# Makes sure that Open MPI is here, with its compiler wrapper and mpirun, for products by several processes.
#
# Installs what is missing where that is possible without a question. Where it is not, CI fails; on
# anybody else's machine a message says what to install, and the tests that need it are skipped. The bindings are made with libclang:
# setup-libclang.sh.
set -euo pipefail

here() {
    command -v mpicc >/dev/null 2>&1 && command -v mpirun >/dev/null 2>&1
}

here && exit 0
bash "$(dirname "${BASH_SOURCE[0]}")/install-packages.sh" openmpi-bin libopenmpi-dev || true
here && exit 0
if [ -n "${CI:-}" ]; then
    echo "setup-mpi: Open MPI is needed in CI" >&2
    exit 1
fi
echo "setup-mpi: the tests of several processes are skipped; to run them, install Open MPI (openmpi-bin, libopenmpi-dev), or load your cluster's module" >&2
