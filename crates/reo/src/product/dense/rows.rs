//! Sparse rows of matrices, as automata.

use crate::automaton::{Automaton, AutomatonRows};
use crate::constraint::ConstraintStore;
use crate::symbol::NameId;

/// Bytes of one step in sparse rows: its label and its target.
pub(super) const STEP_BYTES: u128 = 12;

/// The automaton of rows whose labels are of one word.
pub(super) fn assemble(alphabet: &[NameId], initial: &[u32], rows: AutomatonRows) -> Automaton {
    let (alphabet, initial) = (alphabet.to_vec(), initial.to_vec());
    let made =
        Automaton::from_rows(alphabet, initial, rows, ConstraintStore::default(), Vec::new());
    // Rows of matrices fit: they are as many as there are states, targets are columns, labels have
    // one word as there are at most 63 names, and alphabets and initial states are sorted.
    made.unwrap_or_else(|e| unreachable!("rows of a matrix: {e}"))
}
