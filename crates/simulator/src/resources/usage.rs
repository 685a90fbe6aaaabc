//! What a configuration uses of a device: the values of its usage.

use tickbound_expr::{EvalError, Expr};
use tickbound_model::usage::Usage;
use tickbound_model::{Bound, Problem};

use super::number::Int;
use crate::error::SimulateError;

/// What a configuration uses, in the order of [`Usage::NAMES`].
///
/// # Errors
/// A usage without a value or below 0.
pub fn used(problem: &Problem, bound: &Bound) -> Result<Vec<i64>, SimulateError> {
    used_of(problem, problem.usage(), bound)
}

/// The same of another usage of the problem's, such as that of one of its lines.
pub fn used_of(problem: &Problem, usage: &Usage, bound: &Bound) -> Result<Vec<i64>, SimulateError> {
    let Values(values) = Values::new(problem, usage, &bound.env)?;
    Ok(values.into_iter().filter_map(|(_, value)| value.0).collect())
}

pub(super) struct Values(pub Vec<(&'static str, Int)>);

impl Values {
    pub fn new(problem: &Problem, usage: &Usage, env: &[i64]) -> Result<Values, SimulateError> {
        // Numbers that are too large are the problem's; the counting is not wrong then.
        let fault = |name: &str, what: String, of_count: bool| -> SimulateError {
            let at = format!("usage.{name}");
            match of_count && problem.counts_usage(name) {
                true => SimulateError::Counts(at, what, problem.describe(env)),
                false => problem.fault(&at, &what, env).into(),
            }
        };
        let value = |(name, expr): (&'static str, &Expr)| match expr.eval(env) {
            Err(e) => Err(fault(name, e.to_string(), e != EvalError::Overflow)),
            Ok(n) if n < 0 => Err(fault(name, format!("{n} is negative"), true)),
            Ok(n) => Ok((name, n.into())),
        };
        usage.entries().map(value).collect::<Result<_, _>>().map(Values)
    }

    pub fn get(&self, name: &str) -> Int {
        self.0.iter().find(|(n, _)| *n == name).map_or(Int(None), |(_, value)| *value)
    }
}
