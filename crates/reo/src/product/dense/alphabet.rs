//! Two alphabets as one, and labels of either over both.

use itertools::Itertools;

use super::matrix::{DenseError, DenseResult, EMPTY, MAX_NAMES};
use crate::label::ones;
use crate::symbol::NameId;

/// Two sorted alphabets and their union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Union {
    pub alphabet: Vec<NameId>,
    /// Bits of the union that both alphabets have.
    pub common: u64,
    pub left: Places,
    pub right: Places,
}

/// Where the names of an alphabet stand in the union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places {
    to: [u8; MAX_NAMES],
    /// All stand where they stood.
    same: bool,
}

impl Union {
    pub fn new(left: &[NameId], right: &[NameId]) -> DenseResult<Union> {
        let alphabet: Vec<NameId> = left.iter().merge(right).dedup().copied().collect();
        if alphabet.len() > MAX_NAMES {
            return Err(DenseError::Names(alphabet.len()));
        }
        let shared = |name: &NameId| [left, right].iter().all(|n| n.binary_search(name).is_ok());
        let common = (0..alphabet.len()).filter(|bit| shared(&alphabet[*bit])).map(|bit| 1 << bit);
        let (common, [left, right]) =
            (common.sum(), [left, right].map(|n| Places::new(n, &alphabet)));
        Ok(Union { alphabet, common, left, right })
    }
}

impl Places {
    fn new(names: &[NameId], alphabet: &[NameId]) -> Places {
        let mut places = Places { to: [0; MAX_NAMES], same: true };
        let found = names.iter().filter_map(|name| alphabet.binary_search(name).ok());
        for (from, to) in found.enumerate() {
            places.to[from] = to as u8;
            places.same &= from == to;
        }
        places
    }

    /// Adds labels over the names to `into`, over the union; [`EMPTY`] stays.
    pub fn extend(&self, cells: &[u64], into: &mut Vec<u64>) {
        if self.same {
            into.extend_from_slice(cells);
        } else {
            into.extend(cells.iter().map(|word| self.apply(*word)));
        }
    }

    fn apply(&self, label: u64) -> u64 {
        ones(label & !EMPTY).fold(label & EMPTY, |moved, bit| moved | 1 << self.to[bit])
    }
}
