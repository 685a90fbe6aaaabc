//! Which cells are read again, state by state: a backward analysis.

use rustc_hash::FxHashMap as HashMap;

use crate::automaton::Automaton;
use crate::constraint::simplify::written;
use crate::constraint::{Constraint, Term};
use crate::label;
use crate::symbol::Cell;

/// For each state the cells whose value some run from there reads before it is overwritten.
pub(crate) struct Live {
    cells: Vec<Cell>,
    /// A set of cells for each class.
    sets: Vec<Vec<u64>>,
    class: Vec<u32>,
    /// For each constraint of the automaton the cells that it writes.
    writes: Vec<Vec<u64>>,
}

impl Live {
    /// The number of the state's set of live cells: states with equal sets have equal numbers.
    pub(crate) fn class(&self, state: u32) -> u32 {
        self.class[state as usize]
    }

    /// Whether each cell that the automaton's constraint with this number writes is live in `state`.
    pub(crate) fn keeps_all(&self, condition: u32, state: u32) -> bool {
        let set = &self.sets[self.class(state) as usize];
        self.writes[condition as usize].iter().zip(set).all(|(writes, live)| writes & !live == 0)
    }

    /// Whether some run from `state` reads a cell before it is overwritten.
    pub(crate) fn is_live(&self, cell: Cell, state: u32) -> bool {
        let set = &self.sets[self.class(state) as usize];
        self.cells.binary_search(&cell).is_ok_and(|bit| label::has(set, bit))
    }

    /// Cells that a constraint writes and that nothing reads after `state`, sorted.
    pub(crate) fn dead(&self, constraint: &Constraint, state: u32) -> Vec<Cell> {
        let set = &self.sets[self.class(state) as usize];
        let dead = |cell: &Cell| self.cells.binary_search(cell).is_ok_and(|b| !label::has(set, b));
        written(constraint).into_iter().filter(dead).collect()
    }
}

/// The live cells of each state.
pub(crate) fn cells(automaton: &Automaton) -> Live {
    let cells = automaton.cells().to_vec();
    let words = label::words_for(cells.len());
    let touched = touched(automaton, &cells, words);
    let mut live = vec![0u64; words * automaton.states()];
    let mut changed = !cells.is_empty();
    while changed {
        changed = false;
        for state in (0..automaton.states() as u32).rev() {
            for step in automaton.steps(state) {
                let (reads, writes) = &touched[step.condition as usize];
                for w in 0..words {
                    let after = live[step.to as usize * words + w];
                    let here = &mut live[state as usize * words + w];
                    let more = *here | reads[w] | (after & !writes[w]);
                    changed |= more != *here;
                    *here = more;
                }
            }
        }
    }
    let mut numbers: HashMap<Vec<u64>, u32> = HashMap::default();
    let mut sets = Vec::new();
    let mut class = Vec::with_capacity(automaton.states());
    for set in live.chunks_exact(words) {
        let number = *numbers.entry(set.to_vec()).or_insert_with(|| {
            sets.push(set.to_vec());
            sets.len() as u32 - 1
        });
        class.push(number);
    }
    let writes = touched.into_iter().map(|(_, writes)| writes).collect();
    Live { cells, sets, class, writes }
}

/// For each constraint the cells it reads and those it writes.
fn touched(automaton: &Automaton, cells: &[Cell], words: usize) -> Vec<(Vec<u64>, Vec<u64>)> {
    let all = automaton.constraints();
    let touch = |number: u32| {
        let (mut reads, mut writes) = (vec![0; words], vec![0; words]);
        let constraint = all.get(number);
        constraint.visit(|term| {
            if let Term::Before(cell) = term
                && let Ok(bit) = cells.binary_search(cell)
            {
                label::set(&mut reads, bit);
            }
        });
        for cell in written(constraint) {
            if let Ok(bit) = cells.binary_search(&cell) {
                label::set(&mut writes, bit);
            }
        }
        (reads, writes)
    };
    (0..all.len() as u32).map(touch).collect()
}
