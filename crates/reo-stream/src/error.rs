//! What is wrong with a dataset or a job.

use std::path::{Path, PathBuf};

use thiserror::Error;
use tickbound_reo::check::FormulaError;
use tickbound_reo::limits::Stopped;
use tickbound_reo::product::dense::{DenseError, MAX_NAMES};
use tickbound_reo::product::reachable::StreamError;
use tickbound_reo_opencl::MultiplierError;

use crate::format::{FORMAT, MANIFEST, VERSION};

/// A result that may be a [`DatasetError`].
pub type DatasetResult<T> = Result<T, DatasetError>;

/// A result that may be a [`StreamJobError`].
pub type JobResult<T> = Result<T, StreamJobError>;

/// What is wrong with a dataset.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// A file or the folder cannot be read or written.
    #[error(
        "{path}: {error}; make room or choose another folder, then run the same again to go on"
    )]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// There is no dataset.
    #[error("{0}: there is no {FORMAT} here, as {MANIFEST} is missing")]
    Absent(PathBuf),
    /// A new dataset is to be made where something else is.
    #[error("{0}: the folder is not empty and has no {FORMAT}; choose a new or an empty one")]
    Occupied(PathBuf),
    /// The manifest is none.
    #[error("{path}: not the manifest of a {FORMAT}: {why}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Made by another version of this crate.
    #[error(
        "{path}: version {found} of a {FORMAT}; this program reads and writes version {VERSION}; \
         use the program that made it"
    )]
    Version {
        /// The manifest.
        path: PathBuf,
        /// The version in it.
        found: u64,
    },
    /// The folder has the blocks of another product, or other blocks of this one.
    #[error(
        "{path}: holds another product or blocks of another size ({what} differs); choose \
         another folder, or the same options as before"
    )]
    Other {
        /// The manifest.
        path: PathBuf,
        /// What is not the same.
        what: &'static str,
    },
    /// A file that the manifest does not know.
    #[error("{0}: does not belong to the dataset; remove it")]
    Foreign(PathBuf),
    /// A block is not what was written.
    #[error(
        "{path}: damaged: {why}; run the composition again with this folder to make the block anew"
    )]
    Damaged {
        /// The block's file.
        path: PathBuf,
        /// What is not as it was.
        why: String,
    },
    /// Not all blocks are there.
    #[error(
        "{path}: not complete: {written} of {} blocks are there; run the composition again with \
         this folder to go on",
        blocks.map_or("all".into(), |blocks| blocks.to_string())
    )]
    Incomplete {
        /// The folder.
        path: PathBuf,
        /// Blocks that are there.
        written: usize,
        /// Blocks of the product, if that is known.
        blocks: Option<usize>,
    },
    /// Another process writes to the folder.
    #[error("{0}: another process writes to this folder; wait for it, or choose another folder")]
    Busy(PathBuf),
    /// Somebody stopped it.
    #[error("stopped")]
    Stopped,
}

impl DatasetError {
    /// An error of the system, with the file that it is about.
    pub(crate) fn file(path: &Path) -> impl Fn(std::io::Error) -> DatasetError + use<> {
        let path = path.to_owned();
        move |error| DatasetError::File { path: path.clone(), error }
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
    /// There is too little memory.
    #[error("{error}{fix}")]
    Memory {
        /// For what.
        error: Stopped,
        /// What else helps.
        fix: &'static str,
    },
    /// A formula cannot be read.
    #[error("{option}: {error}")]
    Formula {
        /// The option that gives it.
        option: &'static str,
        /// What is wrong.
        error: FormulaError,
    },
    /// More names than a label of one word has bits.
    #[error("{connector}: {names} names; --dataset and --invariant take at most {MAX_NAMES}")]
    Names {
        /// The connector.
        connector: String,
        /// How many it has.
        names: usize,
    },
    /// The writer has ended with an error.
    #[error("the writer has stopped")]
    Writer,
}

impl StreamJobError {
    /// Whether the work was stopped from outside.
    pub(crate) fn is_interruption(&self) -> bool {
        let why = match self {
            StreamJobError::Dense(MultiplierError::Dense(DenseError::Stopped(why)))
            | StreamJobError::Reachable(StreamError::Stopped(why)) => why,
            _ => return false,
        };
        matches!(why, Stopped::Interrupted)
    }
}
