//! What the kernels should compute, by the host.

use tickbound_model::random::SplitMix64;

/// The arguments of `fma` in the kernels: the first and third are each other's inverse, nearly, and
/// a pair of steps adds about 2^-12, so that the result shows how many there were.
pub const FACTORS: [f32; 4] = [1.25, 0.3, 0.8, -0.24 + 1.0 / 4096.0];

/// The same as an argument of type `float4`.
pub fn factor_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    for (to, factor) in bytes.chunks_exact_mut(4).zip(FACTORS) {
        to.copy_from_slice(&factor.to_ne_bytes());
    }
    bytes
}

/// Lines in which a chase finds one place each, in cells of 4 bytes.
pub const LINE: usize = 32;
/// Cells of the tables in local and constant memory.
pub const CELLS: usize = 1024;
/// Cells of the table that L1 serves: 64 items 33 cells apart, and one line more.
pub const NEAR_CELLS: usize = 65 * (LINE + 1);

/// By how many cells loads of the same kind move back after as many iterations.
pub const TURNS: usize = 16;
/// The operations on whole numbers: `& MASK`, `+ ADDED`.
pub const MASK: u32 = 0x7FFF_FFFF;
/// An odd number with bits all over.
pub const ADDED: u32 = 0x9E37_79B1;

/// This many dependent operations, from `x` on.
pub fn chain(mut x: f32, operations: u64) -> f32 {
    let [a, b, c, d] = FACTORS;
    for _ in 0..operations / 2 {
        x = x.mul_add(a, b).mul_add(c, d);
    }
    x
}

/// This many steps of a chain of whole numbers, from `y` on.
pub fn steps(mut y: u32, steps: u64) -> u32 {
    for _ in 0..steps {
        y = (y & MASK).wrapping_add(ADDED);
    }
    y
}

/// This many roots, each of the square of the one before and [`FACTORS`]' first more: in closed
/// form, as devices round their roots each in its own way.
pub fn roots(x: f32, roots: u64) -> f32 {
    let [a, ..] = FACTORS.map(f64::from);
    (f64::from(x).powi(2) + roots as f64 * a).sqrt() as f32
}

/// What an item of the kernels `throughput` writes that has `id` modulo 16: the sum of its chains'
/// ends, from those places of `table` on where they begin.
pub fn ends(table: &[u32], id: usize, end: impl Fn(u32) -> u32) -> u32 {
    let starts = table.iter().map(|cell| (cell & 15) + (id & 15) as u32);
    starts.fold(0, |sum, start| sum.wrapping_add(end(start)))
}

/// Walks of `load_near` and `load_banks` by one lane: this many iterations of 16 loads, `vector`
/// cells from each other, from `first` on, one vector further after each.
pub fn pairs(table: &[u32], start: u32, first: usize, vector: usize, iterations: u32) -> u32 {
    let get = |i: usize| table.get(i % table.len().max(1)).copied().unwrap_or(0);
    let mut sums = [start, 0, 0, 0];
    for at in (0..TURNS).cycle().take(iterations as usize) {
        for (pair, sum) in [0, 1, 2, 3, 0, 1, 2, 3].into_iter().enumerate() {
            let from = first + (at + 2 * pair) * vector;
            sums[sum] = sums[sum].wrapping_add(get(from)) ^ get(from + vector);
        }
    }
    sums.into_iter().fold(0, u32::wrapping_add)
}

/// What an item of `sweep` has read that begins at vector `first`, in groups of this many, of
/// `vectors` in all, a power of two.
pub fn sweep(
    order: &[u32],
    first: usize,
    group: usize,
    vector: usize,
    vectors: usize,
    iterations: u32,
) -> u32 {
    let mut sum = 0u32;
    for lane in 0..vector {
        let (mut added, mut mixed) = (0u32, 0u32);
        for load in 0..8 * iterations as usize {
            let read = cell(order, (first + load * group) % vectors * vector + lane);
            match load % 2 {
                0 => added = added.wrapping_add(read),
                _ => mixed ^= read,
            }
        }
        sum = sum.wrapping_add(added).wrapping_add(mixed);
    }
    sum
}

