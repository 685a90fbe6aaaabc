//! Bisimulation: which states do the same, the least automaton that does so, and what tells two apart.
//!
//! Two steps are alike if the same names fire under the same constraint, both compared as written
//! once simplified; constraints that mean the same but are written differently keep states apart,
//! which is sound. Partitions are refined by signatures (Blom and Orzan, A distributed algorithm for
//! strong bisimulation reduction of state spaces, 2005): in each round a state's signature is the
//! set of its kinds of steps and the blocks they lead to, until no round splits a block.
//!
//! [`Kind::Weak`] is Milner's weak bisimulation with unconditional silent steps as the silent ones;
//! silent steps with a condition or an effect on memory are compared like others. Weak bisimilarity
//! is kept by product and hiding (`docs/reo.md`), so it may be used between them.

mod difference;
mod quotient;
mod signature;

use rustc_hash::FxHashMap as HashMap;

pub use difference::{Difference, Verdict, compare};

use crate::automaton::Automaton;
use crate::limits::{Limits, Stopped};

/// What counts as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Every step is matched by a step.
    #[default]
    Strong,
    /// Unconditional silent steps need not be matched.
    Weak,
}

/// A partition of the states, round by round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The block of each state at the end; blocks are numbered in the order of their first states.
    pub block: Vec<u32>,
    /// How many blocks there are.
    pub blocks: usize,
    /// The partition after each round, the coarsest first; empty unless asked for.
    pub rounds: Vec<Vec<u32>>,
}

/// The coarsest partition of the states into bisimilar ones.
///
/// # Errors
/// When the work was stopped, or signatures would need more memory than allowed.
pub fn partition(
    automaton: &Automaton,
    kind: Kind,
    keep_rounds: bool,
    limits: &Limits<'_>,
) -> Result<Partition, Stopped> {
    let actions = Actions::new(automaton);
    let mut signer = signature::Signer::new(automaton, &actions, kind);
    let mut block = vec![0u32; automaton.states()];
    let mut blocks = usize::from(automaton.states() > 0);
    let mut rounds = Vec::new();
    loop {
        limits.go_on()?;
        let (next, count) = signer.refine(&block, limits)?;
        if keep_rounds {
            rounds.push(block);
        }
        block = next;
        if count == blocks {
            return Ok(Partition { block, blocks, rounds });
        }
        blocks = count;
    }
}

/// The least automaton, in states and then in transitions, that does the same as `automaton`; only
/// states that can be reached, numbered breadth first.
///
/// # Errors
/// As [`partition`].
pub fn minimise(
    automaton: &Automaton,
    kind: Kind,
    limits: &Limits<'_>,
) -> Result<Automaton, Stopped> {
    let (reachable, _) = automaton.reachable();
    let found = partition(&reachable, kind, false, limits)?;
    let least = match kind {
        Kind::Strong => quotient::strong(&reachable, &found),
        Kind::Weak => quotient::weak(&reachable, &found),
    };
    Ok(least.reachable().0)
}

/// The number of the silent action.
const SILENT: u32 = 0;

/// Kinds of steps as numbers: a label with a constraint each. Number 0 is the unconditional silent
/// one, whether it occurs or not.
struct Actions {
    of_step: Vec<u32>,
}

impl Actions {
    fn new(automaton: &Automaton) -> Actions {
        let silent = vec![0; automaton.words()];
        let mut numbers: HashMap<(&[u64], u32), u32> = HashMap::default();
        numbers.insert((&silent[..], 0), SILENT);
        let labels = automaton.labels().chunks_exact(automaton.words());
        let mut of_step = Vec::with_capacity(automaton.transitions());
        for (at, label) in labels.enumerate() {
            let condition = automaton.conditions().get(at).copied().unwrap_or(0);
            let next = numbers.len() as u32;
            of_step.push(*numbers.entry((label, condition)).or_insert(next));
        }
        Actions { of_step }
    }

    /// The steps of a state as pairs of action and target.
    fn of(&self, automaton: &Automaton, state: u32) -> impl Iterator<Item = (u32, u32)> {
        let range = automaton.rows()[state as usize]..automaton.rows()[state as usize + 1];
        let targets = &automaton.targets()[range.clone()];
        self.of_step[range].iter().copied().zip(targets.iter().copied())
    }
}
