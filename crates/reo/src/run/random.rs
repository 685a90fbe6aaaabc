//! Numbers for random runs: splitmix64 (Steele, Lea, Flood, *Fast splittable pseudorandom number
//! generators*, 2014), the same for the same seed everywhere.

use crate::product::dense::mixed;

/// A sequence of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    seed: u64,
    taken: u64,
}

impl Random {
    /// The sequence with a seed.
    pub fn new(seed: u64) -> Random {
        Random { seed, taken: 0 }
    }

    /// A number below `below`, which must not be 0.
    pub fn below(&mut self, below: usize) -> usize {
        let word = mixed(self.taken, self.seed);
        self.taken += 1;
        ((u128::from(word) * below as u128) >> 64) as usize
    }
}
