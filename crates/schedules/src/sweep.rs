//! All runs of a launch, from its first group to its last.
//!
//! *Level* `n` holds what is reached while `n` groups have been placed: a state, and for each of
//! its groups the position in the program, with the least and the greatest tick at which some run
//! is there. A run passes from level to level by placing a group, and in a level along edges and
//! ends of phases. The phases that are left fall at each end of a phase, and ranks fall along
//! edges, so in that order everything is examined once, after all that leads to it.
//!
//! # Why levels may be skipped
//!
//! What enters level `n + 1` depends only on what enters level `n` and on the kind of the groups
//! that are placed. If the entries of level `n` are those of level `n - p`, with all least ticks
//! later by `c` and all greatest ticks later by `d`, then the same holds for `n + 1` and `n + 1 -
//! p`, and so on while the groups are alike: least and greatest ticks of a state depend on those
//! before it by sums, minima and maxima, which commute with adding a constant. So `m * p` levels
//! are passed by adding `m * c` and `m * d`.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::ahead::{Goal, Here};
use crate::batch::{Advance, Batch, Ranges, Tick};
use crate::error::{Limit, ScheduleError, TooLarge};
use crate::graph::{Graph, Kind, Turn};
use crate::level::Level;
use crate::limits::{ScheduleLimits, Skipped};
use crate::record::{Entries, Key, Range, Record};
use crate::state::{Order, Positions};

/// Cells of a batch, and states.
type Targets = SmallVec<[(u32, u32); 2]>;

/// What all runs have shown.
pub(crate) struct Swept {
    pub range: Range,
    pub visits: u64,
    /// Steps that were not followed, as they cannot lead to the end by a goal.
    pub dropped: u64,
    pub skipped: Vec<Skipped>,
}

pub(crate) struct Sweep<'a, 'l> {
    pub graph: &'a mut Graph<'l>,
    limits: &'a ScheduleLimits,
    stop: &'a dyn Fn() -> bool,
    visits: u64,
    dropped: u64,
    /// All combinations of positions that were met.
    positions: IndexSet<Box<[u32]>, FxBuildHasher>,
    /// How everything was reached, if schedules are recorded.
    pub record: Option<Record>,
    /// What need not be followed.
    pub goal: Option<Goal<'a>>,
    /// The work of the groups that have no place, where there is a goal.
    queued: i128,
}

impl<'a, 'l> Sweep<'a, 'l> {
    pub fn new(
        graph: &'a mut Graph<'l>,
        limits: &'a ScheduleLimits,
        stop: &'a dyn Fn() -> bool,
    ) -> Self {
        let positions = IndexSet::default();
        let (visits, dropped, queued) = (0, 0, 0);
        Sweep { graph, limits, stop, visits, dropped, positions, record: None, goal: None, queued }
    }

    /// Runs all levels.
    ///
    /// # Errors
    /// A limit, or the caller's stop.
    pub fn all(&mut self) -> Result<Swept, ScheduleError> {
        if self.graph.launch.most() < <i32 as Tick>::MOST {
            self.levels::<i32>()
        } else {
            self.levels::<i64>()
        }
    }

    /// Runs everything once more, and records it.
    ///
    /// # Errors
    /// A limit, or the caller's stop.
    pub fn run_recorded(&mut self) -> Result<(), ScheduleError> {
        self.record = Some(Record::new());
        (self.visits, self.dropped) = (0, 0);
        self.all().map(|_| ())
    }

