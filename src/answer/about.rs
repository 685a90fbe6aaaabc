//! What an object printed with `--json` is about.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_model::{Problem, Profile};

/// The problem that was asked about, and the program that answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct About {
    /// The problem's name.
    pub name: String,
    /// Values of its inputs.
    pub inputs: IndexMap<String, i64>,
    /// The platform's name.
    pub platform: String,
    /// The profile.
    pub profile: String,
    /// Version of the program.
    pub tickbound: String,
    /// Units of the object's numbers.
    pub units: Units,
}

/// Units by what they are of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Units {
    /// Times of the model.
    pub model: String,
    /// What a tick is, as the platform says it.
    pub tick: Option<String>,
    /// Microseconds of a tick, where that is known.
    pub tick_microseconds: Option<f64>,
    /// Times of devices and clocks on the wall: keys that name seconds, and the times of measurements.
    pub wall: String,
    /// Memory.
    pub memory: String,
}

impl Units {
    /// Of what is said of a problem.
    fn of(problem: &Problem) -> Units {
        let clocks = problem.profile == Profile::Resources;
        let tick = problem.platform.tick().map(str::to_owned);
        Units {
            model: "ticks".to_owned(),
            tick: if clocks { Some(CLOCK.to_owned()) } else { tick },
            tick_microseconds: tick_microseconds(problem),
            wall: "seconds".to_owned(),
            memory: "bytes".to_owned(),
        }
    }
}

/// What a tick is under the profile `resources`, whatever the platform's prices count in.
const CLOCK: &str = "one clock of a unit";

/// Microseconds of a tick, where the platform tells.
fn tick_microseconds(problem: &Problem) -> Option<f64> {
    match problem.profile {
        Profile::Resources => problem.platform.clock_microseconds(),
        _ => problem.platform.tick_microseconds(),
    }
}

/// A time in microseconds for people, as a line of an answer; nothing where the platform does not tell what a tick is.
#[must_use]
pub fn microseconds(problem: &Problem, ticks: i64) -> Option<(&'static str, String)> {
    let microseconds = ticks as f64 * tick_microseconds(problem)?;
    Some(("time:", format!("{microseconds:.3} microseconds")))
}

impl About {
    /// About a problem.
    #[must_use]
    pub fn of(problem: &Problem) -> About {
        About {
            name: problem.name.clone(),
            inputs: problem.inputs.clone(),
            platform: problem.platform.name.clone(),
            profile: problem.profile.name().to_owned(),
            tickbound: env!("CARGO_PKG_VERSION").to_owned(),
            units: Units::of(problem),
        }
    }
}
