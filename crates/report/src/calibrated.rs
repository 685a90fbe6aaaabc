//! What `calibrate` prints.

use tickbound_measure::calibrate::number::CalibratedNumber;
use tickbound_measure::calibrate::{Calibration, Sample};

use crate::Table;

/// A calibration as text: its numbers, and what else was measured.
pub fn words(found: &Calibration) -> String {
    let spread = |s: &Sample| match (s.seen(), s.steady) {
        (false, _) => "-".to_owned(),
        (true, true) => s.spread_text(),
        (true, false) => format!("{} unsteady", s.spread_text()),
    };
    let of = |numbers: &[CalibratedNumber]| {
        let mut table = Table::new(["number", "value", "unit", "spread", "how measured"]);
        for n in numbers {
            let known = n.sample().as_ref().map_or_else(|| "-".to_owned(), spread);
            table.push([n.field, &n.value.to_string(), n.unit, &known, &n.how]);
        }
        table
    };
    let (table, resources) = (of(&found.numbers), of(&found.resources));
    let mut also = Table::new(["also measured", "value", "spread"]);
    for a in &found.asides {
        also.push([&a.what, &a.value, &spread(&a.sample)]);
    }
    let notes = found.notes.iter().cloned().chain(found.missing());
    let notes: String = notes.map(|note| format!("{note}\n")).collect();
    let resources = match found.resources.is_empty() {
        true => String::new(),
        false => format!("resources, in clocks of a unit\n\n{resources}\n"),
    };
    format!(
        "{} ({}); a tick is 0.01 ns\n\n{table}\n{resources}{also}\n{notes}",
        found.facts.name, found.facts.driver
    )
}
