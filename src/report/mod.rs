//! What a person looks at: heat maps, timelines and tables.
//!
//! Everything here turns finished results into text or pictures and knows nothing of how they were
//! found. Times are in ticks throughout. The same input gives the same bytes.
//!
//! - [`HeatMap`]: the time over two parameters, as SVG and PNG;
//! - [`write_timeline`]: who did what when, as Trace Event JSON for Perfetto;
//! - [`Table`]: aligned columns for a terminal, and the same table in Markdown;
//! - [`MeasuredTimes`]: times of a device, as words, as JSON, and as a [`Chart`];
//! - [`comparison`] and [`html`]: engines side by side, as words and as a page with plots.

use std::path::{Path, PathBuf};

use thiserror::Error;

pub mod chart;
pub mod comparison;
pub mod explain;
pub mod heatmap;
pub mod html;
pub mod measured;
mod measured_chart;
pub mod picture;
pub mod table;
pub mod timeline;

pub use chart::Chart;
pub use heatmap::{Axis, HeatMap};
pub use measured::MeasuredTimes;
pub use table::Table;
pub use timeline::{TimelineSpan, write_timeline};

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
    fn data(what: impl Into<String>, why: impl Into<String>) -> Self {
        ReportError::Data { what: what.into(), why: why.into() }
    }

    fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<'_> {
        |source| ReportError::Write { path: path.to_owned(), source }
    }

    fn draw(path: &Path, why: &impl ToString) -> Self {
        ReportError::Draw { path: path.to_owned(), why: why.to_string() }
    }
}
