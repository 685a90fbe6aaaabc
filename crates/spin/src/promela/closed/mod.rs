//! Closed schedules: the profiles of the papers, and `opencl` without warps. The time of a
//! configuration does not depend on the order in which things happen.
//!
//! - `processes` has the processes of the papers;
//! - `lockstep` has one process, whose steps lead from one moment to the next.

mod common;
mod lockstep;
mod nodes;
mod processes;

use tickbound_model::{Problem, Space};
use tickbound_simulator::{SimulateOptions, simulate};

use super::error::PromelaError;
use super::facts::Facts;
use super::model::{Model, Style};
use common::Common;

/// The time of the first configuration, and the greatest of all, in ticks.
///
/// # Errors
/// A fault of the problem that shows in a configuration.
pub(super) fn times(problem: &Problem, space: &Space) -> Result<(i64, i64), PromelaError> {
    let (mut first, mut most) = (None, 0);
    for bound in &space.bound {
        let time = simulate(problem, bound, &SimulateOptions::default())?.time;
        first.get_or_insert(time);
        most = most.max(time);
    }
    Ok((first.unwrap_or(0), most))
}

/// Writes the model.
///
/// # Errors
/// What Promela cannot hold.
pub(super) fn write(facts: &Facts<'_>, style: Style) -> Result<Model, PromelaError> {
    let common = Common::new(facts)?;
    match style {
        Style::Processes => processes::write(&common),
        Style::Lockstep => lockstep::write(&common),
    }
}
