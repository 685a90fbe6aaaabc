//! What is wrong with a dataset.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::format::{FORMAT, MANIFEST, VERSION};

/// What is wrong with a dataset.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// A file or the folder cannot be read or written.
    #[error("{}: {error}; make room or choose another folder, then run the same again to go on", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// There is no dataset.
    #[error("{}: there is no {FORMAT} here, as {MANIFEST} is missing", path.display())]
    Absent {
        /// The folder.
        path: PathBuf,
    },
    /// A new dataset is to be made where something else is.
    #[error("{}: the folder is not empty and has no {FORMAT}; choose a new or an empty one", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// The manifest is none.
    #[error("{}: not the manifest of a {FORMAT}: {why}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Made by another version of this crate.
    #[error("{}: version {found} of a {FORMAT}; this program reads and writes version {VERSION}; use the program that made it", path.display())]
    Version {
        /// The manifest.
        path: PathBuf,
        /// The version that it says.
        found: u64,
    },
    /// The folder has the blocks of another product, or other blocks of this one.
    #[error("{}: holds another product or blocks of another size ({what} differs); choose another folder, or the same options as before", path.display())]
    Other {
        /// The manifest.
        path: PathBuf,
        /// What is not the same.
        what: &'static str,
    },
    /// A file that the manifest does not know.
    #[error("{}: does not belong to the dataset; remove it", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A block is not what was written.
    #[error("{}: damaged: {why}; run the composition again with this folder to make the block anew", path.display())]
    Damaged {
        /// The block's file.
        path: PathBuf,
        /// What is not as it was.
        why: String,
    },
    /// Not all blocks are there.
    #[error("{}: not complete: {written} of {} blocks are there; run the composition again with this folder to go on", path.display(), blocks.map_or("all".into(), |blocks| blocks.to_string()))]
    Incomplete {
        /// The folder.
        path: PathBuf,
        /// Blocks that are there.
        written: usize,
        /// Blocks of the product, if that is known.
        blocks: Option<usize>,
    },
    /// Another process writes to the folder.
    #[error("{}: another process writes to this folder; wait for it, or choose another folder", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
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
