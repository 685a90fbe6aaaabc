//! The shipped platform of the device that was measured, beside what was found.

use tickbound_device::platform;
use tickbound_model::{Platform, platforms};

use super::calibration::Calibration;
use super::number::{CalibratedNumber, Origin, whole};
use super::prices::TICKS;

/// Greatest difference without a warning, as a share of the shipped number.
const MAX_DIFFERENCE: f64 = 0.25;

/// A shipped platform.
#[derive(Debug)]
pub struct Shipped(Platform);

impl Shipped {
    /// The platform that is named after a device, if there is one.
    pub fn find(device: &str) -> Option<Shipped> {
        let name = platform::shipped(device)?;
        let file = platforms::find(name).ok()?;
        Platform::from_json(name, &file).ok().map(Shipped)
    }

    /// The platform's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The platform's number in the unit of a calibrated one, if both are the device's own.
    pub fn number(&self, number: &CalibratedNumber) -> Option<i64> {
        let stated = self.0.is_given(number.field) && number.origin != Origin::Taken;
        let (_, value) = self.0.numbers().find(|(field, _)| stated && *field == number.field)?;
        match number.unit {
            "ticks" => Some(whole(value as f64 * self.0.tick_microseconds()? * 1e-6 * TICKS)),
            _ => Some(value),
        }
    }

    /// The numbers that differ by more than a quarter. Prices in ticks are not among them: they are
    /// those under load here, and mostly latencies on shipped platforms.
    pub fn warning(&self, found: &Calibration) -> Option<String> {
        let numbers = found.numbers.iter().chain(&found.resources);
        let differ = numbers.filter(|n| n.unit != "ticks").filter_map(|n| {
            let (value, shipped) = (n.value, self.number(n)?);
            let difference = value.abs_diff(shipped) as f64;
            (difference > MAX_DIFFERENCE * shipped as f64)
                .then(|| format!("{} {value}, shipped {shipped}", n.field))
        });
        let differ = Vec::from_iter(differ).join("; ");
        (!differ.is_empty()).then(|| {
            format!(
                "Warning: more than 25 % from the shipped platform {}: {differ}. \
                 What else is in a number: docs/calibrate.md.",
                self.name()
            )
        })
    }
}
