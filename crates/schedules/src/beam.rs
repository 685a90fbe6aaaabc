//! Schedules of launches that are too large to be explored: a beam search for each end.
//!
//! Many runs are followed side by side. Those that have as many segments left are compared: of runs
//! that are in the same situation the earliest goes on (for the worst schedule the latest), and of
//! all others as many as the beam is wide, by the ticks that they have taken and the least that
//! they will take ([`Left`]). What is found is a schedule; it bounds no others.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tickbound_simulator::Script;

use crate::MAX_PLACES;
use crate::bounds::shared;
use crate::error::{ScheduleError, TooLarge};
use crate::launch::{Step, WarpLaunch};
use crate::record::End;
use crate::replay::{Event, Names, Run};
use crate::rules::Tried;
use crate::state::{Positions, State};
use crate::sweep::moved;

/// Segments of a launch, times the width, that one search takes at most: some seconds.
const MOST: u64 = 4_000_000;

/// A run, and by which choices it came about.
struct Follower {
    run: Run,
    /// The last choice.
    choice: Option<usize>,
}

/// One choice of a run, of those that were kept.
struct Link {
    before: Option<usize>,
    /// Its number among the steps that were possible.
    step: usize,
}

impl WarpLaunch {
    /// A good and a bad schedule by beams of `width` runs; `None` if `stop` returns true or that is
    /// too much work.
    ///
    /// # Errors
    /// The launch is too large, or a fault: a schedule cannot be followed.
    pub fn beam(
        &self,
        width: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Tried>, ScheduleError> {
        if self.units.saturating_mul(self.places) > MAX_PLACES {
            return Err(ScheduleError::TooLarge(TooLarge::Places(MAX_PLACES)));
        }
        if self.segments().saturating_mul(width as u64) > MOST {
            return Ok(None);
        }
        let Some(least) = search(self, End::Best, width, stop)? else { return Ok(None) };
        let Some(greatest) = search(self, End::Worst, width, stop)? else { return Ok(None) };
        Ok(Some(Tried { least, greatest }))
    }
}

fn search(
    launch: &WarpLaunch,
    end: End,
    width: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Option<(i64, Script)>, ScheduleError> {
    let left = Left::new(launch);
    let sooner = |a: i64, b: i64| if end == End::Best { a < b } else { a > b };
    let mut choices: Vec<Link> = Vec::new();
    // By segments that are left.
    let mut waiting: BTreeMap<u64, Vec<Follower>> = BTreeMap::new();
    let mut found: Option<(i64, Option<usize>)> = None;
    waiting.insert(launch.segments(), vec![Follower { run: Run::new(launch), choice: None }]);
    while let Some((segments, runs)) = waiting.pop_last() {
        if stop() {
            return Ok(None);
        }
        for Follower { run, choice } in keep(launch, &left, end, width, runs) {
            let steps = run.next(launch);
            if steps.is_empty() && found.is_none_or(|(now, _)| sooner(run.now, now)) {
                found = Some((run.now, choice));
            }
            let open = steps.len() > 1;
            for (step, mut run) in steps.into_iter().enumerate() {
                let choice = if open {
                    choices.push(Link { before: choice, step });
                    Some(choices.len() - 1)
                } else {
                    choice
                };
                let started =
                    run.events().iter().filter(|e| matches!(e, Event::Started { .. })).count();
                let segments = segments.saturating_sub(started as u64);
                waiting.entry(segments).or_default().push(Follower { run, choice });
            }
        }
    }
    let (now, last) =
        found.ok_or_else(|| ScheduleError::Fault("no schedule comes to an end".to_owned()))?;
    let ticks = now.checked_add(launch.finish);
    let ticks = ticks.ok_or(ScheduleError::TooLarge(TooLarge::Time))?;
    let path = std::iter::successors(last, |at| choices[*at].before);
    let mut path: Vec<usize> = path.map(|at| choices[at].step).collect();
    path.reverse();
    Ok(Some((ticks, script(launch, &path)?)))
}

/// The runs that go on: of those in one situation one, and not more than the beam is wide.
fn keep(
    launch: &WarpLaunch,
    left: &Left,
    end: End,
    width: usize,
    runs: Vec<Follower>,
) -> Vec<Follower> {
    // Before the greatest first, as before the least.
    let sign = if end == End::Best { 1 } else { -1 };
    let mut situations: FxHashMap<(State, Positions), usize> = FxHashMap::default();
    let mut kept: Vec<(i64, Follower)> = Vec::new();
    for follower in runs {
        let (state, order) = follower.run.state.clone().canonical(launch);
        let situation = (state, moved(&follower.run.positions, order));
        let rank = sign * (follower.run.now + left.of(launch, &follower.run));
        match situations.entry(situation) {
            std::collections::hash_map::Entry::Occupied(entry) => {
                let other = &mut kept[*entry.get()];
                if rank < other.0 {
                    *other = (rank, follower);
                }
            }
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(kept.len());
                kept.push((rank, follower));
            }
        }
    }
    // Runs of one rank stay in the order in which they were found.
    kept.sort_by_key(|(rank, _)| *rank);
    kept.truncate(width);
    kept.into_iter().map(|(_, follower)| follower).collect()
}

/// The schedule that takes these steps wherever several are possible.
fn script(launch: &WarpLaunch, path: &[usize]) -> Result<Script, ScheduleError> {
    let lost = || ScheduleError::Fault("a schedule leaves its path".to_owned());
    let (mut run, mut names, mut path) = (Run::new(launch), Names::default(), path.iter());
    loop {
        let steps = run.next(launch);
        let step = match steps.len() {
            0 => return Ok(names.script()),
            1 => 0,
            _ => *path.next().ok_or_else(lost)?,
        };
        run = steps.into_iter().nth(step).ok_or_else(lost)?;
        for event in run.events() {
            names.happen(launch, event).ok_or_else(lost)?;
        }
    }
}

/// What has still to be done, for a number of ticks that no run undercuts.
struct Left {
    /// From each position on: ticks of a group alone.
    paths: Vec<i64>,
    /// From each position on, after its phase: ticks of each dispatcher, and of the slots.
    later: Vec<(Vec<i64>, i64)>,
    /// Of each rest: ticks of its dispatcher and of the slots.
    rests: Vec<(i64, i64)>,
    /// Of the groups from each on that begin another kind: ticks of each dispatcher, of the slots,
    /// and of the places.
    queue: Vec<(u64, Vec<i64>, i64, i64)>,
}

impl Left {
    fn new(launch: &WarpLaunch) -> Left {
        let mut rests: Vec<(i64, i64)> = Vec::with_capacity(launch.rests.len());
        for rest in &launch.rests {
            // A rest's next one has a lower number.
            let (busy, slots) = rests.get(rest.next as usize).copied().unwrap_or_default();
            rests.push(match rest.first {
                Some(Step::Segment { occupies, latency, slot }) => {
                    let lasts = i64::from(occupies) + i64::from(latency);
                    (busy + i64::from(occupies), slots + if slot { lasts } else { 0 })
                }
                Some(_) => (busy, slots),
                None => (0, 0),
            });
        }
        let count = launch.positions.len();
        let later = vec![(vec![0; launch.dispatchers], 0); count];
        let mut left = Left { paths: vec![0; count], later, rests, queue: Vec::new() };
        for at in (0..count).rev() {
            let position = launch.positions[at];
            left.paths[at] = launch.path(&launch.phases[position.phase as usize]);
            let Some(next) = position.next else { continue };
            left.paths[at] += i64::from(launch.barrier) + left.paths[next as usize];
            left.later[at] = left.group(launch, next);
        }
        left.queue = left.queued(launch);
        left
    }

