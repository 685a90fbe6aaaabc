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
mod colour;
mod difference;
mod partition;
mod quotient;
mod signature;

pub use actions::Equivalence;
pub use difference::{BisimulationVerdict, Difference, Told, compare};
pub use partition::partition;

use actions::{Actions, has_silent};

use crate::automaton::Automaton;
use crate::limits::{Limited, ProductLimits};

/// The least automaton, in states and then in transitions, that does the same as `automaton`; only
/// states that can be reached, numbered breadth first. Where no two states do the same it is the
/// given one, and little else is in memory beside it.
pub fn minimise(
    automaton: Automaton,
    kind: Equivalence,
    limits: &ProductLimits,
) -> Limited<Automaton> {
    let reachable = automaton.into_reachable();
    let states = reachable.states();
    if kind == Equivalence::Weak && has_silent(&reachable) {
        let actions = Actions::new(&reachable);
        let begin = (vec![0; states], usize::from(states > 0));
        let found = partition::refined(&reachable, &actions, kind, begin, false, limits)?;
        return Ok(quotient::weak(&reachable, &actions, &found).into_reachable());
    }
    let begin = colour::colours(&reachable, limits)?;
    if begin.1 == states {
        return Ok(reachable);
    }
    let actions = Actions::new(&reachable);
    let found =
        partition::refined(&reachable, &actions, Equivalence::Strong, begin, false, limits)?;
    if found.blocks == states {
        return Ok(reachable);
    }
    Ok(quotient::strong(&reachable, &found).into_reachable())
}
