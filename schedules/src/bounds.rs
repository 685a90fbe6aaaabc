//! What holds for every schedule of a launch, without looking at any.

use crate::launch::{Begin, Launch, Step};

/// What the groups of a launch ask for, all together, in ticks.
#[derive(Default)]
struct Load {
    /// Of each dispatcher, over all units.
    dispatchers: Vec<i64>,
    slots: i64,
    /// Of the places.
    places: i64,
    /// Everything one after another.
    serial: i64,
    /// The longest group alone.
    longest: i64,
}

impl Launch {
    /// A number of ticks that no schedule undercuts: the longest group alone; what all groups ask of
    /// places, dispatchers and slots, shared among these.
    #[must_use]
    pub fn least(&self) -> i64 {
        let load = self.load();
        let shared = |ticks: i64, by: usize| {
            let by = (by as i64).max(1);
            ticks / by + i64::from(ticks % by > 0)
        };
        let start = i64::from(self.group_start);
        let busiest = load.dispatchers.iter().copied().max().unwrap_or(0);
        let slots = self.slots.map_or(0, |slots| shared(load.slots, slots * self.units));
        let all = [
            load.longest,
            shared(load.places, self.places * self.units),
            start.saturating_add(shared(busiest, self.units)),
            start.saturating_add(slots),
        ];
        let least = all.into_iter().max().unwrap_or(0);
        self.begins.saturating_add(least).saturating_add(self.finish)
    }

    /// A number of ticks that no schedule exceeds: everything one after another. As long as the
    /// launch has not ended, something of it is under way.
    #[must_use]
    pub fn most(&self) -> i64 {
        self.begins.saturating_add(self.load().serial).saturating_add(self.finish)
    }

    fn load(&self) -> Load {
        let mut load = Load { dispatchers: vec![0; self.dispatchers], ..Load::default() };
        for (count, first) in &self.queue {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            let mut path = i64::from(self.group_start);
            let mut serial = path;
            for (number, phase) in self.phases_from(*first).enumerate() {
                let barrier = if number > 0 { i64::from(self.barrier) } else { 0 };
                path = path.saturating_add(barrier + self.path(phase));
                serial = serial.saturating_add(barrier);
                for begin in phase {
                    let of = self.of(begin);
                    let times = count.saturating_mul(i64::from(begin.count));
                    let add = |to: &mut i64, ticks: i64| {
                        *to = to.saturating_add(ticks.saturating_mul(times));
                    };
                    add(&mut load.dispatchers[begin.dispatcher as usize], of.dispatcher);
                    add(&mut load.slots, of.slot);
                    serial =
                        serial.saturating_add(of.serial.saturating_mul(i64::from(begin.count)));
                }
            }
            load.longest = load.longest.max(path);
            load.places = load.places.saturating_add(path.saturating_mul(count));
            load.serial = load.serial.saturating_add(serial.saturating_mul(count));
        }
        load
    }

    /// Least ticks of a phase.
    fn path(&self, phase: &[Begin]) -> i64 {
        phase.iter().map(|b| i64::from(self.rests[b.rest as usize].least)).max().unwrap_or(0)
    }

    /// What a warp asks for in a phase.
    fn of(&self, begin: &Begin) -> Asked {
        let mut asked = Asked::default();
        let mut rest = self.rests[begin.rest as usize];
        while let Some(step) = rest.first {
            match step {
                Step::Segment { occupies, latency, slot } => {
                    let lasts = i64::from(occupies) + i64::from(latency);
                    asked.dispatcher += i64::from(occupies);
                    asked.slot += if slot { lasts } else { 0 };
                    asked.serial += lasts;
                }
                Step::Until(d) => asked.serial += (i64::from(d) + 1).max(0),
                Step::Mark => {}
            }
            rest = self.rests[rest.next as usize];
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
}
