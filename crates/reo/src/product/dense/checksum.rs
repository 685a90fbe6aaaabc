//! The checksum of a product, known before any of its cells is made.
//!
//! A device may leave cells out without an error. The number of steps, and a sum over them by label
//! and place, follow from the factors: label and place of a joint step are sums of a part of each
//! factor, and whether steps join depends on the common names only. So the sum over all pairs
//! splits into sums over each factor, one for each set of common names.

use std::collections::HashMap;
use std::iter::Sum;
use std::ops::Add;

use rayon::prelude::*;

use super::matrix::EMPTY;
use super::plan::DensePlan;
use super::sizes::Sizes;

/// A count and a sum over steps of a matrix; those of the whole are the sums over its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checksum {
    /// How many slots hold a step, idle loops among them.
    pub steps: u64,
    /// The sum, modulo 2^64, of (label + 1) * (index of the slot + 1) over them.
    pub sum: u64,
}

impl Add for Checksum {
    type Output = Checksum;

    fn add(self, other: Checksum) -> Checksum {
        Checksum {
            steps: self.steps.wrapping_add(other.steps),
            sum: self.sum.wrapping_add(other.sum),
        }
    }
}

impl Sum for Checksum {
    fn sum<I: Iterator<Item = Checksum>>(all: I) -> Checksum {
        all.fold(Checksum::default(), Add::add)
    }
}

impl Checksum {
    /// The checksum of `cells`, which begin at index `first` of their matrix.
    pub fn of(cells: &[u64], first: u64) -> Checksum {
        const BLOCK: usize = 1 << 16;
        let blocks = cells.par_chunks(BLOCK).enumerate();
        blocks.map(|(at, block)| of_block(block, first.wrapping_add((at * BLOCK) as u64))).sum()
    }
}

fn of_block(cells: &[u64], first: u64) -> Checksum {
    let mut all = Checksum::default();
    for (at, label) in (first.wrapping_add(1)..).zip(cells) {
        let step = u64::from(*label != EMPTY);
        all.steps += step;
        all.sum = all.sum.wrapping_add(label.wrapping_add(1).wrapping_mul(at) * step);
    }
    all
}

/// Sums over the steps of one factor that have the same common names: how many, of the labels'
/// parts, of the places' parts, and of the products of the two.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    steps: u64,
    labels: u64,
    places: u64,
    both: u64,
}

impl Sums {
    fn add(&mut self, label: u64, place: u64) {
        self.steps = self.steps.wrapping_add(1);
        self.labels = self.labels.wrapping_add(label);
        self.places = self.places.wrapping_add(place);
        self.both = self.both.wrapping_add(label.wrapping_mul(place));
    }

    /// The sum of (x + y) * (v + w) over all pairs of an (x, v) here and a (y, w) there.
    fn joined(&self, other: &Sums) -> Checksum {
        let product = |a: u64, b: u64| a.wrapping_mul(b);
        let sum = product(self.both, other.steps)
            .wrapping_add(product(self.labels, other.places))
            .wrapping_add(product(self.places, other.labels))
            .wrapping_add(product(self.steps, other.both));
        Checksum { steps: product(self.steps, other.steps), sum }
    }
}

type Groups = HashMap<u64, Sums>;

impl DensePlan {
    /// The checksum that the product's cells must have.
    pub fn checksum(&self) -> Checksum {
        of_product(self.sizes, self.mask, &self.left, &self.right)
    }
}

/// The checksum of a product, from its factors over one alphabet.
pub(super) fn of_product(sizes: Sizes, mask: u64, left: &[u64], right: &[u64]) -> Checksum {
    let (n, m) = (sizes.left_states as u64, sizes.right_states as u64);
    let (ka, kb) = (sizes.left_slots as u64, sizes.right_slots as u64);
    let slots = ka.wrapping_mul(kb);
    // The slot of ((p, q), (p', q'), (i, j)) is ((p * m + q) * n * m + p' * m + q') * slots + i *
    // kb + j.
    let row = n.wrapping_mul(m).wrapping_mul(slots);
    let from_left = groups(left, n, ka, mask, |label, p, to, i| {
        let place = (p * m).wrapping_mul(row).wrapping_add((to * m).wrapping_mul(slots));
        (label + 1, place.wrapping_add(i * kb + 1))
    });
    let from_right = groups(right, m, kb, mask, |label, q, to, j| {
        (label & !mask, q.wrapping_mul(row).wrapping_add(to.wrapping_mul(slots)).wrapping_add(j))
    });
    let joined = from_left.iter().filter_map(|(names, a)| Some(a.joined(from_right.get(names)?)));
    joined.sum()
}

fn groups(
    cells: &[u64],
    states: u64,
    slots: u64,
    mask: u64,
    parts: impl Fn(u64, u64, u64, u64) -> (u64, u64),
) -> Groups {
    let mut groups = Groups::new();
    for (at, label) in (0u64..).zip(cells).filter(|(_, label)| **label != EMPTY) {
        let (cell, slot) = (at / slots, at % slots);
        let (label_part, place) = parts(*label, cell / states, cell % states, slot);
        groups.entry(label & mask).or_default().add(label_part, place);
    }
    groups
}
