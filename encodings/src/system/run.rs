//! Runs a system for one configuration: the encodings' own interpreter.
//!
//! It serves the tests, which compare it with the simulator, and counts the steps a
//! configuration needs, so that an unrolling is exactly as deep as it has to be. It is strict: a
//! value that no configuration was to read is carried along as unknown, and a run that needs it is
//! a [`InternalError`]. Systems with choices are run with all choices false, which is only
//! something where that satisfies the constraint.

use thiserror::Error;

use super::evaluate::{Algebra, SystemValues, evaluate};
use super::{ChoiceId, Ex, InternalError, System, TableId};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemRun {
    /// Steps until the goal held.
    pub steps: usize,
    /// The cost there, in ticks.
    pub cost: i64,
}

/// Why a run has no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SystemRunError {
    /// A value left 64 bits.
    #[error("a value of the transition system left 64 bits")]
    Overflow,
    /// The goal was not reached.
    #[error("the goal was not reached within {0} steps")]
    Steps(usize),
    /// The system is not one.
    #[error(transparent)]
    Fault(#[from] InternalError),
}

/// Runs `system` for the configuration with the given index, for at most `limit` steps.
///
/// # Errors
/// A value overflows, the limit is hit, or the run needs a value that is not there.
pub fn run(
    system: &System,
    configuration: usize,
    limit: usize,
) -> Result<SystemRun, SystemRunError> {
    SystemRunner::new(system).run(configuration, limit)
}

/// Runs one system for many configurations.
pub struct SystemRunner<'s> {
    system: &'s System,
    /// What the parameters alone decide.
    frozen: Vec<Ex>,
    /// What each step computes.
    moving: Vec<Ex>,
    values: SystemValues<Number, Truth>,
    range: (i64, i64),
}

impl<'s> SystemRunner<'s> {
    /// A runner that has not run anything yet.
    pub fn new(system: &'s System) -> SystemRunner<'s> {
        let is_frozen = system.frozen();
        let (frozen, moving) = system.live().into_iter().partition(|e| is_frozen[e.index()]);
        SystemRunner { system, frozen, moving, values: SystemValues::none(system), range: (0, 0) }
    }

    /// Expressions that one step computes.
    pub fn size(&self) -> usize {
        self.moving.len()
    }

    /// The least and greatest number of any node in the runs so far; 0 lies between them.
    pub fn range(&self) -> (i64, i64) {
        self.range
    }

    /// As [`run`].
    pub fn run(&mut self, configuration: usize, limit: usize) -> Result<SystemRun, SystemRunError> {
        let chosen = &self.system.configurations[configuration];
        let tables = self.system.tables.iter().map(|t| t.value(chosen)).collect();
        let mut numbers = Numbers { tables, range: self.range };
        let run = self.run_with(&mut numbers, limit);
        self.range = numbers.range;
        run
    }

    fn run_with(
        &mut self,
        numbers: &mut Numbers,
        limit: usize,
    ) -> Result<SystemRun, SystemRunError> {
        let SystemRunner { system, frozen, moving, values, .. } = self;
        evaluate(system, frozen, &[], numbers, values)?;
        let mut states: Vec<_> =
            system.states.iter().map(|s| values.get(s.init).copied()).collect::<Result<_, _>>()?;
        let unknown =
            |what: &str| InternalError(format!("{what} depends on a value that is not there"));
        for steps in 0..=limit {
            evaluate(system, moving, &states, numbers, values)?;
            if values.bool(system.goal)?.ok_or_else(|| unknown("the goal"))? {
                let cost = values.int(system.cost)?.ok_or_else(|| unknown("the cost"))?;
                return Ok(SystemRun { steps, cost });
            }
            for (state, value) in system.states.iter().zip(&mut states) {
                *value = *values.get(state.next)?;
            }
        }
        Err(SystemRunError::Steps(limit))
    }
}

/// Numbers, `None` where none is to be read. What depends on such a number is unknown itself,
/// but for a conjunction with something false and the like.
struct Numbers {
    tables: Vec<Option<i64>>,
    /// The least and the greatest number that came up. All others are one of those that came up.
    range: (i64, i64),
}

impl Numbers {
    #[inline]
    fn met(&mut self, number: Number) -> Number {
        if let Some(v) = number {
            self.range = (self.range.0.min(v), self.range.1.max(v));
        }
        number
    }
}

type Number = Option<i64>;
type Truth = Option<bool>;

impl Algebra for Numbers {
    type Int = Number;
    type Bool = Truth;
    type Error = SystemRunError;

    #[inline]
    fn int(&mut self, value: i64) -> Number {
        self.met(Some(value))
    }

    #[inline]
    fn bool(&mut self, value: bool) -> Truth {
        Some(value)
    }

    fn unread(&mut self) -> Number {
        None
    }

    #[inline]
    fn table(&mut self, table: TableId) -> Result<Number, SystemRunError> {
        Ok(self.met(self.tables[table.index()]))
    }

    fn choice(&mut self, _: ChoiceId) -> Result<Truth, SystemRunError> {
        Ok(Some(false))
    }

    #[inline]
    fn add(&mut self, a: &Number, b: &Number) -> Result<Number, SystemRunError> {
        let number =
            a.zip(*b).map(|(a, b)| a.checked_add(b).ok_or(SystemRunError::Overflow)).transpose()?;
        Ok(self.met(number))
    }

    #[inline]
    fn mul(&mut self, a: &Number, b: &Number) -> Result<Number, SystemRunError> {
        let number =
            a.zip(*b).map(|(a, b)| a.checked_mul(b).ok_or(SystemRunError::Overflow)).transpose()?;
        Ok(self.met(number))
    }

    #[inline]
    fn max(&mut self, a: &Number, b: &Number) -> Number {
        a.zip(*b).map(|(a, b)| a.max(b))
    }

    #[inline]
    fn equal(&mut self, a: &Number, b: &Number) -> Truth {
        a.zip(*b).map(|(a, b)| a == b)
    }

    #[inline]
    fn at_most(&mut self, a: &Number, b: &Number) -> Truth {
        a.zip(*b).map(|(a, b)| a <= b)
    }

    #[inline]
    fn not(&mut self, a: &Truth) -> Truth {
        a.map(|a| !a)
    }

    #[inline]
    fn junction(
        &mut self,
        items: impl Iterator<Item = Result<Truth, InternalError>>,
        conjunction: bool,
    ) -> Result<Truth, SystemRunError> {
        // One item that equals `decisive` settles it for any others.
        let decisive = !conjunction;
        let mut all = Some(!decisive);
        for item in items {
            match item? {
                Some(value) if value == decisive => return Ok(Some(decisive)),
                Some(_) => {}
                None => all = None,
            }
        }
        Ok(all)
    }

    #[inline]
    fn ite_int(&mut self, c: &Truth, a: &Number, b: &Number) -> Number {
        if a == b { *a } else { c.and_then(|c| if c { *a } else { *b }) }
    }

    #[inline]
    fn ite_bool(&mut self, c: &Truth, a: &Truth, b: &Truth) -> Truth {
        if a == b { *a } else { c.and_then(|c| if c { *a } else { *b }) }
    }
}
