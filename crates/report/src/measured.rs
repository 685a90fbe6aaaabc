//! Measured times, for a user and as JSON.

use tickbound_input::named::Named;
use tickbound_model::{Floor, FloorTerm, Problem};

use super::table::Table;
use crate::answer::{
    About, BaselineComparison, End, Entry, MeasuredFloor, Measurement, tenth_of_millisecond, values,
};
use tickbound_measure::floors::FloorReport;
use tickbound_measure::outcome::{FailureKind, Outcome, Timed};
use tickbound_measure::{MeasureReport, Measured, Versus};

/// Configurations in the table.
const SHOWN: usize = 10;

/// A report of measured times together with what it is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredTimes<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The report.
    pub report: &'a MeasureReport,
    /// The model's ticks for each result, where there is a model.
    pub ticks: &'a [Option<i64>],
    /// The floors of configurations, which hold on the device where the report has floors.
    pub floors: Option<&'a Floor>,
    /// The cache's path, if there is one.
    pub cache: Option<&'a str>,
}

/// A number with four digits that count.
pub fn four_digits(number: f64) -> String {
    let whole = number.abs().log10().floor().max(-6.0) as i32 + 1;
    format!("{number:.*}", usize::try_from(4 - whole).unwrap_or(0))
}

fn milliseconds(seconds: f64) -> String {
    four_digits(seconds * 1e3)
}

/// The median of its runs in turns with others, in seconds, if it had such.
fn in_turns(measured: &Measured) -> Option<f64> {
    measured.record.outcome.timed()?.seconds_in_turns()
}

