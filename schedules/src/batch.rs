//! Several families of states at once.
//!
//! A *family* holds the states whose groups are at the same positions in the program, in any order.
//! Edges lead to states of the same family, and which ones does not depend on the positions. So
//! families whose positions, in ascending order, are in the same phases go through the graph
//! together: each is a *lane*, and what is done for one state is done for all lanes.

use rustc_hash::FxHashMap;

use crate::graph::{Graph, Turn};
use crate::record::Range;
use crate::state::Positions;

/// Most lanes of a batch.
pub(crate) const WIDTH: usize = 32;

/// One range for each lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranges {
    pub least: [i64; WIDTH],
    pub greatest: [i64; WIDTH],
}

impl Ranges {
    const NONE: Ranges =
        Ranges { least: [Range::NONE.least; WIDTH], greatest: [Range::NONE.greatest; WIDTH] };

    pub fn lane(&self, lane: usize) -> Range {
        Range { least: self.least[lane], greatest: self.greatest[lane] }
    }

    /// Takes in what is reached from these after so many ticks.
    fn join(&mut self, from: &Ranges, ticks: i64) {
        for (here, there) in self.least.iter_mut().zip(&from.least) {
            *here = (*here).min(there + ticks);
        }
        for (here, there) in self.greatest.iter_mut().zip(&from.greatest) {
            *here = (*here).max(there + ticks);
        }
    }
}

/// States whose groups are in these phases on these units, and have the lanes' positions in this
/// order.
#[derive(Debug)]
pub(crate) struct Cell {
    /// See [`Node::phases`](crate::graph::Node::phases).
    phases: u32,
    /// For each group the place of its position among those of a lane.
    pub pattern: Positions,
    /// Where the ranges of a state are, by its number among those in the same phases; `NOWHERE` if it
    /// was not reached.
    ranges: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

/// Where a lane goes when one of its groups comes to the end of its phase.
#[derive(Debug, Clone)]
pub(crate) struct Advance {
    pub turn: Turn,
    /// The batch and the lane of the new positions.
    pub to: (u32, u32),
    /// The new place of each position; that of a group which ends is not asked for.
    pub places: Positions,
}

impl Advance {
    /// True if the groups of both lanes come to the same cells.
    pub fn is_alike(&self, other: &Advance) -> bool {
        (self.turn, self.to.0, &self.places) == (other.turn, other.to.0, &other.places)
    }
}

/// Families that are looked at together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The positions of each family in ascending order.
    pub lanes: Vec<Positions>,
    pub cells: Vec<Cell>,
    /// What was reached, by rank, as cell and state.
    pub ranks: Vec<Vec<(u32, u32)>>,
    /// Of the states that were reached.
    pub ranges: Vec<Ranges>,
    /// By the place of the group that comes to the end of its phase, for each lane.
    pub advances: FxHashMap<u32, Vec<Advance>>,
}

impl Batch {
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
    pub fn ranges_of(&self, cell: u32, number: u32) -> Ranges {
        let at = self.cells[cell as usize].ranges.get(number as usize).copied();
        at.and_then(|at| self.ranges.get(at as usize)).copied().unwrap_or(Ranges::NONE)
    }

    /// All lanes reach a state after so many ticks.
    pub fn reach_all(
        &mut self,
        graph: &Graph<'_>,
        (cell, node): (u32, u32),
        from: &Ranges,
        ticks: i64,
    ) {
        self.reached(graph, cell, node).join(from, ticks);
    }

    /// One lane reaches a state.
    pub fn reach(&mut self, graph: &Graph<'_>, (cell, node): (u32, u32), lane: u32, range: Range) {
        let ranges = self.reached(graph, cell, node);
        let lane = lane as usize;
        ranges.least[lane] = ranges.least[lane].min(range.least);
        ranges.greatest[lane] = ranges.greatest[lane].max(range.greatest);
    }

    fn reached(&mut self, graph: &Graph<'_>, cell: u32, node: u32) -> &mut Ranges {
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
