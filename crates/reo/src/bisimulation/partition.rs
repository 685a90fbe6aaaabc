//! Partitions, refined until nothing changes.

use super::actions::{Actions, Equivalence};
use super::signature::Signer;
use crate::automaton::Automaton;
use crate::limits::{Limited, ProductLimits};

/// A partition of the states, iteration by iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The block of each state at the end; blocks are numbered in the order of their first states.
    pub block: Vec<u32>,
    /// How many blocks there are.
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