impl MeasuredTimes<'_> {
    fn ticks_of(&self, measured: &Measured) -> Option<i64> {
        let position = self.report.results.iter().position(|m| std::ptr::eq(m, measured))?;
        self.ticks.get(position).copied().flatten()
    }

    /// The best configurations.
    pub fn table(&self) -> Table {
        let ranked = self.report.ranked();
        let rates: Vec<&String> = ranked
            .first()
            .map(|m| m.record.rates.iter().map(|(name, _)| name).collect())
            .unwrap_or_default();
        let with_ticks = self.ticks.iter().any(Option::is_some);
        let length = About::of(self.problem).units.tick_microseconds.filter(|_| with_ticks);
        let with_turns = ranked.iter().any(|m| in_turns(m).is_some());
        let mut heads = vec!["ms".to_owned(), "spread".to_owned()];
        heads.extend(with_turns.then(|| "in turns".to_owned()));
        heads.extend(rates.iter().map(ToString::to_string));
        heads.extend(length.map(|_| "model ms".to_owned()));
        heads.extend(with_ticks.then(|| "ticks".to_owned()));
        heads.extend(self.problem.parameters.iter().map(|p| p.name.clone()));
        let mut table = Table::new(heads);
        for measured in ranked.into_iter().take(SHOWN) {
            let Some(timed) = measured.record.outcome.timed() else { continue };
            let spread =
                timed.spread().map_or_else(|| "?".into(), |s| format!("{:.1}%", s * 100.0));
            let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            let mut row = vec![milliseconds(timed.seconds()), spread];
            row.extend(with_turns.then(|| or_dash(in_turns(measured).map(milliseconds))));
            row.extend(measured.record.rates.iter().map(|(_, rate)| four_digits(*rate)));
            let ticks = self.ticks_of(measured);
            let predicted = |length: f64| ticks.map(|t| milliseconds(t as f64 * length * 1e-6));
            row.extend(length.map(|length| or_dash(predicted(length))));
            row.extend(with_ticks.then(|| or_dash(ticks.map(|t| t.to_string()))));
            row.extend(measured.bound.configuration.0.iter().map(i64::to_string));
            table.push(row);
        }
        table
    }

    /// How many times did not become steady: of those that ran several times, and of all.
    fn unsteady(&self) -> [usize; 2] {
        let timed = self.report.results.iter().filter_map(|m| m.record.outcome.timed());
        let unsteady = || timed.clone().filter(|timed| !timed.steady);
        [unsteady().filter(|timed| timed.runs.len() > 1).count(), unsteady().count()]
    }

    /// All for a user.
    pub fn words(&self) -> String {
        let (report, ranked) = (self.report, self.report.ranked());
        let inputs: Vec<String> =
            self.problem.inputs.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let about =
            if inputs.is_empty() { String::new() } else { format!(" ({})", inputs.join(", ")) };
        let mut out = format!("{}{about} on {}\n", self.problem.name, report.device.name);
        if !ranked.is_empty() {
            out += &format!("\n{}\n", self.table());
        }
        out += &self
            .facts()
            .iter()
            .map(|(name, text)| format!("{:<12}{text}\n", format!("{name}:")))
            .collect::<String>();
        out
    }

    /// The outcome: a name and its text.
    pub fn facts(&self) -> Vec<(String, String)> {
        let (report, ranked) = (self.report, self.report.ranked());
        let mut parts =
            vec![format!("{} of {} configurations have a time", ranked.len(), report.asked)];
        parts.extend(report.candidates.map(|n| format!("chosen from {n} as times came in")));
        let cached = report.results.iter().filter(|m| m.cached).count();
        parts.extend((cached > 0).then(|| format!("{cached} results were in the cache")));
        let failed = FailureKind::ALL.into_iter().map(|kind| (kind, report.failed(kind)));
        parts.extend(
            failed.filter(|(_, n)| *n > 0).map(|(kind, n)| format!("{n} {}", kind.about())),
        );
        let [unsteady, all] = self.unsteady();
        parts.extend((unsteady > 0).then(|| format!("{unsteady} unsteady")));
        let once = all - unsteady;
        parts.extend((once > 0).then(|| format!("{once} ran once, as they are slow")));
        let turns = ranked.iter().filter(|m| in_turns(m).is_some()).count();
        parts.extend((turns > 0).then(|| format!("the {turns} best ran again in turns")));
        parts.extend(report.spent.then(|| "the budget is spent".to_owned()));
        if !report.checked {
            parts.push("outputs unchecked".into());
        }
        let modelled = self.ticks.iter().any(Option::is_some);
        let model = modelled.then(|| About::of(self.problem).model().1);
        let facts = [
            ("model", model),
            ("measured", Some(parts.join("; "))),
            ("best", ranked.first().map(|best| self.best(best))),
            ("baseline", report.versus.map(|versus| self.versus(&versus))),
            ("floor", report.floor.as_ref().and_then(|floor| above_floor(floor, &ranked))),
            ("contradicted", report.floor.as_ref().and_then(contradicted)),
            ("stopped by", report.stopped.as_ref().map(ToString::to_string)),
            ("cache", self.cache.map(str::to_owned)),
            ("in", Some(format!("{:.1} s", report.seconds))),
        ];
        facts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))).collect()
    }

    fn best(&self, best: &Measured) -> String {
        let named = self.problem.name_values(&best.bound.configuration).to_string();
        let named = if named.is_empty() { "the only configuration".to_owned() } else { named };
        let seconds = best.record.outcome.timed().map_or(f64::NAN, Timed::seconds);
        let turns = in_turns(best).map(|turns| format!(", {} ms in turns", milliseconds(turns)));
        format!("{} ms{} at {named}", milliseconds(seconds), turns.unwrap_or_default())
    }

    /// How the user's own configuration does beside the best other one.
    fn versus(&self, versus: &Versus) -> String {
        let Versus { ratio, interval: (low, high), rounds, .. } = versus;
        let other = self.report.results.get(versus.other);
        let other = other.map(|m| self.problem.name_values(&m.bound.configuration).to_string());
        let other = other.unwrap_or_default();
        let known = format!("{low:.3} to {high:.3} at 95 %, {rounds} rounds");
        match versus.is_faster() {
            true => format!("{other} is {ratio:.3} times as fast ({known})"),
            false => {
                format!("no other one is faster; {other} is {ratio:.3} times as fast ({known})")
            }
        }
    }

    /// The object that `measure --json` prints.
    pub fn object(&self) -> Measurement {
        let (report, ranked) = (self.report, self.report.ranked());
        let best = ranked.first();
        let failed = FailureKind::VALUES.iter();
        Measurement {
            about: About::of(self.problem),
            problem: self.problem.name.clone(),
            inputs: self.problem.inputs.clone(),
            device: report.device.clone(),
            asked: report.asked,
            candidates: report.candidates,
            measured: ranked.len(),
            cached: report.results.iter().filter(|m| m.cached).count(),
            failed: failed.map(|kind| (kind.name().to_owned(), report.failed(*kind))).collect(),
            unsteady: self.unsteady()[1],
            checked: report.checked,
            best: best.map(|m| values(self.problem, &m.bound.configuration)),
            time: best.and_then(|m| m.record.outcome.timed()).map(Timed::seconds),
            baseline: report.versus.map(|versus| self.comparison(&versus)),
            floor: report.floor.as_ref().map(floor),
            budget_spent: report.spent,
            stopped_by: report.stopped.as_ref().map(ToString::to_string),
            cache: self.cache.map(str::to_owned),
            seconds: tenth_of_millisecond(report.seconds),
            results: report.results.iter().enumerate().map(|(i, m)| self.entry(i, m)).collect(),
        }
    }

    fn comparison(&self, versus: &Versus) -> BaselineComparison {
        let at = |place: usize| self.report.results.get(place);
        let at = |place| at(place).map(|m| values(self.problem, &m.bound.configuration));
        let (low, high) = versus.interval;
        BaselineComparison {
            configuration: at(versus.baseline),
            other: at(versus.other),
            ratio: versus.ratio,
            low,
            high,
            rounds: versus.rounds,
            faster: versus.is_faster(),
        }
    }

    fn entry(&self, index: usize, measured: &Measured) -> Entry {
        let rates = &measured.record.rates;
        let rate = |name: &str| rates.iter().find(|(n, _)| n == name).map(|(_, rate)| *rate);
        Entry {
            configuration: values(self.problem, &measured.bound.configuration),
            cached: measured.cached,
            end: match &measured.record.outcome {
                Outcome::Timed(timed) => End::Timed {
                    time: timed.seconds(),
                    spread: timed.spread(),
                    steady: timed.steady,
                    checked: timed.checked,
                    runs: timed.runs.clone(),
                    rounds: timed.rounds.clone(),
                    bytes: rate("GB/s"),
                    operations: rate("GOP/s"),
                },
                Outcome::Failed(failure) => {
                    End::Failed { failure: failure.kind, message: failure.message.clone() }
                }
            },
            ticks: self.ticks.get(index).copied().flatten(),
        }
    }
}

