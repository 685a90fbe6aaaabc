//! Partitions, refined by signatures of states until nothing changes.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::actions::{Actions, Equivalence, SILENT, has_silent};
use crate::automaton::Automaton;
use crate::components::components;
use crate::limits::{Limited, ProductLimits};

/// A partition of the states, iteration by iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The block of each state at the end; blocks are numbered in the order of their first states.
    pub block: Vec<u32>,
    pub blocks: usize,
    /// The partition after each iteration, the coarsest first; empty unless requested.
    pub iterations: Vec<Vec<u32>>,
}

/// The coarsest partition of the states into bisimilar ones.
pub fn partition(
    automaton: &Automaton,
    kind: Equivalence,
    keep_iterations: bool,
    limits: &ProductLimits,
) -> Limited<Partition> {
    let begin = (vec![0u32; automaton.states()], usize::from(automaton.states() > 0));
    refined(automaton, &Actions::new(automaton), kind, begin, keep_iterations, limits)
}

/// As [`partition`], with known actions, from blocks that part no two bisimilar states.
pub(super) fn refined(
    automaton: &Automaton,
    actions: &Actions,
    kind: Equivalence,
    (mut block, mut blocks): (Vec<u32>, usize),
    keep_iterations: bool,
    limits: &ProductLimits,
) -> Limited<Partition> {
    let signer = Signer::new(automaton, actions, kind);
    let mut iterations = Vec::new();
    loop {
        let (next, count) = signer.refine(&block, limits)?;
        if keep_iterations {
            iterations.push(block);
        }
        block = next;
        if count == blocks {
            return Ok(Partition { block, blocks, iterations });
        }
        blocks = count;
    }
}

pub(super) struct Signer<'a> {
    automaton: &'a Automaton,
    actions: &'a Actions,
    /// For weak bisimulation: silent cycles, and an order in which silent steps lead backwards.
    weak: Option<Silent>,
}

impl<'a> Signer<'a> {
    pub fn new(automaton: &'a Automaton, actions: &'a Actions, kind: Equivalence) -> Self {
        let silent = kind == Equivalence::Weak && has_silent(automaton);
        let weak = silent.then(|| Silent::new(automaton, actions));
        Signer { automaton, actions, weak }
    }

    /// The partition by blocks and signatures, and its number of blocks.
    pub fn refine(&self, block: &[u32], limits: &ProductLimits) -> Limited<(Vec<u32>, usize)> {
        let saturated =
            |silent| Saturated::new(self.automaton, self.actions, silent, block, limits);
        let weak = self.weak.as_ref().map(saturated).transpose()?;
        let mut known = Known::default();
        let mut next: Vec<u32> = Vec::with_capacity(block.len());
        let (alone, mut count) = (alone(block), 0u32);
        let states = self.automaton.states() as u32;
        for batch in (0..states).step_by(BATCH as usize) {
            limits.go_on_from(Some(u64::from(count)), block.len() as u64, 0)?;
            let end = states.min(batch.saturating_add(BATCH));
            let pieces = (batch..end).into_par_iter().step_by(PIECE as usize);
            let made = pieces.map(|from| {
                let piece = from..end.min(from.saturating_add(PIECE));
                self.signatures(piece, block, &alone, weak.as_ref())
            });
            let made: Vec<Signatures> = made.collect();
            for (state, signature) in (batch..).zip(made.iter().flat_map(Signatures::iter)) {
                let first = |state| self.signatures(state..state + 1, block, &alone, weak.as_ref());
                let number = match signature {
                    None => count,
                    Some(signature) => known.number(state, signature, count, first, limits)?,
                };
                next.push(number);
                count = count.max(number + 1);
            }
        }
        Ok((next, count as usize))
    }

    /// The signatures of some states; nothing for those alone in their block.
    fn signatures(
        &self,
        states: Range<u32>,
        block: &[u32],
        alone: &[bool],
        weak: Option<&Saturated>,
    ) -> Signatures {
        let (mut made, mut signature) = (Signatures::default(), Vec::new());
        for state in states {
            let own = block[state as usize];
            if alone[own as usize] {
                made.ends.push((made.words.len(), 0));
                continue;
            }
            signature.clear();
            match (weak, &self.weak) {
                (Some(saturated), Some(silent)) => {
                    saturated.signature(silent.cycle[state as usize], &mut signature);
                }
                _ => {
                    let steps = self.actions.of(self.automaton, state);
                    signature.extend(steps.map(|(a, to)| pair(a, block[to as usize])));
                    signature.sort_unstable();
                    signature.dedup();
                }
            }
            signature.push(u64::from(own));
            made.words.extend_from_slice(&signature);
            made.ends.push((made.words.len(), FxBuildHasher.hash_one(&signature)));
        }
        made
    }
}

/// States between two looks at the stop flag, whose signatures are in memory at a time.
const BATCH: u32 = 1 << 13;
/// States of which one thread makes the signatures.
const PIECE: u32 = 1 << 7;

/// The signatures of some states, one behind another.
#[derive(Default)]
struct Signatures {
    words: Vec<u64>,
    /// For each state where its signature ends, and its hash; it is empty for one that has none.
    ends: Vec<(usize, u64)>,
}

impl Signatures {
    fn iter(&self) -> impl Iterator<Item = Option<(&[u64], u64)>> {
        let mut from = 0;
        self.ends.iter().map(move |(end, hash)| {
            let signature = &self.words[from..*end];
            from = *end;
            (!signature.is_empty()).then_some((signature, *hash))
        })
    }
}

