//! The page of one answer: of `tune`, `measure` or `score`.

use std::path::Path;

use serde::Serialize;

use super::figures::{Number, grouped};
use super::lanes::Lanes;
use super::{embedded, render};
use crate::report::error::ReportError;

/// Configurations in the table that shows without script.
const SHOWN: usize = 20;

/// What a page shows. Texts are somebody else's, and escaped where they are shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// What the answer is about.
    pub title: String,
    /// The number that was asked for, such as `226296 ticks`.
    pub figure: String,
    /// What that number is, such as `the least time, proved`.
    pub meaning: String,
    /// The configuration that has it: parameters and values.
    pub at: Vec<(String, i64)>,
    /// What else is known: a name and what it says.
    pub facts: Vec<(String, String)>,
    /// What the best configuration spends its time on.
    pub spent: Option<Spent>,
    /// Its run.
    pub timeline: Option<Lanes>,
    /// Configurations with their numbers.
    pub configurations: Option<Configurations>,
}

/// What a run spends its time on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spent {
    /// What was counted.
    pub about: String,
    /// What the amounts are, such as `ticks`.
    pub unit: &'static str,
    /// The same time, divided in several ways.
    pub parts: Vec<Part>,
}

/// A time divided into stripes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// By what it is divided.
    pub head: &'static str,
    /// The stripes, in the order in which they are shown.
    pub lines: Vec<Stripe>,
}

/// A share of a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stripe {
    /// What it was spent on.
    pub name: String,
    /// Which colour it has: the kind of work, as [`Lanes`] has kinds.
    pub kind: String,
    /// How much, for people.
    pub amount: String,
    /// Its share, in percent.
    pub percent: String,
}

impl Stripe {
    /// A share of `all`, which is above 0.
    #[must_use]
    pub fn new(name: &str, kind: &str, amount: f64, all: f64, digits: usize) -> Stripe {
        Stripe {
            name: name.to_owned(),
            kind: kind.to_owned(),
            amount: grouped(&format!("{amount:.digits$}")),
            percent: format!("{:.1}", 100.0 * amount / all),
        }
    }
}

/// Configurations and what is known of each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Configurations {
    /// Which configurations these are.
    #[serde(skip)]
    pub among: String,
    /// They are not all that there are.
    pub drawn: bool,
    /// Places of the parameters on which no time depends.
    pub indifferent: Vec<usize>,
    /// The parameters.
    pub parameters: Vec<String>,
    /// The numbers; the first one says which configuration is best.
    pub measures: Vec<Measure>,
    /// The model's time and the measured one are drawn over each other: their places in `measures`, and what is said of it.
    pub over: Option<(usize, usize, String)>,
    /// The configurations.
    pub rows: Vec<Row>,
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The value of each parameter.
    pub values: Vec<i64>,
    /// Each number, where there is one.
    pub numbers: Vec<Option<Number>>,
    /// What else is to be said, such as why there is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Configurations {
    /// Best first by the first number; of equal ones, in the order of their values. Those without come last.
    pub fn sort(&mut self) {
        let greatest = self.measures.first().is_some_and(|m| m.best == Some(Best::Greatest));
        let key = |row: &Row| match row.numbers.first().copied().flatten() {
            Some(Number::Whole(n)) if !greatest => (0, n, 0.0),
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
        let cells = |row: &Row| {
            let number = |n: &Option<Number>| n.map_or_else(|| "-".to_owned(), Number::shown);
            let values = row.values.iter().map(|v| grouped(&v.to_string()));
            row.numbers.iter().map(number).chain(values).collect()
        };
        Plain {
            heads: measures.chain(self.parameters.iter().cloned()).collect(),
            rows: self.rows.iter().take(SHOWN).map(cells).collect(),
        }
    }
}

/// A table as text.
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
    spent: Option<&'a Spent>,
    timeline: Option<&'a str>,
    among: Option<&'a str>,
    table: Plain,
    data: String,
}

/// What the script reads.
#[derive(Serialize)]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    configurations: Option<&'a Configurations>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<&'a Lanes>,
}

impl Page {
    /// The data that the script reads, as JSON in a script element.
    fn data(&self) -> Result<String, ReportError> {
        embedded(&Data {
            configurations: self.configurations.as_ref(),
            timeline: self.timeline.as_ref(),
        })
    }

    /// The page's text.
    ///
    /// # Errors
    /// A fault of the template, which is ours.
    pub fn html(&self) -> Result<String, ReportError> {
        let content = Content {
            figure: grouped(&self.figure),
            meaning: &self.meaning,
            at: self.at.iter().map(|(p, v)| (p.as_str(), grouped(&v.to_string()))).collect(),
            facts: self.facts.iter().map(|(name, text)| (name.as_str(), grouped(text))).collect(),
            spent: self.spent.as_ref(),
            timeline: self.timeline.as_ref().map(|lanes| lanes.about.as_str()),
            among: self.configurations.as_ref().map(|all| all.among.as_str()),
            table: self.configurations.as_ref().map(Configurations::table).unwrap_or_default(),
            data: self.data()?,
        };
        render("answer.html", &self.title, content)
    }

    /// Writes the page.
    ///
    /// # Errors
    /// As [`Page::html`], or a file that cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        tickbound_output::write(path, self.html()?.as_bytes()).map_err(ReportError::write(path))
    }
}
