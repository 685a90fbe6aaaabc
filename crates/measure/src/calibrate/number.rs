//! A number of a platform file that calibration writes, and where it is from.

use super::sample::Sample;

/// No number of a platform may be greater.
pub(super) const MOST: f64 = (1u64 << 40) as f64;

/// A number of the platform file.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibratedNumber {
    /// Its field.
    pub field: &'static str,
    /// The number.
    pub value: i64,
    /// What it counts: `ticks`, `items`.
    pub unit: &'static str,
    /// How it was measured, or its source.
    pub how: String,
    /// Where it is from.
    pub origin: Origin,
}

/// Where a number is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Origin {
    /// It was measured.
    Measured(Sample),
    /// The device reports it.
    Told,
    /// It is so on all devices of the kind, or was taken from another platform.
    Taken,
}

impl CalibratedNumber {
    /// What it was measured by.
    pub fn sample(&self) -> Option<Sample> {
        if let Origin::Measured(sample) = self.origin { Some(sample) } else { None }
    }
}

/// The nearest number that a platform may have; 0 for what is no number.
pub(super) fn whole(x: f64) -> i64 {
    x.round().clamp(0.0, MOST) as i64
}

/// What the device states of itself.
pub(super) fn fact(
    field: &'static str,
    value: i64,
    unit: &'static str,
    what: &str,
) -> CalibratedNumber {
    CalibratedNumber {
        field,
        value,
        unit,
        how: format!("the device says so: {what}"),
        origin: Origin::Told,
    }
}
