//! Why a cache cannot be used.

use std::path::{Path, PathBuf};

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The file cannot be read or written, or is about something else: why.
    #[error("{0}: {1}; choose another file with --cache")]
    File(PathBuf, String),
    /// It is something else.
    #[error("{}: is no cache of measurements, or was cut within its first lines; remove it, or \
        choose another file with --cache", .0.display())]
    NoCache(PathBuf),
    /// A parameter has the name of a field of the file.
    #[error(
        "parameters.{0}: `{0}` is the name of a field of each result in a cache; rename the \
         parameter"
    )]
    Name(String),
    /// Another process writes to it.
    #[error("{}: another process measures into it; wait for it, or choose another file with \
        --cache", .0.display())]
    Locked(PathBuf),
}

pub(super) fn at(path: &Path) -> impl Fn(std::io::Error) -> CacheError + use<> {
    let path = path.to_owned();
    move |error| CacheError::File(path.clone(), error.to_string())
}
