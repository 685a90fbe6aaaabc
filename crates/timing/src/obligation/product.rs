//! A product of the run time's sum: how often something happens, times how long it takes.
//!
//! In go expressions over the parameters; out come their ticks for values, or why there are none.

use tickbound_expr::Expr;
use tickbound_model::ModelError;

use crate::chain::Chain;
use crate::obligation::phase::PhaseWork;

/// Factors in the order in which an item reaches them: what follows a 0 need not have a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TimeProduct {
    /// The statement, for messages.
    pub at: String,
    /// The factors.
    pub factors: Vec<Factor>,
}

/// One factor of a product.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Factor {
    /// How often something is repeated; below 0 is not at all.
    Count(Expr),
    /// 1 where the condition comes out so, else 0.
    Guard(Expr, bool),
    /// An amount; below 0 is a fault of the problem.
    Amount(Expr),
    /// What the slowest element does between two barriers.
    Phase(Box<PhaseWork>),
    /// What the launch takes under the profile `resources`.
    Chain(Box<Chain>),
}

/// Why there is no obligation, or a part of it has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObligationError {
    /// The problem is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The time of this problem is not such a sum: where, and what stands there.
    #[error("{0}: {1}")]
    Uncovered(String, &'static str),
    /// An expression has no value for some choice, or one beyond 127 bits: which, and why.
    #[error("{0}: {1}")]
    NoValue(String, String),
}

/// The error for what is not covered.
///
/// # Errors
/// Always: [`ObligationError::Uncovered`].
pub fn uncovered<T>(at: &str, what: &'static str) -> Result<T, ObligationError> {
    Err(ObligationError::Uncovered(at.to_owned(), what))
}

impl TimeProduct {
    /// The error for a product without a value.
    pub fn no_value(&self, what: impl ToString) -> ObligationError {
        ObligationError::NoValue(self.at.clone(), what.to_string())
    }

    /// Its ticks for the values in `env`.
    ///
    /// # Errors
    /// A factor without a value, an amount below 0, or a number beyond 127 bits.
    pub fn value(&self, env: &[i64]) -> Result<i128, ObligationError> {
        let mut product = 1i128;
        for factor in &self.factors {
            let value = factor.value(env).map_err(|what| self.no_value(what))?;
            product = product.checked_mul(value).ok_or_else(|| self.no_value("beyond 127 bits"))?;
            if product == 0 {
                break;
            }
        }
        Ok(product)
    }
}

impl Factor {
    /// Its value for the values in `env`.
    ///
    /// # Errors
    /// Why it has none.
    pub fn value(&self, env: &[i64]) -> Result<i128, String> {
        let value = |e: &Expr| e.eval(env).map_err(|e| e.to_string());
        Ok(match self {
            Factor::Count(e) => value(e)?.max(0).into(),
            Factor::Guard(e, holds) => i128::from((value(e)? != 0) == *holds),
            Factor::Amount(e) => match value(e)? {
                n if n < 0 => return Err("an amount below 0".to_owned()),
                n => n.into(),
            },
            Factor::Phase(phase) => phase.value(env).map_err(|e| e.to_string())?,
            Factor::Chain(chain) => chain.value(env).map_err(|e| e.what)?.into(),
        })
    }

    /// What it is made of.
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            Factor::Count(e) | Factor::Guard(e, _) | Factor::Amount(e) => vec![e],
            Factor::Phase(phase) => phase.expressions().collect(),
            Factor::Chain(chain) => chain.steps().iter().map(|step| &step.of.expr).collect(),
        }
    }
}
