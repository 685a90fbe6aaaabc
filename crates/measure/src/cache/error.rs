//! Why a cache cannot be used.

use std::path::{Path, PathBuf};

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The file cannot be read or written.
    #[error("{}: {error}; choose another file with --cache", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is something else.
    #[error("{}: is no cache of measurements, or was cut within its first lines; remove it, or \
        choose another file with --cache", path.display())]
    NoCache {
        /// The file.
        path: PathBuf,
    },
    /// It is about something else.
    #[error("{}: {why}; choose another file with --cache", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// A parameter has the name of a field of the file.
    #[error(
        "parameters.{0}: `{0}` is the name of a field of each result in a cache; rename the \
         parameter"
    )]
    Name(String),
    /// Another process writes to it.
    #[error("{}: another process measures into it; wait for it, or choose another file with \
        --cache", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

pub(super) fn at(path: &Path) -> impl Fn(std::io::Error) -> CacheError + use<> {
    let path = path.to_owned();
    move |error| CacheError::File { path: path.clone(), error }
}
