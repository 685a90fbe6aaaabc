//! Open schedules as a transition system: an oracle for tests of the schedule search.
//!
//! Under the `opencl` profile a platform with `warps` leaves open which ready warp a free
//! dispatcher starts, and which unit takes a group when several are free for as long. A
//! configuration then has many run times. This module makes a transition system whose *choices* are
//! just these decisions: a run of the system is a run of the launch under one schedule, and every
//! schedule is a run.
//!
//! All warps of the launch are *lanes* of one program, with one clock for all. A step is one of
//! four, the first that applies:
//!
//! 1. *move*: every lane that is done with its point goes on, barriers release, groups end;
//! 2. *place*: the next group takes a place (choice: which of the places free for the longest);
//! 3. *start*: free dispatchers start ready warps (choice: which), none that could is left idle;
//! 4. *wait*: the clock advances to the next moment at which something ends.
//!
//! The number of lanes is the number of warps in the launch, so this is for launches of a few dozen
//! warps: the schedule of one unit, not of a whole device.

mod encode;
mod lanes;
mod variables;

use crate::plan::PlanError;
use crate::system::{ChoiceId, InternalError, System};
use tickbound_model::{Problem, Space};

pub use lanes::WarpLanes;

/// Most warps in a launch.
pub const MAX_LANES: usize = 64;

/// The transition system of an open schedule.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// The system; its configurations are those given to [`encode`], in that order.
    pub system: System,
    /// For each lane the choice to start its warp.
    pub start: Vec<ChoiceId>,
    /// For each place (unit after unit) the choice to put the next group there.
    pub place: Vec<ChoiceId>,
    /// Places in one unit.
    pub places_per_unit: usize,
    /// For each configuration the warps in a group: lane `l` is warp `l % warps` of group
    /// `l / warps`.
    pub warps_per_group: Vec<usize>,
    /// For each configuration the ticks of the finish program, which the cost holds from the start:
    /// the clock is the cost less these.
    pub finish: Vec<i64>,
}

/// The warps of the given configurations (indices into the space).
///
/// # Errors
/// A fault of the problem that shows only in a configuration, or too many warps.
pub fn lanes(problem: &Problem, space: &Space, members: &[usize]) -> Result<WarpLanes, PlanError> {
    lanes::lanes(problem, space, members)
}

/// The transition system over these lanes.
///
/// # Errors
/// A fault of this program.
pub fn encode(lanes: &WarpLanes) -> Result<Schedule, InternalError> {
    encode::encode(lanes)
}
