//! Why a report could not be made.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a report could not be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The data does not fit together: what was to be reported, for example `heat map "abstract"`,
    /// and what does not fit.
    #[error("{0}: {1}")]
    Data(String, String),
    /// A file could not be written, and the operating system's message.
    #[error("{0}: cannot be written: {1}")]
    Write(PathBuf, #[source] std::io::Error),
    /// A picture could not be drawn or saved in its file, and the drawing library's message.
    #[error("{0}: cannot be drawn: {1}")]
    Draw(PathBuf, String),
    /// A stream could not be written.
    #[error("the timeline cannot be written: {0}")]
    Stream(#[from] std::io::Error),
}

impl ReportError {
    pub(super) fn data(what: impl Into<String>, why: impl Into<String>) -> Self {
        ReportError::Data(what.into(), why.into())
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<'_> {
        |error| ReportError::Write(path.to_owned(), error)
    }

    pub(super) fn draw(path: &Path, why: &impl ToString) -> Self {
        ReportError::Draw(path.to_owned(), why.to_string())
    }
}
