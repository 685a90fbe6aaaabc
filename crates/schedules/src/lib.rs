//! The least and the greatest run time of a launch over all schedules of its warps.
//!
//! Under the profile `opencl` a platform with `warps` leaves open which ready warp a free
//! dispatcher starts, and which unit takes a group (`docs/semantics.md`, "Open schedules").
//! [`WarpLaunch::explore`] finds both ends of the times that are possible, exactly. It goes far
//! beyond the simulator's own exploration, which follows every schedule event by event, because
//!
//! * warps that are in the same situation are counted, not named (`state`);
//! * a state does not have the iterations that are left, so that a loop has few states
//!   (`launch`);
//! * once the groups of a long queue repeat themselves, the rest of the queue is an addition
//!   (`sweep`).
//!
//! The modules, in the order of the work: `lower` makes a `launch` of a configuration; `state` is
//! one instant of it, `instant` what can happen then; `graph` keeps the states that were met;
//! `sweep` follows all runs through them, level by `level` and `batch` by batch. Where all are too
//! many, `paths`, their cycles' `ratio`s and what is `ahead` tell which runs cannot end
//! by a `goal`. `record` and `replay` make a schedule of the states on the way to an end. `bounds`,
//! `rules` and `beam` need no exploration.
//!
//! The rules are implemented here a second time, from the problem's program on. The simulator's
//! exploration is the oracle on small launches.

mod ahead;
mod batch;
mod beam;
mod bounds;
mod error;
mod goal;
mod graph;
mod instant;
mod launch;
mod level;
mod limits;
mod lower;
mod paths;
mod ratio;
mod record;
mod replay;
mod rules;
mod state;
mod sweep;
mod symmetry;

use ahead::Ahead;
use graph::Graph;
use paths::Paths;
use record::End;
use sweep::{Sweep, Swept};
use tickbound_model::{Bound, Problem};
use tickbound_simulator::Script;

pub use error::{Limit, ScheduleError, TooLarge};
pub use launch::WarpLaunch;
pub use limits::{ScheduleLimits, Skipped};
pub use rules::{Tried, first_come, try_rules};

/// Most groups that have a place at once: the number of a group is a digit of a 64-bit word.
const MAX_PLACES: usize = 16;

/// What an exploration has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleEnds {
    /// Ticks under the best schedule.
    pub best: i64,
    /// Ticks under the worst schedule.
    pub worst: i64,
    /// Different states, without places in the program.
    pub states: usize,
    /// Visits of a state with its places and the groups left, on the way to both ends.
    pub visits: u64,
    /// Steps not followed, as they lead to no end; 0 where both ends were looked for together.
    pub dropped: u64,
    /// Groups that were not examined one by one, in the order of the queue; where each end was
    /// looked for by itself those of the best end, then those of the worst one.
    pub skipped: Vec<Skipped>,
    /// A best and a worst schedule for the simulator, within [`ScheduleLimits::max_recorded`].
    pub scripts: Option<(Script, Script)>,
}

impl WarpLaunch {
    /// The launch of a configuration.
    ///
    /// # Errors
    /// The configuration has no time, or is too large.
    pub fn new(problem: &Problem, bound: &Bound) -> Result<WarpLaunch, ScheduleError> {
        lower::lower(problem, bound)
    }

    /// Whether an exploration with this many visits records schedules.
    pub fn is_recorded(&self, visits: u64, limits: &ScheduleLimits) -> bool {
        self.segments().saturating_add(visits) <= limits.max_recorded
    }

