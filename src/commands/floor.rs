//! Floors: times that no configuration can undercut on the device.

use tickbound_model::{Floor, ModelError, Problem};
use tickbound_opencl::{KernelReading, least};

use super::exit::CliError;

/// The floor of a problem whose kernel was read; or why the platform has none.
pub fn of(
    problem: &Problem,
    reading: Option<&KernelReading>,
) -> Result<Result<Floor, ModelError>, CliError> {
    let Some(reading) = reading else {
        let what = "has no floor: nothing can be counted";
        return Ok(Err(ModelError::new("kernel", what, "take a kernel in OpenCL C")));
    };
    let counts = least(problem, reading)?;
    if std::env::var("TB").is_ok() {
        for (k, e) in &counts.each { eprintln!("each {}: {}", k.name(), problem.scope.show(e)); }
        for (k, e) in &counts.some { eprintln!("some {}: {}", k.name(), problem.scope.show(e)); }
        if let Ok(f) = Floor::new(problem, &counts) { for (k, e) in &f.terms { eprintln!("TERM {}: {}", k.name(), problem.scope.show(e)); } }
    }
    Ok(Floor::new(problem, &counts))
}
