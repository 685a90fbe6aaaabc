//! The page of `compare` and `report`: engines side by side.
//!
//! ```
//! use tickbound_report::html;
//!
//! let tuned = r#"{ "time": 44, "status": "optimal", "lower": 44, "configuration": { "WG": 4 },
//!                  "strategy": "race", "encoding": "summary", "seconds": 0.01 }"#;
//! let page = html::page(&[html::PageSource::read("a<b>.json", tuned).unwrap()]).unwrap();
//! assert!(page.contains("a&lt;b&gt;.json") && !page.contains("a<b>"));
//! ```

use itertools::Itertools;
use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::engines;
use super::figures::numbers_grouped;
use super::frame::render;
use crate::answer::Answer;
use crate::answer::comparison::{Case, Comparison, FORMAT, Row};
use crate::comparison;
use crate::error::ReportError;

/// Results to report: those of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct PageSource {
    /// The file; empty if the results come from this run.
    name: String,
    /// What was measured where, if the file reports it.
    comparison: Option<Comparison>,
    cases: Vec<Case>,
}

impl From<Comparison> for PageSource {
    fn from(comparison: Comparison) -> Self {
        let cases = comparison.cases.clone();
        PageSource { name: String::new(), comparison: Some(comparison), cases }
    }
}

impl PageSource {
    /// Reads what `compare --json` or `tune --json` has printed into the file called `name`.
    ///
    /// # Errors
    /// Text that is neither.
    pub fn read(name: &str, text: &str) -> Result<PageSource, ReportError> {
        let neither = |why: String| {
            let why = format!("{why}; give what `compare --json` or `tune --json` has printed");
            ReportError::data(name, why)
        };
        let value: Value =
            tickbound_input::json(text).map_err(|e| neither(format!("not JSON: {e}")))?;
        if let Some(format) = value.get("format") {
            if format != FORMAT {
                return Err(neither(format!("format {format}, this program reads \"{FORMAT}\"")));
            }
            let comparison: Comparison =
                serde_json::from_value(value).map_err(|e| neither(e.to_string()))?;
            return Ok(PageSource { name: name.to_owned(), ..PageSource::from(comparison) });
        }
        let answer = serde_json::from_value(value).map_err(|e| neither(e.to_string()))?;
        Ok(PageSource { name: name.to_owned(), comparison: None, cases: vec![alone(name, answer)] })
    }
}

/// The answer of one engine as its own case.
fn alone(name: &str, answer: Answer) -> Case {
    Case {
        about: answer.about.clone(),
        problem: name.to_owned(),
        file: name.to_owned(),
        inputs: IndexMap::new(),
        configurations: None,
        disagreements: Vec::new(),
        rows: vec![Row::answered(answer.engine(), answer)],
    }
}

