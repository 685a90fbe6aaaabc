//! Labels: which names of an alphabet fire in a step, as a bit set.
//!
//! Bit `i` is the `i`-th name of the automaton's alphabet. A label is as many 64-bit words
//! as the alphabet needs, at least one; alphabets of at most 64 names, by far the most, are one.

use crate::symbol::NameId;

/// Words that a label over that many names takes: at least 1.
pub fn words_for(names: usize) -> usize {
    names.div_ceil(64).max(1)
}

pub fn has(label: &[u64], bit: usize) -> bool {
    label.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

/// Sets bit `bit`, which must lie within the label.
pub fn set(label: &mut [u64], bit: usize) {
    label[bit / 64] |= 1 << (bit % 64);
}

/// Whether no name fires: a silent step.
pub fn is_silent(label: &[u64]) -> bool {
    label.iter().all(|word| *word == 0)
}

/// The bits that are set, in order.
pub fn bits(label: &[u64]) -> impl Iterator<Item = usize> {
    label.iter().enumerate().flat_map(|(at, word)| ones(*word).map(move |bit| at * 64 + bit))
}

/// The bits of a word that are set, in order.
#[inline(always)]
pub fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}

/// Where the names of one alphabet stand in another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    to: Vec<Option<usize>>,
    words: usize,
}

impl Map {
    /// From alphabet `from` to alphabet `to`, both sorted; names that `to` lacks are left out.
    pub fn new(from: &[NameId], to: &[NameId]) -> Map {
        let to_at = from.iter().map(|name| to.binary_search(name).ok()).collect();
        Map { to: to_at, words: words_for(to.len()) }
    }

    /// A label over the first alphabet as one over the second.
    pub fn apply(&self, label: &[u64]) -> Vec<u64> {
        let mut into = vec![0; self.words];
        bits(label).filter_map(|bit| *self.to.get(bit)?).for_each(|to| set(&mut into, to));
        into
    }
}
