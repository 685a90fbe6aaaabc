//! Which cells are read again, state by state: a backward analysis.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use indexmap::IndexSet;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use crate::automaton::Automaton;
use crate::constraint::DataConstraint;
use crate::constraint::simplify::{read, written};
use crate::label;
use crate::symbol::Cell;

/// For each state the cells whose value some run from there reads before it is overwritten.
pub(crate) struct Live {
    cells: Vec<Cell>,
    /// The sets of all states, a word of each in turn.
    planes: Vec<Vec<u64>>,
    class: Vec<u32>,
    /// For each constraint of the automaton the cells that it writes.
    writes: Vec<u64>,
}

impl Live {
    /// The number of the state's set of live cells: states with equal sets have equal numbers.
    pub fn class(&self, state: u32) -> u32 {
        self.class[state as usize]
    }

    fn has(&self, state: u32, bit: usize) -> bool {
        self.planes[bit / 64][state as usize] >> (bit % 64) & 1 == 1
    }

    /// Whether every cell that the constraint with this number writes is live in `state`.
    pub fn keeps_all(&self, condition: u32, state: u32) -> bool {
        let words = self.planes.len();
        let writes = &self.writes[condition as usize * words..][..words];
        writes.iter().zip(&self.planes).all(|(writes, live)| writes & !live[state as usize] == 0)
    }

    /// Whether some run from `state` reads a cell before it is overwritten.
    pub fn is_live(&self, cell: Cell, state: u32) -> bool {
        self.cells.binary_search(&cell).is_ok_and(|bit| self.has(state, bit))
    }

    /// Cells that a constraint writes and that nothing reads after `state`, sorted.
    pub fn dead(&self, constraint: &DataConstraint, state: u32) -> Vec<Cell> {
        let dead = |cell: &Cell| self.cells.binary_search(cell).is_ok_and(|b| !self.has(state, b));
        written(constraint).into_iter().filter(dead).collect()
    }
}

/// States that one thread looks at in turn.
const PIECE: usize = 1 << 10;

pub(crate) fn cells(automaton: &Automaton) -> Live {
    let cells = automaton.cells().to_vec();
    let words = cells.len().div_ceil(64);
    let (reads, writes) = touched(automaton, &cells, words);
    let plane = |word: usize| {
        let of =
            |all: &[u64]| -> Vec<u64> { all.iter().skip(word).step_by(words).copied().collect() };
        plane(automaton, &of(&reads), &of(&writes))
    };
    let planes: Vec<Vec<u64>> = (0..words).map(plane).collect();
    let mut numbers: IndexSet<Vec<u64>, FxBuildHasher> = IndexSet::default();
    let mut class = Vec::with_capacity(automaton.states());
    let mut set = Vec::with_capacity(words);
    for state in 0..automaton.states() {
        set.clear();
        set.extend(planes.iter().map(|plane| plane[state]));
        let known = numbers.get_index_of(&set);
        class.push(known.unwrap_or_else(|| numbers.insert_full(set.clone()).0) as u32);
    }
    Live { cells, planes, class, writes }
}

/// One word of the sets of all states: the least with what each step reads, and what it does not
/// write of what is live after it.
fn plane(automaton: &Automaton, reads: &[u64], writes: &[u64]) -> Vec<u64> {
    let (rows, targets) = (automaton.rows(), automaton.targets());
    let condition = |at: usize| automaton.conditions().get(at).map_or(0, |c| *c as usize);
    // The least solution does not depend on the order in which threads come to it.
    let live: Vec<AtomicU64> = (0..automaton.states()).map(|_| AtomicU64::new(0)).collect();
    // The last sweep in which a state's set has grown; all are visited in the first.
    let grown: Vec<AtomicU32> = (0..automaton.states()).map(|_| AtomicU32::new(0)).collect();
    let grow = |state: usize, sweep: u32| {
        let row = rows[state]..rows[state + 1];
        let moved = |to: &u32| grown[*to as usize].load(Relaxed) + 1 >= sweep;
        if sweep > 1 && !targets[row.clone()].iter().any(moved) {
            return false;
        }
        let known = live[state].load(Relaxed);
        let mut here = known;
        for at in row {
            let of = condition(at);
            here |= reads[of] | (live[targets[at] as usize].load(Relaxed) & !writes[of]);
        }
        if here != known {
            live[state].store(here, Relaxed);
            grown[state].store(sweep, Relaxed);
        }
        here != known
    };
    for sweep in 1.. {
        let states = (0..live.len()).into_par_iter().rev().with_min_len(PIECE);
        if !states.map(|state| grow(state, sweep)).reduce(|| false, |a, b| a | b) {
            break;
        }
    }
    live.into_iter().map(AtomicU64::into_inner).collect()
}

/// For each constraint the cells it reads and those it writes, as sets of that many words.
fn touched(automaton: &Automaton, cells: &[Cell], words: usize) -> (Vec<u64>, Vec<u64>) {
    let all = automaton.constraints();
    let (mut reads, mut writes) = (vec![0; words * all.len()], vec![0; words * all.len()]);
    for number in 0..all.len() {
        let constraint = all.get(number as u32);
        let place = number * words..(number + 1) * words;
        for (touched, sets) in [(read(constraint), &mut reads), (written(constraint), &mut writes)]
        {
            let bits = touched.iter().filter_map(|cell| cells.binary_search(cell).ok());
            bits.for_each(|bit| label::set(&mut sets[place.clone()], bit));
        }
    }
    (reads, writes)
}
