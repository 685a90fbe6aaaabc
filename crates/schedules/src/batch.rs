//! Several families of states at once.
//!
//! A *family* holds the states whose groups are at the same positions in the program, in any order.
//! Edges lead to states of the same family, and which ones does not depend on the positions. So
//! families whose positions, in ascending order, are in the same phases go through the graph
//! together: each is a *lane*, and what is done for one state is done for all lanes.

use std::ops::Add;

use rustc_hash::FxHashMap;

use crate::graph::{Graph, Turn};
use crate::record::Range;
use crate::state::Positions;

/// Most lanes of a batch.
pub(crate) const WIDTH: usize = 16;

/// A tick, as wide as the launch needs: the narrower, the more lanes a processor joins at once.
pub(crate) trait Tick: Copy + Ord + Add<Output = Self> + 'static {
    /// Ticks of a launch are below this.
    const MOST: i64;
    /// Later than all ticks, and still so with as many added.
    const NEVER: Self;
    /// Earlier than all ticks, and still so with as many added.
    const BEFORE: Self;

    /// A tick, or a number of ticks, below [`Tick::MOST`].
    fn of(tick: i64) -> Self;

    fn tick(self) -> i64;
}

impl Tick for i32 {
    const MOST: i64 = 1 << 29;
    const NEVER: i32 = 1 << 30;
    const BEFORE: i32 = -(1 << 30);

    fn of(tick: i64) -> i32 {
        tick as i32
    }

    fn tick(self) -> i64 {
        self.into()
    }
}

impl Tick for i64 {
    const MOST: i64 = i64::MAX;
    const NEVER: i64 = Range::NONE.least;
    const BEFORE: i64 = Range::NONE.greatest;

    fn of(tick: i64) -> i64 {
        tick
    }

    fn tick(self) -> i64 {
        self
    }
}

/// One range for each lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranges<T> {
    pub least: [T; WIDTH],
    pub greatest: [T; WIDTH],
}

impl<T: Tick> Ranges<T> {
    const NONE: Ranges<T> = Ranges { least: [T::NEVER; WIDTH], greatest: [T::BEFORE; WIDTH] };

    pub fn lane(&self, lane: usize) -> Range {
        Range { least: self.least[lane].tick(), greatest: self.greatest[lane].tick() }
    }

    /// Takes in what is reached from these after this many ticks.
    pub fn join(&mut self, from: &Ranges<T>, ticks: T) {
        for (here, there) in self.least.iter_mut().zip(&from.least) {
            *here = (*here).min(*there + ticks);
        }
        for (here, there) in self.greatest.iter_mut().zip(&from.greatest) {
            *here = (*here).max(*there + ticks);
        }
    }
}

/// States whose groups are in these phases on these units, with the lanes' positions in this order.
#[derive(Debug)]
pub(crate) struct Cell {
    /// See [`Node::phases`](crate::graph::Node::phases).
    phases: u32,
    /// For each group the place of its position among those of a lane.
    pub pattern: Positions,
    /// Where a state's ranges are, by its number among those of its phases; `NOWHERE`: not reached.
    ranges: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

/// Where a lane goes when one of its groups reaches the end of its phase.
#[derive(Debug, Clone)]
pub(crate) struct Advance {
    pub turn: Turn,
    /// The batch and the lane of the new positions.
    pub to: (u32, u32),
    /// The new place of each position; that of a group which ends is not used.
    pub places: Positions,
}

impl Advance {
    /// True if the groups of both lanes come to the same cells.
    pub fn is_alike(&self, other: &Advance) -> bool {
        (self.turn, self.to.0, &self.places) == (other.turn, other.to.0, &other.places)
    }
}

/// Families that are examined together.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    /// The positions of each family in ascending order.
    pub lanes: Vec<Positions>,
    pub cells: Vec<Cell>,
    /// What was reached, by rank, as cell and state.
    pub ranks: Vec<Vec<(u32, u32)>>,
    /// Of the states that were reached.
    pub ranges: Vec<Ranges<T>>,
    /// By the place of the group that ends its phase, for each lane that has come there.
    pub advances: FxHashMap<u32, Vec<Option<Advance>>>,
}

impl<T: Tick> Batch<T> {
    /// Nothing, with memory of a batch that was examined.
    pub fn new(ranges: Vec<Ranges<T>>) -> Batch<T> {
        Batch {
            lanes: Vec::new(),
            cells: Vec::new(),
            ranks: Vec::new(),
            ranges,
            advances: FxHashMap::default(),
        }
    }

    /// The positions of the groups of a cell in a lane.
    pub fn positions(&self, cell: u32, lane: usize) -> Positions {
        let positions = &self.lanes[lane];
        self.cells[cell as usize].pattern.iter().map(|place| positions[*place as usize]).collect()
    }

    /// The cell of these phases and this pattern.
    pub fn cell(&mut self, phases: u32, pattern: &Positions) -> u32 {
        let same = |cell: &Cell| cell.phases == phases && cell.pattern == *pattern;
        if let Some(cell) = self.cells.iter().position(same) {
            return cell as u32;
        }
        self.cells.push(Cell { phases, pattern: pattern.clone(), ranges: Vec::new() });
        (self.cells.len() - 1) as u32
    }

    /// The ranges of a state that was reached.
    pub fn ranges_of(&self, cell: u32, number: u32) -> Ranges<T> {
        let at = self.cells[cell as usize].ranges.get(number as usize).copied();
        at.and_then(|at| self.ranges.get(at as usize)).copied().unwrap_or(Ranges::NONE)
    }

    /// One lane reaches a state.
    pub fn reach(&mut self, graph: &Graph<'_>, (cell, node): (u32, u32), lane: u32, range: Range) {
        let ranges = self.reached(graph, cell, node);
        let lane = lane as usize;
        ranges.least[lane] = ranges.least[lane].min(T::of(range.least));
        ranges.greatest[lane] = ranges.greatest[lane].max(T::of(range.greatest));
    }

    pub fn reached(&mut self, graph: &Graph<'_>, cell: u32, node: u32) -> &mut Ranges<T> {
        let of = graph.node(node);
        let places = &mut self.cells[cell as usize].ranges;
        let number = of.number as usize;
        if places.len() <= number {
            places.resize(graph.alike(&of), NOWHERE);
        }
        if places[number] == NOWHERE {
            places[number] = self.ranges.len() as u32;
            self.ranges.push(Ranges::NONE);
            let rank = of.rank as usize;
            if self.ranks.len() <= rank {
                self.ranks.resize(rank + 1, Vec::new());
            }
            self.ranks[rank].push((cell, node));
        }
        &mut self.ranges[places[number] as usize]
    }
}
