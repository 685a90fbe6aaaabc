#!/usr/bin/env bash
# Runs the products of several processes with 1, 2 and 4 of them, and one of which a process fails.
#
#   scripts/test-mpi.sh [CARGO FLAGS...]
#
# What is tested is the small program crates/reo-mpi/examples/ranks.rs: the whole program is not built again for it.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
if ! command -v mpicc >/dev/null 2>&1 || ! command -v mpirun >/dev/null 2>&1; then
    [ -z "${CI:-}" ] || { echo "test-mpi: Open MPI is needed in CI: make tools" >&2; exit 1; }
    echo "test-mpi: skipped, as there is no Open MPI: scripts/setup-mpi.sh" >&2
    exit 0
fi
cd "$here/.."
# As a member of the workspace, so that what its tests have built is not built again with other features of dependencies.
cargo build --workspace --features tickbound-reo-mpi/mpi --example ranks "$@"
program=${CARGO_TARGET_DIR:-target}/debug/examples/ranks
# More processes than cores, and by root, as in containers: both are to be asked for.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export RAYON_NUM_THREADS=1
for ranks in 1 2 4; do
    said=$(timeout 300 mpirun -n "$ranks" "$program")
    echo "test-mpi: $said"
    [ "$said" = "$ranks ranks: as one alone" ] || exit 1
done
if said=$(timeout 300 mpirun -n 4 "$program" fail 2>&1); then
    echo "test-mpi: a rank failed, and mpirun says that all is well: $said" >&2
    exit 1
fi
grep -q '^rank 3: this rank fails$' <<<"$said" || { echo "test-mpi: nobody says why it failed: $said" >&2; exit 1; }
echo "test-mpi: a rank that fails ends all"
