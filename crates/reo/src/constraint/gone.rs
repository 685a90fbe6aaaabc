//! What is taken out of constraints.

use super::{Constraint, Term};
use crate::symbol::{Cell, Name};

/// What nobody sees any more. Both lists are sorted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gone<'a> {
    /// Names whose datum is taken out.
    pub names: &'a [Name],
    /// Cells whose value after the step is taken out: nothing reads it.
    pub cells: &'a [Cell],
}

impl Gone<'_> {
    /// Whether a constraint mentions anything of it.
    pub fn touches(&self, constraint: &Constraint) -> bool {
        let mut touched = false;
        constraint.visit(|leaf| touched |= !matches!(leaf, Term::Some(_)) && self.takes(leaf));
        touched
    }

    pub(super) fn takes(&self, leaf: &Term) -> bool {
        match leaf {
            Term::Datum(name) => self.names.binary_search(name).is_ok(),
            Term::After(cell) => self.cells.binary_search(cell).is_ok(),
            Term::Some(_) => true,
            Term::Constant(_) | Term::Before(_) | Term::Call(..) => false,
        }
    }
}
