//! Faults of a job, their cause, and their text.

use super::job::Job;
use super::log;
use super::outcome::{Failure, FailureKind};
use tickbound_device::DeviceError;

/// The status of a launch in groups of a wrong size (OpenCL 3.0, clEnqueueNDRangeKernel).
const INVALID_WORK_GROUP_SIZE: i32 = -54;

/// CUDA_ERROR_INVALID_VALUE, such as a group that is too large, CUDA_ERROR_OUT_OF_MEMORY and
/// CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES.
const INVALID_VALUE: i32 = 1;
const OUT_OF_MEMORY: i32 = 2;
const TOO_MANY: i32 = 701;

/// Why a job has no times.
#[derive(Debug)]
pub enum JobError {
    /// The job is at fault, and the session can go on.
    Job(Failure),
    /// The job's kernel failed on the device, and the session may be unusable.
    Kernel(Failure),
    /// The device failed before the kernel ran.
    Device(DeviceError),
    /// A file of this program's own cannot be read; why.
    Expected(String),
}

impl JobError {
    pub(super) fn job(kind: FailureKind, message: impl Into<String>) -> JobError {
        JobError::Job(Failure { kind, message: message.into() })
    }
}

/// The compiler's words in one line, with the source's file and line.
pub(super) fn explain(job: &Job, log: &str) -> String {
    let path = &job.code.path;
    let Some(error) = log::first_error(log) else {
        return format!("{path}: {}", log::first_line(log));
    };
    // NVRTC has its own file for the kernel's name.
    if error.file == "__nv_name_map" {
        return format!("{path}: kernel `{}`: {}", job.code.entry, error.text);
    }
    // Drivers give the source names of their own; only what it includes has a name of ours.
    let folder = std::path::Path::new(path).parent().unwrap_or(std::path::Path::new(""));
    let included = folder.join(error.file.trim_start_matches("./"));
    let is_included = job.code.text.contains(&*error.file) || error.file.ends_with(".h");
    match is_included && included.is_file() {
        true => format!("{}:{}: {}", included.display(), error.line, error.text),
        false => format!("{path}:{}: {}", error.line, error.text),
    }
}

pub(super) fn of_memory(e: DeviceError) -> JobError {
    match &e {
        DeviceError::TooLarge { .. }
        | DeviceError::Call { code: -6..=-4 | -61 | OUT_OF_MEMORY, .. } => {
            JobError::job(FailureKind::Launch, format!("cannot be launched: {e}"))
        }
        _ => JobError::Device(e),
    }
}

pub(super) fn unusable(e: DeviceError) -> JobError {
    JobError::Kernel(Failure { kind: FailureKind::Runtime, message: e.to_string() })
}

/// A launch that the driver has refused.
pub(super) fn not_launched(job: &Job, e: DeviceError) -> JobError {
    let message = match &e {
        DeviceError::Argument { index, bytes, .. } => format!(
            "{}: argument {} of `{}` is refused: it has {bytes} bytes or is of another kind",
            job.code.path,
            index + 1,
            job.code.entry
        ),
        DeviceError::Call { code: INVALID_WORK_GROUP_SIZE | INVALID_VALUE | TOO_MANY, .. } => {
            let items = job.grid.iter().map(|d| d[1]).product::<usize>();
            format!("cannot be launched: {e}; groups of {items} items")
        }
        _ => format!("cannot be launched: {e}"),
    };
    JobError::job(FailureKind::Launch, message)
}
