//! What is wrong with a dataset or a job.

use std::path::{Path, PathBuf};

use thiserror::Error;
use tickbound_reo::limits::Stopped;
use tickbound_reo::product::dense::DenseError;
use tickbound_reo::product::reachable::StreamError;
use tickbound_reo_opencl::MultiplierError;

use crate::format::FORMAT;

/// A result that may be a [`DatasetError`].
pub type DatasetResult<T> = Result<T, DatasetError>;

/// A result that may be a [`StreamJobError`].
pub type JobResult<T> = Result<T, StreamJobError>;

/// What is wrong with a dataset.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// A file or the folder cannot be used, or is not of this dataset: why, and the fix.
    #[error("{0}: {1}")]
    Unusable(PathBuf, String),
    /// A block's file is not what was written: how.
    #[error("{0}: damaged: {1}; run the composition again with this folder to make the block anew")]
    Damaged(PathBuf, String),
    /// Another process writes to the folder.
    #[error("{0}: another process writes to this folder; wait for it, or choose another folder")]
    Busy(PathBuf),
    /// Somebody stopped it.
    #[error("stopped")]
    Stopped,
}

impl DatasetError {
    pub(crate) fn unusable(path: &Path, why: impl Into<String>) -> DatasetError {
        DatasetError::Unusable(path.to_owned(), why.into())
    }

    pub(crate) fn file(path: &Path) -> impl Fn(std::io::Error) -> DatasetError + use<> {
        let path = path.to_owned();
        let fix = "make room or choose another folder, then run the same again to go on";
        move |error| DatasetError::unusable(&path, format!("{error}; {fix}"))
    }

    /// A folder with the blocks of another product, or blocks of another size: `what` differs.
    pub(crate) fn other(manifest: &Path, what: &str) -> DatasetError {
        let why = format!("holds another product or blocks of another size ({what} differs)");
        let fix = "choose another folder, or the same options as before";
        DatasetError::unusable(manifest, format!("{why}; {fix}"))
    }

    pub(crate) fn manifest(path: &Path, why: &str) -> DatasetError {
        DatasetError::unusable(path, format!("not the manifest of a {FORMAT}: {why}"))
    }
}

/// Why a product was not made, or not written.
#[derive(Debug, Error)]
pub enum StreamJobError {
    /// The dense product cannot be made.
    #[error(transparent)]
    Dense(#[from] MultiplierError),
    /// The reachable product cannot be made.
    #[error(transparent)]
    Reachable(#[from] StreamError),
    /// The dataset cannot be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Other ranks cannot be reached.
    #[error("the exchange between ranks: {0}")]
    Exchange(#[from] std::io::Error),
    /// Too little memory, an unreadable formula or too many names: what and why.
    #[error("{0}")]
    Refused(String),
    /// The writer has ended with an error.
    #[error("the writer has stopped")]
    Writer,
}

impl StreamJobError {
    pub(crate) fn is_interruption(&self) -> bool {
        let why = match self {
            StreamJobError::Dense(MultiplierError::Dense(DenseError::Stopped(why)))
            | StreamJobError::Reachable(StreamError::Stopped(why)) => why,
            _ => return false,
        };
        matches!(why, Stopped::Interrupted)
    }
}
