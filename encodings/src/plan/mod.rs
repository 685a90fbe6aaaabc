//! The plan of a problem: one program for a few *threads* that represent all processing elements.
//!
//! Every encoding starts here. A plan takes a problem and its space and works out, for every
//! configuration, which elements behave alike. What is left is a single program, common to all
//! configurations, in which every number is an [`Amount`]: a value for each configuration and,
//! where work items differ, for each thread and each item that the thread runs.
//!
//! What it promises (arguments in `docs/encodings.md`):
//!
//! * Elements with the same work are one thread: time is a maximum over elements, and a maximum
//!   does not count how often a value occurs.
//! * An element whose items are a part of another's never arrives later and is dropped.
//! * Where no statement waits for a remembered time, the items of an element in one phase are a
//!   plain sum, so equal items are one item, `times` as long.
//! * Where the groups of a launch are alike the unit that is busy longest runs `ceil(groups /
//!   units)` of them in sequence. Where they differ the plan has a [`Queue`] of them.
//!
//! The published profiles become programs too: their activations, runs and rounds are loops.

mod build;
mod classes;
mod frozen;
mod jump;
mod program;
pub(crate) mod walk;

use tickbound_model::{Problem, Space};

#[cfg(feature = "oracle")]
pub(crate) use frozen::frozen;
pub use jump::{AmountOf, Jump, Scalar};
pub use program::{Amount, AmountId, Op, Plan, PlanError, Queue, has_barrier};
pub(crate) use program::{Values, lifted};

impl Plan {
    /// Works the plan of `problem` out over `space`.
    ///
    /// # Errors
    /// A fault of the problem that shows only in a configuration (an amount without a value, a
    /// barrier that not all items take), or a problem outside what the encodings cover.
    pub fn new(problem: &Problem, space: &Space) -> Result<Plan, PlanError> {
        build::build(problem, space)
    }
}
