//! The run time as an expression over the parameters.
//!
//! In goes a problem, out comes its [`Cost`]: a [`Term`] of sums, products and maxima whose leaves are the
//! problem's own expressions. No configuration is looked at on the way, so it does not matter how many
//! there are. It is derived from the semantics (`docs/semantics.md`) independently of the [plan](crate::plan)
//! and of the simulator, which makes each a check of the others.
//!
//! - [`term`]: what a term is, its value for a configuration, and a bound over a box of them;
//! - `derive`: from a problem to its term;
//! - `resources`: the same for the profile of that name;
//! - [`normal`]: a term as a sum of products, with what all of them share in front;
//! - [`tables`]: the factors over their few parameters, as relations.
//!
//! Where the time is no such expression - items that wait for marks one after another in one element - the cost is a
//! lower bound and says so ([`Cost::is_exact`]).

mod at;
mod chain;
mod derive;
pub mod normal;
mod resources;
pub mod tables;
pub mod term;

use tickbound_model::{Problem, Profile};

pub use derive::Uncovered;
pub use normal::Normal;
pub use tables::Tables;
pub use term::{Term, TermFault};

/// The run time of a problem over its parameters.
#[derive(Debug, Clone)]
pub struct Cost {
    term: Term,
    exact: bool,
}

impl Cost {
    /// Derives the cost.
    ///
    /// # Errors
    /// What of the problem it does not cover.
    pub fn new(problem: &Problem) -> Result<Cost, Uncovered> {
        match problem.profile {
            Profile::Resources => {
                let parts = vec![resources::time(problem)?, derive::finish(problem)?];
                Ok(Cost { term: derive::sum(parts), exact: true })
            }
            _ => derive::derive(problem),
        }
    }

    /// A lower bound under `opencl` without warps for what [`Cost::new`] does not cover: the time without what differs between groups, and if
    /// need be without waits and what differs between items. Waits and work only add to a run, so none is shorter.
    ///
    /// # Errors
    /// Another profile, warps, or a fault of the problem.
    pub fn bound(problem: &Problem) -> Result<Cost, Uncovered> {
        derive::bound(problem)
    }

    /// A cost that is known otherwise, or a wrong one for a test of what finds it out. `exact` says that the
    /// term is the run time, not only a number of ticks that no run undercuts.
    #[must_use]
    pub fn of_term(term: Term, exact: bool) -> Cost {
        Cost { term, exact }
    }

    /// The term; in ticks.
    #[must_use]
    pub fn term(&self) -> &Term {
        &self.term
    }

    /// True if the term is the run time; otherwise it is a number of ticks that no run undercuts.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact
    }
}