    /// What all groups ask for that come from each kind of the queue on.
    fn queued(&self, launch: &WarpLaunch) -> Vec<(u64, Vec<i64>, i64, i64)> {
        let mut end = launch.groups();
        let (mut busy, mut slots, mut places) = (vec![0; launch.dispatchers], 0, 0);
        let mut queue = Vec::new();
        for (count, first) in launch.queue.iter().rev() {
            let times = *count as i64;
            let (of, slot) = self.group(launch, *first);
            busy.iter_mut().zip(of).for_each(|(all, of)| *all += of * times);
            slots += slot * times;
            places += (i64::from(launch.group_start) + self.paths[*first as usize]) * times;
            end -= count;
            queue.push((end, busy.clone(), slots, places));
        }
        queue.reverse();
        queue
    }

    /// What a group asks for from the begin of a position on.
    fn group(&self, launch: &WarpLaunch, first: u32) -> (Vec<i64>, i64) {
        let (mut busy, mut slots) = self.later[first as usize].clone();
        for begin in &launch.phases[launch.positions[first as usize].phase as usize] {
            let (of, slot) = self.rests[begin.rest as usize];
            busy[begin.dispatcher as usize] += of * i64::from(begin.count);
            slots += slot * i64::from(begin.count);
        }
        (busy, slots)
    }

