//! What holds for every schedule of a launch, without looking at any.

use crate::launch::{Begin, Step, WarpLaunch};

/// What the groups of a launch ask for, all together, in ticks.
struct Load {
    /// Of each dispatcher, over all units.
    dispatchers: Vec<Shared>,
    slots: Shared,
    /// Of the places.
    places: i64,
    /// Everything in sequence.
    serial: i64,
    /// The longest group alone.
    longest: i64,
    /// The shortest group alone.
    shortest: i64,
}

/// What is asked of a resource, or of several alike.
#[derive(Debug, Clone, Copy)]
struct Shared {
    /// Ticks of all who ask.
    ticks: i64,
    /// Ticks from the start of the launch before anything can ask.
    before: i64,
    /// The last warp that has it takes at least this long from then to the end of the launch.
    after: i64,
}

impl Shared {
    const NONE: Shared = Shared { ticks: 0, before: i64::MAX, after: i64::MAX };

    /// Someone asks for `ticks`, this long after the begin and before the end.
    fn ask(&mut self, ticks: i64, before: i64, after: i64) {
        self.ticks = self.ticks.saturating_add(ticks);
        self.before = self.before.min(before);
        self.after = self.after.min(after);
    }

    /// Least ticks of the launch, if this many of the resource are there.
    fn least(self, by: usize) -> i64 {
        if self.ticks == 0 {
            return 0;
        }
        shared(self.ticks, by).saturating_add(self.before).saturating_add(self.after)
    }
}

/// Ticks of the one that has most of them.
pub(crate) fn shared(ticks: i64, by: usize) -> i64 {
    let by = (by as i64).max(1);
    ticks / by + i64::from(ticks % by > 0)
}

impl WarpLaunch {
    /// A number of ticks that no schedule undercuts, the greatest of these:
    ///
    /// * the longest group alone;
    /// * the groups alone, shared among the places; as many of the shortest as some place has at
    ///   least;
    /// * what all warps of a dispatcher ask of it, or all warps of the slots, shared among these;
    ///   before it, the least that passes until a warp asks for the first time, and after it, the
    ///   least that a warp has left that asks no more.
    ///
    /// A group alone takes, phase by phase, what the longest warp takes alone, or what its warps
    /// ask of a dispatcher or of the slots and the least that is left then.
    pub fn least(&self) -> i64 {
        let load = self.load();
        let places = self.places * self.units;
        let waves = i64::try_from(self.groups().div_ceil(places.max(1) as u64)).unwrap_or(i64::MAX);
        let busiest = load.dispatchers.iter().map(|of| of.least(self.units)).max().unwrap_or(0);
        let slots = self.slots.map_or(0, |slots| load.slots.least(slots * self.units));
        let all = [
            load.longest,
            shared(load.places, places),
            waves.saturating_mul(load.shortest),
            busiest,
            slots,
        ];
        let least = all.into_iter().max().unwrap_or(0);
        self.begins.saturating_add(least).saturating_add(self.finish)
    }

    /// A number of ticks that no schedule exceeds: everything in sequence. As long as the
    /// launch has not ended, something of it is under way.
    pub fn most(&self) -> i64 {
        self.begins.saturating_add(self.load().serial).saturating_add(self.finish)
    }

    fn load(&self) -> Load {
        let mut load = Load {
            dispatchers: vec![Shared::NONE; self.dispatchers],
            slots: Shared::NONE,
            places: 0,
            serial: 0,
            longest: 0,
            shortest: i64::MAX,
        };
        for (count, first) in &self.queue {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            let path = self.group(*first, count, &mut load);
            load.longest = load.longest.max(path);
            load.shortest = load.shortest.min(path);
            load.places = load.places.saturating_add(path.saturating_mul(count));
        }
        load
    }

    /// Adds what `count` groups from a position on ask for; returns what one takes alone.
    fn group(&self, first: u32, count: i64, load: &mut Load) -> i64 {
        let phases: Vec<&[Begin]> = self.phases_from(first).collect();
        let paths: Vec<i64> = phases.iter().map(|phase| self.path(phase)).collect();
        let barriers =
            i64::from(self.barrier).saturating_mul(phases.len().saturating_sub(1) as i64);
        let alone = paths.iter().copied().fold(i64::from(self.group_start), i64::saturating_add);
        let alone = alone.saturating_add(barriers);
        let mut serial = i64::from(self.group_start).saturating_add(barriers);
        let mut before = i64::from(self.group_start);
        for (phase, path) in phases.iter().zip(&paths) {
            let after = alone.saturating_sub(before).saturating_sub(*path);
            for begin in *phase {
                let of = self.of(begin);
                let warps = i64::from(begin.count);
                let all = |ticks: i64| ticks.saturating_mul(count).saturating_mul(warps);
                serial = serial.saturating_add(of.serial.saturating_mul(warps));
                if of.dispatcher > 0 {
                    let dispatcher = &mut load.dispatchers[begin.dispatcher as usize];
                    dispatcher.ask(all(of.dispatcher), before, after.saturating_add(of.after));
                }
                if let Some(to_slot) = self.rests[begin.rest as usize].to_slot {
                    let before = before.saturating_add(i64::from(to_slot));
                    load.slots.ask(all(of.slot), before, after.saturating_add(of.after_slot));
                }
            }
            before = before.saturating_add(*path).saturating_add(i64::from(self.barrier));
        }
        load.serial = load.serial.saturating_add(serial.saturating_mul(count));
        alone
    }

    /// Least ticks of a phase of a group that is alone.
    pub(crate) fn path(&self, phase: &[Begin]) -> i64 {
        let mut dispatchers = vec![Shared::NONE; self.dispatchers];
        let mut slots = Shared::NONE;
        let mut longest = 0;
        for begin in phase {
            let (of, rest) = (self.of(begin), self.rests[begin.rest as usize]);
            longest = longest.max(i64::from(rest.least));
            let all = |ticks: i64| ticks.saturating_mul(i64::from(begin.count));
            if of.dispatcher > 0 {
                dispatchers[begin.dispatcher as usize].ask(all(of.dispatcher), 0, of.after);
            }
            if let Some(to_slot) = rest.to_slot {
                slots.ask(all(of.slot), i64::from(to_slot), of.after_slot);
            }
        }
        let busiest = dispatchers.into_iter().map(|of| of.least(1)).max().unwrap_or(0);
        let slots = self.slots.map_or(0, |by| slots.least(by));
        longest.max(busiest).max(slots)
    }

    /// What a warp asks for in a phase.
    fn of(&self, begin: &Begin) -> Asked {
        let mut asked = Asked::default();
        let mut rest = self.rests[begin.rest as usize];
        while let Some(step) = rest.first {
            let next = self.rests[rest.next as usize];
            match step {
                Step::Segment { occupies, latency, slot } => {
                    let lasts = i64::from(occupies) + i64::from(latency);
                    asked.dispatcher += i64::from(occupies);
                    asked.after = i64::from(latency) + i64::from(next.least);
                    asked.serial += lasts;
                    if slot {
                        asked.slot += lasts;
                        asked.after_slot = i64::from(next.least);
                    }
                }
                Step::Until(d) => asked.serial += (i64::from(d) + 1).max(0),
                Step::Mark => {}
            }
            rest = next;
        }
        asked
    }
}

/// What a warp asks for in a phase, in ticks.
#[derive(Default)]
struct Asked {
    dispatcher: i64,
    slot: i64,
    serial: i64,
    /// Least ticks to the end of the phase once its last segment leaves the dispatcher.
    after: i64,
    /// Least ticks to the end of the phase once its last segment leaves its slot.
    after_slot: i64,
}