/// Signatures that were seen. Most states end alone in their blocks: a signature is stored when
/// another state has the same hash, not before.
#[derive(Default)]
struct Known {
    words: Vec<u64>,
    all: Vec<Seen>,
    /// Hashes, and places in `all`.
    table: HashTable<(u64, u32)>,
}

struct Seen {
    /// The first state that has it.
    state: u32,
    block: u32,
    /// Where it is stored; nothing is, as long as it is empty.
    place: Range<usize>,
}

impl Known {
    /// The block of a signature, which `state` has; `next` if it is new. `first` makes one again.
    fn number(
        &mut self,
        state: u32,
        (signature, hash): (&[u64], u64),
        next: u32,
        first: impl Fn(u32) -> Signatures,
        limits: &ProductLimits,
    ) -> Limited<u32> {
        let stored = self.words.len() as u128 * 8 + (self.all.len() as u128 + 1) * 48;
        limits.fits("signatures of bisimulation", stored)?;
        for (_, at) in self.table.iter_hash(hash).filter(|(known, _)| *known == hash) {
            let seen = &mut self.all[*at as usize];
            if seen.place.is_empty() {
                let begin = self.words.len();
                self.words.extend(first(seen.state).words);
                seen.place = begin..self.words.len();
            }
            if &self.words[seen.place.clone()] == signature {
                return Ok(seen.block);
            }
        }
        self.table.insert_unique(hash, (hash, self.all.len() as u32), |(hash, _)| *hash);
        self.all.push(Seen { state, block: next, place: 0..0 });
        Ok(next)
    }
}

/// For each block whether it has one state.
fn alone(block: &[u32]) -> Vec<bool> {
    let many = block.iter().max().map_or(0, |most| *most as usize + 1);
    let mut states = vec![0u32; many];
    block.iter().for_each(|b| states[*b as usize] += 1);
    states.into_iter().map(|states| states == 1).collect()
}

/// An action and a block as one number, ordered by the action.
pub(super) fn pair(action: u32, block: u32) -> u64 {
    u64::from(action) << 32 | u64::from(block)
}

/// The cycles of unconditional silent steps.
pub(super) struct Silent {
    /// The cycle of each state. Silent steps lead to the same cycle or one with a smaller number.
    pub(super) cycle: Vec<u32>,
    pub(super) members: Vec<Vec<u32>>,
}

impl Silent {
    /// Cycles come out with their successors first.
    pub fn new(automaton: &Automaton, actions: &Actions) -> Silent {
        let silent = |s: u32| {
            let steps = actions.of(automaton, s).filter(|(a, _)| *a == SILENT);
            steps.map(|(_, to)| to).collect::<Vec<u32>>()
        };
        let (cycle, members) = components(automaton.states(), silent);
        Silent { cycle, members }
    }
}

/// What each cycle can do when silent steps do not count.
struct Saturated {
    /// Blocks that silent steps lead to, the own one among them; sorted.
    silent: Vec<Vec<u32>>,
    /// Pairs of action and block, silent steps before and after the action allowed; sorted.
    steps: Vec<Vec<u64>>,
    own: Vec<u32>,
}

impl Saturated {
    fn new(
        automaton: &Automaton,
        actions: &Actions,
        cycles: &Silent,
        block: &[u32],
        limits: &ProductLimits,
    ) -> Limited<Saturated> {
        let count = cycles.members.len();
        let mut all = Saturated {
            silent: Vec::with_capacity(count),
            steps: Vec::with_capacity(count),
            own: cycles.members.iter().map(|m| block[m[0] as usize]).collect(),
        };
        let mut stored = 0u128;
        // Successors come first, so that what they reach silently is known.
        for (cycle, members) in cycles.members.iter().enumerate() {
            let mut silent: Vec<u32> = members.iter().map(|s| block[*s as usize]).collect();
            for (action, to) in members.iter().flat_map(|s| actions.of(automaton, *s)) {
                let after = cycles.cycle[to as usize] as usize;
                if action == SILENT && after != cycle {
                    silent.extend(&all.silent[after]);
                }
            }
            silent.sort_unstable();
            silent.dedup();
            stored += silent.len() as u128 * 4 + 24;
            limits.fits("weak bisimulation", stored)?;
            all.silent.push(silent);
        }
        for (cycle, members) in cycles.members.iter().enumerate() {
            let mut steps: Vec<u64> = Vec::new();
            for (action, to) in members.iter().flat_map(|s| actions.of(automaton, *s)) {
                let after = cycles.cycle[to as usize] as usize;
                if action == SILENT {
                    if after != cycle {
                        steps.extend(&all.steps[after]);
                    }
                } else {
                    steps.extend(all.silent[after].iter().map(|b| pair(action, *b)));
                }
            }
            steps.sort_unstable();
            steps.dedup();
            stored += steps.len() as u128 * 8 + 24;
            limits.fits("weak bisimulation", stored)?;
            limits.go_on()?;
            all.steps.push(steps);
        }
        Ok(all)
    }

    /// The weak signature of the states of a cycle: what it can do, and where it can go silently.
    fn signature(&self, cycle: u32, into: &mut Vec<u64>) {
        let c = cycle as usize;
        let elsewhere = self.silent[c].iter().filter(|b| **b != self.own[c]);
        into.extend(elsewhere.map(|b| pair(SILENT, *b)));
        into.extend(&self.steps[c]);
    }
}
