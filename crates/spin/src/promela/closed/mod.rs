//! Closed schedules: the profiles of the papers, and `opencl` without warps. The time of a
//! configuration does not depend on the order in which things happen.
//!
//! - `processes` has the processes of the papers;
//! - `lockstep` has one process, whose steps lead from one moment to the next.

mod common;
mod lockstep;
mod nodes;
mod processes;

use super::error::PromelaError;
use super::facts::Facts;
use super::model::{Model, Style};
use common::Common;

pub(super) fn write(facts: &Facts<'_>, style: Style) -> Result<Model, PromelaError> {
    let common = Common::new(facts)?;
    match style {
        Style::Processes => processes::write(&common),
        Style::Lockstep => lockstep::write(&common),
    }
}
