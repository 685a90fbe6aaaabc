//! What is still to be examined in a level: batches, those with the most phases left first.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::batch::{Advance, Batch, Ranges, Tick, WIDTH};
use crate::graph::{Graph, Turn};
use crate::launch::WarpLaunch;
use crate::record::{Entries, Range};
use crate::state::Positions;

/// What is still to be examined in a level.
pub(crate) struct Level<'l, T> {
    launch: &'l WarpLaunch,
    batches: Vec<Batch<T>>,
    /// Batches by the phases that their groups have left.
    queue: BTreeMap<u64, Vec<u32>>,
    /// The batch that takes the next lane of these phases.
    open: FxHashMap<(u64, Positions), u32>,
    /// Batch and lane of each family, by its positions in ascending order.
    lanes: FxHashMap<Positions, (u32, u32)>,
    /// Memory of batches that were examined.
    spare: Vec<Vec<Ranges<T>>>,
    /// Most lanes of a batch.
    width: usize,
    /// Where the next group begins, if there is one.
    pub next: Option<u32>,
    /// What enters the next level.
    pub entries: Entries,
}

impl<'l, T: Tick> Level<'l, T> {
    /// Nothing is to be examined. Of many `states` met, few are the same for many positions.
    pub fn new(launch: &'l WarpLaunch, next: Option<u32>, states: usize) -> Level<'l, T> {
        let width = (1 << 20) / states.max(1);
        Level {
            launch,
            batches: Vec::new(),
            queue: BTreeMap::new(),
            open: FxHashMap::default(),
            lanes: FxHashMap::default(),
            spare: Vec::new(),
            width: width.clamp(1, WIDTH),
            next,
            entries: Entries::default(),
        }
    }

    /// The next batch, with all that leads to it.
    pub fn pop(&mut self) -> Option<Batch<T>> {
        let mut last = self.queue.last_entry()?;
        let batch = last.get_mut().pop()?;
        if last.get().is_empty() {
            last.remove();
        }
        let empty = Batch::new(Vec::new());
        Some(std::mem::replace(&mut self.batches[batch as usize], empty))
    }

    /// Batch and lane of a family, by its positions in ascending order.
    fn lane(&mut self, sorted: &Positions) -> (u32, u32) {
        if let Some(lane) = self.lanes.get(sorted) {
            return *lane;
        }
        let of = |p: &u32| self.launch.positions[*p as usize];
        let left: u64 = sorted.iter().map(|p| u64::from(of(p).left)).sum();
        let phases: Positions = sorted.iter().map(|p| of(p).phase).collect();
        let open = self.open.entry((left, phases)).or_insert(u32::MAX);
        let full = |batch: &Batch<T>| batch.lanes.len() >= self.width;
        if self.batches.get(*open as usize).is_none_or(full) {
            *open = self.batches.len() as u32;
            let ranges = self.spare.pop().unwrap_or_default();
            self.batches.push(Batch::new(ranges));
            self.queue.entry(left).or_default().push(*open);
        }
        let batch = &mut self.batches[*open as usize];
        let lane = (*open, batch.lanes.len() as u32);
        batch.lanes.push(sorted.clone());
        self.lanes.insert(sorted.clone(), lane);
        lane
    }

    /// Notes that a state is reached with its groups at these positions.
    pub fn enter(&mut self, graph: &Graph<'_>, positions: &Positions, node: u32, range: Range) {
        let mut places: Positions = (0..positions.len() as u32).collect();
        places.sort_by_key(|n| positions[*n as usize]);
        let sorted: Positions = places.iter().map(|n| positions[*n as usize]).collect();
        let (batch, lane) = self.lane(&sorted);
        let batch = &mut self.batches[batch as usize];
        // Which of equal positions is which does not matter.
        let pattern = inverse(&places);
        let cell = batch.cell(graph.node(node).phases, &pattern);
        batch.reach(graph, (cell, node), lane, range);
    }

    /// Where a lane goes when the group at a place reaches the end of its phase.
    pub fn advance(&mut self, positions: &Positions, place: usize) -> Advance {
        let next = self.launch.positions[positions[place] as usize].next;
        let mut moved = positions.clone();
        let turn = match next {
            Some(next) => {
                moved[place] = next;
                Turn::Advance(self.launch.positions[next as usize].phase)
            }
            None => Turn::Finish,
        };
        let stay = |n: &u32| next.is_some() || *n as usize != place;
        let mut order: Positions = (0..moved.len() as u32).filter(stay).collect();
        order.sort_by_key(|n| moved[*n as usize]);
        let sorted: Positions = order.iter().map(|n| moved[*n as usize]).collect();
        let mut places: Positions = positions.iter().map(|_| u32::MAX).collect();
        for (new, old) in order.iter().enumerate() {
            places[*old as usize] = new as u32;
        }
        Advance { turn, to: self.lane(&sorted), places }
    }

    /// Takes back the memory of a batch that was examined.
    pub fn reuse(&mut self, mut batch: Batch<T>) {
        batch.ranges.clear();
        self.spare.push(batch.ranges);
    }

    /// A batch that was not examined yet.
    pub fn batch(&mut self, batch: u32) -> &mut Batch<T> {
        &mut self.batches[batch as usize]
    }
}

/// The place of each number in an order.
fn inverse(order: &Positions) -> Positions {
    let mut places = order.clone();
    for (place, n) in order.iter().enumerate() {
        places[*n as usize] = place as u32;
    }
    places
}
