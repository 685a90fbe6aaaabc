//! One group on one unit: its elements between two barriers, and the barriers.

use std::collections::HashMap;
use std::rc::Rc;

use super::SimulateError;
use super::engine::Engine;
use super::strand::{Moment, Strand};
use tickbound_model::Stmt;

/// What one element (or dispatcher) runs in each phase, one strand after another.
pub(super) type Lane<'p> = Vec<Strand<'p>>;

/// Runs a group from `start` to the end of its last item. A barrier releases all items
/// `barrier_price` ticks after the last has arrived.
pub(super) fn run<'p>(
    engine: &mut Engine<'p>,
    mut lanes: Vec<Lane<'p>>,
    start: i64,
    barrier_price: i64,
) -> Result<i64, SimulateError> {
    let mut releases = Releases::default();
    let mut now = start;
    loop {
        // Elements do not influence each other before the barrier, so each may go ahead by itself.
        let mut stops = Vec::new();
        let mut last = now;
        for lane in &mut lanes {
            let mut at = now;
            for strand in lane {
                let (arrived, stop) = strand.advance(engine, at)?;
                stops.push((strand.lid(), stop));
                at = arrived;
            }
            last = last.max(at);
        }
        let Some(barrier) = common_stop(engine, &stops)? else { return Ok(last) };
        // Seed 000, Listing 7: `go` to all when as many have reported as were started.
        now = engine.later("platform.barrier", last, barrier_price, 1)?;
        for strand in lanes.iter().flatten() {
            strand.record_wait(engine, barrier, now);
        }
        now = releases.skip(engine, &mut lanes, barrier, now)?;
    }
}

/// The barrier at which all items stand, or `None` if all have ended.
pub(super) fn common_stop<'p>(
    engine: &Engine<'p>,
    stops: &[(i64, Option<&'p Stmt>)],
) -> Result<Option<&'p Stmt>, SimulateError> {
    let same = |a: &Option<&Stmt>, b: &Option<&Stmt>| match (a, b) {
        (Some(a), Some(b)) => std::ptr::eq(*a, *b),
        (None, None) => true,
        _ => false,
    };
    let Some((first_lid, first)) = stops.first() else { return Ok(None) };
    let Some((second_lid, second)) = stops.iter().find(|(_, stop)| !same(stop, first)) else {
        return Ok(*first);
    };
    let phrase = |stop: &Option<&Stmt>| {
        stop.map_or("has ended".to_owned(), |barrier| format!("waits at {}", barrier.at))
    };
    Err(engine.divergence((*first_lid, &phrase(first)), (*second_lid, &phrase(second))))
}

/// The state of a group when a barrier was released.
///
/// The barrier is where all strands are: its ancestors in the program are their frames.
struct Release {
    now: i64,
    /// For each strand, the counter of each frame, outermost first.
    counters: Vec<Vec<i64>>,
    /// For each strand, the age and the uses of its mark.
    marks: Vec<Moment>,
}

impl Release {
    fn of(lanes: &[Lane<'_>], now: i64) -> Self {
        let strands = || lanes.iter().flatten();
        Release {
            now,
            counters: strands().map(|s| s.counters().collect()).collect(),
            marks: strands().map(|s| s.moment(now)).collect(),
        }
    }

    /// True if `later` lies in the same iteration of the loop at `level` in each strand.
    fn same_iteration(&self, later: &Release, level: usize) -> bool {
        let mut pairs = self.counters.iter().zip(&later.counters);
        pairs.all(|(a, b)| a[..=level] == b[..=level])
    }

    /// True if `later` is the same one iteration of the loop at `level` later, in each strand.
    fn one_iteration_before(&self, later: &Release, level: usize) -> bool {
        let mut counters = self.counters.iter().zip(&later.counters);
        let mut marks = self.marks.iter().zip(&later.marks);
        counters.all(|(a, b)| {
            a[level] == b[level] + 1 && a[..level] == b[..level] && a[level + 1..] == b[level + 1..]
        }) && marks.all(|(a, b)| a.same_mark(b))
    }
}

/// For each barrier and each loop around it, the first release in the latest iteration.
#[derive(Default)]
struct Releases {
    first: HashMap<(*const Stmt, usize), Rc<Release>>,
}

impl Releases {
    /// Leaves out the iterations of a loop that are known to be like the one before; returns the
    /// time at which the same barrier is then released. The module `simulate` has the argument.
    fn skip(
        &mut self,
        engine: &mut Engine<'_>,
        lanes: &mut [Lane<'_>],
        barrier: &Stmt,
        now: i64,
    ) -> Result<i64, SimulateError> {
        if !engine.may_skip(0) {
            return Ok(now);
        }
        let here = Rc::new(Release::of(lanes, now));
        let depth = lanes.iter().flatten().map(Strand::depth).min().unwrap_or(0);
        // From the outside in: what an outer loop leaves out is more.
        for level in 0..depth {
            let key = (std::ptr::from_ref(barrier), level);
            let before = self.first.get(&key).cloned();
            if before.as_ref().is_some_and(|b| b.same_iteration(&here, level)) {
                continue;
            }
            self.first.insert(key, Rc::clone(&here));
            let Some(before) = before else { continue };
            let ticks = now - before.now;
            let may = lanes.iter().flatten().all(|s| s.may_jump(level)) && engine.may_skip(ticks);
            if !may || !before.one_iteration_before(&here, level) {
                continue;
            }
            let times = here.counters.iter().map(|c| c[level]).min().unwrap_or(0);
            let later = engine.later(&barrier.at, now, ticks, times)?;
            for (strand, moment) in lanes.iter_mut().flatten().zip(&before.marks) {
                strand.jump(level, times, ticks, moment);
            }
            engine.skipped(if times > 0 { ticks } else { 0 });
            return Ok(later);
        }
        Ok(now)
    }
}
