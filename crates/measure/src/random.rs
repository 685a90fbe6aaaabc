//! Random numbers that depend on a seed alone: ChaCha with 8 rounds, its key begins with the seed.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// The numbers of a seed.
pub fn seeded(seed: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// One of this many numbers from 0 on, equally likely within 64 random bits; 0 of none.
pub fn below(random: &mut ChaCha8Rng, count: usize) -> usize {
    ((u128::from(random.next_u64()) * count as u128) >> 64) as usize
}
