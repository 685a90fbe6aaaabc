//! What is taken out of constraints.

use super::{DataConstraint, DataTerm};
use crate::symbol::{Cell, NameId};

/// What is eliminated. Both lists are sorted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gone<'a> {
    /// Names whose datum is taken out.
    pub names: &'a [NameId],
    /// Cells whose value after the step is taken out: nothing reads it.
    pub cells: &'a [Cell],
}

impl Gone<'_> {
    /// Whether a constraint mentions anything of it.
    pub fn touches(&self, constraint: &DataConstraint) -> bool {
        let takes = |leaf: &DataTerm| !matches!(leaf, DataTerm::Some(_)) && self.takes(leaf);
        constraint.literals().iter().any(|literal| literal.has_leaf(takes))
    }

    pub(super) fn takes(&self, leaf: &DataTerm) -> bool {
        match leaf {
            DataTerm::Datum(name) => self.names.binary_search(name).is_ok(),
            DataTerm::After(cell) => self.cells.binary_search(cell).is_ok(),
            DataTerm::Some(_) => true,
            DataTerm::Constant(_) | DataTerm::Before(_) | DataTerm::Call(..) => false,
        }
    }
}
