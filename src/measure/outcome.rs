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
    /// The spread became small enough.
    pub steady: bool,
    /// The output was compared with the reference's and is right.
    pub checked: bool,
}

impl Timed {
    /// The median, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        sample::median(&self.runs).unwrap_or(f64::NAN)
    }

    /// See [`sample::spread`].
    #[must_use]
    pub fn spread(&self) -> Option<f64> {
        sample::spread(&self.runs)
    }
}

/// Why there is no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// One line for a person, without the configuration's name.
    pub message: String,
}

/// A kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The compiler refuses it.
    Compile,
    /// The device cannot launch it: groups too large, too much memory, sizes that do not divide.
    Launch,
    /// It, or the process it ran in, crashed.
    Runtime,
    /// It took longer than the limit.
    Timeout,
    /// Its output is wrong.
    Wrong,
}

impl FailureKind {
    /// All kinds.
    pub const ALL: [FailureKind; 5] = [
        FailureKind::Compile,
        FailureKind::Launch,
        FailureKind::Runtime,
        FailureKind::Timeout,
        FailureKind::Wrong,
    ];

    /// One word for files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Compile => "compile",
            FailureKind::Launch => "launch",
            FailureKind::Runtime => "runtime",
            FailureKind::Timeout => "timeout",
            FailureKind::Wrong => "correctness",
        }
    }

    /// What a summary calls several of them.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            FailureKind::Compile => "did not compile",
            FailureKind::Launch => "could not be launched",
            FailureKind::Runtime => "crashed",
            FailureKind::Timeout => "took too long",
            FailureKind::Wrong => "returned wrong numbers",
        }
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
    #[must_use]
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Outcome {
        Outcome::Failed(Failure { kind, message: message.into() })
    }

    /// The run times, if there are some.
    #[must_use]
    pub fn timed(&self) -> Option<&Timed> {
        match self {
            Outcome::Timed(timed) => Some(timed),
            Outcome::Failed(_) => None,
        }
    }
}
