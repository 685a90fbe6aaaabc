//! Expressions of a problem with their places, and why they have no value.

use tickbound_expr::Expr;

/// An expression and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LocatedExpr {
    /// The statement's path.
    pub at: String,
    /// The expression.
    pub expr: Expr,
}

/// Why a term has no value for a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermFault {
    /// The statement.
    pub at: String,
    /// What is wrong.
    pub what: String,
}

impl LocatedExpr {
    /// Its value; it may be negative.
    pub(crate) fn value(&self, env: &[i64]) -> Result<i64, TermFault> {
        let fault =
            |e: &dyn std::fmt::Display| TermFault { at: self.at.clone(), what: e.to_string() };
        self.expr.eval(env).map_err(|e| fault(&e))
    }

    /// Its value as ticks of work.
    pub(crate) fn work(&self, env: &[i64]) -> Result<i64, TermFault> {
        match self.value(env)? {
            v if v < 0 => {
                Err(TermFault { at: self.at.clone(), what: "a negative amount of work".into() })
            }
            v => Ok(v),
        }
    }
}
