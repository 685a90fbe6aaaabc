//! Random numbers that depend on a seed alone.

/// Random numbers that no later version changes (G. Steele, D. Lea, C. Flood, *Fast splittable
/// pseudorandom number generators*, OOPSLA 2014: SplitMix64).
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next number, of 32 bits.
    pub fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    }
}
