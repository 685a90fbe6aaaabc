//! What tickbound answers: the types behind `--json`, and text, tables, pictures and pages.
//!
//! Everything here turns finished results into data, text or pictures, independently of how they
//! were found. Times are in ticks. The same input gives the same bytes.
//!
//! - [`answer`]: the JSON contract of all commands;
//! - [`HeatMap`]: the time over two parameters, as SVG and PNG;
//! - [`write_timeline`]: what each element did when, as Trace Event JSON for Perfetto;
//! - [`Runs`]: the same as a picture;
//! - [`Table`]: aligned columns for a terminal, and the same table in Markdown;
//! - [`MeasuredTimes`]: times of a device, as words, as JSON, and as a [`Chart`];
//! - [`comparison`] and [`html`]: engines side by side, as words and as a page with plots; answers
//!   as pages.

pub mod answer;
#[cfg(all(feature = "measured", feature = "plots"))]
pub mod calibrated;
#[cfg(feature = "plots")]
pub mod chart;
#[cfg(feature = "plots")]
pub mod comparison;
#[cfg(feature = "plots")]
mod error;
#[cfg(feature = "plots")]
pub mod explain;
#[cfg(feature = "plots")]
pub mod heatmap;
#[cfg(feature = "plots")]
pub mod html;
pub mod machine;
#[cfg(all(feature = "measured", feature = "plots"))]
pub mod measured;
#[cfg(all(feature = "measured", feature = "plots"))]
mod measured_chart;
#[cfg(all(feature = "measured", feature = "plots"))]
pub mod measured_page;
#[cfg(feature = "plots")]
pub mod picture;
#[cfg(feature = "plots")]
pub mod runs;
pub mod sarif;
#[cfg(test)]
mod schema;
#[cfg(feature = "plots")]
pub mod table;
#[cfg(feature = "plots")]
pub mod timeline;

#[cfg(feature = "plots")]
pub use chart::Chart;
#[cfg(feature = "plots")]
pub use error::ReportError;
#[cfg(feature = "plots")]
pub use heatmap::{Axis, HeatMap};
#[cfg(all(feature = "measured", feature = "plots"))]
pub use measured::MeasuredTimes;
#[cfg(feature = "plots")]
pub use runs::Runs;
#[cfg(feature = "plots")]
pub use table::Table;
#[cfg(feature = "plots")]
pub use timeline::{TimelineSpan, write_timeline};
