//! The sizes of a product, and what follows from them and its factors.

use super::matrix::{DenseError, DenseResult, Matrix};
use crate::automaton::MAX_STATES;
use crate::limits::Stopped;
use crate::symbol::NameId;

/// The sizes of a product and its factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// States of the left factor.
    pub left_states: usize,
    /// Slots of the left factor's cells, at least 1.
    pub left_slots: usize,
    /// States of the right factor.
    pub right_states: usize,
    /// Slots of the right factor's cells, at least 1.
    pub right_slots: usize,
}

impl Sizes {
    pub(super) fn of(left: &Matrix, right: &Matrix) -> Sizes {
        Sizes {
            left_states: left.states,
            left_slots: left.slots,
            right_states: right.states,
            right_slots: right.slots,
        }
    }

    /// States of the product.
    pub fn states(&self) -> usize {
        self.left_states.saturating_mul(self.right_states)
    }

    /// Slots of the product's cells.
    pub fn slots(&self) -> usize {
        self.left_slots.saturating_mul(self.right_slots)
    }

    /// Words of one row of the product.
    pub fn row(&self) -> usize {
        self.states().saturating_mul(self.slots())
    }

    /// Words of the product; [`u128::MAX`] if that many cannot be counted.
    pub fn words(&self) -> u128 {
        let states = self.left_states as u128 * self.right_states as u128;
        let slots = self.left_slots as u128 * self.right_slots as u128;
        states.checked_mul(states).and_then(|cells| cells.checked_mul(slots)).unwrap_or(u128::MAX)
    }

    /// Whether there are as many words as the product has.
    pub(super) fn check(&self, cells: &[u64]) -> DenseResult<()> {
        if cells.len() as u128 == self.words() {
            return Ok(());
        }
        let needed = usize::try_from(self.words()).unwrap_or(usize::MAX);
        Err(DenseError::Cells { found: cells.len(), needed })
    }

    /// The product with these cells, as many as it has.
    pub(super) fn matrix(&self, alphabet: &[NameId], initial: &[u32], cells: Vec<u64>) -> Matrix {
        let (alphabet, initial) = (alphabet.to_vec(), initial.to_vec());
        Matrix { alphabet, initial, states: self.states(), slots: self.slots(), cells }
    }
}

pub(super) fn initial(left: &Matrix, right: &Matrix) -> DenseResult<Vec<u32>> {
    let states = left.states as u128 * right.states as u128;
    if states > MAX_STATES as u128 {
        return Err(Stopped::States(states).into());
    }
    let m = right.states as u32;
    Ok(left.initial.iter().flat_map(|p| right.initial.iter().map(move |q| p * m + q)).collect())
}
