//! What an object printed with `--json` is about.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_input::message::grouped;
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
    /// What a tick is, as the platform states it.
    pub tick: Option<String>,
    /// Microseconds of a tick, where that is known.
    pub tick_microseconds: Option<f64>,
    /// Times of devices and clocks on the wall: keys that name seconds, and the times of
    /// measurements.
    pub wall: String,
    /// Memory.
    pub memory: String,
}

impl Units {
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

    /// A time of the model for people: `19.877 microseconds (39,356 ticks)`, or ticks alone where
    /// the platform does not say how long one is.
    pub fn time(&self, ticks: i64) -> String {
        self.times([ticks], "")
    }

    /// Two times for people, as `1.010 and 1.515 microseconds (2,000 and 3,000 ticks)`.
    pub fn range(&self, lower: i64, upper: i64) -> String {
        self.times([lower, upper], " and ")
    }

    fn times<const N: usize>(&self, ticks: [i64; N], between: &str) -> String {
        let noun = if ticks == [1; N] { "tick" } else { "ticks" };
        let in_ticks = format!("{} {noun}", ticks.map(grouped).join(between));
        let Some(length) = self.tick_microseconds else { return in_ticks };
        let microseconds = ticks.map(|t| format!("{:.3}", t as f64 * length)).join(between);
        format!("{microseconds} microseconds ({in_ticks})")
    }
}

/// What a tick is under the profile `resources`, for any unit of the platform's prices.
const CLOCK: &str = "one clock of a unit";

/// Microseconds of a tick, where the platform reports it.
fn tick_microseconds(problem: &Problem) -> Option<f64> {
    match problem.profile {
        Profile::Resources => problem.platform.clock_microseconds(),
        _ => problem.platform.tick_microseconds(),
    }
}

impl About {
    /// The line that names the model: profile and platform.
    pub fn model(&self) -> (&'static str, String) {
        let platform = match self.platform.as_str() {
            "" => "a platform without a name".to_owned(),
            name => format!("platform {name}"),
        };
        ("model:", format!("profile {}, {platform}", self.profile))
    }

    /// About a problem.
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
