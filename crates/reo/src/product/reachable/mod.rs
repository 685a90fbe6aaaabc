//! The reachable product of any number of automata, state by state.
//!
//! What is made is the product of [`crate::product`] over the sorted union of the alphabets, with
//! only those states that can be reached, in the order of a breadth-first search: first the
//! initial states, in lexicographic order of the parts' initial states, then each state where a
//! row first leads to it. Idle loops of the parts do not matter. The same parts give the same
//! automaton at any number of threads.
//!
//! How (each stage is a file):
//!
//! 1. `plan.rs`: each part's steps become short vectors of words - the names that fire, what is
//!    added to the number of the state, what is added to the number of the condition - such that
//!    the vector of a joint step is the *sum* of those of its parts. `order.rs` puts the parts in
//!    an order in which names are decided early.
//! 2. `row.rs`: one state. Names that some part cannot fire here are struck out until nothing
//!    changes; the parts that are left fall into groups that share no name; the steps of each group
//!    are found by a depth-first search (`walk.rs`). The row is the Cartesian product of them.
//! 3. `search.rs`: many states at once. Rows are counted, memory is taken, rows are written in
//!    parallel (`worker.rs`, `write.rs`); then the states that are new are numbered one
//!    after the other (`index.rs`).
//!    All threads count and write rows: `worker_pool.rs`.
//! 4. `finish.rs`: constraints are made from the numbers of conditions, steps that have become
//!    alike are one.
//!
//! **Larger than memory.** [`StepStream`] makes the same states and steps some rows at a time
//! (`supersteps.rs`), hands them on, and keeps none; the states that memory has no room for are on disk
//! (`external.rs`), or with other processes that make the product together with this one (`owners.rs`,
//! [`compose_shared`]).
//!
//! **Steps that no data fulfil** are left out before anything is counted: a part's own at the
//! start, joint ones where the search meets them (`guard.rs`, `allowed.rs`), so that neither they
//! nor what only they lead to costs anything.
//!
//! **Order of the steps of a row.** Groups take turns like the digits of a number, the group of the
//! part that is first in the search order the fastest, each group with "no step" first and then its
//! steps in the order of the search; groups whose steps no longer fit beside those of the groups
//! before them into 65,536 words come behind the others, the first of them as the slowest. After
//! these come the silent steps, part by part. The order depends on the parts, as they were given,
//! and the state, and on nothing else.
//!
//! **Steps that are alike.** Label and target of a joint step tell the label and the target of each
//! part's step. So two steps of a row can be alike only where a part has two steps with the same
//! label and target and different conditions, or two parts have silent loops; only then rows are
//! searched for them.

mod allowed;
mod external;
mod finish;
mod guard;
mod index;
mod layout;
mod order;
mod owners;
mod part_steps;
mod plan;
mod row;
mod search;
mod shared;
mod state_store;
mod stream;
mod supersteps;
mod walk;
mod worker;
mod worker_pool;
mod write;

pub use external::{Store, Stored};
pub use owners::Exchange;
pub use search::ProductCount;
pub use shared::{compose_shared, total};
pub use state_store::StreamError;
pub use stream::{Keeps, StepBatch, StepStream};

use self::layout::{Fixed, Layout, Wide};
use self::plan::Plan;
use self::search::Search;
use crate::automaton::Automaton;
use crate::limits::{ProductLimits, Stopped};

/// The product of `parts`, which share one table of symbols, over the sorted union of their
/// alphabets, without steps that no data fulfil: the states that can be reached, numbered and with
/// their steps in the order that the [module](self) tells. Of no part at all it is one state
/// without steps.
///
/// Runs on the threads of the current rayon pool.
///
/// # Errors
/// [`Stopped::Memory`] before more than `limits.memory` bytes are taken, for the result and for
/// what is needed to make it; [`Stopped::States`] at 2^32 states; [`Stopped::Interrupted`].
pub fn compose(parts: &[&Automaton], limits: &ProductLimits<'_>) -> Result<Automaton, Stopped> {
    let plan = Plan::new(parts, limits)?;
    with_layout(&plan, Compose { plan: &plan, parts, limits })
}

/// How many states and steps [`compose`] gives, without keeping the steps.
///
/// Takes memory for states only. To find them it need not take all steps: what groups of parts that
/// share no name reach together, they reach one after the other. Where steps may be alike (see the
/// [module](self)) or parts that share no name may exclude each other by their data, the product is
/// made and measured.
pub fn count(parts: &[&Automaton], limits: &ProductLimits<'_>) -> Result<ProductCount, Stopped> {
    let plan = Plan::new(parts, limits)?;
    if plan.twins || plan.ground {
        let whole = with_layout(&plan, Compose { plan: &plan, parts, limits })?;
        let transitions = whole.transitions() as u128;
        return Ok(ProductCount { states: whole.states() as u64, transitions });
    }
    with_layout(&plan, Measure { plan: &plan, limits })
}

/// Work that is compiled once for each layout of vectors.
trait Work {
    type Result;
    fn with<S: Layout>(self, layout: S) -> Self::Result;
}

/// Works on a thread of the pool: to enter it anew for each block would cost more than small
/// blocks.
fn with_layout<W: Work<Result: Send> + Send>(plan: &Plan, work: W) -> W::Result {
    let Wide { label, state, condition } = plan.layout;
    rayon::scope(|_| match (label, state, condition) {
        (1, 1, 0) => work.with(Fixed::<1, 1, 0>),
        (1, 1, 1) => work.with(Fixed::<1, 1, 1>),
        _ => work.with(plan.layout),
    })
}

struct Compose<'a> {
    plan: &'a Plan,
    parts: &'a [&'a Automaton],
    limits: &'a ProductLimits<'a>,
}

impl Work for Compose<'_> {
    type Result = Result<Automaton, Stopped>;

    fn with<S: Layout>(self, layout: S) -> Self::Result {
        let mut search = Search::new(self.plan, layout, self.limits)?;
        search.compose()?;
        search.done().automaton(self.plan, self.parts)
    }
}

struct Measure<'a> {
    plan: &'a Plan,
    limits: &'a ProductLimits<'a>,
}

impl Work for Measure<'_> {
    type Result = Result<ProductCount, Stopped>;

    fn with<S: Layout>(self, layout: S) -> Self::Result {
        Search::new(self.plan, layout, self.limits)?.count()
    }
}
