//! Steps as numbers, and which of them count.

use std::hash::Hash;

use indexmap::IndexSet;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use crate::automaton::Automaton;

tickbound_input::named! {
    /// What counts as the same.
    #[derive(Default)]
    pub enum Equivalence {
        /// Every step is matched by a step
        #[default]
        Strong = "strong",
        /// Silent steps need not be matched
        Weak = "weak",
    }
}

pub(super) const SILENT: u32 = 0;

/// Steps that one thread numbers at a time.
const CHUNK: usize = 1 << 16;

/// Kinds of steps as numbers: a label with a constraint each. 0 is the unconditional silent one.
pub(super) struct Actions {
    pub of_step: Vec<u32>,
}

impl Actions {
    pub fn new(automaton: &Automaton) -> Actions {
        let (words, labels) = (automaton.words(), automaton.labels());
        let condition = |at: usize| automaton.conditions().get(at).copied().unwrap_or(0);
        let steps = automaton.transitions();
        // Nearly all labels have one word, which is compared far faster than a slice.
        let of_step = if words == 1 {
            numbered(steps, (0, 0), |at| (labels[at], condition(at)))
        } else {
            let silent = vec![0; words];
            numbered(steps, (&silent[..], 0), |at| (&labels[at * words..][..words], condition(at)))
        };
        Actions { of_step }
    }

    /// The steps of a state as pairs of action and target.
    pub fn of(&self, automaton: &Automaton, state: u32) -> impl Iterator<Item = (u32, u32)> {
        let range = automaton.rows()[state as usize]..automaton.rows()[state as usize + 1];
        let targets = &automaton.targets()[range.clone()];
        self.of_step[range].iter().copied().zip(targets.iter().copied())
    }
}

/// A number for each step: equal keys have equal numbers, and the key `first` has number 0.
fn numbered<K: Copy + Eq + Hash + Send + Sync>(
    steps: usize,
    first: K,
    key: impl Fn(usize) -> K + Sync,
) -> Vec<u32> {
    let mut numbers = vec![0; steps];
    // Numbers within each chunk to begin with.
    let chunks = numbers.par_chunks_mut(CHUNK).enumerate().map(|(chunk, numbers)| {
        let mut known: IndexSet<K, FxBuildHasher> = IndexSet::default();
        for (at, number) in (chunk * CHUNK..).zip(numbers) {
            *number = known.insert_full(key(at)).0 as u32;
        }
        known
    });
    let chunks: Vec<IndexSet<K, FxBuildHasher>> = chunks.collect();
    let mut known: IndexSet<K, FxBuildHasher> = IndexSet::from_iter([first]);
    let mut number = |key: &K| known.insert_full(*key).0 as u32;
    let whole: Vec<Vec<u32>> =
        chunks.iter().map(|keys| keys.iter().map(&mut number).collect()).collect();
    numbers.par_chunks_mut(CHUNK).zip(&whole).for_each(|(numbers, whole)| {
        numbers.iter_mut().for_each(|number| *number = whole[*number as usize]);
    });
    numbers
}

/// Whether there are unconditional silent steps: without any, weak bisimulation is the strong one.
pub(super) fn has_silent(automaton: &Automaton) -> bool {
    automaton.has_silent_labels() && automaton.all_steps().any(|step| automaton.is_silent(&step))
}
