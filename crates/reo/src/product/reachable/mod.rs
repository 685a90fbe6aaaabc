//! The reachable product of any number of automata, breadth first.
//!
//! The result is the product of [`crate::product`] over the sorted union of the alphabets, without
//! idle loops. States are numbered breadth first: the initial ones in lexicographic order of the
//! parts' states, then each where a row first leads to it. The result does not depend on threads.
//!
//! 0. `together.rs`: parts that always step together become one.
//! 1. `plan.rs`: each step of a part becomes a vector of words (names, change of the state's
//!    number, change of the condition's number) such that the vector of a joint step is the *sum*
//!    of those of its parts. `part_steps.rs`: their order, in which names are decided early.
//! 2. `row.rs`, `walk.rs`: one state; the row is the Cartesian product of the steps of groups of
//!    parts that share names.
//! 3. `search.rs`: rows are counted, memory is taken, rows are written in parallel (`worker.rs`,
//!    `write.rs`, `worker_pool.rs`); then new states are numbered in order (`index.rs`).
//! 4. `finish.rs`: constraints, and equal steps merged.
//!
//! **Larger than memory.** [`StepStream`] hands steps on and keeps none (`supersteps.rs`); states
//! go to disk (`external.rs`) or to other processes (`owners.rs`, [`compose_shared`]).
//!
//! **Impossible steps**, which no data fulfil, are removed before anything is counted: a part's own
//! at the start, joint ones during the search (`guard.rs`, `allowed.rs`).
//!
//! **Order of a row.** Groups are the digits of a number; the group of the part that is first in
//! search order changes fastest; in each group "no step" is first. Groups whose steps no longer fit
//! into 65,536 words come behind the others, the first of them slowest; silent steps come last,
//! part by part. The order depends on the parts, as given, and on the state only.
//!
//! **Equal steps** arise only where a part has two steps with the same label and target and
//! different conditions, or two parts have silent loops; only then are rows searched for them.

mod allowed;
mod external;
mod finish;
mod guard;
mod index;
mod layout;
mod owners;
mod part_steps;
mod plan;
mod row;
mod search;
mod stream;
mod supersteps;
mod together;
mod walk;
mod worker;
mod worker_pool;
mod write;

pub use external::{Store, Stored, StreamError};
pub use owners::Exchange;
pub use search::ProductCount;
pub use stream::{Keeps, StepBatch, StepStream, compose_shared, total};

use self::layout::with_layout;
use self::plan::Plan;
use self::search::Search;
use crate::automaton::Automaton;
use crate::limits::{Limited, ProductLimits};

/// The product of `parts`, which share one table of symbols, over the sorted union of their
/// alphabets: the reachable states in the order of the [module](self), without steps that no data
/// fulfil. Of no part it is one state without steps. Runs on the current rayon pool.
///
/// # Errors
/// `Stopped::Memory` before more than `limits.memory` bytes are taken, for the result and for what
/// is needed to make it; `Stopped::States` at 2^32 states; `Stopped::Interrupted`.
pub fn compose(parts: &[&Automaton], limits: &ProductLimits) -> Limited<Automaton> {
    let joined = together::joined(parts);
    let parts = &joined.iter().map(AsRef::as_ref).collect::<Vec<&Automaton>>()[..];
    let plan = &Plan::new(parts, limits)?;
    with_layout!(plan, layout => {
        let mut search = Search::new(plan, layout, limits)?;
        search.compose()?;
        search.done().automaton(plan, parts)
    })
}
