//! What an object printed with `--json` is about.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_model::Problem;

/// The problem that was asked about, and the program that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Units {
    /// Times of the model.
    pub model: String,
    /// Times of devices and clocks on the wall: keys that name seconds, and the times of measurements.
    pub wall: String,
    /// Memory.
    pub memory: String,
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
            units: Units {
                model: "ticks".to_owned(),
                wall: "seconds".to_owned(),
                memory: "bytes".to_owned(),
            },
        }
    }
}