    fn levels<T: Tick>(&mut self) -> Result<Swept, ScheduleError> {
        let launch = self.graph.launch;
        let root = self.graph.root();
        let mut entries = Entries::default();
        entries.insert((self.number(&[]), root), Range::at(launch.begins));
        let groups = launch.groups();
        let mut history: Vec<Entries> = Vec::new();
        let (mut range, mut skipped) = (Range::NONE, Vec::new());
        let mut placed = 0;
        loop {
            let queued = launch.queued(placed);
            if let Some((_, alike)) = queued
                && let Some(found) = period(&history, &entries)
                && alike >= found.period
                && self.may_skip(placed, &found)
            {
                let times = alike / found.period;
                shift(&mut entries, &found, times)
                    .ok_or(ScheduleError::TooLarge(TooLarge::Time))?;
                placed += times * found.period;
                skipped.push(Skipped { groups: times * found.period, ..found });
                history.clear();
                self.note(|record| record.skip(found.period));
            }
            self.queued = self.queued(placed);
            self.note(|record| record.begin_level(placed));
            let next = self.level::<T>(&entries, launch.queued(placed).map(|q| q.0), &mut range)?;
            if placed == groups {
                let (visits, dropped) = (self.visits, self.dropped);
                return Ok(Swept { range, visits, dropped, skipped });
            }
            let before = std::mem::replace(&mut entries, next);
            if launch.queued(placed + 1).map(|q| q.0) == queued.map(|q| q.0) {
                history.push(before);
            } else {
                history.clear();
            }
            if history.len() > self.limits.max_period {
                history.remove(0);
            }
            placed += 1;
        }
    }

    /// Runs one level; returns what enters the next, from `next` on. `ended` takes ended runs.
    fn level<T: Tick>(
        &mut self,
        entries: &Entries,
        next: Option<u32>,
        ended: &mut Range,
    ) -> Result<Entries, ScheduleError> {
        let mut level = Level::<T>::new(self.graph.launch, next, self.graph.len());
        for (key, range) in entries {
            range.later(0, 0).ok_or(ScheduleError::TooLarge(TooLarge::Time))?;
            let positions = Positions::from_slice(&self.positions[key.0 as usize]);
            level.enter(self.graph, &positions, key.1, *range);
            self.note(|record| record.reach(*key, *range, None));
        }
        while let Some(batch) = level.pop() {
            self.batch(batch, &mut level, ended)?;
        }
        if let Some(goal) = self.goal {
            level.entries.values_mut().for_each(|range| *range = goal.of(*range));
        }
        Ok(level.entries)
    }

    /// The work of the groups from number `placed` on, where there is a goal.
    fn queued(&self, placed: u64) -> i128 {
        let Some(goal) = self.goal else { return 0 };
        let (mut work, mut before) = (0, 0);
        for (count, first) in &self.graph.launch.queue {
            let left = count - placed.saturating_sub(before).min(*count);
            work += i128::from(left) * goal.ahead.work[*first as usize];
            before += count;
        }
        work
    }

    /// Whether what a goal drops in the levels of a period it drops in those after it, too.
    fn may_skip(&self, placed: u64, found: &Skipped) -> bool {
        let Some(goal) = self.goal else { return true };
        let end = Range { least: found.least, greatest: found.greatest };
        let work = self.queued(placed) - self.queued(placed + found.period);
        goal.ahead.is_covered(goal.ahead.end.of(end), work)
    }

    /// Whether a run that is in a state with its groups at these positions has to be followed.
    fn follows(&mut self, range: Range, (positions, node): (&[u32], u32), queued: i128) -> bool {
        let Some(goal) = self.goal else { return true };
        let work: i128 = positions.iter().map(|p| goal.ahead.work[*p as usize]).sum();
        let follows = goal.may_reach(range, Here { node, main: queued > 0, work: work + queued });
        self.dropped += u64::from(!follows);
        follows
    }

    /// Looks at all states of a batch, and at where they lead to.
    fn batch<T: Tick>(
        &mut self,
        mut batch: Batch<T>,
        level: &mut Level<'l, T>,
        ended: &mut Range,
    ) -> Result<(), ScheduleError> {
        for rank in (0..batch.ranks.len()).rev() {
            let mut at = 0;
            while let Some((cell, node)) = batch.ranks[rank].get(at).copied() {
                at += 1;
                self.visit(batch.lanes.len() as u64)?;
                let of = self.graph.node(node);
                let ranges = batch.ranges_of(cell, of.number);
                match of.kind {
                    Kind::Complete(group) => {
                        self.complete(&mut batch, (cell, node), (group, &ranges), level);
                    }
                    _ if of.free && level.next.is_some() => {
                        self.place(&batch, (cell, node), &ranges, level);
                    }
                    Kind::Empty => {
                        ended.join(ranges.lane(0));
                        let key = self.key(&[], node);
                        self.note(|record| record.end(key, ranges.lane(0)));
                    }
                    Kind::Open => self.open(&mut batch, (cell, node), &ranges),
                }
            }
        }
        level.reuse(batch);
        Ok(())
    }

