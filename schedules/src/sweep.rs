//! All runs of a launch, from its first group to its last.
//!
//! *Level* `n` holds what is reached while `n` groups have been placed: a state, and for each of its
//! groups the position in the program, with the least and the greatest tick at which some run is
//! there. A run passes from level to level by placing a group, and in a level along edges and ends
//! of phases. The phases that are left fall at each end of a phase, and ranks fall along edges, so
//! in that order everything is looked at once, after all that leads to it.
//!
//! # Why levels may be skipped
//!
//! What enters level `n + 1` depends only on what enters level `n` and on the kind of the groups that
//! are placed. If the entries of level `n` are those of level `n - p`, with all least ticks later by
//! `c` and all greatest ticks later by `d`, then the same holds for `n + 1` and `n + 1 - p`, and so on
//! while the groups are alike: least and greatest ticks of a state depend on those before it by
//! sums, minima and maxima, which commute with adding a constant. So `m * p` levels are passed by
//! adding `m * c` and `m * d`.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::error::{Limit, ScheduleError, TooLarge};
use crate::graph::{Graph, Kind, Turn};
use crate::limits::{Limits, Skipped};
use crate::record::{Key, Range, Record};
use crate::state::{Order, Positions, State};

/// What enters a level: the positions of the groups (by number) and the state.
pub(crate) type Entries = IndexMap<Key, Range, FxBuildHasher>;

/// What all runs have shown.
pub(crate) struct Swept {
    pub range: Range,
    pub visits: u64,
    pub skipped: Vec<Skipped>,
}

pub(crate) struct Sweep<'a, 'l> {
    pub graph: &'a mut Graph<'l>,
    limits: &'a Limits,
    stop: &'a dyn Fn() -> bool,
    visits: u64,
    /// All combinations of positions that were met.
    positions: IndexSet<Box<[u32]>, FxBuildHasher>,
    /// How everything was reached, if that is asked for.
    pub record: Option<Record>,
}

impl<'a, 'l> Sweep<'a, 'l> {
    pub fn new(graph: &'a mut Graph<'l>, limits: &'a Limits, stop: &'a dyn Fn() -> bool) -> Self {
        Sweep { graph, limits, stop, visits: 0, positions: IndexSet::default(), record: None }
    }

