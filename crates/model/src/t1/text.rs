//! Expressions as T1 files write them.

use crate::ModelError;
use tickbound_expr::Expr;
use tickbound_expr::parse::parse;

/// The problem's size along a dimension, as expressions name it.
pub(super) fn size_name(dimension: usize) -> String {
    format!("problem_size_{dimension}")
}

/// An expression of a T1 file; `ProblemSize[0]` has its own name in ours.
pub(super) fn expression(at: &str, text: &str) -> Result<Expr<String>, ModelError> {
    let mut text = text.to_owned();
    for d in 0..3 {
        text = text.replace(&format!("ProblemSize[{d}]"), &size_name(d));
    }
    parse(&text).map_err(|e| ModelError::new(at, e.to_string(), ""))
}
