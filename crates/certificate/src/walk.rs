//! The choices of a few parameters that no condition excludes.
//!
//! In go some parameters, out comes each combination of their values for which no condition over
//! these parameters alone is false. Every valid configuration has one of these combinations, which
//! is all that a proof relies on.

use tickbound_model::space::{Condition, Holds};

use crate::refusal::Refusal;
use tickbound_timing::obligation::Obligation;

/// Most steps of one walk.
const MAX_STEPS: u64 = 200_000_000;
/// Most parameters of one walk, which is as deep as they are many.
const MAX_PARAMETERS: usize = 1000;
/// How many steps pass between two looks at whether to stop.
const PATIENCE: u64 = 1 << 14;

/// A walk over the choices of some parameters.
pub struct Walk<'o, 'p> {
    obligation: &'o Obligation<'p>,
    /// In increasing order.
    parameters: Vec<usize>,
    /// For each of them the conditions that can be decided once it has a value.
    conditions: Vec<Vec<&'o Condition>>,
    stop: &'o dyn Fn() -> bool,
    steps: u64,
}

/// What is called for each choice: the values of all slots, and for each parameter of the problem
/// the number of its value.
pub type Each<'e> = dyn FnMut(&[i64], &[u32]) -> Result<(), Refusal> + 'e;

impl<'o, 'p> Walk<'o, 'p> {
    /// A walk over the choices of these parameters, which are in increasing order; `stop` is asked
    /// now and then.
    pub fn new(
        obligation: &'o Obligation<'p>,
        parameters: &[usize],
        stop: &'o dyn Fn() -> bool,
    ) -> Walk<'o, 'p> {
        let mut conditions: Vec<Vec<&Condition>> = vec![Vec::new(); parameters.len() + 1];
        for condition in &obligation.conditions {
            let places = condition.parameters.iter().map(|p| parameters.binary_search(p));
            if let Ok(places) = places.collect::<Result<Vec<usize>, usize>>() {
                conditions[places.iter().max().map_or(0, |last| last + 1)].push(condition);
            }
        }
        Walk { obligation, parameters: parameters.to_vec(), conditions, stop, steps: 0 }
    }

    /// Calls `each` for every choice.
    ///
    /// # Errors
    /// Those of `each`, too many choices, or a stop.
    pub fn all(mut self, each: &mut Each<'_>) -> Result<(), Refusal> {
        if self.parameters.len() > MAX_PARAMETERS {
            return Err(Refusal::TooLarge("more parameters at once than can be looked at"));
        }
        let problem = self.obligation.problem;
        let mut env = problem.base_env();
        let mut indices = vec![0; problem.parameters.len()];
        match self.allowed(0, &env) {
            true => self.choose(0, &mut env, &mut indices, each),
            false => Ok(()),
        }
    }

    fn choose(
        &mut self,
        depth: usize,
        env: &mut Vec<i64>,
        indices: &mut Vec<u32>,
        each: &mut Each<'_>,
    ) -> Result<(), Refusal> {
        let Some(parameter) = self.parameters.get(depth).copied() else {
            return each(env, indices);
        };
        let obligation = self.obligation;
        for (index, value) in (0..).zip(&obligation.values[parameter]) {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(Refusal::TooLarge(
                    "more choices of a few parameters than can be looked at",
                ));
            }
            if self.steps.is_multiple_of(PATIENCE) && (self.stop)() {
                return Err(Refusal::Stopped);
            }
            env[obligation.problem.first_parameter() + parameter] = *value;
            indices[parameter] = index;
            if self.allowed(depth + 1, env) {
                self.choose(depth + 1, env, indices, each)?;
            }
        }
        Ok(())
    }

    /// True unless a condition is false. One without a value excludes nothing.
    fn allowed(&self, depth: usize, env: &[i64]) -> bool {
        let no = |c: &&Condition| c.outcome(self.obligation.problem, env) == Holds::No;
        !self.conditions[depth].iter().any(no)
    }
}
