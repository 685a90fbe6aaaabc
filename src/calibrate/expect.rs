//! What the kernels should compute, by the host.

/// The arguments of `fma` in the kernels: the first and third are each other's inverse, nearly, and a
/// pair of steps adds about 2^-12, so that the result tells how many there were.
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

/// So many dependent operations, from the start of item `id`.
pub fn chain(id: usize, operations: u64) -> f32 {
    let [a, b, c, d] = FACTORS;
    let mut x = (id & 15) as f32;
    for _ in 0..operations / 2 {
        x = x.mul_add(a, b).mul_add(c, d);
    }
    x
}

/// A random cycle through all of `0..n`: the one after each (S. Sattolo, *An algorithm to generate a
/// random cyclic permutation*, Information Processing Letters 22, 1986). Always the same one.
pub fn cycle(n: usize) -> Vec<u32> {
    let mut next: Vec<u32> = (0..n as u32).collect();
    // D. Lehmer's generator with M. O'Neill's output permutation would do; splitmix64 is shorter.
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = |below: u64| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 32) * below) >> 32
    };
    for i in (1..n).rev() {
        next.swap(i, random(i as u64) as usize);
    }
    next
}

/// Where so many steps along a cycle lead from place 0.
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

/// What item `id` of `stream` has read, in groups of so many.
pub fn stream(order: &[u32], group: usize, id: usize) -> u32 {
    let first = id / group * group * 8 + id % group;
    (0..8).fold(0, |sum, j| sum.wrapping_add(cell(order, first + j * group)))
}

/// A walk of `load_local` or `load_constant`: from `first` on, 16 cells an iteration, which begin at 0 and
/// move by `step` until `begins` says that there is no further place.
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
        let mut before = chain(3, 64);
        for iterations in [2, 3, 100, 10_000] {
            let x = chain(3, 64 * iterations);
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
