//! What a person looks at: heat maps, timelines and tables.
//!
//! Everything here turns finished results into text or pictures and knows nothing of how they were
//! found. Times are in ticks throughout. The same input gives the same bytes.
//!
//! - [`HeatMap`]: the time over two parameters, as SVG and PNG;
//! - [`write_timeline`]: who did what when, as Trace Event JSON for Perfetto;
//! - [`Runs`]: the same as a picture;
//! - [`Table`]: aligned columns for a terminal, and the same table in Markdown;
//! - [`MeasuredTimes`]: times of a device, as words, as JSON, and as a [`Chart`];
//! - [`comparison`] and [`html`]: engines side by side, as words and as a page with plots; answers as pages.

pub mod chart;
pub mod comparison;
mod error;
pub mod explain;
pub mod heatmap;
pub mod html;
#[cfg(feature = "device")]
pub mod measured;
#[cfg(feature = "device")]
mod measured_chart;
pub mod measured_page;
pub mod picture;
pub mod runs;
pub mod table;
pub mod timeline;

pub use chart::Chart;
pub use error::ReportError;
pub use heatmap::{Axis, HeatMap};
#[cfg(feature = "device")]
pub use measured::MeasuredTimes;
pub use runs::Runs;
pub use table::Table;
pub use timeline::{TimelineSpan, write_timeline};
