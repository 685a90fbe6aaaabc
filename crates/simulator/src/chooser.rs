//! Who decides where a schedule is open.

use std::collections::{HashMap, HashSet};

/// One way to go on where a schedule is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// A dispatcher that is free starts a warp that is ready.
    Start {
        /// The unit, counted from 0 over all devices.
        unit: i64,
        /// The dispatcher of the unit.
        dispatcher: i64,
        /// The warp's group.
        group: i64,
        /// The warp in its group.
        warp: i64,
        /// True for an access to global memory, which takes one of the unit's memory slots.
        needs_slot: bool,
        /// Since when the warp has been ready.
        ready_since: i64,
    },
    /// The next group goes to a unit that has a place free.
    Place {
        /// The group.
        group: i64,
        /// The unit.
        unit: i64,
    },
}

/// Decides what a schedule leaves open.
///
/// A function from the time and the options to an index is a chooser, too.
pub trait Chooser {
    /// The index of one of the `options`, of which there are at least two.
    ///
    /// They are ordered: starts by unit, dispatcher, group and warp, places by unit.
    fn choose(&mut self, now: i64, options: &[Decision]) -> usize;

    /// Called for everything that happens, also where there was no choice.
    fn taken(&mut self, _now: i64, _decision: &Decision) {}
}

impl<F: FnMut(i64, &[Decision]) -> usize> Chooser for F {
    fn choose(&mut self, now: i64, options: &[Decision]) -> usize {
        self(now, options)
    }
}

/// The warp that has been ready longest; of several the one of the lowest group, then the lowest
/// warp. A group goes to the lowest unit. [`simulate`](super::simulate) runs this schedule.
#[derive(Debug, Clone, Copy, Default)]
pub struct FirstCome;

impl Chooser for FirstCome {
    fn choose(&mut self, _now: i64, options: &[Decision]) -> usize {
        let rank = |decision: &Decision| match *decision {
            Decision::Start { ready_since, group, warp, .. } => (ready_since, group, warp),
            Decision::Place { unit, .. } => (0, 0, unit),
        };
        let best = options.iter().enumerate().min_by_key(|(_, decision)| rank(decision));
        best.map_or(0, |(index, _)| index)
    }
}

/// Follows a schedule that was found elsewhere, and returns whether that was possible.
///
/// Where the script has no entry that fits, it goes on as [`FirstCome`].
#[derive(Debug, Clone)]
pub struct Scripted {
    /// By time, in the order given: group and warp.
    starts: HashMap<i64, Vec<(i64, i64)>>,
    open: HashSet<(i64, i64, i64)>,
    units: Vec<i64>,
    strayed: bool,
}

impl Scripted {
    /// A script of `(time, group, warp)` for every segment that occupies a dispatcher, and of the
    /// unit of each group. Starts at one time are preferred in the order in which they are given.
    pub fn new(starts: Vec<(i64, i64, i64)>, units: Vec<i64>) -> Self {
        let open = starts.iter().copied().collect();
        let mut by_time: HashMap<i64, Vec<(i64, i64)>> = HashMap::new();
        for (time, group, warp) in starts {
            by_time.entry(time).or_default().push((group, warp));
        }
        Scripted { starts: by_time, open, units, strayed: false }
    }

    /// True if what has happened is the script: every segment that was started is in it at its
    /// time, every start of the script has happened, and each group went to its unit.
    pub fn followed(&self) -> bool {
        !self.strayed && self.open.is_empty()
    }

    fn wanted(&self, now: i64, options: &[Decision]) -> Option<usize> {
        if let Some(Decision::Place { group, .. }) = options.first() {
            let wanted = self.units.get(usize::try_from(*group).ok()?)?;
            return options.iter().position(
                |option| matches!(option, Decision::Place { unit, .. } if unit == wanted),
            );
        }
        let here = self.starts.get(&now).into_iter().flatten();
        here.filter_map(|(g, w)| {
            options.iter().position(|option| {
                matches!(option, Decision::Start { group, warp, .. } if (group, warp) == (g, w))
            })
        })
        .next()
    }
}

impl Chooser for Scripted {
    fn choose(&mut self, now: i64, options: &[Decision]) -> usize {
        // What is not in the script is noticed when it is taken.
        self.wanted(now, options).unwrap_or_else(|| FirstCome.choose(now, options))
    }

    fn taken(&mut self, now: i64, decision: &Decision) {
        let scripted = match *decision {
            Decision::Start { group, warp, .. } => self.open.remove(&(now, group, warp)),
            Decision::Place { group, unit } => {
                usize::try_from(group).ok().and_then(|g| self.units.get(g)) == Some(&unit)
            }
        };
        self.strayed |= !scripted;
    }
}
