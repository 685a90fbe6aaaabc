//! The page of one answer: of `tune`, `measure` or `score`.

use std::path::Path;

use serde::Serialize;

use super::figures::{FigureNumber, numbers_grouped};
use super::frame::{embedded, render};
use super::lanes::LaneChart;
use super::spent::SpentChart;
use crate::error::ReportError;

/// Configurations in the table that shows without script.
const SHOWN: usize = 20;

/// What a page shows. Texts are somebody else's, and escaped where they are shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// What the answer is about.
    pub title: String,
    /// The number that was requested, such as `226296 ticks`.
    pub figure: String,
    /// What that number is, such as `the least time, proved`.
    pub meaning: String,
    /// The configuration that has it: parameters and values.
    pub at: Vec<(String, i64)>,
    /// What else is known: a name and its text.
    pub facts: Vec<(String, String)>,
    /// What the best configuration spends its time on.
    pub spent: Option<SpentChart>,
    /// Its runs, each under a heading; all are drawn over the time of the longest.
    pub timelines: Vec<(String, LaneChart)>,
    /// Configurations with their numbers.
    pub configurations: Option<ConfigurationTable>,
    /// Claims, and whether they are proved.
    pub claims: Vec<ClaimRow>,
}

/// A claim of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimRow {
    /// Whether it holds, such as `proved`.
    pub status: &'static str,
    /// How that is shown: `proved`, `open`, or else as it is.
    pub class: &'static str,
    /// The lines of the source.
    pub at: String,
    /// What is claimed.
    pub claim: String,
    /// What shows it, or why it is open; may have several lines.
    pub detail: String,
}

/// Configurations and what is known of each.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ConfigurationTable {
    /// Which configurations these are.
    #[serde(skip)]
    pub among: String,
    /// They are not all that there are.
    pub drawn: bool,
    /// Places of the parameters on which no time depends.
    pub indifferent: Vec<usize>,
    /// The parameters.
    pub parameters: Vec<String>,
    /// The numbers; the first one states which configuration is best.
    pub measures: Vec<Measure>,
    /// The model's time and the measured one are drawn over each other: their places in `measures`,
    /// and its description.
    pub over: Option<(usize, usize, String)>,
    /// Times over floors, where there are floors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roofline: Option<Roofline>,
    /// The configurations.
    pub rows: Vec<SheetRow>,
}

/// A number that configurations have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// Its name, the head of a column.
    pub name: String,
    /// Which one is best; none if it is not to be drawn.
    pub best: Option<Best>,
}

/// Which number is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Best {
    /// The least.
    Least,
    /// The greatest.
    Greatest,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SheetRow {
    /// The value of each parameter.
    pub values: Vec<i64>,
    /// Each number, where there is one.
    pub numbers: Vec<Option<FigureNumber>>,
    /// The term that its floor is by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binds: Option<&'static str>,
    /// Remarks, such as why a number is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A chart of times over floors, both in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roofline {
    /// The place of the floors, in microseconds, in `measures`.
    pub floor: usize,
    /// What is drawn over them.
    pub times: Vec<RooflineTimes>,
    /// Microseconds that each configuration of the space takes at least, and the term that binds.
    pub space: Option<(f64, &'static str)>,
}

/// Times of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RooflineTimes {
    /// Their place in `measures`.
    pub measure: usize,
    /// Microseconds of one unit of theirs.
    pub microseconds: f64,
    /// They are of the device; others are the model's.
    pub measured: bool,
}

impl ConfigurationTable {
    /// Best first by the first number, equal ones by their values; those without come last.
    pub fn sort(&mut self) {
        let greatest = self.measures.first().is_some_and(|m| m.best == Some(Best::Greatest));
        let key = |row: &SheetRow| match row.numbers.first().copied().flatten() {
            Some(FigureNumber::Whole(n)) if !greatest => (0, n, 0.0),
            Some(n) => (0, 0, if greatest { -n.real() } else { n.real() }),
            None => (1, 0, 0.0),
        };
        self.rows.sort_by(|a, b| {
            let ((a_none, a_whole, a_real), (b_none, b_whole, b_real)) = (key(a), key(b));
            let by_number = a_none.cmp(&b_none).then(a_whole.cmp(&b_whole));
            by_number.then(a_real.total_cmp(&b_real)).then_with(|| a.values.cmp(&b.values))
        });
    }

    /// The first ones as text.
    fn table(&self) -> Plain {
        let measures = self.measures.iter().map(|m| m.name.clone());
        let with_terms = self.rows.iter().any(|row| row.binds.is_some());
        let term = |row: &SheetRow| with_terms.then(|| row.binds.unwrap_or("-").to_owned());
        let cells = |row: &SheetRow| {
            let number =
                |n: &Option<FigureNumber>| n.map_or_else(|| "-".to_owned(), FigureNumber::shown);
            let values = row.values.iter().map(|v| numbers_grouped(&v.to_string()));
            row.numbers.iter().map(number).chain(term(row)).chain(values).collect()
        };
        Plain {
            heads: measures
                .chain(with_terms.then(|| "floor by".to_owned()))
                .chain(self.parameters.iter().cloned())
                .collect(),
            rows: self.rows.iter().take(SHOWN).map(cells).collect(),
        }
    }
}

