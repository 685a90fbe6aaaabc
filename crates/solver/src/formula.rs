//! What solvers are asked about: a transition system, how far to unroll it, and what may be chosen.

use tickbound_encodings::system::System;

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
}
