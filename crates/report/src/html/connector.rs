//! The page of a connector: pictures to enlarge and search, and the steps of a run lit in them.

use std::path::Path;

use serde::Serialize;

use super::frame::{embedded, render};
use crate::error::ReportError;

/// A picture of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConnectorDrawing {
    /// What it shows.
    pub heading: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// What stands within its SVG element: groups with `data-key`, in which all text is escaped.
    pub markup: String,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lit {
    /// The step as text.
    pub caption: String,
    /// Keys of the groups that are lit.
    pub on: Vec<String>,
}

/// What a page shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectorPage {
    /// The connector's name.
    pub title: String,
    /// A line about it.
    pub about: String,
    /// Its pictures.
    pub pictures: Vec<ConnectorDrawing>,
    /// The beginning of a run and its steps; empty without one.
    pub frames: Vec<Lit>,
}

#[derive(Serialize)]
struct Content<'a> {
    about: &'a str,
    pictures: &'a [ConnectorDrawing],
    frames: usize,
    steps: Vec<&'a str>,
    data: String,
}

#[derive(Serialize)]
struct Data<'a> {
    frames: &'a [Lit],
}

impl ConnectorPage {
    /// The page's text.
    ///
    /// # Errors
    /// A fault of the template, which is ours.
    pub fn html(&self) -> Result<String, ReportError> {
        let content = Content {
            about: &self.about,
            pictures: &self.pictures,
            frames: self.frames.len(),
            steps: self.frames.iter().skip(1).map(|frame| frame.caption.as_str()).collect(),
            data: embedded(&Data { frames: &self.frames })?,
        };
        render("connector.html", &self.title, content)
    }

    /// Writes the page.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        tickbound_os::output::write(path, self.html()?.as_bytes()).map_err(ReportError::write(path))
    }
}
