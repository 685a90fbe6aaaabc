//! The state of a launch under an open schedule at one instant.

use std::collections::BTreeSet;

use tickbound_model::kernel::has_until;
use tickbound_model::{Bound, LaunchSize, ModelError, Warps};

use super::group::Group;
use super::rules::{Rules, index};
use super::unit::Unit;
use crate::chooser::Decision;
use crate::engine::{Engine, Place};
use crate::error::SimulateError;
use crate::launch::{divides, mentions, mismatch, start_items};
use crate::run::MAX_UNITS;

/// The state of a launch at one instant.
#[derive(Clone)]
pub(crate) struct Machine<'p> {
    rules: Rules,
    now: i64,
    units: Vec<Unit<'p>>,
    next_group: i64,
    /// Free places of all units together.
    free_places: i64,
    /// The units that can start something now.
    eager: BTreeSet<usize>,
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

    /// As [`Machine::options`], of starts only those of the first unit: a prefix.
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
