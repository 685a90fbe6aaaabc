//! Answers as one HTML page each: what was found, charts, and the configurations.
//!
//! A page is one file that needs no network, for light and dark screens and for narrow ones. Its
//! answer is text and tables that show without script; the script (`page.js`) draws the charts,
//! sorts and filters. Everything that comes from a problem or a result - names, an engine's words -
//! is somebody else's text: it is escaped where it is text of the page, lies as escaped JSON where
//! the script reads it, and the script shows it as text only. A policy in the page forbids it all
//! requests.
//!
//! - [`Page`]: the page of `tune`, `measure`, `score` and `verify`;
//! - [`ConnectorPage`]: the page of `reo draw`;
//! - [`PageSource`], [`page`], [`write()`]: the page of `compare` and `report`.

mod canvas;
mod comparison;
mod connector;
mod engines;
mod figures;
mod frame;
mod lanes;
mod roofline;
mod series;
mod sheet;
mod spent;

pub use comparison::{PageSource, page, series, write};
pub use connector::{ConnectorDrawing, ConnectorPage, Lit};
pub use figures::{FigureNumber, numbers_grouped};
pub use lanes::{Lane, LaneChart};
pub use roofline::RowFloors;
pub use sheet::{
    Best, ClaimRow, ConfigurationTable, Measure, Page, Roofline, RooflineTimes, SheetRow,
};
pub use spent::{SpentChart, SpentPart, Stripe};
