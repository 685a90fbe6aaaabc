//! What solvers need before they are asked: the system, what may be chosen, and how many steps.

use std::sync::atomic::AtomicBool;

use tickbound_encodings::bounds::lower_bounds;
use tickbound_encodings::plan::Plan;
use tickbound_encodings::system::System;
use tickbound_encodings::system::run::{SystemRunError, SystemRunner};
use tickbound_encodings::{EncodeError, Encoded, Encoding};
use tickbound_model::{Problem, Space};

use crate::bracket::Bracket;
use crate::error::SolveError;
use crate::task::Task;

/// Most steps an encoding is unrolled for.
pub const MAX_STEPS: usize = 20_000;
/// Most nodes of the unrolled system, over all steps: about 2 GB in Z3.
pub const MAX_NODES: usize = 1_500_000;
/// Configurations simulated before the search for a first incumbent.
pub(crate) const PROBES: usize = 4;

/// A problem made ready for a solver other than Z3.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The transition system.
    pub encoded: Encoded,
    /// The configurations that may be optimal, by their index in the space: all of them where the
    /// program is closed, else those whose lower bound does not exceed the first incumbent.
    pub kept: Vec<usize>,
    /// Steps after which all of them have reached their goal.
    pub steps: usize,
}

/// Encodes a problem whose space is not empty, simulates a few configurations, and prunes.
///
/// # Errors
/// A problem that the encoding does not cover or for which it grows too large, or a fault.
pub fn prepare(
    problem: &Problem,
    space: &Space,
    encoding: Encoding,
) -> Result<Prepared, SolveError> {
    let plan = Plan::new(problem, space)?;
    let encoded = encoding.encode(&plan).map_err(|e| no_system(problem, space, encoding, e))?;
    let lower = lower_bounds(&plan);
    let never = AtomicBool::new(false);
    let bracket = Bracket::new(None, &never, &|_| {});
    let mut kept: Vec<usize> = (0..lower.len()).collect();
    if !encoded.is_closed() {
        Task::new(problem, space, &bracket, &lower).probe(PROBES)?;
        kept.retain(|c| lower[*c] <= bracket.bounds().upper());
    }
    let steps = steps_needed(problem, space, &encoded.system, encoding, &kept)?;
    Ok(Prepared { encoded, kept, steps })
}

/// Steps after which every given configuration has reached its goal.
pub(crate) fn steps_needed(
    problem: &Problem,
    space: &Space,
    system: &System,
    encoding: Encoding,
    candidates: &[usize],
) -> Result<usize, SolveError> {
    let (mut most, mut runner) = (0, SystemRunner::new(system));
    let limit = MAX_STEPS.min(MAX_NODES / runner.size().max(1));
    for c in candidates {
        let run = runner.run(*c, limit).map_err(|e| no_run(problem, space, encoding, *c, e))?;
        most = most.max(run.steps);
    }
    Ok(most)
}

/// Why a plan has no system in an encoding.
pub fn no_system(
    problem: &Problem,
    space: &Space,
    encoding: Encoding,
    error: EncodeError,
) -> SolveError {
    match error {
        EncodeError::Fault(fault) => fault.into(),
        EncodeError::Group { configuration, error } => {
            no_run(problem, space, encoding, configuration, error)
        }
    }
}

/// Why the configuration with index `c` has no run in the system of an encoding.
pub fn no_run(
    problem: &Problem,
    space: &Space,
    encoding: Encoding,
    c: usize,
    error: SystemRunError,
) -> SolveError {
    let named = problem.name_values(&space.bound[c].configuration).to_string();
    let configuration = if named.is_empty() { problem.name.clone() } else { named };
    match error {
        SystemRunError::Fault(fault) => fault.into(),
        SystemRunError::Overflow => SolveError::Overflow(configuration),
        SystemRunError::Steps(limit) => SolveError::TooDeep(encoding, configuration, limit),
    }
}
