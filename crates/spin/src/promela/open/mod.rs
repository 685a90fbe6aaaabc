//! Open schedules: warps that compete for the dispatchers and the memory slots of their unit.
//!
//! What is open is a choice in the text: which ready warp a free dispatcher starts, and on which of
//! several units the next group is placed. Everything else follows, by the rules of
//! `docs/semantics.md`, section "Open schedules".
//!
//! - `processes` keeps the processes of the papers, with warps in place of processing elements;
//! - `lockstep` has one process, whose states are the moments at which something is open;
//! - `bounds` states how long a run can take at most.
//!
//! Every decision prints a line where a run is replayed, so that [`tickbound_simulator::Scripted`]
//! can follow it.

mod bounds;
mod common;
mod lockstep;
mod nodes;
mod processes;

use super::error::PromelaError;
use super::facts::Facts;
use super::model::{Model, Style};
pub(super) use bounds::longest;
use common::Common;

pub(super) fn write(facts: &Facts<'_>, style: Style) -> Result<Model, PromelaError> {
    let common = Common::new(facts)?;
    match style {
        Style::Lockstep => lockstep::write(&common),
        Style::Processes => processes::write(&common),
    }
}