    fn open<T: Tick>(
        &mut self,
        batch: &mut Batch<T>,
        (cell, node): (u32, u32),
        ranges: &Ranges<T>,
    ) {
        let phases = self.graph.node(node).phases;
        for edge in self.graph.edges(node) {
            let edge = self.graph.edge(edge);
            let to = self.graph.node(edge.to);
            let same = edge.order == Order::SAME && !to.ties && to.phases == phases;
            let target = if same {
                cell
            } else {
                let here = &batch.cells[cell as usize].pattern;
                let pattern = self.graph.named(edge.to, moved(here, edge.order));
                batch.cell(to.phases, &pattern)
            };
            batch.reached(self.graph, target, edge.to).join(ranges, T::of(edge.ticks));
            if self.record.is_some() {
                self.record_edge(batch, (cell, node), (target, edge.to), (ranges, edge.ticks));
            }
        }
    }

    /// Records an edge, lane by lane.
    fn record_edge<T: Tick>(
        &mut self,
        batch: &Batch<T>,
        from: (u32, u32),
        to: (u32, u32),
        (ranges, ticks): (&Ranges<T>, i64),
    ) {
        for lane in 0..batch.lanes.len() {
            let range = ranges.lane(lane);
            if !range.is_none() {
                let before = self.key_of(batch.positions(from.0, lane), from.1);
                let key = self.key_of(batch.positions(to.0, lane), to.1);
                let later = Range { least: range.least + ticks, greatest: range.greatest + ticks };
                self.note(|record| record.reach(key, later, Some(before)));
            }
        }
    }

    /// A group reaches the end of its phase: each lane goes on to another batch.
    fn complete<T: Tick>(
        &mut self,
        batch: &mut Batch<T>,
        (cell, node): (u32, u32),
        (group, ranges): (usize, &Ranges<T>),
        level: &mut Level<'l, T>,
    ) {
        let pattern = batch.cells[cell as usize].pattern.clone();
        let place = pattern[group];
        let mut advances = batch.advances.remove(&place).unwrap_or_default();
        advances.resize(batch.lanes.len(), None);
        // Where the last lane went: mostly the next one goes to the same cells.
        let mut last: Option<(Advance, Targets)> = None;
        for (lane, known) in advances.iter_mut().enumerate() {
            let range = ranges.lane(lane);
            if range.is_none() {
                continue;
            }
            let advance =
                known.get_or_insert_with(|| level.advance(&batch.lanes[lane], place as usize));
            let there = level.batch(advance.to.0);
            if last.as_ref().is_none_or(|(before, _)| !before.is_alike(advance)) {
                last = Some((advance.clone(), self.targets(node, &pattern, advance, there)));
            }
            for target in last.iter().flat_map(|(_, targets)| targets) {
                if !self.follows(
                    range,
                    (&there.lanes[advance.to.1 as usize], target.1),
                    self.queued,
                ) {
                    continue;
                }
                there.reach(self.graph, *target, advance.to.1, range);
                if self.record.is_some() {
                    let positions = there.positions(target.0, advance.to.1 as usize);
                    let before = self.key_of(batch.positions(cell, lane), node);
                    let key = self.key_of(positions, target.1);
                    self.note(|record| record.reach(key, range, Some(before)));
                }
            }
        }
        batch.advances.insert(place, advances);
    }

    /// The cells and states that the end of a phase leads to.
    fn targets<T: Tick>(
        &mut self,
        node: u32,
        pattern: &Positions,
        advance: &Advance,
        there: &mut Batch<T>,
    ) -> Targets {
        let count = pattern.len() - usize::from(advance.turn == Turn::Finish);
        let mut targets = Targets::new();
        for target in self.graph.turn(node, advance.turn) {
            let (to, order) = self.graph.target(target);
            let new = |n| advance.places[pattern[order.old(n)] as usize];
            let moved = self.graph.named(to, (0..count).map(new).collect());
            targets.push((there.cell(self.graph.node(to).phases, &moved), to));
        }
        targets
    }

