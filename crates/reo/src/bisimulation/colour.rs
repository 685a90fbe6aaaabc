//! A first partition, by colours: hashes of what a state does in a number of steps.
//!
//! For strong bisimulation. In each round a state's colour is a hash of its colour and of the set
//! of its steps with the colours of their targets. Bisimilar states have equal colours; a collision
//! only makes the partition coarser, and [`super::partition`] refines it by signatures. A colour
//! costs two multiplications a step, and no sorting.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use crate::automaton::Automaton;
use crate::limits::{Limited, ProductLimits};

/// States of which one thread makes the colours.
const PIECE: usize = 1 << 9;

/// The block of each state, numbered in the order of their first states, and how many there are.
pub(super) fn colours(automaton: &Automaton, limits: &ProductLimits) -> Limited<(Vec<u32>, usize)> {
    let states = automaton.states();
    // Two colours, a block, and a colour's place in a table.
    limits.fits("colours of bisimulation", states as u128 * 56)?;
    let mut known = Known { alone: vec![false; states], block: vec![0; states], blocks: 0 };
    limits.go_on()?;
    let (mut colour, repeats) = first(automaton);
    let mut next = vec![0; states];
    known.part(&colour);
    loop {
        limits.go_on_from(Some(known.blocks as u64), states as u64, 0)?;
        if known.blocks == states {
            break;
        }
        let pieces = next.par_chunks_mut(PIECE).enumerate();
        pieces.for_each_init(Vec::new, |scratch, (piece, next)| {
            for (state, next) in (piece * PIECE..).zip(next) {
                // A colour that no other state has stays: none does the same.
                *next = if known.alone[state] {
                    colour[state]
                } else {
                    let sum = sum(automaton, state, &colour, repeats[state], scratch);
                    mixed(colour[state] ^ sum.wrapping_mul(FACTORS[0]))
                };
            }
        });
        std::mem::swap(&mut colour, &mut next);
        let before = known.blocks;
        known.part(&colour);
        if known.blocks <= before {
            break;
        }
    }
    Ok((known.block, known.blocks))
}

/// The blocks of the colours so far.
struct Known {
    /// Whether no other state has the colour.
    alone: Vec<bool>,
    block: Vec<u32>,
    blocks: usize,
}

impl Known {
    /// Numbers the colours in the order of their first states.
    fn part(&mut self, colour: &[u64]) {
        let many = self.blocks.saturating_mul(4).clamp(64, colour.len().max(64));
        let mut seen: HashMap<u64, (u32, u32), FxBuildHasher> =
            HashMap::with_capacity_and_hasher(many, FxBuildHasher);
        let mut blocks = 0;
        for (state, colour) in colour.iter().enumerate() {
            let mut number = blocks;
            if !self.alone[state] {
                match seen.entry(*colour) {
                    Entry::Occupied(first) => {
                        let (first, earlier) = *first.get();
                        self.alone[first as usize] = false;
                        number = earlier;
                    }
                    Entry::Vacant(new) => {
                        // Until another one comes.
                        self.alone[state] = true;
                        new.insert((state as u32, number));
                    }
                }
            }
            self.block[state] = number;
            blocks += u32::from(number == blocks);
        }
        self.blocks = blocks as usize;
    }
}

/// Odd numbers without a pattern: the golden ratio, and those of splitmix64.
const FACTORS: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

#[inline(always)]
fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(FACTORS[1]);
    word ^ (word >> 29)
}

/// A hash of the kind of a step: its label and its constraint.
#[inline(always)]
fn kind(automaton: &Automaton, at: usize) -> u64 {
    let words = automaton.words();
    let condition = automaton.conditions().get(at).map_or(0, |c| u64::from(*c) + 1);
    let labels = &automaton.labels()[at * words..][..words];
    let begin = condition.wrapping_mul(FACTORS[2]);
    labels.iter().fold(begin, |hash, word| {
        let hash = (hash ^ word).wrapping_mul(FACTORS[0]);
        hash ^ (hash >> 32)
    })
}