    /// The least and the greatest time over all schedules.
    ///
    /// # Errors
    /// A limit was reached, or `stop` returns true.
    pub fn explore(
        &self,
        limits: &ScheduleLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<ScheduleEnds, ScheduleError> {
        self.has_few_places()?;
        let mut graph = Graph::new(self);
        let most = limits.max_visits;
        let up_to = |visits: u64| ScheduleLimits { max_visits: visits, ..*limits };
        let few = limits.max_together.min(most / 4);
        match self.together(&mut graph, &up_to(few), stop) {
            Err(ScheduleError::Limit(Limit::Visits(_))) => {}
            explored => return explored,
        }
        match self.apart(&mut graph, &up_to(most / 2), stop) {
            Ok(None) | Err(ScheduleError::Limit(Limit::Visits(_))) => {}
            Ok(Some(both)) => return Ok(both),
            Err(error) => return Err(error),
        }
        // Without the states that only others than true runs come to.
        let mut graph = Graph::new(self);
        self.together(&mut graph, &up_to(most - few - most / 2), stop).map_err(
            |error| match error {
                ScheduleError::Limit(Limit::Visits(_)) => ScheduleError::Limit(Limit::Visits(most)),
                error => error,
            },
        )
    }

    /// A number of ticks that no schedule undercuts, and one that none exceeds, by the cycles of
    /// the states; `None` if there are more than `states` of a unit, numbers grow too large, or
    /// `stop` returns true. Neither groups nor iterations matter for how long that takes.
    ///
    /// # Errors
    /// The launch is too large.
    pub fn ratios(
        &self,
        states: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(i64, i64)>, ScheduleError> {
        self.has_few_places()?;
        let mut graph = Graph::new(self);
        let Some(ahead) = self.ahead(&mut graph, states, stop) else { return Ok(None) };
        let root = graph.root();
        let ends = |ahead: &Ahead| ahead.bound(self, root)?.checked_add(self.finish);
        let [best, worst] = ahead.each_ref().map(ends);
        Ok(best.zip(worst))
    }

    fn has_few_places(&self) -> Result<(), ScheduleError> {
        if self.units.saturating_mul(self.places) > MAX_PLACES {
            return Err(ScheduleError::TooLarge(TooLarge::Places(MAX_PLACES)));
        }
        Ok(())
    }

    /// What is to come for both ends.
    fn ahead(
        &self,
        graph: &mut Graph<'_>,
        states: usize,
        stop: &dyn Fn() -> bool,
    ) -> Option<[Ahead; 2]> {
        let paths = Paths::new(graph, states, stop)?;
        let best = Ahead::new(self, &paths, End::Best, stop)?;
        Some([best, Ahead::new(self, &paths, End::Worst, stop)?])
    }

    /// Both ends at once: all runs.
    fn together<'l>(
        &'l self,
        graph: &mut Graph<'l>,
        limits: &ScheduleLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<ScheduleEnds, ScheduleError> {
        let mut sweep = Sweep::new(graph, limits, stop);
        let Swept { range, visits, dropped, skipped } = sweep.all()?;
        let scripts = match self.is_recorded(visits, limits) {
            true => {
                sweep.run_recorded()?;
                let best = replay::recorded(&mut sweep, End::Best)?;
                Some((best, replay::recorded(&mut sweep, End::Worst)?))
            }
            false => None,
        };
        let (best, worst) = self.finished(range.least, range.greatest)?;
        Ok(ScheduleEnds { best, worst, states: graph.len(), visits, dropped, skipped, scripts })
    }

    /// Each end by itself, from the runs that may lead to it; `None` if that is not known.
    fn apart<'l>(
        &'l self,
        graph: &mut Graph<'l>,
        limits: &ScheduleLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<ScheduleEnds>, ScheduleError> {
        let Some(ahead) = self.ahead(graph, limits.max_states, stop) else { return Ok(None) };
        let [best, worst] = &ahead;
        let best = goal::reach(graph, best, limits, stop)?;
        let left = limits.max_visits.saturating_sub(best.swept.visits);
        let worst =
            goal::reach(graph, worst, &ScheduleLimits { max_visits: left, ..*limits }, stop)?;
        let visits = best.swept.visits + worst.swept.visits;
        let scripts = match self.is_recorded(visits, limits) {
            true => Some((best.script(graph, limits, stop)?, worst.script(graph, limits, stop)?)),
            false => None,
        };
        let dropped = best.swept.dropped + worst.swept.dropped;
        let skipped = best.swept.skipped.iter().chain(&worst.swept.skipped).copied().collect();
        let (best, worst) = self.finished(best.tick, worst.tick)?;
        let states = graph.len();
        Ok(Some(ScheduleEnds { best, worst, states, visits, dropped, skipped, scripts }))
    }

    /// Ticks of the launch for those at which its last group ends.
    fn finished(&self, best: i64, worst: i64) -> Result<(i64, i64), ScheduleError> {
        if best > worst {
            return Err(ScheduleError::Fault("no schedule comes to an end".to_owned()));
        }
        let ends = [best, worst].map(|tick| tick.checked_add(self.finish));
        let [Some(best), Some(worst)] = ends else {
            return Err(ScheduleError::TooLarge(TooLarge::Time));
        };
        Ok((best, worst))
    }
}