    /// A group is placed: each lane enters the next level.
    fn place<T: Tick>(
        &mut self,
        batch: &Batch<T>,
        (cell, node): (u32, u32),
        ranges: &Ranges<T>,
        level: &mut Level<'l, T>,
    ) {
        let Some(first) = level.next else { return };
        let turn = Turn::Place(self.graph.launch.positions[first as usize].phase);
        let queued = self.queued - self.goal.map_or(0, |goal| goal.ahead.work[first as usize]);
        for lane in (0..batch.lanes.len()).filter(|lane| !ranges.lane(*lane).is_none()) {
            let before = batch.positions(cell, lane);
            let mut positions = before.clone();
            positions.push(first);
            for target in self.graph.turn(node, turn) {
                let (to, order) = self.graph.target(target);
                let positions = self.graph.named(to, moved(&positions, order));
                let range = ranges.lane(lane);
                if !self.follows(range, (&positions, to), queued) {
                    continue;
                }
                let key = self.key(&positions, to);
                level.entries.entry(key).or_insert(Range::NONE).join(range);
                if self.record.is_some() {
                    let before = self.key_of(before.clone(), node);
                    self.note(|record| record.enter(key, range, before));
                }
            }
        }
    }

    /// Adds to the record, if there is one.
    fn note(&mut self, tell: impl FnOnce(&mut Record)) {
        if let Some(record) = &mut self.record {
            tell(record);
        }
    }

    /// A state with the positions of its groups, as a key.
    pub fn key(&mut self, positions: &[u32], node: u32) -> Key {
        (self.number(positions), node)
    }

    /// The same of groups that may have other names.
    fn key_of(&mut self, positions: Positions, node: u32) -> Key {
        let positions = self.graph.named(node, positions);
        self.key(&positions, node)
    }

    fn number(&mut self, positions: &[u32]) -> u32 {
        if let Some(number) = self.positions.get_index_of(positions) {
            return number as u32;
        }
        self.positions.insert_full(positions.into()).0 as u32
    }

    /// Counts a state that is examined in this many lanes.
    fn visit(&mut self, lanes: u64) -> Result<(), ScheduleError> {
        let before = self.visits / 1024;
        self.visits += lanes;
        if self.visits > self.limits.max_visits {
            return Err(ScheduleError::Limit(Limit::Visits(self.limits.max_visits)));
        }
        if self.graph.len() > self.limits.max_states {
            return Err(ScheduleError::Limit(Limit::States(self.limits.max_states)));
        }
        if self.visits / 1024 > before && (self.stop)() {
            return Err(ScheduleError::Stopped);
        }
        Ok(())
    }
}

pub(crate) fn moved(positions: &[u32], order: Order) -> Positions {
    (0..positions.len()).map(|n| positions[order.old(n)]).collect()
}

/// The period that ends with these entries, if there is one.
fn period(history: &[Entries], entries: &Entries) -> Option<Skipped> {
    (1..=history.len()).find_map(|period| {
        let before = &history[history.len() - period];
        let (least, greatest) = shifted(before, entries)?;
        Some(Skipped { period: period as u64, groups: 0, least, greatest })
    })
}

/// How much later all least and all greatest ticks are, if that is the same for all.
fn shifted(before: &Entries, entries: &Entries) -> Option<(i64, i64)> {
    if before.len() != entries.len() {
        return None;
    }
    let mut shift = None;
    for (key, range) in entries {
        let old = before.get(key)?;
        let here = (range.least - old.least, range.greatest - old.greatest);
        if *shift.get_or_insert(here) != here {
            return None;
        }
    }
    shift
}

/// `None` is a time beyond 63 bits.
fn shift(entries: &mut Entries, by: &Skipped, times: u64) -> Option<()> {
    let times = i64::try_from(times).ok()?;
    let (least, greatest) = (by.least.checked_mul(times)?, by.greatest.checked_mul(times)?);
    for range in entries.values_mut() {
        *range = range.later(least, greatest)?;
    }
    Some(())
}
