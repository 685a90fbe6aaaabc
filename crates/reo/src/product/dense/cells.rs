//! The inner loops: rows of a product, cell by cell.
//!
//! A row of the product is, for each cell of the left row, the right row joined with it. These runs
//! are all alike, so that the loops vectorise; memory bandwidth is the limit.

use std::borrow::Cow;

use super::matrix::EMPTY;
use super::sizes::Sizes;

/// The label of a joint step, or [`EMPTY`] if the labels contradict each other or either is none.
///
/// `mask` is the names that both automata know, and the bit of [`EMPTY`]: if exactly one label is
/// empty they differ there, and if both are, `a | b` is [`EMPTY`].
#[inline(always)]
fn join(a: u64, b: u64, mask: u64) -> u64 {
    if (a ^ b) & mask == 0 { a | b } else { EMPTY }
}

/// The factors of a product as the loops read them, both over the union of the alphabets.
#[derive(Debug)]
pub(super) struct Factors<'a> {
    sizes: Sizes,
    mask: u64,
    left: &'a [u64],
    /// The right matrix, each cell's slots repeated as often as a left cell has slots.
    wide: Cow<'a, [u64]>,
}

impl<'a> Factors<'a> {
    pub fn new(sizes: Sizes, mask: u64, left: &'a [u64], right: &'a [u64]) -> Self {
        let wide = match sizes.left_slots {
            1 => Cow::Borrowed(right),
            times => Cow::Owned(widen(right, sizes.right_slots, times)),
        };
        Factors { sizes, mask, left, wide }
    }
}

/// Each cell's slots repeated `times`.
fn widen(cells: &[u64], slots: usize, times: usize) -> Vec<u64> {
    let cells = cells.chunks_exact(slots).flat_map(|cell| std::iter::repeat_n(cell, times));
    cells.flatten().copied().collect()
}

/// Fills `out`, whole rows of the product from row `first` on.
pub(super) fn rows(factors: &Factors, first: usize, out: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as just asked; there is no other condition.
        unsafe { rows_avx2(factors, first, out) };
        return;
    }
    rows_plain(factors, first, out);
}

/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn rows_avx2(factors: &Factors, first: usize, out: &mut [u64]) {
    rows_plain(factors, first, out);
}

#[inline(always)]
fn rows_plain(factors: &Factors, first: usize, out: &mut [u64]) {
    let sizes = factors.sizes;
    let (n, m, ka) = (sizes.left_states, sizes.right_states, sizes.left_slots);
    let run = m * sizes.slots();
    let mut tiles = Tiles::default();
    for (row, out) in (first..).zip(out.chunks_exact_mut(n * run)) {
        let (p, q) = (row / m, row % m);
        let left = &factors.left[p * n * ka..][..n * ka];
        let right = &factors.wide[q * run..][..run];
        let mask = factors.mask;
        match (ka, run) {
            (1, 1) => narrow::<1>(out, left, right, mask),
            (1, 2) => narrow::<2>(out, left, right, mask),
            (1, 4) => narrow::<4>(out, left, right, mask),
            (1, 8) => narrow::<8>(out, left, right, mask),
            (1, _) => wide(out, left, right, mask),
            _ => tiled(out, right, tiles.of(p, left, sizes), mask),
        }
    }
}

/// Runs of few words: the right row stays in registers.
#[inline(always)]
fn narrow<const RUN: usize>(out: &mut [u64], left: &[u64], right: &[u64], mask: u64) {
    let Ok(right) = <&[u64; RUN]>::try_from(right) else { return };
    for (run, a) in out.as_chunks_mut::<RUN>().0.iter_mut().zip(left) {
        for (word, b) in run.iter_mut().zip(right) {
            *word = join(*a, *b, mask);
        }
    }
}

/// One label on the left for a whole run.
#[inline(always)]
fn wide(out: &mut [u64], left: &[u64], right: &[u64], mask: u64) {
    for (run, a) in out.chunks_exact_mut(right.len()).zip(left) {
        for (word, b) in run.iter_mut().zip(right) {
            *word = join(*a, *b, mask);
        }
    }
}

/// Several labels on the left: each cell's are laid out as often as a tile holds them.
#[inline(always)]
fn tiled(out: &mut [u64], right: &[u64], tiles: (&[u64], usize), mask: u64) {
    let (tiles, width) = tiles;
    for (run, tile) in out.chunks_exact_mut(right.len()).zip(tiles.chunks_exact(width)) {
        for (words, right) in run.chunks_mut(width).zip(right.chunks(width)) {
            for ((word, b), a) in words.iter_mut().zip(right).zip(tile) {
                *word = join(*a, *b, mask);
            }
        }
    }
}

/// Least words of a tile, so that its loop is worth vectorising.
const TILE: usize = 32;

/// The tiles of one left row, kept for all rows of the product that need them.
#[derive(Default)]
struct Tiles {
    row: Option<usize>,
    words: Vec<u64>,
}

impl Tiles {
    /// The tiles of left row `p`, and the words of each.
    fn of(&mut self, p: usize, left: &[u64], sizes: Sizes) -> (&[u64], usize) {
        let width = sizes.slots() * TILE.div_ceil(sizes.slots());
        if self.row != Some(p) {
            self.row = Some(p);
            self.words.clear();
            for cell in left.chunks_exact(sizes.left_slots) {
                let slots = cell.iter().flat_map(|a| std::iter::repeat_n(*a, sizes.right_slots));
                self.words.extend(slots.cycle().take(width));
            }
        }
        (&self.words, width)
    }
}
