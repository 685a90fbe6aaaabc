//! Numbers for random runs: splitmix64 (Steele, Lea, Flood, *Fast splittable pseudorandom number
//! generators*, 2014), the same for the same seed everywhere.

/// A sequence of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// The sequence with a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A number below `below`, which must not be 0.
    pub fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(z ^ (z >> 31)) * below as u128) >> 64) as usize
    }
}