/// The sum over the set of a state's steps.
#[inline(always)]
fn sum(
    automaton: &Automaton,
    state: usize,
    colour: &[u64],
    repeats: bool,
    scratch: &mut Vec<u64>,
) -> u64 {
    let range = automaton.rows()[state]..automaton.rows()[state + 1];
    let targets = automaton.targets();
    let of = |at: usize| mixed(kind(automaton, at) ^ colour[targets[at] as usize]);
    if repeats {
        of_set(range.map(of), scratch).0
    } else {
        range.map(of).fold(0, u64::wrapping_add)
    }
}

/// The sum of different numbers, and whether some came twice.
fn of_set(all: impl Iterator<Item = u64>, scratch: &mut Vec<u64>) -> (u64, bool) {
    scratch.clear();
    scratch.extend(all);
    let many = scratch.len();
    scratch.sort_unstable();
    scratch.dedup();
    (scratch.iter().copied().fold(0, u64::wrapping_add), scratch.len() < many)
}

/// The first colours, from the kinds of steps; and whether a state has two steps of one kind.
fn first(automaton: &Automaton) -> (Vec<u64>, Vec<bool>) {
    /// Places where a kind of the state at work may have been seen.
    const PLACES: usize = 1 << 14;
    let rows = automaton.rows();
    let (mut colour, mut repeats) = (vec![0; automaton.states()], vec![false; automaton.states()]);
    let pieces = colour.par_chunks_mut(PIECE).zip(repeats.par_chunks_mut(PIECE)).enumerate();
    pieces.for_each_init(
        || (vec![u32::MAX; PLACES], Vec::new()),
        |(seen, scratch), (piece, (colour, repeats))| {
            for (at, (colour, repeats)) in colour.iter_mut().zip(repeats).enumerate() {
                let state = piece * PIECE + at;
                let range = rows[state]..rows[state + 1];
                let (mut sum, mut met) = (0_u64, false);
                for step in range.clone() {
                    let kind = mixed(kind(automaton, step));
                    sum = sum.wrapping_add(kind);
                    let place = &mut seen[(kind >> 50) as usize];
                    met |= std::mem::replace(place, state as u32) == state as u32;
                }
                if met {
                    (sum, *repeats) = of_set(range.map(|at| mixed(kind(automaton, at))), scratch);
                }
                *colour = mixed(sum);
            }
        },
    );
    (colour, repeats)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::AutomatonBuilder;
    use crate::constraint::DataConstraint;
    use crate::limits::Stopped;
    use crate::symbol::Symbols;

    /// A walk of that many steps under one name, in which each state may have its step twice.
    fn walk(steps: u32, twice: bool) -> Automaton {
        let mut symbols = Symbols::new();
        let name = symbols.name("a");
        let mut builder = AutomatonBuilder::over([name], steps as usize + 2, vec![0]);
        for state in 0..steps {
            builder.step(state, &[name], DataConstraint::default(), state + 1);
            if twice && state + 1 == steps {
                builder.step(state, &[name], DataConstraint::default(), steps + 1);
            }
        }
        builder.done()
    }

    #[test]
    fn what_parts_late_is_parted_and_what_does_the_same_is_not() {
        let unlimited = ProductLimits::memory(u64::MAX);
        for steps in [0, 1, 2, 40] {
            let (block, blocks) = colours(&walk(steps, false), &unlimited).unwrap_or_default();
            // The last state, to which no step leads, does nothing either.
            assert_eq!(blocks, steps as usize + 1);
            assert_eq!(block.last(), block.get(steps as usize));
            let again = colours(&walk(steps, true), &unlimited).unwrap_or_default();
            assert_eq!((again.1, &again.0), (blocks, &block), "a step that is there twice");
        }
        let few = ProductLimits::memory(100);
        assert!(matches!(colours(&walk(40, false), &few), Err(Stopped::Memory { .. })));
    }
}
