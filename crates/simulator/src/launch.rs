//! What each profile launches, and which group a unit takes next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::engine::{Engine, Place};
use super::group::{self, Lane};
use super::list_scheduler::Units;
use super::strand::{Share, Strand};
use super::{MAX_ITEMS, SimulateError, regions};
use tickbound_model::kernel::expressions;
use tickbound_model::{Bound, LaunchSize, ModelError, Platform, Problem, Profile};

/// How the items of a group are laid out over the elements of a unit.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// `opencl`: element e runs items e, e + elements, ... of each phase.
    Items { local: i64, elements: i64 },
    /// `published-2023`: element e runs the program `runs` times as item e.
    Elements { elements: i64, runs: i64 },
    /// `published-2021`: dispatcher d runs warps d, d + dispatchers, ...; one program run each.
    Warps { dispatchers: i64, width: i64, runs: i64 },
}

/// A launch: groups that units run one at a time.
pub(super) struct Launch {
    layout: Layout,
    groups: i64,
    units: i64,
    /// Items of a group: the distance between the `gid` of two groups' first items.
    local: i64,
    kernel_launch: i64,
    group_start: i64,
    barrier: i64,
    /// True if all groups take the same time.
    groups_alike: bool,
    /// True if all warps take the same time.
    warps_alike: bool,
}

impl Launch {
    pub fn new(problem: &Problem, bound: &Bound) -> Result<Launch, SimulateError> {
        let lid = problem.first_item_slot();
        let (gid, group) = (lid + 1, lid + 2);
        let groups_alike = !mentions(problem, &[gid, group]);
        let warps_alike = !mentions(problem, &[lid, gid]);
        let p = &problem.platform;
        let free = Launch {
            layout: Layout::Elements { elements: 1, runs: 1 },
            groups: 1,
            units: p.units(),
            local: bound.launch.local(),
            kernel_launch: 0,
            group_start: 0,
            barrier: 0,
            groups_alike,
            warps_alike,
        };
        match (problem.profile, bound.launch) {
            (Profile::OpenCl, LaunchSize::Range { global, local }) if divides(local, global) => {
                Ok(free.opencl(p, global, local))
            }
            (Profile::Published2023, LaunchSize::Activations { local, activations })
                if local > 0 && activations > 0 =>
            {
                Ok(free.published_2023(p, local, activations))
            }
            (Profile::Published2021, LaunchSize::Range { global, local })
                if divides(local, global) =>
            {
                free.published_2021(p, global, local)
            }
            _ => Err(mismatch()),
        }
    }

    /// Design of this project, after the execution model of OpenCL: prices count. With `warps` the
    /// schedule is open, which is the business of the module `schedule`.
    fn opencl(self, p: &Platform, global: i64, local: i64) -> Launch {
        Launch {
            layout: Layout::Items { local, elements: local.min(p.elements_per_unit()) },
            groups: global / local,
            kernel_launch: p.kernel_launch(),
            group_start: p.group_start(),
            barrier: p.barrier(),
            ..self
        }
    }

    /// Seed 000, Section 5: one unit represents all of them. Listing 3, line 20: NWE elements. The
    /// unit starts its elements again until all items have run (Listing 6, lines 12 to 18), so each
    /// runs WG / NP times. Nothing but accesses takes time (Section 3.1).
    fn published_2023(self, p: &Platform, local: i64, activations: i64) -> Launch {
        let elements = local.min(p.elements_per_unit());
        let runs = (local / p.elements_per_unit()).max(1);
        Launch {
            layout: Layout::Elements { elements, runs },
            groups: activations,
            units: 1,
            groups_alike: true,
            ..self
        }
    }

    /// Seed 001, Listing 7: a multiprocessor that is done takes the next group. Listing 5, line 6:
    /// a dispatcher runs WG / (WR * ND) warps, in sequence.
    fn published_2021(
        self,
        p: &Platform,
        global: i64,
        local: i64,
    ) -> Result<Launch, SimulateError> {
        let Some(warps) = p.warps() else { return Err(mismatch()) };
        let (width, dispatchers) = (warps.width, warps.dispatchers);
        let round = width.checked_mul(dispatchers).filter(|r| divides(*r, local));
        let runs = local / round.ok_or_else(mismatch)?;
        let layout = Layout::Warps { dispatchers, width, runs };
        Ok(Launch { layout, groups: global / local, ..self })
    }