/// A random cycle through all of `0..n`: the one after each (S. Sattolo, *An algorithm to generate
/// a random cyclic permutation*, Information Processing Letters 22, 1986). Always the same one.
pub fn cycle(n: usize) -> Vec<u32> {
    let mut next: Vec<u32> = (0..n as u32).collect();
    let mut random = SplitMix64(0x9E37_79B9_7F4A_7C15);
    for i in (1..n).rev() {
        next.swap(i, ((u64::from(random.draw()) * i as u64) >> 32) as usize);
    }
    next
}

/// Where this many steps along a cycle lead from place 0.
pub fn follow(next: &[u32], steps: u64) -> u32 {
    let mut x = 0u32;
    // The cycle comes back after its length.
    for _ in 0..steps % next.len().max(1) as u64 {
        x = next.get(x as usize).copied().unwrap_or(u32::MAX);
    }
    x
}

/// What `spread` writes into cell `i`.
pub fn cell(order: &[u32], i: usize) -> u32 {
    match i % LINE {
        0 => order.get(i / LINE).map_or(0, |line| line.wrapping_mul(LINE as u32)),
        _ => (i as u32).wrapping_mul(2_654_435_761) ^ (i as u32 >> 7),
    }
}

/// What item `id` of `stream` has read, in groups of this many.
pub fn stream(order: &[u32], group: usize, id: usize) -> u32 {
    let first = id / group * group * 8 + id % group;
    (0..8).fold(0, |sum, j| sum.wrapping_add(cell(order, first + j * group)))
}

/// A walk of `load_local` or `load_constant`: from `first` on, 16 cells an iteration, which begin
/// at 0 and move by `step` while `begins` holds.
pub fn walk(
    table: &[u32],
    start: u32,
    first: usize,
    step: usize,
    iterations: u32,
    begins: impl Fn(usize) -> bool,
) -> u32 {
    let (mut sum, mut at) = (start, 0);
    let get = |i: usize| table.get(i % table.len().max(1)).copied().unwrap_or(0);
    for _ in 0..iterations {
        for j in (0..16).step_by(2) {
            sum = sum.wrapping_add(get(first + at + j)) ^ get(first + at + j + 1);
        }
        at += step;
        at = if begins(at) { at } else { 0 };
    }
    sum
}

/// The mark that group `group` leaves.
pub fn mark(group: usize) -> u32 {
    (group as u32).wrapping_mul(2_654_435_761).wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_comes_back_only_after_all_places() {
        for n in [1, 2, 3, 100, 1024] {
            let next = cycle(n);
            let mut seen = vec![false; n];
            let mut x = 0u32;
            for _ in 0..n {
                assert!(!std::mem::replace(&mut seen[x as usize], true), "{n}: {x} twice");
                x = next[x as usize];
            }
            assert_eq!(x, 0);
            assert_eq!(follow(&next, n as u64 + 1), next[0]);
        }
    }

    #[test]
    fn the_chain_tells_how_long_it_was() {
        let mut before = chain(3.0, 64);
        for iterations in [2, 3, 100, 10_000] {
            let x = chain(3.0, 64 * iterations);
            assert!(x > before && x < 1e4, "{iterations}: {x}");
            before = x;
        }
    }

    #[test]
    fn items_of_a_stream_read_every_word_once() {
        let order = cycle(64);
        let sums = (0..64 * LINE / 8).map(|id| stream(&order, 16, id));
        let all = (0..64 * LINE).fold(0u32, |sum, i| sum.wrapping_add(cell(&order, i)));
        assert_eq!(sums.fold(0u32, u32::wrapping_add), all);
        assert!((0..64).all(|line| cell(&order, line * LINE) < 64 * 32));
    }
}