fn floor(report: &FloorReport) -> MeasuredFloor {
    let named = |(term, n): (&FloorTerm, &usize)| (term.name().to_owned(), *n);
    MeasuredFloor {
        seconds: report.space.map(|(seconds, _)| seconds),
        term: report.space.map(|(_, term)| term.name().to_owned()),
        skipped: report.skipped,
        contradicted: report.contradicted.iter().map(named).collect(),
    }
}

/// How far the best is above what nothing can take less than, in words.
fn above_floor(report: &FloorReport, ranked: &[&Measured]) -> Option<String> {
    let (floor, term) = report.space.filter(|(floor, _)| *floor > 0.0)?;
    let best = ranked.first()?.record.outcome.timed().map(Timed::seconds)?;
    let mut text = format!(
        "nothing in this space can take less than {} ms on this device, by {} ({:.2}x)",
        milliseconds(floor),
        term.name(),
        best / floor
    );
    if report.skipped > 0 {
        text += &format!("; {} were not run: their floors are above the best", report.skipped);
    }
    Some(text)
}

/// Which floors times contradict, in words.
fn contradicted(report: &FloorReport) -> Option<String> {
    let each = report.contradicted.iter().map(|(term, n)| format!("{n} by {}", term.name()));
    let all = each.reduce(|all, one| format!("{all}, {one}"))?;
    Some(format!(
        "times below the floors of their configurations ({all}): a number of the platform or a \
         rule is wrong; please report it"
    ))
}

#[cfg(test)]
mod tests {
    use super::four_digits;

    #[test]
    fn numbers_have_four_digits() {
        let table = [
            (0.0, "0.000000000"),
            (12.345_6, "12.35"),
            (0.012_345, "0.01235"),
            (98765.4, "98765"),
            (1.0, "1.000"),
        ];
        for (number, text) in table {
            if number > 0.0 {
                assert_eq!(four_digits(number), text);
            }
        }
    }
}
