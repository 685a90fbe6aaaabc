//! Products made by several processes together, over MPI.
//!
//! [`World::start`] joins the processes that `mpirun` or a batch system has started; a [`World`] is
//! the [`Exchange`](tickbound_reo::product::reachable::Exchange) of [`tickbound_reo`], where the
//! protocol is, and its tests. Without the feature `mpi` nothing of the system is needed.
//!
//! **A rank that fails ends all**: it reports why and calls [`World::abort`]; so does a panic.

use thiserror::Error;

#[cfg(not(feature = "mpi"))]
mod none;
#[cfg(feature = "mpi")]
mod world;

#[cfg(not(feature = "mpi"))]
pub use none::NoWorld as World;
#[cfg(feature = "mpi")]
pub use world::World;

/// Why processes cannot work together.
#[derive(Debug, Error)]
pub enum WorldError {
    /// The feature `mpi` is missing.
    #[error(
        "started as one of several processes, and built without MPI; build it with `cargo build \
         --release --features mpi`"
    )]
    Missing,
    /// MPI cannot be started, or has too little support for threads.
    #[error("MPI cannot be started: {0}")]
    Start(&'static str),
}

/// Variables of starters of MPI programs: Open MPI, PRRTE, MPICH, Intel MPI, `srun --mpi=pmix`.
const STARTED: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"];

/// Whether this process was started as one of several that are to work together.
fn is_started() -> bool {
    STARTED.iter().any(|name| std::env::var_os(name).is_some())
}
