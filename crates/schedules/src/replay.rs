//! From the states on the way to one end to a schedule that the simulator can follow.
//!
//! A launch is run once more, with its warps named and nothing forgotten. At each step one of the
//! choices leads to the next state of the path, up to names; any that does will do.

use rustc_hash::FxHashMap;
use tickbound_simulator::Script;

use crate::error::ScheduleError;
use crate::graph::{Turn, turned};
use crate::instant::{Offer, Starts};
use crate::launch::WarpLaunch;
use crate::record::{End, Key};
use crate::state::{Order, Positions, State, Warps};
use crate::sweep::{Sweep, moved};

/// A schedule for an end of what a sweep has recorded.
///
/// # Errors
/// A fault of this program.
pub(crate) fn recorded(sweep: &mut Sweep<'_, '_>, end: End) -> Result<Script, ScheduleError> {
    let path = sweep.record.as_ref().and_then(|record| record.path(end));
    let lost = || ScheduleError::Fault("a schedule has lost its way".to_owned());
    script(sweep, &path.ok_or_else(lost)?, end)
}

/// The schedule along a path: keys, each with the groups that have been placed.
///
/// # Errors
/// A fault: the path is not one.
fn script(
    sweep: &mut Sweep<'_, '_>,
    path: &[(u64, Key)],
    end: End,
) -> Result<Script, ScheduleError> {
    let launch = sweep.graph.launch;
    let mut run = Run::new(launch);
    let mut names = Names::default();
    for (placed, key) in path.iter().skip(1) {
        let mut next: Option<Run> = None;
        for candidate in run.steps(launch, *placed) {
            let better = |old: &Run| match end {
                End::Best => candidate.now < old.now,
                End::Worst => candidate.now > old.now,
            };
            if candidate.key(sweep) == *key && next.as_ref().is_none_or(better) {
                next = Some(candidate);
            }
        }
        let lost = || ScheduleError::Fault("a schedule leaves its path".to_owned());
        run = next.ok_or_else(lost)?;
        for event in std::mem::take(&mut run.log) {
            names.happen(launch, event).ok_or_else(lost)?;
        }
    }
    Ok(names.script())
}

#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// It is placed on a unit.
    Placed { tick: i64, group: u64, unit: usize },
    /// It begins its phase with this number, after a barrier.
    Phase { tick: i64, group: u64 },
    /// A warp is started that is in this situation.
    Started { tick: i64, group: u64, warp: Warps, ready: i64 },
}

/// A launch at one instant, its groups named.
#[derive(Clone)]
pub(crate) struct Run {
    pub state: State,
    /// Of each group, in the order of the state.
    pub positions: Positions,
    /// The number of each group in the launch.
    serials: Vec<u64>,
    pub now: i64,
    /// Groups that have been placed.
    pub placed: u64,
    /// What has happened in the last step.
    log: Vec<Event>,
}

impl Run {
    /// Before anything has happened.
    pub fn new(launch: &WarpLaunch) -> Run {
        Run {
            state: State::empty(launch),
            positions: Positions::new(),
            serials: Vec::new(),
            now: launch.begins,
            placed: 0,
            log: Vec::new(),
        }
    }

    /// The next steps, one of which is taken; none at the end.
    pub fn next(&self, launch: &WarpLaunch) -> Vec<Run> {
        if let Some(group) = self.state.complete(launch) {
            return vec![self.complete(launch, group)];
        }
        let places = self.places(launch);
        if !places.is_empty() {
            return places;
        }
        match self.state.offer(launch) {
            Offer::Starts(sets) => sets.iter().map(|set| self.with(launch, set)).collect(),
            Offer::Wait(_) => vec![self.clone().follow(launch)],
            Offer::Complete(_) | Offer::End => Vec::new(),
        }
    }

