//! What was found, as a platform file.

use serde_json::{Map, Value, json};

use super::calibration::Calibration;
use super::number::{CalibratedNumber, Origin};
use super::sample::Sample;

impl Sample {
    /// `0.4%`, with a remark where it is not small enough; nothing where it was not observed.
    pub fn spread_text(&self) -> String {
        match self.spread {
            None => "?".to_owned(),
            Some(spread) => format!("{:.1}%", spread * 100.0),
        }
    }

    /// How often it was measured and how well it is known.
    fn quality(&self) -> String {
        if !self.seen() {
            return format!("below what can be measured, in {} repetitions", self.runs);
        }
        let unsteady = if self.steady { "" } else { "unsteady, " };
        format!("median of {}, {unsteady}spread {}", self.runs, self.spread_text())
    }
}

impl CalibratedNumber {
    fn source(&self, device: &str) -> String {
        match &self.origin {
            Origin::Taken => self.how.clone(),
            Origin::Told => format!("{}; asked by {device}", self.how),
            Origin::Measured(sample) => {
                format!("{}; {}; measured by {device}", self.how, sample.quality())
            }
        }
    }

    /// As a field of a platform file.
    fn json(&self, device: &str) -> Value {
        json!({ "value": self.value, "unit": self.unit, "source": self.source(device) })
    }
}

impl Calibration {
    /// The platform file. `date` is the day of the measurements.
    pub fn platform(&self, name: &str, date: &str) -> Value {
        let device =
            format!("tickbound calibrate on {} ({}), {date}", self.facts.name, self.facts.driver);
        let mut file = Map::new();
        file.insert("name".into(), json!(name));
        file.insert("tick".into(), json!("0.01 ns"));
        file.insert("notes".into(), json!(self.notes_text()));
        for number in &self.numbers {
            file.insert(number.field.into(), number.json(&device));
        }
        if !self.resources.is_empty() {
            let of = |number: &CalibratedNumber| (number.field.to_owned(), number.json(&device));
            let resources: Map<String, Value> = self.resources.iter().map(of).collect();
            file.insert("resources".into(), Value::Object(resources));
        }
        Value::Object(file)
    }

    fn notes_text(&self) -> String {
        let also: Vec<String> =
            self.asides.iter().map(|a| format!("{}: {}", a.what, a.value)).collect();
        let mut notes = vec![
            "Prices are those of busy elements, in hundredths of a nanosecond (docs/calibrate.md)."
                .to_owned(),
        ];
        notes.extend(self.notes.iter().cloned().chain(self.missing()));
        notes.push(format!("Also measured: {}.", also.join("; ")));
        notes.join(" ")
    }
}
