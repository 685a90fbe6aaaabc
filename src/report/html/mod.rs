//! Answers as one HTML page each: what was found, charts, and the configurations.
//!
//! A page is one file that needs no network, for light and dark screens and for narrow ones. Its answer is text and tables that
//! show without script; the script (`page.js`) draws the charts, sorts and filters. Everything that comes from a problem or a
//! result - names, an engine's words - is somebody else's text: it is escaped where it is text of the page, lies as escaped JSON
//! where the script reads it, and the script shows it as text only. A policy in the page forbids it all requests.
//!
//! - [`Page`]: the page of `tune`, `measure` and `score`;
//! - [`Source`], [`page`], [`write()`]: the page of `compare` and `report`.

mod canvas;
mod comparison;
mod engines;
mod figures;
mod lanes;
mod series;
mod sheet;

use minijinja::Environment;
use serde::Serialize;

pub use comparison::{Source, page, series, write};
pub use figures::{Number, grouped};
pub use lanes::{Lane, Lanes, spent};
pub use sheet::{Best, Configurations, Measure, Page, Part, Row, Spent, Stripe};

use super::error::ReportError;

const TEMPLATES: [(&str, &str); 3] = [
    // The names' ending is what turns escaping on.
    ("frame.html", include_str!("frame.html")),
    ("comparison.html", include_str!("comparison.html")),
    ("answer.html", include_str!("answer.html")),
];

/// What is set into the frame of all pages.
#[derive(Serialize)]
struct Framed<'a, T> {
    title: &'a str,
    style: &'static str,
    script: &'static str,
    version: &'static str,
    #[serde(flatten)]
    content: T,
}

/// The page that a template makes of its content.
fn render(template: &str, title: &str, content: impl Serialize) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    let fault = |e: minijinja::Error| ReportError::data("the page", format!("{e:#}"));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).map_err(fault)?;
    }
    let framed = Framed {
        title,
        style: include_str!("style.css"),
        script: include_str!("page.js"),
        version: env!("CARGO_PKG_VERSION"),
        content,
    };
    environment.get_template(template).map_err(fault)?.render(framed).map_err(fault)
}

/// Data as the text of a script element: nothing in it ends the element.
fn embedded(data: &impl Serialize) -> Result<String, ReportError> {
    let text =
        serde_json::to_string(data).map_err(|e| ReportError::data("the page", e.to_string()))?;
    Ok(text.replace('<', "\\u003c"))
}
