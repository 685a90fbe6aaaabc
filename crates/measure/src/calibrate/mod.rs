//! The prices of a device, measured with small kernels and written as a platform file.
//!
//! In goes an OpenCL device, out comes a [`Calibration`]: every number of a platform file with its
//! spread, and how it was measured. What each number means, the formula behind it and what it is
//! confounded with is in `docs/calibrate.md`. Three parts share the work:
//!
//! 1. a [`Runner`] runs launches that are plain data, and verifies what they compute ([`OpenCl`]);
//! 2. [`survey`](survey::survey) has it run those that matter, as slopes that are repeated until
//!    steady ([`sample`]);
//! 3. [`prices`](prices::prices) makes numbers of a platform out of these, and
//!    [`resources`](resources::resources) those of the profile `resources` that can be
//!    measured; [`Calibration`] is all of them, for people and as a file, and
//!    [`Shipped`](shipped::Shipped) what a shipped platform states of the same device.
//!
//! The formulas are right if a device that follows the model exactly gets its own platform back:
//! `tests/calibrate.rs` calibrates the model's simulator.

pub mod calibration;
mod expect;
mod file;
pub mod held;
pub mod levels;
pub mod number;
mod opencl;
pub mod prices;
pub mod rates;
pub mod resources;
pub mod run;
pub mod sample;
pub mod shipped;
pub mod sizes;
pub mod survey;
mod verify;

use std::sync::atomic::AtomicBool;

use crate::sample::SampleRule;
use crate::utc;

pub use calibration::Calibration;
pub use opencl::OpenCl;
pub use run::{CalibrateError, CalibrationRun, Facts, RunTimes, Runner, Work};
pub use sample::{Effort, Sample, Sampler};

/// How hard to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrateOptions {
    /// When a number is good enough.
    pub effort: Effort,
    /// Bytes that global memory is measured over at least, where the device has room for them.
    pub footprint: usize,
}

impl CalibrateOptions {
    /// Some 10 to 20 seconds in all.
    pub fn thorough() -> CalibrateOptions {
        let rule = SampleRule {
            warm_up: 1,
            warm_seconds: 0.02,
            least: 9,
            most: 60,
            spread: 0.01,
            seconds: 0.5,
        };
        CalibrateOptions { effort: Effort { rule, launch: 4e-3 }, footprint: 64 << 20 }
    }

    /// Less than 5 seconds in all.
    pub fn quick() -> CalibrateOptions {
        let rule = SampleRule {
            warm_up: 0,
            warm_seconds: 0.0,
            least: 6,
            most: 12,
            spread: 0.03,
            seconds: 0.06,
        };
        CalibrateOptions { effort: Effort { rule, launch: 1e-3 }, footprint: 32 << 20 }
    }
}

/// Calibrates a device. `progress` is called with what is being measured.
///
/// # Errors
/// The device fails or computes something wrong, or `interrupt` was set.
pub fn calibrate(
    runner: &mut dyn Runner,
    facts: &Facts,
    options: &CalibrateOptions,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&str),
) -> Result<Calibration, CalibrateError> {
    let mut sampler = Sampler { runner, effort: options.effort, interrupt };
    let survey = survey::survey(&mut sampler, facts, options.footprint, progress)?;
    Ok(Calibration::of(facts, &survey))
}

/// The day, in UTC: `2025-04-06`.
pub fn today() -> String {
    utc::now().chars().take(10).collect()
}
