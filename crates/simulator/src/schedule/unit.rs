//! One unit under an open schedule: its groups, dispatchers and memory slots.

use super::group::{Group, State};
use super::rules::{Rules, Segment, index};
use crate::chooser::Decision;
use crate::engine::Engine;
use crate::error::SimulateError;
use crate::trace::SpanKind;

#[derive(Clone, Default)]
pub(super) struct Unit<'p> {
    /// The groups that have a place here, lowest first.
    pub groups: Vec<Group<'p>>,
    /// Until when each dispatcher is occupied; those that never were are left out at the end.
    occupied_until: Vec<i64>,
    pub slots_taken: i64,
    /// The next instant at which something ends here.
    pub wake: Option<i64>,
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

    pub fn can_start(&self, rules: &Rules, now: i64) -> bool {
        self.startable(rules, now).next().is_some()
    }

    pub fn starts(&self, rules: &Rules, now: i64, out: &mut Vec<Decision>) {
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
    pub fn start(
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
    pub fn next_end(&self, now: i64) -> Option<i64> {
        let begins = self.groups.iter().filter(|g| g.warps.is_empty()).map(|g| g.begins);
        let asleep = self.groups.iter().flat_map(|g| &g.warps).filter_map(|w| match w.state {
            State::Asleep { until, .. } => Some(until),
            _ => None,
        });
        let ends = self.occupied_until.iter().copied().filter(|end| *end > now);
        begins.chain(asleep).chain(ends).min()
    }

    pub fn fingerprint(&self, rules: &Rules, now: i64) -> Vec<i64> {
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
