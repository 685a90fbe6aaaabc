//! What a lab needs to know, and why there is no outcome.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::device::DeviceChoice;

/// The hidden subcommand that is the worker.
pub const SUBCOMMAND: &str = "measure-worker";

/// Why there is no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabError {
    /// The device cannot be had.
    #[error("{0}")]
    NoDevice(String),
    /// There is no such device.
    #[error("{0}")]
    Choice(String),
    /// The device was there and is no more.
    #[error(
        "{device} has vanished: {why}; what was measured is kept, the same command goes on with the rest"
    )]
    Vanished {
        /// Its name.
        device: String,
        /// What was tried last.
        why: String,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The time is up.
    #[error("the time is up")]
    TimeUp,
    /// The cache cannot be written any more; why.
    #[error("{0}; what was measured is in the report")]
    Unkept(String),
    /// A process could not be started, or does not do what it should.
    #[error("the process that runs kernels: {0}")]
    Process(String),
}

/// What a lab needs to know.
#[derive(Debug, Clone)]
pub struct Setup {
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
