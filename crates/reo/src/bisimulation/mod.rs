//! Bisimulation: which states do the same, the least automaton, and what distinguishes two.
//!
//! Two steps are alike if the same names fire under the same constraint, as written once
//! simplified; equivalent constraints written differently keep states apart, which is sound.
//! Partitions are refined by signatures (Blom and Orzan, A distributed algorithm for strong
//! bisimulation reduction of state spaces, 2005): the kinds of a state's steps and the blocks they
//! lead to. In the strong case hashes of signatures go first (`colour.rs`).
//!
//! [`Equivalence::Weak`] is Milner's weak bisimulation with unconditional silent steps; silent
//! steps with a condition or an effect are compared like others. Product and hiding preserve it.

mod actions;
mod branching;
mod colour;
mod difference;
mod partition;
mod quotient;
mod sketch;

pub use actions::Equivalence;
pub use difference::{BisimulationVerdict, Difference, Told, compare};
pub use partition::partition;

use actions::{Actions, has_silent};
use partition::Partition;

use crate::automaton::Automaton;
use crate::limits::{Limited, ProductLimits};

/// One state for each class of branching bisimilar states, which keeps weak bisimilarity and what
/// [`crate::hide::close`] makes of silent steps (`docs/reo.md`); only states that can be reached,
/// numbered breadth first.
pub fn without_inert(automaton: Automaton, limits: &ProductLimits) -> Limited<Automaton> {
    Ok(branching::quotient(automaton.into_reachable(), limits)?.into_reachable())
}

/// The least automaton, in states and then in transitions, that does the same as `automaton`; only
/// states that can be reached, numbered breadth first. Where no two states do the same it is the
/// given one, and little else is in memory beside it.
pub fn minimise(
    automaton: Automaton,
    kind: Equivalence,
    limits: &ProductLimits,
) -> Limited<Automaton> {
    let mut reachable = automaton.into_reachable();
    if kind == Equivalence::Weak && has_silent(&reachable) {
        reachable = branching::quotient(reachable, limits)?;
    }
    let states = reachable.states();
    if kind == Equivalence::Weak && has_silent(&reachable) {
        let actions = Actions::new(&reachable);
        let (block, blocks) = sketch::colours(&reachable, &actions, limits)?;
        let found = if blocks == states {
            Partition { block, blocks, iterations: Vec::new() }
        } else {
            partition::refined(&reachable, &actions, kind, (block, blocks), false, limits)?
        };
        return Ok(quotient::weak(&reachable, &actions, &found, limits)?.into_reachable());
    }
    let begin = colour::colours(&reachable, limits)?;
    if begin.1 == states {
        return Ok(reachable.into_reachable());
    }
    let actions = Actions::new(&reachable);
    let found =
        partition::refined(&reachable, &actions, Equivalence::Strong, begin, false, limits)?;
    if found.blocks == states {
        return Ok(reachable.into_reachable());
    }
    Ok(quotient::strong(&reachable, &found).into_reachable())
}
