//! One end of a launch by goals, where all runs are too many.
//!
//! For every state it is [known](crate::ahead) what a run takes from there at least. So a
//! [sweep](crate::sweep) for the best end drops what cannot reach the end by a goal. If some run
//! ends by the goal, then the best one does, and was not dropped: it is exact. If none does, there
//! is none, and the goal is set further. The first goal is what no run undercuts. The worst end is
//! the same with negative ticks.
//!
//! How much is left of all runs depends on how near that bound is to the end.
//!
//! # Why levels may be skipped
//!
//! With everything in a level `c` later than `p` levels before, and `w` the work of `p` groups,
//! what is to come has fallen by no more than `r * w`. If `c` is at least that, all that was
//! dropped there would be dropped here. So what follows may be taken over, later by `c`; what more
//! of it could be dropped does no harm, as it is of true runs.

use crate::ahead::{Ahead, Goal};
use crate::error::{ScheduleError, TooLarge};
use crate::graph::Graph;
use crate::limits::ScheduleLimits;
use crate::replay;
use crate::sweep::{Sweep, Swept};
use tickbound_simulator::Script;

/// A goal that some run reaches.
pub(crate) struct Reached<'a> {
    goal: Goal<'a>,
    /// The tick at which the last group ends.
    pub tick: i64,
    /// What was followed, of all goals.
    pub swept: Swept,
}

impl Reached<'_> {
    /// A schedule that takes this long.
    ///
    /// # Errors
    /// A limit, the caller's stop, or a fault.
    pub fn script(
        &self,
        graph: &mut Graph<'_>,
        limits: &ScheduleLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<Script, ScheduleError> {
        let mut sweep = Sweep::new(graph, limits, stop);
        sweep.goal = Some(self.goal);
        sweep.run_recorded()?;
        replay::recorded(&mut sweep, self.goal.ahead.end)
    }
}

/// Finds an end.
///
/// # Errors
/// A limit - of what earlier goals have left of it - or the caller's stop.
pub(crate) fn reach<'a>(
    graph: &mut Graph<'_>,
    ahead: &'a Ahead,
    limits: &ScheduleLimits,
    stop: &dyn Fn() -> bool,
) -> Result<Reached<'a>, ScheduleError> {
    let too_late = || ScheduleError::TooLarge(TooLarge::Time);
    let root = graph.root();
    let (launch, sign) = (graph.launch, ahead.end.sign());
    // Where the last group ends if nothing waits, and if everything waits for everything else.
    let ends = [launch.least() - launch.finish, launch.most() - launch.finish];
    let (near, last) = if sign > 0 { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
    let first = ahead.bound(launch, root).ok_or_else(too_late)?;
    let first = sign * (sign * first).max(sign * near);
    let (mut visits, mut dropped, mut further) = (0, 0, 0_i64);
    loop {
        let goal = first.checked_add(sign * further).ok_or_else(too_late)?;
        let goal = Goal { ahead, tick: goal };
        let left = ScheduleLimits { max_visits: limits.max_visits - visits, ..*limits };
        let mut sweep = Sweep::new(graph, &left, stop);
        sweep.goal = Some(goal);
        let swept = sweep.all()?;
        visits += swept.visits;
        dropped += swept.dropped;
        let found = (!swept.range.is_none()).then(|| ahead.end.of(swept.range));
        further = match found {
            Some(found) if goal.is_met(found) => {
                let swept = Swept { visits, dropped, ..swept };
                return Ok(Reached { goal, tick: found, swept });
            }
            // Some run ends there.
            Some(found) => sign * (found - first),
            None if sign * goal.tick > sign * last => {
                return Err(ScheduleError::Fault("no schedule comes to an end".to_owned()));
            }
            None => (4 * further).max(1),
        };
    }
}