/// What the template is given of a row: text only.
#[derive(Serialize)]
struct Line {
    class: &'static str,
    /// What is in each cell, as in [`comparison::COLUMNS`], and its text.
    cells: Vec<(&'static str, String)>,
    engine: String,
    tool: String,
    command: String,
}

impl Line {
    fn new(row: &Row) -> Line {
        let kinds = comparison::COLUMNS.into_iter().map(|(_, kind)| kind);
        Line {
            class: if row.proved() { "proved" } else { "open" },
            cells: kinds
                .zip(comparison::cells(row).into_iter().map(|cell| numbers_grouped(&cell)))
                .collect(),
            engine: row.engine.clone(),
            tool: row.tool.clone().unwrap_or_default(),
            command: row.command.clone(),
        }
    }
}

/// A plot and what it shows, for those who do not see it.
#[derive(Serialize)]
struct Picture {
    svg: String,
    about: String,
}

#[derive(Serialize)]
struct Section {
    heading: String,
    file: String,
    model: Option<String>,
    verdict: String,
    agree: bool,
    disagreements: Vec<String>,
    lines: Vec<Line>,
    picture: Option<Picture>,
}

impl Section {
    fn new(case: &Case) -> Result<Section, ReportError> {
        let about = format!("Seconds and model time of each engine: {}", comparison::heading(case));
        let svg = engines::plot(case).transpose()?;
        Ok(Section {
            heading: comparison::heading(case),
            file: case.file.clone(),
            model: comparison::model(case),
            verdict: comparison::verdict(case),
            agree: case.disagreements.is_empty(),
            disagreements: case.disagreements.iter().skip(1).cloned().collect(),
            lines: case.rows.iter().map(Line::new).collect(),
            picture: svg.map(|svg| Picture { svg, about }),
        })
    }
}

#[derive(Serialize)]
struct Part {
    name: String,
    facts: Vec<(&'static str, String)>,
    series: Vec<Picture>,
    sections: Vec<Section>,
}

impl Part {
    fn new(source: &PageSource) -> Result<Part, ReportError> {
        let series = super::series::Series::among(&source.cases);
        let pictures = series.iter().map(|s| {
            let about = format!("{}: seconds of each engine over {}", s.problem, s.input);
            Ok(Picture { svg: s.plot()?, about })
        });
        Ok(Part {
            name: source.name.clone(),
            facts: source.comparison.as_ref().map(facts).unwrap_or_default(),
            series: pictures.collect::<Result<_, ReportError>>()?,
            sections: source.cases.iter().map(Section::new).collect::<Result<_, _>>()?,
        })
    }
}

fn facts(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let machine = &comparison.machine;
    let memory = |bytes: Option<u64>| {
        bytes.map(|b| numbers_grouped(&format!("{} MB", comparison::megabytes(b))))
    };
    let mut tools = comparison.cases.iter().flat_map(|c| &c.rows).flat_map(|r| &r.tool).unique();
    let memory_limit = memory(comparison.memory_limit).unwrap_or_else(|| "not limited".to_owned());
    vec![
        ("tickbound", comparison.tickbound.clone()),
        ("tools", tools.join(", ")),
        ("processor", format!("{}, {} cores", machine.processor, machine.cores)),
        ("memory", memory(machine.memory).unwrap_or_else(|| "unknown".to_owned())),
        ("system", machine.system.clone()),
        ("each engine", format!("{} s, memory {memory_limit}", comparison.timeout)),
        ("in all", format!("{} s", comparison::seconds(comparison.seconds))),
    ]
}

/// What the template is given.
#[derive(Serialize)]
struct Content {
    parts: Vec<Part>,
    interrupted: bool,
    agree: bool,
    columns: [(&'static str, &'static str); comparison::COLUMNS.len()],
}

/// The page.
///
/// # Errors
/// A plot that cannot be drawn.
pub fn page(sources: &[PageSource]) -> Result<String, ReportError> {
    let parts = sources.iter().map(Part::new).collect::<Result<Vec<_>, _>>()?;
    let interrupted = sources.iter().flat_map(|s| &s.comparison).any(|c| c.interrupted);
    let agree = parts.iter().flat_map(|p| &p.sections).all(|s| s.agree);
    let columns = comparison::COLUMNS;
    let content = Content { parts, interrupted, agree, columns };
    render("comparison.html", "tickbound: engines compared", content)
}

/// Writes the page.
pub fn write(path: impl AsRef<Path>, sources: &[PageSource]) -> Result<(), ReportError> {
    let path = path.as_ref();
    tickbound_os::output::write(path, page(sources)?.as_bytes()).map_err(ReportError::write(path))
}

/// The plots of all series among the cases - one problem for growing values of an input - each as
/// SVG text for its own file, on white paper.
///
/// # Errors
/// A failure of the drawing library.
pub fn series(cases: &[Case]) -> Result<Vec<String>, ReportError> {
    let paper = "<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>";
    let on_paper = |svg: String| match svg.split_once('>') {
        Some((head, rest)) => format!("{head}>\n{paper}{rest}"),
        None => svg,
    };
    super::series::Series::among(cases).iter().map(|s| s.plot().map(on_paper)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_results_have_an_engine() {
        for (text, engine) in [
            (r#"{"status":"optimal","strategy":"race","encoding":"summary"}"#, "tune summary race"),
            (r#"{"status":"optimal","strategy":"race","encoding":"none"}"#, "tune race"),
            (r#"{"status":"bounded","style":"lockstep","search":"swarm"}"#, "spin lockstep swarm"),
            (r#"{"status":"bounded","encoding":"event","tool":"OR-Tools 9"}"#, "cp-sat event"),
        ] {
            let source = PageSource::read("some.json", text).unwrap();
            assert_eq!(source.cases[0].rows[0].engine, engine);
        }
    }

    #[test]
    fn what_is_no_result_is_refused() {
        for (text, why) in [
            ("[", "not JSON"),
            ("{}", "missing field"),
            (r#"{"format":"tickbound comparison 99"}"#, "this program reads"),
            (r#"{"format":"tickbound comparison 1"}"#, "missing field"),
        ] {
            let fault = PageSource::read("some.json", text).unwrap_err().to_string();
            assert!(fault.starts_with("some.json: ") && fault.contains(why), "{fault}");
        }
    }
}
