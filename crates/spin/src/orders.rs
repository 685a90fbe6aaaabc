//! What a verifier is made for, how it is run, and what a run comes to.

use std::path::PathBuf;
use std::sync::Mutex;

use crate::error::SpinError;
use crate::output::VerifierVerdict;
use crate::watch::Watch;

tickbound_input::named! {
    /// A property of the text.
    pub enum OrderClaim {
        /// No run ends.
        NonTerm = "NonTerm",
        /// No run ends within `T` ticks.
        OverTime = "OverTime",
    }
}

/// What a verifier is generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The claims, with this bound `T`.
    Claims { bound: i64 },
    /// Branch and bound below this time.
    Best { below: i64 },
    /// All times of all configurations.
    Times,
}

/// How it stores states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Storage {
    /// In full.
    Full,
    /// As bits; choices are taken in an order that depends on a seed.
    Bits,
}

/// A verifier.
#[derive(Debug)]
pub struct Build {
    pub folder: PathBuf,
    pub program: PathBuf,
    pub goal: Goal,
    /// Seconds of SPIN and of the compiler, until a run has put them into its log.
    pub seconds: Mutex<Option<(f64, f64)>>,
}

/// How to run a verifier.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The name of the run in logs.
    pub what: &'static str,
    /// The claim; `None` for a verifier without claims.
    pub claim: Option<OrderClaim>,
    /// The bound, for the log.
    pub bound: Option<i64>,
    pub depth: u64,
    /// Most errors, each with a trail; `None` for all of them, 1 for the first.
    pub errors: Option<u64>,
    /// A bitstate run.
    pub bits: Option<Bits>,
    pub watch: Watch<'a>,
}

impl<'a> Order<'a> {
    /// A run for the first error of a claim, or of the model, storing states in full.
    pub fn first_error(what: &'static str, depth: u64, watch: Watch<'a>) -> Order<'a> {
        Order { what, claim: None, bound: None, depth, errors: Some(1), bits: None, watch }
    }

    /// How its run stores states.
    pub fn storage(&self) -> Storage {
        if self.bits.is_some() { Storage::Bits } else { Storage::Full }
    }

    /// What its answer cannot be, as an error.
    pub fn unreadable(&self, why: impl Into<String>) -> SpinError {
        unreadable(self.what, &why.into())
    }
}

/// The answer of a run that crashed or printed nothing that can be understood.
pub fn unreadable(what: &str, why: &str) -> SpinError {
    let message = format!("{what}: the verifier's answer cannot be read: {why}");
    SpinError::Unusable(message + "; --keep DIR keeps its log")
}

/// A fault of the model itself that a run has found.
pub fn reported(what: &str, message: &str) -> SpinError {
    SpinError::Fault(format!("{what}: the verifier reports `{message}`"))
}

/// What makes one worker of a swarm different from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    pub seed: u64,
    /// The hash array has 2 to the power of this many bits.
    pub array: u32,
    /// Bits set for each state.
    pub per_state: u32,
}

/// What a run came to.
#[derive(Debug)]
pub struct VerifierRun {
    /// The verdict; of a run for many errors, what cut it short, if something did.
    pub verdict: VerifierVerdict,
    /// It searched everything, storing states in full.
    pub complete: bool,
    pub trails: Vec<PathBuf>,
    /// Bits of the hash array for each state, in a bitstate run.
    pub hash_factor: Option<f64>,
    /// What the model itself printed; `None` if there was too much of it.
    pub printed: Option<Vec<String>>,
    /// Its place in the log.
    pub run: usize,
}