    /// Ticks that a run takes at least from now on.
    fn of(&self, launch: &WarpLaunch, run: &Run) -> i64 {
        let (mut queued, mut slots, mut places) = self.waiting(launch, run.placed);
        let (mut longest, mut busiest) = (0, 0);
        let mut positions = run.positions.iter();
        let mut all = vec![0; launch.dispatchers];
        for unit in &run.state.units {
            let mut busy: Vec<i64> = unit.busy.iter().map(|ticks| i64::from(*ticks)).collect();
            slots += unit.slots.iter().map(|ticks| i64::from(*ticks)).sum::<i64>();
            for (group, position) in unit.groups.iter().zip(positions.by_ref()) {
                let (later, slot) = &self.later[*position as usize];
                slots += slot;
                busy.iter_mut().zip(later).for_each(|(all, of)| *all += of);
                let mut path = i64::from(group.pending);
                for warps in &group.warps {
                    let (of, slot) = self.rests[warps.rest as usize];
                    busy[warps.dispatcher as usize] += of * i64::from(warps.count);
                    slots += slot * i64::from(warps.count);
                    let least = launch.rests[warps.rest as usize].least;
                    path = path.max(i64::from(warps.ready) + i64::from(least));
                }
                if let Some(next) = launch.positions[*position as usize].next {
                    path += i64::from(launch.barrier) + self.paths[next as usize];
                }
                longest = longest.max(path);
                places += path;
            }
            busiest = busiest.max(busy.iter().copied().max().unwrap_or(0));
            all.iter_mut().zip(&busy).for_each(|(all, of)| *all += of);
        }
        queued.iter_mut().zip(all).for_each(|(queued, of)| *queued += of);
        let busy = queued.into_iter().map(|ticks| shared(ticks, launch.units)).max().unwrap_or(0);
        let slots = launch.slots.map_or(0, |by| shared(slots, by * launch.units));
        let places = shared(places, launch.places * launch.units);
        [longest, busiest, busy, slots, places].into_iter().max().unwrap_or(0)
    }

    /// What groups ask for that are not placed: of each dispatcher, the slots, the places.
    fn waiting(&self, launch: &WarpLaunch, placed: u64) -> (Vec<i64>, i64, i64) {
        let none = || (vec![0; launch.dispatchers], 0, 0);
        let Some((first, alike)) = launch.queued(placed) else { return none() };
        let after = self.queue.iter().find(|(begin, ..)| *begin == placed + alike);
        let (mut busy, mut slots, mut places) =
            after.map_or_else(none, |(_, busy, slots, places)| (busy.clone(), *slots, *places));
        let (of, slot) = self.group(launch, first);
        let times = alike as i64;
        busy.iter_mut().zip(of).for_each(|(all, of)| *all += of * times);
        slots += slot * times;
        places += (i64::from(launch.group_start) + self.paths[first as usize]) * times;
        (busy, slots, places)
    }
}
