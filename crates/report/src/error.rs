//! Why a report could not be made.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a report could not be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The data does not fit together, for example more rows of cells than values on the axis.
    #[error("{what}: {why}")]
    Data {
        /// What was to be reported, for example `heat map "abstract"`.
        what: String,
        /// What does not fit.
        why: String,
    },
    /// A file could not be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A picture could not be drawn or saved.
    #[error("{}: cannot be drawn: {why}", path.display())]
    Draw {
        /// The picture's file.
        path: PathBuf,
        /// What the drawing library says.
        why: String,
    },
    /// A stream could not be written.
    #[error("the timeline cannot be written: {0}")]
    Stream(#[from] std::io::Error),
}

impl ReportError {
    pub(super) fn data(what: impl Into<String>, why: impl Into<String>) -> Self {
        ReportError::Data { what: what.into(), why: why.into() }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<'_> {
        |source| ReportError::Write { path: path.to_owned(), source }
    }

    pub(super) fn draw(path: &Path, why: &impl ToString) -> Self {
        ReportError::Draw { path: path.to_owned(), why: why.to_string() }
    }
}
