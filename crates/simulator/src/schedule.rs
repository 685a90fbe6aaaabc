//! Open schedules: warps that compete for dispatchers and memory slots.
//!
//! [`Machine`] is the state of a launch at one instant. It offers what can be decided, takes one
//! decision after another, and moves on to the next instant; who decides is not its business. The
//! rules are those of `docs/semantics.md`, section "Open schedules"; their numbers appear here.

use std::collections::BTreeSet;

use super::chooser::{Chooser, Decision, FirstCome};
use super::engine::{Engine, Place};
use super::group::common_stop;
use super::launch::{divides, mentions, mismatch, start_items};
use super::strand::{Share, Step, Strand};
use super::trace::SpanKind;
use super::{MAX_UNITS, SimulateError};
use tickbound_model::kernel::has_until;
use tickbound_model::{Access, Bound, LaunchSize, ModelError, Stmt, Warps};

/// Runs all groups on the first-come schedule; returns the tick at which the last has finished.
///
/// The units do not influence each other while segments are started, so each may decide by itself.
pub(super) fn first_come(engine: &mut Engine<'_>, bound: &Bound) -> Result<i64, SimulateError> {
    let mut machine = Machine::new(engine, bound)?;
    let mut options = Vec::new();
    loop {
        machine.options_of_one(&mut options);
        if options.is_empty() {
            if !machine.advance(engine)? {
                return Ok(machine.instant());
            }
        } else {
            let choice = FirstCome.choose(machine.instant(), &options);
            machine.take(engine, options[choice])?;
        }
    }
}

/// Runs all groups, and asks the chooser wherever there is a choice.
pub(super) fn run(
    engine: &mut Engine<'_>,
    bound: &Bound,
    chooser: &mut dyn Chooser,
) -> Result<i64, SimulateError> {
    let mut machine = Machine::new(engine, bound)?;
    let mut options = Vec::new();
    loop {
        machine.options(&mut options);
        let choice = match options.len() {
            0 if machine.advance(engine)? => continue,
            0 => return Ok(machine.instant()),
            1 => 0,
            _ => chooser.choose(machine.instant(), &options),
        };
        let decision = *options.get(choice).ok_or_else(|| SimulateError::NoSuchOption {
            index: choice,
            options: options.len(),
            time: machine.instant(),
        })?;
        chooser.taken(machine.instant(), &decision);
        machine.take(engine, decision)?;
    }
}

/// What is the same at all times.
#[derive(Clone, Copy)]
struct Rules {
    warps: Warps,
    groups: i64,
    /// Items of a group.
    local: i64,
    barrier: i64,
    group_start: i64,
    /// True if groups do the same, so that their numbers do not count.
    groups_alike: bool,
    /// True if the warps of a group do the same.
    warps_alike: bool,
    /// True if the kernel looks at marks.
    marks_count: bool,
}

/// The state of a launch at one instant.
#[derive(Clone)]
pub(super) struct Machine<'p> {
    rules: Rules,
    now: i64,
    units: Vec<Unit<'p>>,
    next_group: i64,
    /// Free places of all units together.
    free_places: i64,
    /// The units that can start something now.
    eager: BTreeSet<usize>,
}

#[derive(Clone, Default)]
struct Unit<'p> {
    /// The groups that have a place here, lowest first.
    groups: Vec<Group<'p>>,
    /// Until when each dispatcher is occupied; those that never were are left out at the end.
    occupied_until: Vec<i64>,
    slots_taken: i64,
    /// The next instant at which something ends here.
    wake: Option<i64>,
}

#[derive(Clone)]
struct Group<'p> {
    place: Place,
    begins: i64,
    /// Empty until the group begins.
    warps: Vec<Warp<'p>>,
}

#[derive(Clone)]
struct Warp<'p> {
    strand: Strand<'p>,
    state: State<'p>,
}

#[derive(Clone)]
enum State<'p> {
    /// Stands before a segment, with nothing else to wait for.
    Ready {
        segment: Segment<'p>,
        since: i64,
    },
    /// Goes on at this time; holds a memory slot up to then.
    Asleep {
        until: i64,
        slot: bool,
    },
    /// Waits for the other warps of its group.
    Arrived {
        barrier: &'p Stmt,
        since: i64,
    },
    Ended,
}

