//! The page of measured times.

use super::html::{
    Best, ConfigurationTable, FigureNumber, Measure, Page, RowFloors, SheetRow, numbers_grouped,
};
use super::measured::{MeasuredTimes, four_digits};
use crate::answer::{About, titled};
use tickbound_measure::Measured;
use tickbound_measure::outcome::Outcome;
use tickbound_measure::score::score;

/// The columns before rates and ticks.
const MEASURES: [(&str, Option<Best>); 2] = [("ms", Some(Best::Least)), ("spread %", None)];

impl MeasuredTimes<'_> {
    /// The page: the best, and all configurations with what was measured.
    pub fn page(&self) -> Page {
        let (report, ranked) = (self.report, self.report.ranked());
        let best = ranked.first();
        let time = best.and_then(|m| m.record.outcome.timed()).map(|t| t.seconds() * 1e3);
        let about = titled(&self.problem.name, &self.problem.inputs);
        let values = best.map(|m| m.bound.configuration.0.clone()).unwrap_or_default();
        Page {
            title: format!("{about} on {}", report.device.name),
            figure: time.map_or_else(|| "No time".into(), |ms| format!("{} ms", four_digits(ms))),
            meaning: match best {
                Some(_) => format!("the fastest of {} measured", ranked.len()),
                None => "no configuration could be measured".into(),
            },
            at: self.problem.parameters.iter().map(|p| p.name.clone()).zip(values).collect(),
            facts: self.facts(),
            configurations: (!self.problem.parameters.is_empty()).then(|| self.configurations()),
            ..Page::default()
        }
    }

    fn configurations(&self) -> ConfigurationTable {
        let rates = self.report.results.iter().find(|m| !m.record.rates.is_empty());
        let rates: Vec<&String> =
            rates.iter().flat_map(|m| m.record.rates.iter().map(|(n, _)| n)).collect();
        let modelled = self.ticks.iter().any(Option::is_some);
        let measure = |name: &str, best| Measure { name: name.to_owned(), best };
        let mut measures: Vec<Measure> = MEASURES.map(|(name, best)| measure(name, best)).into();
        measures.extend(rates.iter().map(|name| measure(name, Some(Best::Greatest))));
        measures.extend(modelled.then(|| measure("ticks", Some(Best::Least))));
        let rows = self.report.results.iter().zip(self.ticks).map(|(measured, ticks)| {
            let timed = measured.record.outcome.timed();
            let rate = |name: &&String| {
                let rate = measured.record.rates.iter().find(|(n, _)| n == *name);
                rate.map(|(_, rate)| FigureNumber::Real(*rate))
            };
            let mut numbers = vec![
                timed.map(|t| FigureNumber::Real(t.seconds() * 1e3)),
                timed.and_then(|t| t.spread()).map(|s| FigureNumber::Real(s * 100.0)),
            ];
            numbers.extend(rates.iter().map(rate));
            numbers.extend(modelled.then(|| ticks.map(FigureNumber::Whole)));
            let note = note(&measured.record.outcome);
            let values = measured.bound.configuration.0.clone();
            SheetRow { values, numbers, note, ..SheetRow::default() }
        });
        let ticks = modelled.then(|| measures.len() - 1);
        let over = ticks.map(|ticks| (ticks, 0, self.ranked_by_model()));
        let asked = self.report.asked;
        let mut shown = ConfigurationTable {
            among: format!(
                "The {} measured configurations of {asked} that were asked for.",
                self.report.results.len()
            ),
            drawn: true,
            parameters: self.problem.parameters.iter().map(|p| p.name.clone()).collect(),
            measures,
            over,
            rows: rows.collect(),
            ..ConfigurationTable::default()
        };
        if let Some(floors) = self.row_floors(ticks) {
            shown.add_floors(&floors);
        }
        shown.sort();
        shown
    }

    /// The floors of configurations, if they hold; `ticks`: the column of model times.
    fn row_floors(&self, ticks: Option<usize>) -> Option<RowFloors> {
        let (floors, results) = (self.floors?, &self.report.results);
        let on_device = self.report.floor.as_ref()?;
        let fastest = |m: &Measured| {
            let runs = m.record.outcome.timed()?.runs.iter().copied();
            runs.reduce(f64::min).map(|seconds| seconds * 1e3)
        };
        Some(RowFloors {
            each: results.iter().map(|m| floors.at(&m.bound.env)).collect(),
            space: on_device.space,
            fastest: results.iter().map(fastest).collect(),
            ticks: ticks.zip(About::of(self.problem).units.tick_microseconds),
        })
    }

    /// How well the model ranks these, in words.
    fn ranked_by_model(&self) -> String {
        let results = self.report.results.iter().zip(self.ticks);
        let pairs =
            results.filter_map(|(m, ticks)| Some(((*ticks)?, m.record.outcome.timed()?.seconds())));
        let pairs: Vec<(i64, f64)> = pairs.collect();
        let rho = score(&pairs).and_then(|s| s.spearman);
        correlation(rho, pairs.len())
    }
}

/// Why a configuration has no time, or what is to be known of its time.
fn note(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed(failure) => Some(format!("{}: {}", failure.kind.name(), failure.message)),
        Outcome::Timed(timed) if timed.steady => None,
        Outcome::Timed(timed) if timed.runs.len() == 1 => Some("ran once".to_owned()),
        Outcome::Timed(_) => Some("unsteady".to_owned()),
    }
}

/// A rank correlation over this many configurations, in words.
pub fn correlation(rho: Option<f64>, count: usize) -> String {
    let text = match rho {
        Some(rho) => format!("Spearman's rho = {rho:.3} over {count} configurations"),
        None => format!("no correlation over {count} configurations: one side is all equal"),
    };
    numbers_grouped(&text)
}
