//! Two alphabets as one, and labels of either over both.

use std::cmp::Ordering;

use super::error::{DenseError, DenseResult};
use super::word::{EMPTY, MAX_NAMES};
use crate::symbol::NameId;

/// Two sorted alphabets and their union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Union {
    pub alphabet: Vec<NameId>,
    /// Bits of the union that both alphabets have.
    pub common: u64,
    left: Places,
    right: Places,
}

/// Where the names of an alphabet stand in the union.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Places {
    to: [u8; MAX_NAMES],
    /// All stand where they stood.
    same: bool,
}

impl Union {
    pub fn new(left: &[NameId], right: &[NameId]) -> DenseResult<Union> {
        let mut alphabet = Vec::with_capacity(left.len() + right.len());
        let mut places = [Places::none(), Places::none()];
        let mut common = 0;
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            let order = match (left.get(i), right.get(j)) {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let to = alphabet.len();
            if to >= MAX_NAMES {
                let shared = left.iter().filter(|n| right.binary_search(n).is_ok()).count();
                return Err(DenseError::Names(left.len() + right.len() - shared));
            }
            alphabet.push(if order.is_le() { left[i] } else { right[j] });
            if order.is_le() {
                places[0].put(i, to);
                i += 1;
            }
            if order.is_ge() {
                places[1].put(j, to);
                j += 1;
            }
            common |= u64::from(order.is_eq()) << to;
        }
        let [left, right] = places;
        Ok(Union { alphabet, common, left, right })
    }

    /// Adds labels over the left alphabet to `into`, over the union; [`EMPTY`] stays.
    pub fn extend_left(&self, cells: &[u64], into: &mut Vec<u64>) {
        self.left.extend(cells, into);
    }

    /// As [`Union::extend_left`], for the right alphabet.
    pub fn extend_right(&self, cells: &[u64], into: &mut Vec<u64>) {
        self.right.extend(cells, into);
    }
}

impl Places {
    fn none() -> Places {
        Places { to: [0; MAX_NAMES], same: true }
    }

    fn put(&mut self, from: usize, to: usize) {
        self.to[from] = to as u8;
        self.same &= from == to;
    }

    fn extend(&self, cells: &[u64], into: &mut Vec<u64>) {
        if self.same {
            into.extend_from_slice(cells);
        } else {
            into.extend(cells.iter().map(|word| self.apply(*word)));
        }
    }

    fn apply(&self, label: u64) -> u64 {
        let (mut rest, mut moved) = (label & !EMPTY, label & EMPTY);
        while rest != 0 {
            moved |= 1 << self.to[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        moved
    }
}