/// An access that takes time.
#[derive(Clone, Copy)]
struct Segment<'p> {
    stmt: &'p Stmt,
    access: Access,
    /// Ticks for which it occupies its dispatcher; at least 1.
    occupies: i64,
    /// Ticks from then until the warp goes on.
    latency: i64,
}

impl<'p> Machine<'p> {
    /// The launch at the instant at which its first groups are placed.
    pub fn new(engine: &mut Engine<'p>, bound: &Bound) -> Result<Self, SimulateError> {
        let (problem, p) = (engine.problem, &engine.problem.platform);
        let (Some(warps), LaunchSize::Range { global, local }) = (p.warps(), bound.launch) else {
            return Err(mismatch());
        };
        if !divides(local, global) {
            return Err(mismatch());
        }
        check_platform(&warps, p.units())?;
        let groups = global / local;
        let resident = warps.resident_groups;
        start_items(engine, resident.min(groups).saturating_mul(local))?;
        let lid = problem.first_item_slot();
        let (gid, group) = (lid + 1, lid + 2);
        let rules = Rules {
            warps,
            groups,
            local,
            barrier: p.barrier(),
            group_start: p.group_start(),
            groups_alike: !mentions(problem, &[gid, group]),
            warps_alike: !mentions(problem, &[lid, gid]),
            marks_count: has_until(&problem.kernel),
        };
        Ok(Machine {
            rules,
            now: p.kernel_launch(),
            units: vec![Unit::default(); usize::try_from(p.units()).unwrap_or(0)],
            next_group: 0,
            free_places: p.units() * resident,
            eager: BTreeSet::new(),
        })
    }

    /// The present time.
    pub fn instant(&self) -> i64 {
        self.now
    }

    /// Everything that can be decided now, in order. Groups are placed before segments are started.
    pub fn options(&self, out: &mut Vec<Decision>) {
        self.options_of(out, usize::MAX);
    }

    /// As [`Machine::options`], but starts only on the first unit that can start something: a
    /// prefix of all options.
    pub fn options_of_one(&self, out: &mut Vec<Decision>) {
        self.options_of(out, 1);
    }

    fn options_of(&self, out: &mut Vec<Decision>, units: usize) {
        out.clear();
        if self.next_group < self.rules.groups && self.free_places > 0 {
            // While a group waits no place stays free. So all free places have become free at this
            // very instant, and none has been free for longer than the others.
            let room = |unit: &Unit| (unit.groups.len() as i64) < self.rules.warps.resident_groups;
            let free = self.units.iter().enumerate().filter(|(_, unit)| room(unit));
            let group = self.next_group;
            out.extend(free.map(|(unit, _)| Decision::Place { group, unit: unit as i64 }));
            return;
        }
        for &unit in self.eager.iter().take(units) {
            let first = out.len();
            self.units[unit].starts(&self.rules, self.now, out);
            out[first..].sort_by_key(|decision| match *decision {
                Decision::Start { dispatcher, group, warp, .. } => (dispatcher, group, warp),
                Decision::Place { group, unit } => (unit, group, 0),
            });
        }
    }

    /// Does one of the options.
    pub fn take(
        &mut self,
        engine: &mut Engine<'p>,
        decision: Decision,
    ) -> Result<(), SimulateError> {
        match decision {
            Decision::Place { group: serial, unit } => {
                let begins =
                    engine.later("platform.group_start", self.now, self.rules.group_start, 1)?;
                let first_gid = serial * self.rules.local;
                let place = Place { unit, element: 0, serial, group: serial, first_gid };
                let unit = index(unit);
                self.units[unit].groups.push(Group { place, begins, warps: Vec::new() });
                self.next_group += 1;
                self.free_places -= 1;
                self.settle(engine, unit)
            }
            Decision::Start { unit, dispatcher, group, warp, .. } => {
                let unit = index(unit);
                self.units[unit].start(
                    engine,
                    self.now,
                    (index(dispatcher), group, index(warp)),
                )?;
                self.look_again(unit);
                Ok(())
            }
        }
    }

