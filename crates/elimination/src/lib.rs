//! Exact elimination over a join tree.
//!
//! In goes a [`Network`]: variables with finitely many values each, and [`Relation`]s over a few of
//! them. A relation lists the combinations it allows, each with a *weight*. A *solution* is a value
//! for every variable that all relations allow; its weight is the product of theirs. Out comes a
//! [`Tree`]: the sum over all solutions, and enough to find any of them. What product and sum are
//! is decided by the [`Weight`]:
//!
//! | weight | product | sum | so the sum over all solutions is |
//! |---|---|---|---|
//! | [`SolutionCount`] | times | plus | how many there are |
//! | [`Least`] | plus | minimum | the least cost |
//! | [`Ties`] | plus | minimum | the least cost, how many have it, and the next |
//!
//! Variables go in sequence. The relations that mention one are joined, and the variable is
//! summed out of the join; what is left is a *message*, a relation over the others. (Bucket
//! elimination: R. Dechter, *Bucket elimination: a unifying framework for reasoning*, Artificial
//! Intelligence 113, 1999.) Rows are sparse: what no relation allows takes no room. Under [`Least`]
//! a message is a cost-to-go bound, and the local inequalities that the messages satisfy prove the
//! least cost.
//!
//! Where a join would grow beyond [`TableLimits::rows`], its relations are divided among several
//! joins, each of which sums the variable out by itself (mini-buckets: Dechter and Rina,
//! *Mini-buckets*, J. ACM 50, 2003). Then the costs are lower bounds, and [`Tree::is_exact`] is
//! false.
//!
//! ```
//! use tickbound_elimination::{SolutionCount, Least, TableLimits, Network, Relation};
//!
//! // x, y, z in 0..3; x + y <= 2, y <= z; cost 5 x + 3 y, and z (2 - z).
//! let mut network = Network::new(vec![3, 3, 3]);
//! let few = |v: &[u32]| (v[0] + v[1] <= 2).then(|| i64::from(5 * v[0] + 3 * v[1]));
//! let rising = |v: &[u32]| (v[0] <= v[1]).then(|| i64::from(v[1] * (2 - v[1])));
//! network.add(Relation::of(&network.scope(&[0, 1])?, few));
//! network.add(Relation::of(&network.scope(&[1, 2])?, rising));
//! let limits = TableLimits::default();
//! let count = network.eliminated::<SolutionCount>(&[], &limits)?.total().expect("solutions");
//! assert_eq!(count.to_string(), "14");
//! let tree = network.eliminated::<Least>(&[], &limits)?;
//! assert_eq!(tree.total(), Some(Least(0)));
//! let ascending = tree.ascending(&limits, |_, cost| cost)?.take(3);
//! let ascending: Vec<_> = ascending.collect::<Result<_, _>>()?;
//! assert_eq!(ascending[0], (0, vec![0, 0, 0]));
//! assert_eq!(ascending[2], (1, vec![0, 0, 1]));
//! # Ok::<(), tickbound_elimination::TooWide>(())
//! ```

mod ascend;
pub mod direct;
mod guide;
mod join;
mod limits;
mod pick;
mod relation;
mod scope;
mod tree;
mod weight;

pub use ascend::Ascending;
pub use limits::TableLimits;
pub use relation::Relation;
pub use scope::VariableScope;
pub use tree::{Network, Tree};
pub use weight::{Least, SolutionCount, Ties, Weight};

use thiserror::Error;

/// Why an elimination ended without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TooWide {
    /// A relation's key does not fit into 128 bits.
    #[error("a relation over {0} variables, whose values take more than 128 bits")]
    Key(usize),
    /// A join has more rows than allowed, and may not be divided.
    #[error("a join of more than {0} rows")]
    Rows(usize),
    /// [`TableLimits::stop`] returned true.
    #[error("stopped")]
    Stopped,
}