    /// Runs all groups; returns the tick at which the last has finished.
    ///
    /// Groups are taken in order, each by the unit that is free first; of several such units by
    /// the one with the lowest number. Groups that differ are examined in pieces, see [`regions`].
    pub fn run_groups<'p>(&self, engine: &mut Engine<'p>) -> Result<i64, SimulateError> {
        let elements = match self.layout {
            Layout::Items { local, elements } => {
                fits(engine, local)?;
                Some(elements)
            }
            _ => None,
        };
        if engine.may_skip(1) && (elements.is_some() || !self.groups_alike) {
            let units = Units::new(self.units, self.kernel_launch);
            let one = &mut |engine: &mut Engine<'p>, serial, some: Option<&[i64]>| {
                let begin = engine.later("platform.group_start", 0, self.group_start, 1)?;
                let lanes = self.lanes(engine, serial, 0, some)?;
                group::run(engine, lanes, begin, self.barrier)
            };
            if let Some(end) = regions::run(engine, units, elements, one)? {
                return Ok(end);
            }
        }
        self.one_by_one(engine)
    }

    fn one_by_one(&self, engine: &mut Engine<'_>) -> Result<i64, SimulateError> {
        let mut units = UnitQueue::new(self.units, self.kernel_launch);
        let mut end = self.kernel_launch;
        for serial in 0..self.groups {
            let (free, unit) = units.take();
            let begin = engine.later("platform.group_start", free, self.group_start, 1)?;
            let lanes = self.lanes(engine, serial, unit, None)?;
            let finished = group::run(engine, lanes, begin, self.barrier)?;
            let ticks = finished - free;
            if self.groups_alike && engine.may_skip(ticks) {
                // Equal groups fill the units in waves.
                let waves = 1 + (self.groups - 1) / self.units;
                engine.skipped(if serial + 1 < self.groups { ticks } else { 0 });
                return engine.later("launch", self.kernel_launch, ticks, waves);
            }
            end = end.max(finished);
            units.used.push(Reverse((finished, unit)));
        }
        Ok(end)
    }

    /// The items of one group on the elements of one unit, or on some of them.
    fn lanes<'p>(
        &self,
        engine: &mut Engine<'p>,
        serial: i64,
        unit: i64,
        some: Option<&[i64]>,
    ) -> Result<Vec<Lane<'p>>, SimulateError> {
        let program = engine.problem.kernel.as_slice();
        let in_range = !matches!(self.layout, Layout::Elements { .. });
        // Under `published-2023` every activation is that of group 0.
        let group = if in_range { serial } else { 0 };
        let first_gid = group * self.local;
        let place = |element| Place { unit, element, serial, group, first_gid };
        let alike = self.warps_alike;
        match self.layout {
            Layout::Items { local, elements } => {
                let all: Vec<i64> = (0..elements).collect();
                let some = some.unwrap_or(&all);
                let items = some.iter().map(|e| (local - e - 1) / elements + 1).sum::<i64>();
                engine.count(items.unsigned_abs())?;
                let item = move |element, first_lid| {
                    let share = Share { first_lid, width: 1, runs: 1, stride: 0, alike };
                    Strand::new(program, place(element), share)
                };
                let lane = |e: i64| (e..local).step_by(step(elements)).map(move |i| item(e, i));
                Ok(some.iter().map(|e| lane(*e).collect()).collect())
            }
            Layout::Elements { elements, runs } => {
                start_items(engine, elements)?;
                let share = |first_lid| Share { first_lid, width: 1, runs, stride: 0, alike };
                let lane = |e| vec![Strand::new(program, place(e), share(e))];
                Ok((0..elements).map(lane).collect())
            }
            Layout::Warps { dispatchers, width, runs } => {
                start_items(engine, dispatchers * width)?;
                let stride = dispatchers * width;
                let share = |d| Share { first_lid: d * width, width, runs, stride, alike };
                let lane = |d| vec![Strand::new(program, place(d), share(d))];
                Ok((0..dispatchers).map(lane).collect())
            }
        }
    }
}

/// Runs the program `finish` on element 0 (seed 000, Listing 15, lines 24 to 35).
pub(super) fn finish(engine: &mut Engine<'_>, start: i64) -> Result<i64, SimulateError> {
    let place = Place { unit: 0, element: 0, serial: 0, group: 0, first_gid: 0 };
    let share = Share { first_lid: 0, width: 1, runs: 1, stride: 0, alike: true };
    let strand = Strand::new(engine.problem.finish.as_slice(), place, share);
    group::run(engine, vec![vec![strand]], start, 0)
}

/// When each unit is free. Only units that have been used are kept.
struct UnitQueue {
    count: i64,
    /// When the units that have not been used are free.
    start: i64,
    used: BinaryHeap<Reverse<(i64, i64)>>,
    next_unused: i64,
}

impl UnitQueue {
    fn new(count: i64, start: i64) -> Self {
        UnitQueue { count, start, used: BinaryHeap::new(), next_unused: 0 }
    }

    /// The unit that is free first, and since when; the lowest of several.
    fn take(&mut self) -> (i64, i64) {
        let first_used = self.used.peek().map(|Reverse((free, _))| *free);
        let unused = self.next_unused < self.count;
        if unused && first_used.is_none_or(|free| free > self.start) {
            self.next_unused += 1;
            return (self.start, self.next_unused - 1);
        }
        self.used.pop().map_or((self.start, 0), |Reverse(unit)| unit)
    }
}

pub(super) fn start_items(engine: &mut Engine<'_>, items: i64) -> Result<(), SimulateError> {
    fits(engine, items)?;
    engine.count(items.unsigned_abs())
}

/// Refuses more items than a unit may hold at once.
fn fits(engine: &Engine<'_>, items: i64) -> Result<(), SimulateError> {
    if items > MAX_ITEMS {
        let configuration = engine.configuration();
        return Err(SimulateError::TooManyItems { items, limit: MAX_ITEMS, configuration });
    }
    Ok(())
}

fn step(elements: i64) -> usize {
    usize::try_from(elements).unwrap_or(usize::MAX).max(1)
}

pub(super) fn divides(divisor: i64, number: i64) -> bool {
    divisor > 0 && number > 0 && number % divisor == 0
}

pub(super) fn mismatch() -> SimulateError {
    ModelError::new(
        "launch",
        "does not fit the profile",
        "bind the configuration with the problem it is for",
    )
    .into()
}

pub(super) fn mentions(problem: &Problem, slots: &[usize]) -> bool {
    let mut found = false;
    expressions(&problem.kernel, &mut |_, e| found |= e.mentions(|s| slots.contains(&s)));
    found
}
