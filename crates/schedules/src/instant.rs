//! What can happen at one instant: which warps are started, and when something happens next.
//!
//! Starting a warp frees nothing for another at the same instant. So what happens on a unit is a
//! set of warps, at most one per dispatcher, to which no other can be added; the order in which
//! they are started does not matter. Units do not compete either, so a unit that has no choice
//! comes first, and otherwise the first that can start something.

use crate::launch::{Step, WarpLaunch};
use crate::state::{State, Unit, Warps};

/// One warp that is started: of these warps of this group of the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    pub group: usize,
    pub warps: usize,
}

/// What is started on a unit at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Starts {
    pub unit: usize,
    pub starts: Vec<Start>,
}

/// What a state offers.
pub(crate) enum Offer {
    /// This group has reached the end of its phase.
    Complete(usize),
    /// Exactly one of these is started; at least one.
    Starts(Vec<Starts>),
    /// Nothing can be started; something ends after this many ticks.
    Wait(u32),
    /// All groups have ended.
    End,
}

impl State {
    /// What can happen now.
    pub fn offer(&self, launch: &WarpLaunch) -> Offer {
        if let Some(group) = self.complete(launch) {
            return Offer::Complete(group);
        }
        let mut open: Option<Vec<Starts>> = None;
        for unit in 0..self.units.len() {
            let sets = self.starts(launch, unit);
            if sets.len() == 1 {
                return Offer::Starts(sets);
            }
            if open.is_none() && !sets.is_empty() {
                open = Some(sets);
            }
        }
        match open {
            Some(sets) => Offer::Starts(sets),
            None => self.next_end().map_or(Offer::End, Offer::Wait),
        }
    }

    /// What can be started on a unit now.
    pub fn starts(&self, launch: &WarpLaunch, unit: usize) -> Vec<Starts> {
        let sets = self.units[unit].sets(launch).into_iter();
        sets.map(|starts| Starts { unit, starts }).collect()
    }

    /// Starts these warps.
    pub fn start(&mut self, launch: &WarpLaunch, starts: &Starts) {
        let unit = &mut self.units[starts.unit];
        for start in &starts.starts {
            let warps = &mut unit.groups[start.group].warps[start.warps];
            let rest = launch.rests[warps.rest as usize];
            let Some(Step::Segment { occupies, latency, slot }) = rest.first else { continue };
            warps.count -= 1;
            let ready = occupies + latency;
            let started = Warps { rest: rest.next, ready, count: 1, ..*warps };
            unit.busy[started.dispatcher as usize] = occupies;
            if slot && launch.slots.is_some() {
                unit.slots.push(ready);
            }
            unit.groups[start.group].add(launch, started);
        }
        for group in &mut unit.groups {
            group.warps.retain(|warps| warps.count > 0);
            group.tidy();
        }
    }

    /// Goes on as long as nothing is open; returns the ticks that pass.
    pub fn follow(&mut self, launch: &WarpLaunch) -> i64 {
        let mut ticks = 0;
        loop {
            match self.offer(launch) {
                Offer::Wait(wait) => {
                    self.pass(launch, wait);
                    ticks += i64::from(wait);
                }
                Offer::Starts(sets) if sets.len() == 1 => self.start(launch, &sets[0]),
                Offer::Starts(_) | Offer::Complete(_) | Offer::End => return ticks,
            }
        }
    }
}

impl Unit {
    /// The sets of warps that may be started now; none is empty.
    fn sets(&self, launch: &WarpLaunch) -> Vec<Vec<Start>> {
        let free = launch.slots.map_or(usize::MAX, |slots| slots - self.slots.len().min(slots));
        let candidates: Vec<Vec<(Start, bool)>> = (0..self.busy.len())
            .filter(|d| self.busy[*d] == 0)
            .map(|d| self.candidates(launch, d as u32, free > 0))
            .filter(|candidates| !candidates.is_empty())
            .collect();
        let mut sets = Vec::new();
        extend(&candidates, (free, false), &mut Vec::new(), &mut sets);
        sets
    }

    /// The warps that a free dispatcher may start, and whether they need a slot.
    fn candidates(
        &self,
        launch: &WarpLaunch,
        dispatcher: u32,
        slot_free: bool,
    ) -> Vec<(Start, bool)> {
        let mut found = Vec::new();
        for (group, state) in self.groups.iter().enumerate() {
            for (warps, of) in state.warps.iter().enumerate() {
                if of.dispatcher != dispatcher || of.ready > 0 {
                    continue;
                }
                let first = launch.rests[of.rest as usize].first;
                let Some(Step::Segment { slot, .. }) = first else { continue };
                let slot = slot && launch.slots.is_some();
                if slot_free || !slot {
                    found.push((Start { group, warps }, slot));
                }
            }
        }
        found
    }
}

/// Adds all ways to go on with the dispatchers that are left, given the slots that are free and
/// whether a dispatcher stays idle for want of one.
fn extend(
    candidates: &[Vec<(Start, bool)>],
    (free, idle): (usize, bool),
    chosen: &mut Vec<Start>,
    out: &mut Vec<Vec<Start>>,
) {
    let Some((first, others)) = candidates.split_first() else {
        if !chosen.is_empty() && (!idle || free == 0) {
            out.push(chosen.clone());
        }
        return;
    };
    for (start, slot) in first {
        if *slot && free == 0 {
            continue;
        }
        chosen.push(*start);
        extend(others, (free - usize::from(*slot), idle), chosen, out);
        chosen.pop();
    }
    if first.iter().all(|(_, slot)| *slot) {
        extend(others, (free, true), chosen, out);
    }
}
