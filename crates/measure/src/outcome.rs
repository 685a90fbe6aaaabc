//! What came of running one configuration.

use serde::{Deserialize, Serialize};

use super::sample;

/// What came of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It ran.
    Timed(Timed),
    /// It did not.
    Failed(Failure),
}

/// Run times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Seconds of each run that counts, by the device's clock, in order.
    pub runs: Vec<f64>,
    /// The same of runs in turns with others, for the best: only they tell which is the best.
    #[serde(default)]
    pub rounds: Vec<f64>,
    /// The spread became small enough.
    pub steady: bool,
    /// The output was compared with the reference's and is right.
    pub checked: bool,
}

impl Timed {
    /// The median of `runs`, in seconds.
    pub fn seconds(&self) -> f64 {
        sample::median(&self.runs).unwrap_or(f64::NAN)
    }

    /// The median of `rounds`, in seconds, if it ran in turns.
    pub fn seconds_in_turns(&self) -> Option<f64> {
        sample::median(&self.rounds)
    }

    /// The time that counts, in seconds: that in turns, if it ran in turns.
    pub fn best_known_seconds(&self) -> f64 {
        self.seconds_in_turns().unwrap_or(self.seconds())
    }

    /// See [`sample::spread`].
    pub fn spread(&self) -> Option<f64> {
        sample::spread(&self.runs)
    }
}

/// Why there is no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// One line for a user, without the configuration's name.
    pub message: String,
}

tickbound_input::named! {
    /// A kind of failure, under the word that files have; `about` is what a summary states of
    /// several.
    #[derive(PartialOrd, Ord)]
    pub enum FailureKind {
        /// did not compile
        Compile = "compile",
        /// could not be launched
        Launch = "launch",
        /// crashed
        Runtime = "runtime",
        /// took too long
        Timeout = "timeout",
        /// returned wrong numbers
        Wrong = "correctness",
    }
}

/// Seconds of this machine's clock that the parts of the work took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stages {
    /// Compiling.
    pub compile: f64,
    /// The first run, and the comparison of outputs.
    pub verify: f64,
    /// The runs that count, and what was done between them.
    pub run: f64,
    /// Everything else.
    pub other: f64,
}

impl Outcome {
    /// A failure.
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Outcome {
        Outcome::Failed(Failure { kind, message: message.into() })
    }

    /// The run times, if there are some.
    pub fn timed(&self) -> Option<&Timed> {
        match self {
            Outcome::Timed(timed) => Some(timed),
            Outcome::Failed(_) => None,
        }
    }
}
