//! The run time of a problem as a [`Term`], exact or a lower bound.

use tickbound_model::{Problem, Profile};

use crate::sums::sum;
use crate::term::Term;
use crate::uncovered::Uncovered;
use crate::{derive, resources};

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
                let chain = Term::Chain(Box::new(resources::time(problem)?));
                let parts = vec![chain, derive::finish(problem)?];
                Ok(Cost { term: sum(parts), exact: true })
            }
            _ => derive::derive(problem).map(|(term, exact)| Cost { term, exact }),
        }
    }

    /// A lower bound under `opencl` without warps for what [`Cost::new`] does not cover: the time
    /// without what differs between groups, and if need be without waits and what differs between
    /// items. Waits and work only add to a run, so none is shorter.
    ///
    /// # Errors
    /// Another profile, warps, or a fault of the problem.
    pub fn bound(problem: &Problem) -> Result<Cost, Uncovered> {
        derive::bound(problem).map(|term| Cost { term, exact: false })
    }

    /// A cost that is known otherwise, or a wrong one for a test of what finds it out. `exact`
    /// states that the term is the run time, not only a number of ticks that no run undercuts.
    pub fn of_term(term: Term, exact: bool) -> Cost {
        Cost { term, exact }
    }

    /// The term; in ticks.
    pub fn term(&self) -> &Term {
        &self.term
    }

    /// True if the term is a chain of steps, and what is added to it.
    pub fn is_chain(&self) -> bool {
        match &self.term {
            Term::Sum(parts) => parts.iter().any(|part| part.as_chain().is_some()),
            term => term.as_chain().is_some(),
        }
    }

    /// True if the term is the run time; otherwise it is a number of ticks that no run undercuts.
    pub fn is_exact(&self) -> bool {
        self.exact
    }
}