    /// Moves on to the next instant at which something ends; false if all groups have finished.
    pub fn advance(&mut self, engine: &mut Engine<'p>) -> Result<bool, SimulateError> {
        let Some(next) = self.units.iter().filter_map(|unit| unit.wake).min() else {
            return Ok(false);
        };
        self.now = next;
        for unit in 0..self.units.len() {
            if self.units[unit].wake == Some(next) {
                self.settle(engine, unit)?;
            }
        }
        Ok(true)
    }

    /// Lets everything on a unit happen that takes no time.
    fn settle(&mut self, engine: &mut Engine<'p>, unit: usize) -> Result<(), SimulateError> {
        let Unit { groups, slots_taken, .. } = &mut self.units[unit];
        let mut at = 0;
        while let Some(group) = groups.get_mut(at) {
            if group.settle(engine, &self.rules, self.now, slots_taken)? {
                groups.remove(at);
                self.free_places += 1;
            } else {
                at += 1;
            }
        }
        self.look_again(unit);
        Ok(())
    }

    /// Notes what a unit will do after a change.
    fn look_again(&mut self, unit: usize) {
        let here = &mut self.units[unit];
        here.wake = here.next_end(self.now);
        if here.can_start(&self.rules, self.now) {
            self.eager.insert(unit);
        } else {
            self.eager.remove(&unit);
        }
    }

    /// The state relative to now. Two states with the same fingerprint have the same future, up to
    /// the names of what is alike: units, and groups or warps that do the same.
    pub fn fingerprint(&self) -> Box<[i64]> {
        let unit = |unit: &Unit<'p>| unit.fingerprint(&self.rules, self.now);
        let mut units: Vec<Vec<i64>> = self.units.iter().map(unit).collect();
        units.sort_unstable();
        let mut all = vec![self.next_group];
        units.iter().for_each(|unit| all.extend(unit));
        all.into()
    }
}

impl<'p> Unit<'p> {
    fn free(&self, dispatcher: usize, now: i64) -> bool {
        self.occupied_until.get(dispatcher).is_none_or(|until| *until <= now)
    }

    /// The warps that can be started now, as (group, warp, dispatcher, segment, since).
    fn startable(
        &self,
        rules: &Rules,
        now: i64,
    ) -> impl Iterator<Item = (&Group<'p>, usize, usize, &Segment<'p>, i64)> {
        let slot = rules.warps.memory_slots.is_none_or(|slots| self.slots_taken < slots);
        let dispatchers = index(rules.warps.dispatchers);
        let warps =
            self.groups.iter().flat_map(|g| g.warps.iter().enumerate().map(move |w| (g, w)));
        warps.filter_map(move |(group, (number, warp))| {
            let State::Ready { segment, since } = &warp.state else { return None };
            let dispatcher = number % dispatchers;
            let may = self.free(dispatcher, now) && (slot || !segment.needs_slot());
            may.then_some((group, number, dispatcher, segment, *since))
        })
    }

    fn can_start(&self, rules: &Rules, now: i64) -> bool {
        self.startable(rules, now).next().is_some()
    }

    fn starts(&self, rules: &Rules, now: i64, out: &mut Vec<Decision>) {
        let start = |(group, warp, dispatcher, segment, since): (&Group, _, _, &Segment, _)| {
            Decision::Start {
                unit: group.place.unit,
                dispatcher: dispatcher as i64,
                group: group.place.serial,
                warp: warp as i64,
                needs_slot: segment.needs_slot(),
                ready_since: since,
            }
        };
        out.extend(self.startable(rules, now).map(start));
    }