    /// Runs all levels.
    ///
    /// # Errors
    /// A limit, or the caller's stop.
    pub fn all(&mut self) -> Result<Swept, ScheduleError> {
        let launch = self.graph.launch;
        let (root, _) = self.graph.meet(State::empty(launch));
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
                && alike > found.period
            {
                let times = (alike - 1) / found.period;
                shift(&mut entries, &found, times).ok_or_else(overflow)?;
                placed += times * found.period;
                skipped.push(Skipped { groups: times * found.period, ..found });
                history.clear();
                self.note(|record| record.skip(found.period));
            }
            self.note(|record| record.begin_level(placed));
            let next = self.level(&entries, launch.queued(placed).map(|q| q.0), &mut range)?;
            if placed == groups {
                return Ok(Swept { range, visits: self.visits, skipped });
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

    /// Runs one level; returns what enters the next, where groups begin at position `next`. Runs that
    /// end are joined to `ended`.
    pub fn level(
        &mut self,
        entries: &Entries,
        next: Option<u32>,
        ended: &mut Range,
    ) -> Result<Entries, ScheduleError> {
        let mut level = Level { families: BTreeMap::new(), entries: Entries::default(), next };
        for ((number, node), range) in entries {
            let number = *number;
            let positions = Positions::from_slice(&self.positions[number as usize]);
            level.reach(self.graph, positions, *node, *range);
            if let Some(record) = &mut self.record {
                record.reach((number, *node), *range, None);
            }
        }
        while let Some((_, families)) = level.families.pop_last() {
            for (_, family) in families {
                self.family(family, &mut level, ended)?;
            }
        }
        Ok(level.entries)
    }

    /// Looks at all states of a family, and at where they lead to.
    fn family(
        &mut self,
        mut family: Family,
        level: &mut Level,
        ended: &mut Range,
    ) -> Result<(), ScheduleError> {
        let mut rank = family.ranks.len();
        while rank > 0 {
            rank -= 1;
            let mut at = 0;
            while let Some((cell, node)) = family.ranks[rank].get(at).copied() {
                at += 1;
                self.visit()?;
                let of = self.graph.node(node);
                let here = &family.cells[cell as usize];
                let range = here.ranges[of.number as usize];
                match of.kind {
                    Kind::Complete(group) => {
                        let positions = here.positions.clone();
                        self.complete((node, group), &positions, range, level);
                    }
                    _ if of.free && level.next.is_some() => {
                        let positions = here.positions.clone();
                        self.place(node, &positions, range, level);
                    }
                    Kind::Empty => {
                        ended.join(range);
                        let key = self.key(&[], node);
                        self.note(|record| record.end(key, range));
                    }
                    Kind::Open => self.open(&mut family, cell, (node, range))?,
                }
            }
            family.ranks[rank] = Vec::new();
        }
        Ok(())
    }

    fn open(
        &mut self,
        family: &mut Family,
        cell: u32,
        (node, range): (u32, Range),
    ) -> Result<(), ScheduleError> {
        let phases = self.graph.node(node).phases;
        for edge in self.graph.edges(node) {
            let edge = self.graph.edge(edge);
            let to = self.graph.node(edge.to);
            let same = edge.order == Order::SAME && !to.ties && to.phases == phases;
            let target = if same {
                cell
            } else {
                let here = &family.cells[cell as usize].positions;
                let positions = self.graph.named(edge.to, moved(here, edge.order));
                family.cell(to.phases, &positions)
            };
            let later = range.later(edge.ticks, edge.ticks).ok_or_else(overflow)?;
            family.reach(self.graph, target, edge.to, later);
            if self.record.is_some() {
                let before = self.key(&family.cells[cell as usize].positions, node);
                let key = self.key(&family.cells[target as usize].positions, edge.to);
                self.note(|record| record.reach(key, later, Some(before)));
            }
        }
        Ok(())
    }

    fn complete(
        &mut self,
        (node, group): (u32, usize),
        before: &[u32],
        range: Range,
        level: &mut Level,
    ) {
        let launch = self.graph.launch;
        let next = launch.positions[before[group] as usize].next;
        let mut positions = Positions::from_slice(before);
        let turn = match next {
            Some(next) => {
                positions[group] = next;
                Turn::Advance(launch.positions[next as usize].phase)
            }
            None => Turn::Finish,
        };
        let count = positions.len() - usize::from(next.is_none());
        for target in self.graph.turn(node, turn) {
            let (to, order) = self.graph.target(target);
            let moved = (0..count).map(|n| positions[order.old(n)]).collect();
            let positions = level.reach(self.graph, moved, to, range);
            if self.record.is_some() {
                let (before, key) = (self.key(before, node), self.key(&positions, to));
                self.note(|record| record.reach(key, range, Some(before)));
            }
        }
    }

    fn place(&mut self, node: u32, before: &[u32], range: Range, level: &mut Level) {
        let Some(first) = level.next else { return };
        let turn = Turn::Place(self.graph.launch.positions[first as usize].phase);
        let mut positions = Positions::from_slice(before);
        positions.push(first);
        for target in self.graph.turn(node, turn) {
            let (to, order) = self.graph.target(target);
            let positions = self.graph.named(to, moved(&positions, order));
            let key = self.key(&positions, to);
            level.entries.entry(key).or_insert(Range::NONE).join(range);
            if self.record.is_some() {
                let before = self.key(before, node);
                self.note(|record| record.enter(key, range, before));
            }
        }
    }

    /// Tells the record, if there is one.
    fn note(&mut self, tell: impl FnOnce(&mut Record)) {
        if let Some(record) = &mut self.record {
            tell(record);
        }
    }

    /// A state with the positions of its groups, as a key.
    pub fn key(&mut self, positions: &[u32], node: u32) -> Key {
        (self.number(positions), node)
    }

    fn number(&mut self, positions: &[u32]) -> u32 {
        if let Some(number) = self.positions.get_index_of(positions) {
            return number as u32;
        }
        self.positions.insert_full(positions.into()).0 as u32
    }

    fn visit(&mut self) -> Result<(), ScheduleError> {
        self.visits += 1;
        if self.visits > self.limits.max_visits {
            return Err(ScheduleError::Limit(Limit::Visits(self.limits.max_visits)));
        }
        if self.graph.len() > self.limits.max_states {
            return Err(ScheduleError::Limit(Limit::States(self.limits.max_states)));
        }
        if self.visits.is_multiple_of(1024) && (self.stop)() {
            return Err(ScheduleError::Stopped);
        }
        Ok(())
    }
}

/// What is still to be looked at in a level.
struct Level {
    /// By the phases that are left, then by the positions in order.
    families: BTreeMap<u64, IndexMap<Box<[u32]>, Family, FxBuildHasher>>,
    /// What enters the next level.
    entries: Entries,
    /// Where the next group begins, if there is one.
    next: Option<u32>,
}

impl Level {
    /// Notes that a state is reached; returns the positions of its groups as they are named there.
    fn reach(
        &mut self,
        graph: &Graph<'_>,
        positions: Positions,
        node: u32,
        range: Range,
    ) -> Positions {
        let positions = graph.named(node, positions);
        let left = |p: &u32| u64::from(graph.launch.positions[*p as usize].left);
        let left: u64 = positions.iter().map(left).sum();
        let mut sorted = positions.clone();
        sorted.sort_unstable();
        let families = self.families.entry(left).or_default();
        let family = match families.get_index_of(sorted.as_slice()) {
            Some(family) => family,
            None => families.insert_full(sorted.as_slice().into(), Family::default()).0,
        };
        let family = &mut families[family];
        let cell = family.cell(graph.node(node).phases, &positions);
        family.reach(graph, cell, node, range);
        positions
    }
}

/// States whose groups are at the same positions. Edges lead to states of the same family.
#[derive(Default)]
struct Family {
    cells: Vec<Cell>,
    /// What was reached, by rank, as cell and state.
    ranks: Vec<Vec<(u32, u32)>>,
}

/// States whose groups are at these positions, in this order, and on these units.
struct Cell {
    /// See [`Node::phases`](crate::graph::Node::phases).
    phases: u32,
    positions: Positions,
    /// By number among the states whose groups are in the same phases.
    ranges: Vec<Range>,
}

impl Family {
    fn cell(&mut self, phases: u32, positions: &[u32]) -> u32 {
        let same = |cell: &Cell| cell.phases == phases && cell.positions.as_slice() == positions;
        if let Some(cell) = self.cells.iter().position(same) {
            return cell as u32;
        }
        self.cells.push(Cell { phases, positions: positions.into(), ranges: Vec::new() });
        (self.cells.len() - 1) as u32
    }

    fn reach(&mut self, graph: &Graph<'_>, cell: u32, node: u32, range: Range) {
        let of = graph.node(node);
        let ranges = &mut self.cells[cell as usize].ranges;
        let number = of.number as usize;
        if ranges.len() <= number {
            ranges.resize(graph.alike(&of), Range::NONE);
        }
        if ranges[number].is_none() {
            let rank = of.rank as usize;
            if self.ranks.len() <= rank {
                self.ranks.resize(rank + 1, Vec::new());
            }
            self.ranks[rank].push((cell, node));
        }
        ranges[number].join(range);
    }
}

fn overflow() -> ScheduleError {
    ScheduleError::TooLarge(TooLarge::Time)
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
