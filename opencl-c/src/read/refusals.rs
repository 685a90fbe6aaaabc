//! Loops that are refused, and why.

use super::nodes::{Node, first_mention};
use super::symbolic::{Leaf, Terms};
use crate::ast::At;
use crate::error::ReadError;

/// Most rounds of a loop that are walked one by one.
pub const MOST_ROUNDS: i64 = 64;

/// The rounds of a loop are not known.
pub fn unbounded(at: &At) -> ReadError {
    ReadError::Unbounded { at: at.clone() }
}

/// The rounds of a loop differ, and there may be too many of them.
pub fn rounds_differ(terms: &Terms, at: &At, nodes: &[Node], round: Leaf) -> ReadError {
    let (inner, branch) = first_mention(terms, nodes, round).unwrap_or((at, false));
    let line = inner.line;
    let fix = if branch {
        format!("add \"line {line}\": \"then\", \"else\" or \"both\" to kernel.branches")
    } else {
        format!("add \"line {line}\": BOUND to kernel.bounds in the problem file")
    };
    let what = format!(
        "line {line} depends on the round of this loop, which may have more than {MOST_ROUNDS} of them"
    );
    ReadError::at(at, what, fix)
}

/// There may be too many rounds to walk them one by one.
pub fn too_many_rounds(at: &At) -> ReadError {
    ReadError::at(
        at,
        format!("the loop's rounds differ, and there may be more than {MOST_ROUNDS} of them"),
        "bound its parameters",
    )
}
