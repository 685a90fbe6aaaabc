//! Floors of the configurations of a table, and a chart of times over them.
//!
//! Runs on the device lie on or above the line at which a time is the floor: one below it
//! contradicts a rule of floors or a number of the platform (`docs/floors.md`). Times of the model
//! may lie below.

use tickbound_model::FloorTerm;

use super::figures::FigureNumber;
use super::sheet::{Best, ConfigurationTable, Measure, Roofline, RooflineTimes};

/// What is known of the rows of a table, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowFloors {
    /// The floor of each in picoseconds, and the term that binds.
    pub each: Vec<Option<(i64, FloorTerm)>>,
    /// Seconds that each configuration of the space takes at least, and the term that binds.
    pub space: Option<(f64, FloorTerm)>,
    /// Milliseconds of each one's fastest run, if the first column has milliseconds; else empty.
    pub fastest: Vec<Option<f64>>,
    /// The place of the model's ticks in the table's `measures`, and microseconds of a tick.
    pub ticks: Option<(usize, f64)>,
}

impl ConfigurationTable {
    /// Adds the floors of the rows, the fastest runs where they are not the times of the first
    /// column, and the chart. Without a floor of any row nothing is added.
    pub fn add_floors(&mut self, of: &RowFloors) {
        if of.each.iter().all(Option::is_none) {
            return;
        }
        let predicted = of.ticks.map(|(measure, microseconds)| (measure, microseconds, false));
        let measured = (!of.fastest.is_empty()).then(|| (self.fastest(&of.fastest), 1e3, true));
        let times =
            predicted.into_iter().chain(measured).map(|(measure, microseconds, measured)| {
                RooflineTimes { measure, microseconds, measured }
            });
        let times: Vec<RooflineTimes> = times.collect();
        let microseconds = |(picoseconds, _)| FigureNumber::Real(picoseconds as f64 / 1e6);
        let floor = self.add_column("floor, us", of.each.iter().map(|f| f.map(microseconds)));
        for (row, found) in self.rows.iter_mut().zip(&of.each) {
            row.binds = found.map(|(_, term)| term.name());
        }
        let space = of.space.map(|(seconds, term)| (seconds * 1e6, term.name()));
        self.roofline = (!times.is_empty()).then_some(Roofline { floor, times, space });
    }

    /// The place of the fastest runs in `measures`, added if they differ from its times.
    fn fastest(&mut self, milliseconds: &[Option<f64>]) -> usize {
        let fastest = milliseconds.iter().map(|ms| ms.map(FigureNumber::Real));
        match self.rows.iter().map(|row| row.numbers[0]).eq(fastest.clone()) {
            true => 0,
            false => self.add_column("fastest, ms", fastest),
        }
    }

    /// Adds a number to each row, of which the least is best, and returns its place.
    fn add_column(
        &mut self,
        name: &str,
        numbers: impl Iterator<Item = Option<FigureNumber>>,
    ) -> usize {
        self.measures.push(Measure { name: name.to_owned(), best: Some(Best::Least) });
        for (row, number) in self.rows.iter_mut().zip(numbers) {
            row.numbers.push(number);
        }
        self.measures.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sheet::SheetRow;
    use super::*;

    /// A table of milliseconds and ticks.
    fn table(rows: &[(f64, i64)]) -> ConfigurationTable {
        let measure = |name: &str| Measure { name: name.into(), best: Some(Best::Least) };
        let row = |(ms, ticks): &(f64, i64)| SheetRow {
            values: vec![*ticks],
            numbers: vec![Some(FigureNumber::Real(*ms)), Some(FigureNumber::Whole(*ticks))],
            ..SheetRow::default()
        };
        ConfigurationTable {
            parameters: vec!["P".into()],
            measures: vec![measure("ms"), measure("ticks")],
            rows: rows.iter().map(row).collect(),
            ..ConfigurationTable::default()
        }
    }

    fn data(table: &ConfigurationTable) -> Value {
        serde_json::to_value(table).unwrap()
    }

    #[test]
    fn floors_beside_both_times() {
        let mut shown = table(&[(0.02, 30_000), (0.03, 40_000)]);
        shown.add_floors(&RowFloors {
            each: vec![Some((19_500_000, FloorTerm::Issue)), None],
            space: Some((1.5e-5, FloorTerm::L2)),
            fastest: vec![Some(0.019), Some(0.03)],
            ticks: Some((1, 0.0005)),
        });
        let data = data(&shown);
        assert_eq!(
            data["roofline"],
            json!({ "floor": 3, "space": [15.0, "L2"], "times": [
                { "measure": 1, "microseconds": 0.0005, "measured": false },
                { "measure": 2, "microseconds": 1000.0, "measured": true }] })
        );
        let names = data["measures"].as_array().unwrap().iter().map(|m| &m["name"]);
        assert_eq!(names.collect::<Vec<_>>(), ["ms", "ticks", "fastest, ms", "floor, us"]);
        assert_eq!(
            data["rows"],
            json!([
                { "values": [30_000], "numbers": [0.02, 30_000, 0.019, 19.5], "binds": "issue" },
                { "values": [40_000], "numbers": [0.03, 40_000, 0.03, null] }
            ])
        );
    }

    #[test]
    fn what_is_there_already_is_not_added() {
        let floors = RowFloors {
            each: vec![Some((1_000_000, FloorTerm::Dram))],
            fastest: vec![Some(0.02)],
            ..RowFloors::default()
        };
        let mut shown = table(&[(0.02, 30_000)]);
        shown.add_floors(&floors);
        // One run: it is the fastest one.
        let measured = json!([{ "measure": 0, "microseconds": 1000.0, "measured": true }]);
        assert_eq!(data(&shown)["roofline"]["times"], measured);
        assert_eq!(shown.measures.len(), 3);
        // Floors alone are a column: no times can be drawn over them.
        let mut alone = table(&[(0.02, 30_000)]);
        alone.add_floors(&RowFloors { fastest: Vec::new(), ..floors });
        assert_eq!((alone.measures.len(), &data(&alone)["roofline"]), (3, &Value::Null));
        // Nothing has a floor.
        let mut without = table(&[(0.02, 30_000)]);
        without.add_floors(&RowFloors { each: vec![None], ..RowFloors::default() });
        assert_eq!(without, table(&[(0.02, 30_000)]));
        assert_eq!(data(&without).get("roofline"), None);
    }
}
