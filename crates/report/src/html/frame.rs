//! What all pages have in common: the frame, the style and the script.

use minijinja::Environment;
use serde::Serialize;
use tickbound_input::message::{printable, printable_json};

use crate::error::ReportError;

const TEMPLATES: [(&str, &str); 4] = [
    // The names' ending is what turns escaping on.
    ("frame.html", include_str!("frame.html")),
    ("comparison.html", include_str!("comparison.html")),
    ("answer.html", include_str!("answer.html")),
    ("connector.html", include_str!("connector.html")),
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

pub(super) fn render(
    template: &str,
    title: &str,
    content: impl Serialize,
) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    let fault = |e: minijinja::Error| ReportError::data("the page", format!("{e:#}"));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).map_err(fault)?;
    }
    let framed = Framed {
        title,
        style: include_str!("style.css"),
        script: match template {
            "connector.html" => include_str!("connector.js"),
            _ => include_str!("page.js"),
        },
        version: env!("CARGO_PKG_VERSION"),
        content,
    };
    let page = environment.get_template(template).map_err(fault)?.render(framed).map_err(fault)?;
    Ok(printable(&page).into_owned())
}

/// Data as the text of a script element: nothing in it ends the element.
pub(super) fn embedded(data: &impl Serialize) -> Result<String, ReportError> {
    let text =
        serde_json::to_string(data).map_err(|e| ReportError::data("the page", e.to_string()))?;
    Ok(printable_json(&text).replace('<', "\\u003c"))
}
