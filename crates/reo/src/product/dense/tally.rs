//! What is counted and summed over the rows of a product, without keeping them.

use std::iter::Sum;
use std::ops::Add;

use super::checksum::Checksum;
use super::matrix::EMPTY;
use super::sizes::Sizes;
use super::stream::{BlockColumns, RowsOf};

/// A condition on the names that fire in a step, as bits over the product's alphabet.
pub type CellCondition<'a> = dyn Fn(u64) -> bool + Sync + 'a;

/// Totals over some rows of a product; those of all rows are the sum over any parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CellTally {
    /// How many rows, that is states.
    pub states: u64,
    /// Count and sum of steps with idle loops, as [`super::DensePlan::checksum`] predicts.
    pub checksum: Checksum,
    /// The steps mixed; see [`mixed`].
    pub digest: u64,
    /// States that no step leaves but their idle loop, whether or not they can be reached.
    pub stuck: u64,
    /// The first of them.
    pub first_stuck: Option<u32>,
    /// Steps, other than idle loops, that break the condition.
    pub broken: u64,
    /// The first of them, by the states it leaves and reaches and the names that fire.
    pub first_broken: Option<(u32, u32, u64)>,
}

impl CellTally {
    /// The same as numbers, to be sent to another process.
    pub fn to_words(&self) -> [u64; 11] {
        let CellTally { states, checksum, digest, stuck, first_stuck, broken, first_broken } =
            *self;
        let (from, to, label) = first_broken.unwrap_or_default();
        let stuck_at = first_stuck.map_or(u64::MAX, u64::from);
        let is_broken = u64::from(first_broken.is_some());
        let (from, to) = (u64::from(from), u64::from(to));
        let Checksum { steps, sum } = checksum;
        [states, steps, sum, digest, stuck, stuck_at, broken, is_broken, from, to, label]
    }

    /// What [`CellTally::to_words`] gave the numbers of.
    pub fn from_words(words: [u64; 11]) -> CellTally {
        let [states, steps, sum, digest, stuck, stuck_at, broken, is_broken, from, to, label] =
            words;
        CellTally {
            states,
            checksum: Checksum { steps, sum },
            digest,
            stuck,
            first_stuck: u32::try_from(stuck_at).ok(),
            broken,
            first_broken: (is_broken == 1).then_some((from as u32, to as u32, label)),
        }
    }
}

impl Add for CellTally {
    type Output = CellTally;

    fn add(self, other: CellTally) -> CellTally {
        CellTally {
            states: self.states + other.states,
            checksum: self.checksum + other.checksum,
            digest: self.digest.wrapping_add(other.digest),
            stuck: self.stuck + other.stuck,
            first_stuck: least(self.first_stuck, other.first_stuck),
            broken: self.broken + other.broken,
            first_broken: least(self.first_broken, other.first_broken),
        }
    }
}

impl Sum for CellTally {
    fn sum<I: Iterator<Item = CellTally>>(all: I) -> CellTally {
        all.fold(CellTally::default(), Add::add)
    }
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    a.into_iter().chain(b).min()
}

/// The part of one step in a digest: of n states, that from p to q with this label has the number
/// p * n + q, and the part is number `cell`, counted from 0, of what the generator SplitMix64 gives
/// for the seed `label` (Steele, Lea, Flood, *Fast splittable pseudorandom number generators*,
/// 2014). The digest is the sum of all parts modulo 2^64, so that the order in which they are added
/// does not matter, while a step in another place or with another label has another part.
#[inline(always)]
pub fn mixed(cell: u64, label: u64) -> u64 {
    let seed = label.wrapping_add(cell.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let once = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let twice = (once ^ (once >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    twice ^ (twice >> 31)
}

impl RowsOf<'_> {
    /// What these rows come to. The steps that break `condition`, if there is one, are counted.
    pub fn tally(&self, condition: Option<&CellCondition>) -> CellTally {
        let mut all = CellTally::default();
        for (from, cells) in (self.first..).zip(self.cells.chunks_exact(self.sizes.row().max(1))) {
            let sums = sums(self.sizes, from as u64, cells);
            let stuck = sums.labels & !EMPTY == 0;
            all.states += 1;
            all.checksum = all.checksum + sums.checksum;
            all.digest = all.digest.wrapping_add(sums.digest);
            all.stuck += u64::from(stuck);
            all.first_stuck = all.first_stuck.or(stuck.then_some(from as u32));
            if let Some(condition) = condition {
                self.weigh(from, cells, condition, &mut all);
            }
        }
        all
    }

    fn weigh(&self, from: usize, cells: &[u64], condition: &CellCondition, all: &mut CellTally) {
        let slots = self.sizes.slots();
        for (to, cell) in cells.chunks_exact(slots).enumerate() {
            let steps = cell.iter().filter(|label| !matches!(**label, EMPTY | 0));
            for label in steps.filter(|label| !condition(**label)) {
                all.broken += 1;
                let step = Some((from as u32, to as u32, *label));
                // Only slots of one cell are not in the order of their steps.
                all.first_broken = least(all.first_broken, step);
            }
        }
    }
}

impl BlockColumns {
    /// Keeps the steps whose names fulfil a condition.
    pub fn keep(&mut self, condition: &CellCondition) {
        let mut kept = 0;
        for at in 0..self.labels.len() {
            if condition(self.labels[at]) {
                self.from[kept] = self.from[at];
                self.to[kept] = self.to[at];
                self.labels[kept] = self.labels[at];
                kept += 1;
            }
        }
        self.from.truncate(kept);
        self.to.truncate(kept);
        self.labels.truncate(kept);
    }
}

/// The sums over one row.
#[derive(Default)]
struct Sums {
    checksum: Checksum,
    digest: u64,
    /// All words with `or`.
    labels: u64,
}

fn sums(sizes: Sizes, from: u64, cells: &[u64]) -> Sums {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as just asked; there is no other condition.
        return unsafe { sums_avx2(sizes, from, cells) };
    }
    sums_plain(sizes, from, cells)
}

/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn sums_avx2(sizes: Sizes, from: u64, cells: &[u64]) -> Sums {
    sums_plain(sizes, from, cells)
}

#[inline(always)]
fn sums_plain(sizes: Sizes, from: u64, cells: &[u64]) -> Sums {
    let slots = sizes.slots();
    let (cell, slot) =
        (from.wrapping_mul(sizes.states() as u64), from.wrapping_mul(sizes.row() as u64));
    let mut sums = Sums::default();
    // One slot is the rule, and the loop without another inside vectorises.
    if slots == 1 {
        for (at, label) in (0u64..).zip(cells) {
            sums.add(cell.wrapping_add(at), slot.wrapping_add(at), *label);
        }
    } else {
        for (to, labels) in (0u64..).zip(cells.chunks_exact(slots)) {
            let slot = slot.wrapping_add(to.wrapping_mul(slots as u64));
            for (at, label) in (0u64..).zip(labels) {
                sums.add(cell.wrapping_add(to), slot.wrapping_add(at), *label);
            }
        }
    }
    sums
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, cell: u64, slot: u64, label: u64) {
        let step = u64::from(label != EMPTY);
        let kept = step.wrapping_neg();
        let sum = label.wrapping_add(1).wrapping_mul(slot.wrapping_add(1));
        self.checksum.steps += step;
        self.checksum.sum = self.checksum.sum.wrapping_add(sum & kept);
        self.digest = self.digest.wrapping_add(mixed(cell, label) & kept);
        self.labels |= label;
    }
}