    /// Starts the segment before which a warp stands.
    fn start(
        &mut self,
        engine: &mut Engine<'p>,
        now: i64,
        (dispatcher, group, warp): (usize, i64, usize),
    ) -> Result<(), SimulateError> {
        let mut groups = self.groups.iter_mut();
        let group = groups.find(|g| g.place.serial == group);
        let Some(warp) = group.and_then(|g| g.warps.get_mut(warp)) else { return Ok(()) };
        let State::Ready { segment, since } = warp.state else { return Ok(()) };
        let end = engine.later(&segment.stmt.at, now, segment.occupies, 1)?;
        let until = engine.later(&segment.stmt.at, end, segment.latency, 1)?;
        let kind = SpanKind::Access(segment.access);
        let ran = self.occupied_until.get(dispatcher).is_some_and(|until| *until == now);
        let kept = if ran || !segment.needs_slot() { SpanKind::Dispatcher } else { SpanKind::Slot };
        warp.strand.record(engine, segment.stmt, kind, (now, end));
        for (kind, time) in
            [(kept, (since, now)), (kind, (now, end)), (SpanKind::Load, (end, until))]
        {
            warp.strand.record_warp(engine, kind, time);
        }
        warp.state = State::Asleep { until, slot: segment.needs_slot() };
        self.slots_taken += i64::from(segment.needs_slot());
        if self.occupied_until.len() <= dispatcher {
            self.occupied_until.resize(dispatcher + 1, i64::MIN);
        }
        self.occupied_until[dispatcher] = end;
        Ok(())
    }

    /// The next instant at which something ends here.
    fn next_end(&self, now: i64) -> Option<i64> {
        let begins = self.groups.iter().filter(|g| g.warps.is_empty()).map(|g| g.begins);
        let asleep = self.groups.iter().flat_map(|g| &g.warps).filter_map(|w| match w.state {
            State::Asleep { until, .. } => Some(until),
            _ => None,
        });
        let ends = self.occupied_until.iter().copied().filter(|end| *end > now);
        begins.chain(asleep).chain(ends).min()
    }

    fn fingerprint(&self, rules: &Rules, now: i64) -> Vec<i64> {
        let occupied = self.occupied_until.iter().map(|until| (*until).max(now) - now);
        let mut all: Vec<i64> = occupied.collect();
        while all.last() == Some(&0) {
            all.pop();
        }
        all.extend([-1, self.groups.len() as i64]);
        let mut groups: Vec<_> = self.groups.iter().map(|g| g.fingerprint(rules, now)).collect();
        groups.sort_unstable();
        groups.iter().for_each(|group| all.extend(group));
        all
    }
}

impl<'p> Group<'p> {
    /// Lets everything happen that takes no time; true if the group has finished.
    fn settle(
        &mut self,
        engine: &mut Engine<'p>,
        rules: &Rules,
        now: i64,
        slots_taken: &mut i64,
    ) -> Result<bool, SimulateError> {
        if self.warps.is_empty() {
            if self.begins > now {
                return Ok(false);
            }
            self.begin(engine, rules, now)?;
        }
        loop {
            for warp in &mut self.warps {
                warp.go_on(engine, rules, now, slots_taken)?;
            }
            let stops: Option<Vec<_>> = self.warps.iter().map(Warp::stop).collect();
            let Some(stops) = stops else { return Ok(false) };
            if common_stop(engine, &stops)?.is_none() {
                return Ok(true);
            }
            let until = engine.later("platform.barrier", now, rules.barrier, 1)?;
            for warp in &mut self.warps {
                if let State::Arrived { since, .. } = warp.state {
                    warp.strand.record_warp(engine, SpanKind::Barrier, (since, until));
                }
                warp.strand.next_phase(until);
                warp.state = State::Asleep { until, slot: false };
            }
            if until > now {
                return Ok(false);
            }
        }
    }

    /// The last warp may be partly filled.
    fn begin(
        &mut self,
        engine: &mut Engine<'p>,
        rules: &Rules,
        now: i64,
    ) -> Result<(), SimulateError> {
        start_items(engine, rules.local)?;
        let Warps { width, dispatchers, .. } = rules.warps;
        let program = engine.problem.kernel.as_slice();
        let firsts = (0..rules.local).step_by(index(width));
        let warps = firsts.zip(0..).map(|(first_lid, number)| {
            let width = width.min(rules.local - first_lid);
            let share = Share { first_lid, width, runs: 1, stride: 0, alike: true };
            let place = Place { element: number % dispatchers, ..self.place };
            let strand = Strand::competing(program, place, share, now);
            Warp { strand, state: State::Asleep { until: now, slot: false } }
        });
        self.warps = warps.collect();
        Ok(())
    }

