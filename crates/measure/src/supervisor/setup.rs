//! What a lab needs to know, and why there is no outcome.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tickbound_device::DeviceChoice;

/// The hidden subcommand that is the worker, and its option for one that runs nothing.
pub const SUBCOMMAND: &str = "measure-worker";
/// See [`SupervisorSetup::compiles`].
pub const COMPILES: &str = "--compiles";

/// What ends a lab's work: what the user does, and the end of a campaign.
pub type Interrupts<'a> = [&'a AtomicBool; 2];

/// What a lab needs to know.
#[derive(Debug, Clone)]
pub struct SupervisorSetup {
    /// The device.
    pub choice: DeviceChoice,
    /// The folder in which sources look for what they include.
    pub folder: PathBuf,
    /// How long compiling a configuration may take, and how long running it.
    pub limit: Duration,
    /// The end of everything.
    pub deadline: Option<Instant>,
    /// The worker compiles, and runs nothing.
    pub compiles: bool,
    /// The program that has the worker as a subcommand: this one, as a rule.
    pub program: PathBuf,
}