#[derive(Debug, Default, Serialize)]
struct Plain {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// What the template is given.
#[derive(Serialize)]
struct Content<'a> {
    figure: String,
    meaning: &'a str,
    at: Vec<(&'a str, String)>,
    facts: Vec<(&'a str, String)>,
    spent: Option<&'a SpentChart>,
    timelines: Vec<(&'a str, &'a str)>,
    among: Option<&'a str>,
    table: Plain,
    claims: &'a [ClaimRow],
    data: String,
}

/// What the script reads.
#[derive(Serialize)]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    configurations: Option<&'a ConfigurationTable>,
    timelines: Vec<&'a LaneChart>,
}

impl Page {
    /// The data that the script reads, as JSON in a script element.
    fn data(&self) -> Result<String, ReportError> {
        embedded(&Data {
            configurations: self.configurations.as_ref(),
            timelines: self.timelines.iter().map(|(_, lanes)| lanes).collect(),
        })
    }

    /// The page's text.
    ///
    /// # Errors
    /// A fault of the template, which is ours.
    pub fn html(&self) -> Result<String, ReportError> {
        let content = Content {
            figure: numbers_grouped(&self.figure),
            meaning: &self.meaning,
            at: self
                .at
                .iter()
                .map(|(p, v)| (p.as_str(), numbers_grouped(&v.to_string())))
                .collect(),
            facts: self
                .facts
                .iter()
                .map(|(name, text)| (name.as_str(), numbers_grouped(text)))
                .collect(),
            spent: self.spent.as_ref(),
            timelines: self
                .timelines
                .iter()
                .map(|(heading, lanes)| (heading.as_str(), lanes.about.as_str()))
                .collect(),
            among: self.configurations.as_ref().map(|all| all.among.as_str()),
            table: self.configurations.as_ref().map(ConfigurationTable::table).unwrap_or_default(),
            claims: &self.claims,
            data: self.data()?,
        };
        render("answer.html", &numbers_grouped(&self.title), content)
    }

    /// Writes the page.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        tickbound_os::output::write(path, self.html()?.as_bytes()).map_err(ReportError::write(path))
    }
}

#[cfg(test)]
mod tests {
    use super::super::spent::{SpentPart, Stripe};
    use super::*;

    fn configurations(best: Best, numbers: &[Option<FigureNumber>]) -> ConfigurationTable {
        let row = |(i, n): (usize, &Option<FigureNumber>)| SheetRow {
            values: vec![i as i64],
            numbers: vec![*n],
            ..SheetRow::default()
        };
        ConfigurationTable {
            parameters: vec!["P".into()],
            measures: vec![Measure { name: "n".into(), best: Some(best) }],
            rows: numbers.iter().enumerate().map(row).collect(),
            ..ConfigurationTable::default()
        }
    }

    #[test]
    fn best_come_first_and_what_is_missing_last() {
        // Beyond what a double distinguishes.
        let ticks = [None, Some(i64::MAX), Some(5), Some(i64::MAX - 1), Some(5)];
        let order = |best, numbers: &[Option<FigureNumber>]| {
            let mut all = configurations(best, numbers);
            all.sort();
            all.rows.iter().map(|row| row.values[0]).collect::<Vec<_>>()
        };
        assert_eq!(order(Best::Least, &ticks.map(|t| t.map(FigureNumber::Whole))), [2, 4, 3, 1, 0]);
        let rates = [Some(FigureNumber::Real(1.5)), None, Some(FigureNumber::Real(2.5))];
        assert_eq!(order(Best::Greatest, &rates), [2, 0, 1]);
    }

    #[test]
    fn terms_beside_floors_without_script() {
        let number = |n| Some(FigureNumber::Whole(n));
        let mut shown = configurations(Best::Least, &[number(10_000), None]);
        shown.rows[0].binds = Some("L2");
        let table = shown.table();
        assert_eq!(table.heads, ["n", "floor by", "P"]);
        assert_eq!(table.rows, [["10,000", "L2", "0"], ["-", "-", "1"]]);
        shown.rows[0].binds = None;
        assert_eq!(shown.table().heads, ["n", "P"]);
    }

    #[test]
    fn nothing_that_is_shown_is_markup() {
        let hostile = "</script><script>alert(1)</script>\"'&<!--";
        let mut shown = configurations(Best::Least, &[Some(FigureNumber::Whole(1)), None]);
        shown.rows[1].note = Some(hostile.into());
        shown.parameters = vec![hostile.into()];
        shown.measures[0].name = hostile.into();
        shown.among = hostile.into();
        shown.over = Some((0, 0, hostile.into()));
        let stripe = Stripe::new(hostile, hostile, 1.0, 2.0, 0);
        let page = Page {
            title: hostile.into(),
            figure: hostile.into(),
            meaning: hostile.into(),
            at: vec![(hostile.into(), 1)],
            facts: vec![(hostile.into(), hostile.into())],
            spent: Some(SpentChart {
                about: hostile.into(),
                unit: "ticks",
                parts: vec![SpentPart { head: "kind", lines: vec![stripe] }],
            }),
            timelines: Vec::new(),
            configurations: Some(shown),
            claims: vec![ClaimRow {
                status: "open",
                class: "open",
                at: hostile.into(),
                claim: hostile.into(),
                detail: hostile.into(),
            }],
        };
        let text = page.html().unwrap();
        assert!(!text.contains("alert(1)</script>") && !text.contains("<!--"), "{text}");
        assert_eq!(text.matches("<script").count(), 2);
        let data: serde_json::Value = serde_json::from_str(&page.data().unwrap()).unwrap();
        assert_eq!(data["configurations"]["rows"][1]["note"], hostile);
    }
}