    /// What has happened since this was asked last.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.log)
    }

    /// All next steps: to `placed` groups.
    fn steps(&self, launch: &WarpLaunch, placed: u64) -> Vec<Run> {
        if placed > self.placed {
            return self.places(launch);
        }
        match self.state.offer(launch) {
            Offer::Complete(_) => (0..self.positions.len())
                .filter(|group| self.state.is_complete(launch, *group))
                .map(|group| self.complete(launch, group))
                .collect(),
            // Units have other numbers in the path, so any may be the one that decides first.
            Offer::Starts(_) => (0..launch.units)
                .flat_map(|unit| self.state.starts(launch, unit))
                .map(|set| self.with(launch, &set))
                .collect(),
            Offer::Wait(_) => vec![self.clone().follow(launch)],
            Offer::End => Vec::new(),
        }
    }

    fn places(&self, launch: &WarpLaunch) -> Vec<Run> {
        let Some((first, _)) = launch.queued(self.placed) else { return Vec::new() };
        let turn = Turn::Place(launch.positions[first as usize].phase);
        let units =
            (0..launch.units).filter(|unit| self.state.units[*unit].groups.len() < launch.places);
        let mut positions = self.positions.clone();
        positions.push(first);
        let mut serials = self.serials.clone();
        serials.push(self.placed);
        let place = |((state, order), unit): ((State, Order), usize)| Run {
            state,
            positions: moved(&positions, order),
            serials: (0..serials.len()).map(|n| serials[order.old(n)]).collect(),
            placed: self.placed + 1,
            log: vec![Event::Placed { tick: self.now, group: self.placed, unit }],
            ..self.clone()
        };
        turned(launch, &self.state, turn).into_iter().zip(units).map(place).collect()
    }

    /// A group reaches the end of its phase.
    fn complete(&self, launch: &WarpLaunch, group: usize) -> Run {
        let mut run = self.clone();
        match launch.positions[self.positions[group] as usize].next {
            Some(next) => {
                let phase = launch.positions[next as usize].phase;
                run.state.begin_phase(launch, group, phase, launch.barrier);
                run.positions[group] = next;
                run.log.push(Event::Phase { tick: self.now, group: self.serials[group] });
            }
            None => {
                run.state.remove(group);
                run.positions.remove(group);
                run.serials.remove(group);
            }
        }
        run
    }

    fn with(&self, launch: &WarpLaunch, set: &Starts) -> Run {
        let mut run = self.clone();
        run.start(launch, set);
        run.follow(launch)
    }

    fn start(&mut self, launch: &WarpLaunch, set: &Starts) {
        let before: usize = self.state.units[..set.unit].iter().map(|u| u.groups.len()).sum();
        for start in &set.starts {
            let group = self.serials[before + start.group];
            let warp = self.state.units[set.unit].groups[start.group].warps[start.warps];
            let ready = self.now + i64::from(launch.rests[warp.rest as usize].lasts());
            self.log.push(Event::Started { tick: self.now, group, warp, ready });
        }
        self.state.start(launch, set);
    }

    /// Goes on as long as nothing is open.
    fn follow(mut self, launch: &WarpLaunch) -> Run {
        loop {
            match self.state.offer(launch) {
                Offer::Wait(wait) => {
                    self.state.pass(launch, wait);
                    self.now += i64::from(wait);
                }
                Offer::Starts(sets) if sets.len() == 1 => self.start(launch, &sets[0]),
                Offer::Starts(_) | Offer::Complete(_) | Offer::End => return self,
            }
        }
    }

    /// The state and the positions as the sweep names them.
    fn key(&self, sweep: &mut Sweep<'_, '_>) -> Key {
        let (node, order) = sweep.graph.meet(self.state.clone());
        let positions = sweep.graph.named(node, moved(&self.positions, order));
        sweep.key(&positions, node)
    }
}

/// A warp by its name.
struct Named {
    /// What it does from `ready` on.
    rest: u32,
    ready: i64,
    /// When its mark was set.
    mark: i64,
}

/// The groups that are running, with the phase they are in.
#[derive(Default)]
pub(crate) struct Names {
    groups: FxHashMap<u64, (usize, Vec<Named>)>,
    starts: Vec<(i64, i64, i64)>,
    units: Vec<i64>,
}

impl Names {
    /// What has happened, as a schedule.
    pub fn script(self) -> Script {
        Script::Starts { starts: self.starts, units: self.units }
    }

    /// Follows an event; `None` if there is no such warp.
    pub fn happen(&mut self, launch: &WarpLaunch, event: Event) -> Option<()> {
        match event {
            Event::Placed { tick, group, unit } => {
                let ready = tick + i64::from(launch.group_start);
                let warp = |(rests, _): &(std::rc::Rc<[u32]>, u32)| {
                    Some(Named { rest: *rests.first()?, ready, mark: ready })
                };
                let warps: Option<Vec<Named>> = launch.named(group).iter().map(warp).collect();
                self.groups.insert(group, (0, warps?));
                self.units.push(unit as i64);
            }
            Event::Phase { tick, group } => {
                let (phase, warps) = self.groups.get_mut(&group)?;
                *phase += 1;
                for (named, (rests, _)) in warps.iter_mut().zip(launch.named(group)) {
                    named.pass(launch, tick);
                    named.rest = *rests.get(*phase)?;
                    named.ready = tick + i64::from(launch.barrier);
                }
            }
            Event::Started { tick, group, warp, ready } => {
                let (_, warps) = self.groups.get_mut(&group)?;
                let mut all = warps.iter_mut().zip(launch.named(group)).enumerate();
                let (number, (named, _)) = all.find(|(_, (named, (_, dispatcher)))| {
                    *dispatcher == warp.dispatcher && named.is(launch, tick, &warp)
                })?;
                named.pass(launch, tick);
                named.rest = launch.rests[named.rest as usize].next;
                named.ready = ready;
                self.starts.push((tick, group.cast_signed(), number as i64));
            }
        }
        Some(())
    }
}

impl Named {
    /// What it does up to `tick` without a dispatcher.
    fn pass(&mut self, launch: &WarpLaunch, tick: i64) {
        while self.ready <= tick {
            let age = i32::try_from(self.ready - self.mark).unwrap_or(i32::MAX);
            let count = 1;
            let mut here = Warps { dispatcher: 0, rest: self.rest, ready: 0, age, count };
            here.go_on(launch);
            if here.rest == self.rest {
                return;
            }
            if here.age != age {
                self.mark = self.ready;
            }
            self.rest = here.rest;
            self.ready += i64::from(here.ready);
        }
    }

    /// True if it is ready at `tick`, and in this situation.
    fn is(&self, launch: &WarpLaunch, tick: i64, warp: &Warps) -> bool {
        let mut named = Named { ..*self };
        named.pass(launch, tick);
        let rest = &launch.rests[named.rest as usize];
        let age = i32::try_from(tick - named.mark).unwrap_or(i32::MAX);
        named.ready <= tick && named.rest == warp.rest && rest.relevant(age) == warp.age
    }
}