    fn fingerprint(&self, rules: &Rules, now: i64) -> Vec<i64> {
        let serial = if rules.groups_alike { 0 } else { self.place.serial };
        let begins = if self.warps.is_empty() { self.begins - now } else { -1 };
        let dispatchers = index(rules.warps.dispatchers);
        let warps = self.warps.iter().enumerate();
        let mut warps: Vec<Vec<i64>> = warps
            .map(|(number, warp)| warp.fingerprint(rules, now, number % dispatchers))
            .collect();
        if rules.warps_alike {
            warps.sort_unstable();
        }
        let mut all = vec![serial, begins];
        warps.iter().for_each(|warp| all.extend(warp));
        all
    }
}

impl<'p> Warp<'p> {
    /// Goes on as long as that takes no time.
    fn go_on(
        &mut self,
        engine: &mut Engine<'p>,
        rules: &Rules,
        now: i64,
        slots_taken: &mut i64,
    ) -> Result<(), SimulateError> {
        while let State::Asleep { until, slot } = self.state
            && until <= now
        {
            *slots_taken -= i64::from(slot);
            let mut unchanged = now;
            self.state = match self.strand.step(engine, &mut unchanged)? {
                Step::Access { stmt, access, amount } => {
                    let segment = rules.segment(engine, stmt, access, amount)?;
                    match segment.occupies {
                        0 => State::Asleep { until: now, slot: false },
                        _ => State::Ready { segment, since: now },
                    }
                }
                Step::Until { end, .. } => {
                    self.strand.record_warp(engine, SpanKind::Until, (now, end));
                    State::Asleep { until: end, slot: false }
                }
                Step::Barrier(barrier) => State::Arrived { barrier, since: now },
                Step::End => State::Ended,
            };
        }
        Ok(())
    }

    /// The barrier where it has arrived, or that it has ended, if one of these is so.
    fn stop(&self) -> Option<(i64, Option<&'p Stmt>)> {
        match self.state {
            State::Arrived { barrier, .. } => Some((self.strand.lid(), Some(barrier))),
            State::Ended => Some((self.strand.lid(), None)),
            State::Ready { .. } | State::Asleep { .. } => None,
        }
    }

    fn fingerprint(&self, rules: &Rules, now: i64, dispatcher: usize) -> Vec<i64> {
        let (kind, ticks) = match self.state {
            State::Ready { .. } => (0, 0),
            State::Asleep { until, slot: false } => (1, until - now),
            State::Asleep { until, slot: true } => (2, until - now),
            State::Arrived { .. } => (3, 0),
            State::Ended => return vec![dispatcher as i64, 4],
        };
        let mut all = vec![dispatcher as i64, kind, ticks];
        self.strand.fingerprint(now, rules.marks_count, &mut all);
        all
    }
}

impl Rules {
    /// What an access takes. Only accesses to global memory have a latency.
    fn segment<'p>(
        &self,
        engine: &Engine<'p>,
        stmt: &'p Stmt,
        access: Access,
        amount: i64,
    ) -> Result<Segment<'p>, SimulateError> {
        let (price, latency) = match access {
            Access::Global => (self.warps.global_issue, self.warps.global_latency),
            other => (engine.problem.platform.price(other), 0),
        };
        let occupies = engine.later(&stmt.at, 0, price, amount)?;
        Ok(Segment { stmt, access, occupies, latency })
    }
}

impl Segment<'_> {
    fn needs_slot(&self) -> bool {
        self.access == Access::Global
    }
}

fn check_platform(warps: &Warps, units: i64) -> Result<(), SimulateError> {
    if warps.global_issue < 1 {
        let what = format!("is {}, but a warp occupies its dispatcher", warps.global_issue);
        return Err(ModelError::new("platform.global_issue", what, "write at least 1").into());
    }
    if units > MAX_UNITS {
        let what = format!("{units} units, but with `warps` at most {MAX_UNITS} can be simulated");
        return Err(ModelError::new("platform.units_per_device", what, "use fewer units").into());
    }
    Ok(())
}

/// Numbers of units, dispatchers and warps are never negative.
fn index(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
