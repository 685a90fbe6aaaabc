//! A launch as the exploration sees it: what is the same at all times.
//!
//! Expressions are constant, so each warp does a fixed sequence of steps. Barriers cut it into
//! *phases*. What a warp has still to do in its phase is a [`Rest`]; equal rests are one, also of
//! different warps, groups or iterations. So two iterations of a loop are the same phase, and how
//! many are left is in the group's [`WarpLaunch::positions`] alone.

use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// One step of a warp that may take time, or changes its mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Occupies its dispatcher, and goes on after a latency.
    Segment {
        /// Ticks on the dispatcher, at least 1.
        occupies: u32,
        /// Ticks from then until the warp goes on.
        latency: u32,
        /// Holds a memory slot from its start until the warp goes on.
        slot: bool,
    },
    /// Waits until the mark is older than this many ticks.
    Until(i32),
    /// Sets the mark.
    Mark,
}

/// What a warp must know of its mark after the present phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Memory {
    /// Which of the group's warps are alike: a number from 0.
    pub class: u32,
    /// The most ticks that an `until` of a later phase asks of the present mark.
    pub longest: i32,
}

/// What a warp has still to do in its phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rest {
    /// What comes next; `None` if it has arrived at the end of its phase.
    pub first: Option<Step>,
    /// What is left then.
    pub next: u32,
    /// Least ticks up to the end of the phase if nothing delays it.
    pub least: u32,
    /// Least ticks up to its next segment that needs a slot, if there is one.
    pub to_slot: Option<u32>,
    /// Segments that are left.
    pub segments: u32,
    /// The most ticks that a later `until` asks of the present mark, if one does.
    pub longest: Option<i32>,
    /// What counts of its mark when the phase ends.
    pub memory: Option<Memory>,
}

/// Warps that begin a phase alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Begin {
    /// Number of alike warps in the group, from 0.
    pub class: u32,
    pub dispatcher: u32,
    pub rest: u32,
    pub count: u32,
}

/// The warps of a group in order: for each the first rests of its phases, and its dispatcher.
pub(crate) type NamedWarps = Vec<(Rc<[u32]>, u32)>;

/// One configuration of a problem, ready to be explored.
#[derive(Debug, Clone)]
pub struct WarpLaunch {
    pub(crate) units: usize,
    pub(crate) dispatchers: usize,
    /// Places for groups in a unit.
    pub(crate) places: usize,
    /// Memory slots of a unit; `None` if there are always enough.
    pub(crate) slots: Option<usize>,
    /// Ticks from the last arrival at a barrier to its release.
    pub(crate) barrier: u32,
    /// Ticks from the placement of a group to its begin.
    pub(crate) group_start: u32,
    /// Tick at which the first groups are placed.
    pub(crate) begins: i64,
    /// Ticks that `finish` takes after the last group.
    pub(crate) finish: i64,
    pub(crate) rests: Vec<Rest>,
    pub(crate) phases: Vec<Vec<Begin>>,
    /// Where a group can stand: the phases of each kind of group, in sequence.
    pub(crate) positions: Vec<Position>,
    /// The groups in their order: how many of one kind follow each other, and where these begin.
    pub(crate) queue: Vec<(u64, u32)>,
    /// The warps of a group in order, for each way in which groups name them.
    pub(crate) warps: Vec<NamedWarps>,
    /// For each group its place in `warps`; empty if all groups name their warps alike.
    pub(crate) naming: Vec<u32>,
    /// Orders of the dispatchers that change nothing; the first is the order as it is.
    pub(crate) orders: Vec<Vec<u32>>,
}

/// A group in one of its phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub phase: u32,
    /// The position after this phase; `None` if the group ends.
    pub next: Option<u32>,
    /// Phases that are left, this one included.
    pub left: u32,
}

impl WarpLaunch {
    pub(crate) fn groups(&self) -> u64 {
        self.queue.iter().map(|(count, _)| count).sum()
    }

    /// The phases of a group that begins at this position.
    pub(crate) fn phases_from(&self, first: u32) -> impl Iterator<Item = &[Begin]> {
        let next = |p: &u32| self.positions[*p as usize].next;
        let positions = std::iter::successors(Some(first), next);
        positions.map(|p| self.phases[self.positions[p as usize].phase as usize].as_slice())
    }

    /// Segments of all warps.
    pub fn segments(&self) -> u64 {
        let of = |b: &Begin| u64::from(b.count) * u64::from(self.rests[b.rest as usize].segments);
        let of_group = |first: u32| self.phases_from(first).flatten().map(of).sum::<u64>();
        let all = self.queue.iter().map(|(count, first)| count.saturating_mul(of_group(*first)));
        all.fold(0, u64::saturating_add)
    }

    /// The warps of group `n`.
    pub(crate) fn named(&self, n: u64) -> &[(Rc<[u32]>, u32)] {
        let naming =
            usize::try_from(n).ok().and_then(|n| self.naming.get(n)).map_or(0, |k| *k as usize);
        self.warps.get(naming).map_or(&[], Vec::as_slice)
    }

    /// Where group `n` begins, and how many groups from `n` on begin there.
    pub(crate) fn queued(&self, n: u64) -> Option<(u32, u64)> {
        let mut end = 0;
        self.queue.iter().find_map(|(count, position)| {
            end += count;
            (n < end).then(|| (*position, end - n))
        })
    }
}

/// Makes rests and phases, each only once.
#[derive(Default)]
pub(crate) struct Tables {
    /// First step, rest after it, memory.
    rests: IndexSet<(Option<Step>, u32, Option<Memory>), FxBuildHasher>,
    phases: IndexSet<Vec<Begin>, FxBuildHasher>,
}

impl Tables {
    /// The rest that consists of these steps.
    pub fn rest(&mut self, steps: &[Step], memory: Option<Memory>) -> u32 {
        let end = self.rests.insert_full((None, 0, memory)).0 as u32;
        steps
            .iter()
            .rev()
            .fold(end, |next, step| self.rests.insert_full((Some(*step), next, None)).0 as u32)
    }

    /// The phase that begins like this.
    pub fn phase(&mut self, begins: Vec<Begin>) -> u32 {
        self.phases.insert_full(begins).0 as u32
    }

    /// The tables, complete. A rest's next one has a lower number.
    pub fn finish(self) -> (Vec<Rest>, Vec<Vec<Begin>>) {
        let mut rests: Vec<Rest> = Vec::with_capacity(self.rests.len());
        for (first, next, memory) in self.rests {
            let after = rests.get(next as usize).copied();
            rests.push(Rest::new(first, next, memory, after));
        }
        (rests, self.phases.into_iter().collect())
    }
}

impl Rest {
    fn new(first: Option<Step>, next: u32, memory: Option<Memory>, after: Option<Rest>) -> Rest {
        let end = Rest {
            first,
            next,
            least: 0,
            to_slot: None,
            segments: 0,
            longest: memory.map(|m| m.longest),
            memory,
        };
        let (Some(step), Some(after)) = (first, after) else { return end };
        match step {
            Step::Segment { occupies, latency, slot } => {
                let ticks = occupies + latency;
                Rest {
                    first,
                    next,
                    least: after.least + ticks,
                    to_slot: if slot { Some(0) } else { after.to_slot.map(|t| t + ticks) },
                    segments: after.segments + 1,
                    ..after
                }
            }
            Step::Until(ticks) => {
                let longest = after.longest.map_or(ticks, |longest| longest.max(ticks));
                Rest { first, next, longest: Some(longest), ..after }
            }
            Step::Mark => Rest { first, next, longest: None, ..after },
        }
    }
}
