//! Why nothing was measured.

use std::path::PathBuf;

use tickbound_device::DeviceChoice;
use tickbound_model::ModelError;

use super::cache::CacheError;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The problem has nothing to run.
    #[error(
        "the problem names no kernel in OpenCL C or CUDA, which is what is measured; write \
         \"kernel\": {{ \"opencl\": ..., \"entry\": ... }}"
    )]
    NoSource,
    /// The device runs kernels in another language: it, the kernel's language, and what runs that.
    #[error("--device {0}: the kernel is in {1}, which it does not run; give --device {2}")]
    Device(DeviceChoice, &'static str, DeviceChoice),
    /// The kernel is in a language that is predicted, not run: its name.
    #[error(
        "kernel.language: kernels in {0} are not measured yet; `tickbound tune`, `why` and \
         `verify` work"
    )]
    Unmeasured(&'static str),
    /// The problem is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A number of the problem is at fault: its field, and what is wrong.
    #[error("{0}: {1}; change it, or exclude this configuration by a constraint")]
    Number(String, String),
    /// A file of the problem cannot be read, and why.
    #[error("{0}: {1}; correct its path in the problem file")]
    Read(PathBuf, std::io::Error),
    /// The host reference cannot be used: file and line, and what is wrong.
    #[error("{0}: {1}")]
    Reference(String, String),
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The device cannot be used.
    #[error(transparent)]
    Supervisor(#[from] SupervisorError),
    /// Two kernels cannot be compared, and why.
    #[error("race: {0}")]
    Race(String),
    /// The user interrupted before anything was measured.
    #[error("interrupted")]
    Interrupted,
}

impl MeasureError {
    /// Nothing is at fault; there was no time.
    pub fn is_only_stopped(&self) -> bool {
        matches!(self, MeasureError::Interrupted)
            || matches!(
                self,
                MeasureError::Supervisor(SupervisorError::Interrupted | SupervisorError::TimeUp)
            )
    }
}

/// Why there is no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SupervisorError {
    /// The device cannot be had.
    #[error("{0}")]
    NoDevice(String),
    /// There is no such device.
    #[error("{0}")]
    Choice(String),
    /// The device of this name has gone; what was tried last.
    #[error(
        "{0} has vanished: {1}; what was measured is kept, the same command goes on with the rest"
    )]
    Vanished(String, String),
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
