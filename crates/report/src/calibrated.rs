//! What `calibrate` prints.

use tickbound_measure::calibrate::number::CalibratedNumber;
use tickbound_measure::calibrate::shipped::Shipped;
use tickbound_measure::calibrate::{Calibration, Sample};

use crate::Table;

/// A calibration as text: its numbers beside those of a shipped platform, and all else.
pub fn words(found: &Calibration) -> String {
    let spread = |s: &Sample| match (s.seen(), s.steady) {
        (false, _) => "-".to_owned(),
        (true, true) => s.spread_text(),
        (true, false) => format!("{} unsteady", s.spread_text()),
    };
    let shipped = Shipped::find(&found.facts.name);
    let of = |numbers: &[CalibratedNumber]| {
        let name = shipped.as_ref().map(Shipped::name);
        let [before, after] = [&["number", "value"][..], &["unit", "spread", "how measured"]];
        let mut table = Table::new(before.iter().copied().chain(name).chain(after.iter().copied()));
        for n in numbers {
            let known = n.sample().as_ref().map_or_else(|| "-".to_owned(), spread);
            let beside = shipped.as_ref().map(|shipped| {
                shipped.number(n).map_or_else(|| "-".to_owned(), |value| value.to_string())
            });
            let value = n.value.to_string();
            let after = [n.unit, &known, &n.how];
            table.push([n.field, &value].into_iter().chain(beside.as_deref()).chain(after));
        }
        table
    };
    let (table, resources) = (of(&found.numbers), of(&found.resources));
    let mut also = Table::new(["also measured", "value", "spread"]);
    for a in &found.asides {
        also.push([&a.what, &a.value, &spread(&a.sample)]);
    }
    let warning = shipped.as_ref().and_then(|shipped| shipped.warning(found));
    let notes = found.notes.iter().cloned().chain(found.missing()).chain(warning);
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
