//! What solvers are asked about: a transition system, how far to unroll it, and what may be chosen.

use tickbound_encodings::schedule::{self, Schedule};
use tickbound_encodings::system::System;
use tickbound_model::{Problem, Space};

use crate::error::SolveError;

/// A transition system and how far to unroll it.
#[derive(Clone, Copy)]
pub struct SmtFormula<'a> {
    /// The system.
    pub system: &'a System,
    /// Steps after which every configuration that is not pruned has reached the goal.
    pub steps: usize,
    /// Configurations that are pruned: their lower bound exceeds the first incumbent. Those that
    /// just reach it stay, so that it is the solver and not the bound that refutes one tick less.
    pub pruned: &'a (dyn Fn(usize) -> bool + Sync),
    /// What else is needed where schedules are open.
    pub open: Option<&'a Open>,
}

/// An open schedule over some configurations of a space.
#[derive(Debug, Clone)]
pub struct Open {
    /// The transition system and its choices.
    pub schedule: Schedule,
    /// For each configuration of the system its index in the space.
    pub members: Vec<usize>,
}

impl Open {
    /// The system over the given configurations.
    pub fn new(problem: &Problem, space: &Space, members: Vec<usize>) -> Result<Open, SolveError> {
        let lanes = schedule::lanes(problem, space, &members)?;
        Ok(Open { schedule: schedule::encode(&lanes)?, members })
    }
}
