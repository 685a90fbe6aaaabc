//! The least and the greatest run time of a launch over all schedules of its warps.
//!
//! Under the profile `opencl` a platform with `warps` leaves open which ready warp a free dispatcher
//! starts, and which unit takes a group (`docs/semantics.md`, "Open schedules"). [`Launch::explore`] finds
//! both ends of the times that are possible, exactly. It goes far beyond the simulator's own
//! exploration, which follows every schedule event by event, because
//!
//! * warps that are in the same situation are counted, not named (`state`);
//! * a state says nothing of the iterations that are left, so that a loop has few states (`launch`);
//! * once the groups of a long queue repeat themselves, the rest of the queue is an addition
//!   (`sweep`).
//!
//! The modules, in the order of the work: `lower` makes a `launch` of a configuration; `state` is
//! one instant of it, `instant` what can happen then; `graph` keeps the states that were met; `sweep`
//! follows all runs through them, level by `level` and `batch` by batch. `record` and `replay` make a schedule of the states on the way to
//! an end. `bounds`, `rules` and `beam` need no exploration; `ratio` bounds launches with many iterations by the cycles of their states.
//!
//! The rules are implemented here a second time, from the problem's program on. The simulator's
//! exploration is the oracle on small launches.

mod batch;
mod beam;
mod bounds;
mod error;
mod graph;
mod instant;
mod launch;
mod level;
mod limits;
mod lower;
mod ratio;
mod record;
mod replay;
mod rules;
mod state;
mod sweep;
mod symmetry;

use graph::Graph;
use record::{End, Record};
use sweep::Sweep;
use tickbound_model::simulate::Script;
use tickbound_model::{Bound, Problem};

pub use error::{Limit, ScheduleError, TooLarge};
pub use launch::Launch;
pub use limits::{Limits, Skipped};
pub use rules::{Tried, first_come, try_rules};

/// Most groups that have a place at once: the number of a group is a digit of a 64-bit word.
const MAX_PLACES: usize = 16;

/// What an exploration has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explored {
    /// Ticks under the best schedule.
    pub best: i64,
    /// Ticks under the worst schedule.
    pub worst: i64,
    /// Different states, without places in the program.
    pub states: usize,
    /// Visits of a state with its places in the program and the groups left.
    pub visits: u64,
    /// Groups that were not looked at one by one, in the order of the queue.
    pub skipped: Vec<Skipped>,
    /// A best and a worst schedule, for the simulator to follow; `None` if they would take more than
    /// [`Limits::max_recorded`].
    pub scripts: Option<(Script, Script)>,
}

impl Launch {
    /// The launch of a configuration.
    ///
    /// # Errors
    /// The configuration has no time, or is too large.
    pub fn new(problem: &Problem, bound: &Bound) -> Result<Launch, ScheduleError> {
        lower::lower(problem, bound)
    }

    /// Whether an exploration with so many visits records schedules.
    #[must_use]
    pub fn is_recorded(&self, visits: u64, limits: &Limits) -> bool {
        self.segments().saturating_add(visits) <= limits.max_recorded
    }

    /// The least and the greatest time over all schedules.
    ///
    /// # Errors
    /// A limit was reached, or `stop` has said so.
    pub fn explore(
        &self,
        limits: &Limits,
        stop: &dyn Fn() -> bool,
    ) -> Result<Explored, ScheduleError> {
        if self.units.saturating_mul(self.places) > MAX_PLACES {
            return Err(ScheduleError::TooLarge(TooLarge::Places(MAX_PLACES)));
        }
        let mut graph = Graph::new(self);
        let mut sweep = Sweep::new(&mut graph, limits, stop);
        let swept = sweep.all()?;
        if swept.range.is_none() {
            return Err(ScheduleError::Fault("no schedule comes to an end".to_owned()));
        }
        let scripts =
            if self.is_recorded(swept.visits, limits) { Some(scripts(sweep)?) } else { None };
        let ends = |tick: i64| {
            tick.checked_add(self.finish).ok_or(ScheduleError::TooLarge(TooLarge::Time))
        };
        Ok(Explored {
            best: ends(swept.range.least)?,
            worst: ends(swept.range.greatest)?,
            states: graph.len(),
            visits: swept.visits,
            skipped: swept.skipped,
            scripts,
        })
    }
}

/// A best and a worst schedule: everything is run once more, and recorded.
fn scripts(mut sweep: Sweep<'_, '_>) -> Result<(Script, Script), ScheduleError> {
    sweep.record = Some(Record::new());
    sweep.all()?;
    let record = sweep.record.take().unwrap_or_else(Record::new);
    let mut script = |end: End| {
        let lost = || ScheduleError::Fault("a schedule has lost its way".to_owned());
        let path = record.path(end).ok_or_else(lost)?;
        replay::script(&mut sweep, &path, end)
    };
    Ok((script(End::Best)?, script(End::Worst)?))
}
