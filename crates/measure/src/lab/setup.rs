//! What a lab needs to know, and why there is no outcome.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tickbound_device::DeviceChoice;

/// The hidden subcommand that is the worker.
pub const SUBCOMMAND: &str = "measure-worker";

/// What a lab needs to know.
#[derive(Debug, Clone)]
pub struct LabSetup {
    /// The device.
    pub choice: DeviceChoice,
    /// The folder in which sources look for what they include.
    pub folder: PathBuf,
    /// How long compiling and running a configuration may take, together.
    pub limit: Duration,
    /// The end of everything.
    pub deadline: Option<Instant>,
    /// The program that has the worker as a subcommand: this one, as a rule.
    pub program: PathBuf,
}
