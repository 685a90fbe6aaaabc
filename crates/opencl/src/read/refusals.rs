//! Loops that are refused, and why.

use super::Reader;
use super::form::Loop;
use super::nodes::{KernelNode, first_mention};
use super::symbolic::Leaf;
use crate::ast::SourcePlace;
use crate::error::ReadError;

/// Most iterations of a loop that are walked one by one.
pub const MOST_ITERATIONS: i64 = 64;

impl<'a> Reader<'a> {
    /// The iterations of a loop are not known, because of data or for another reason.
    pub fn unbounded(&self, l: &Loop<'a>, on_data: bool) -> ReadError {
        ReadError::Unbounded { at: l.at.clone(), key: self.key(l.test), on_data }
    }

    /// The iterations of a loop differ, and there may be too many of them.
    pub fn iterations_differ(
        &self,
        at: &SourcePlace,
        nodes: &[KernelNode],
        iteration: Leaf,
    ) -> ReadError {
        let first = first_mention(&self.terms, nodes, iteration);
        // A loop that was cut differs by what it was cut for.
        let (inner, branch) = first.map_or((at, false), |(inner, branch)| {
            self.cuts.get(inner).map_or((inner, branch), |(by, branch)| (by, *branch))
        });
        ReadError::Differing { at: at.clone(), line: inner.line, branch, most: MOST_ITERATIONS }
    }
}

/// There may be too many iterations to walk them one by one.
pub fn too_many_iterations(at: &SourcePlace) -> ReadError {
    ReadError::at(
        at,
        format!(
            "the loop's iterations differ, and there may be more than {MOST_ITERATIONS} of them"
        ),
        "bound its parameters",
    )
}
