//! What is stored, and what has to hold so that it is.

use std::rc::Rc;

use indexmap::IndexMap;

use super::super::symbolic::{Leaf, Poly};
use super::formula::FormulaId;

/// What has to hold so that a statement is executed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Guard {
    /// A condition, that of a side of a branch.
    Side(Poly),
    /// A loop has an iteration.
    Loop(Leaf),
}

/// Guards by their numbers, each with that of the first branch that it is a side of.
pub type Guards = IndexMap<Guard, u32>;

/// The number of a guard, which is a side of the branch with this number.
pub fn number(guards: &mut Guards, guard: Guard, branch: u32) -> u32 {
    let entry = guards.entry(guard);
    let number = u32::try_from(entry.index()).unwrap_or(0);
    entry.or_insert(branch);
    number
}

#[derive(Debug, Clone)]
pub struct StoredValue {
    pub array: Rc<str>,
    pub offset: Poly,
    /// What is stored, and what decides whether and where it is.
    pub values: Vec<FormulaId>,
    /// The loops around, outer ones first.
    pub loops: Vec<Leaf>,
    /// Numbers of the guards around, outer ones first.
    pub path: Vec<u32>,
    /// How many barriers stand before it.
    pub barriers: u32,
}

/// In the number of a guard: it has to hold for some item of the group.
pub const SOME_ITEM: u32 = 1 << 31;

/// Whether two paths take different sides of a branch.
pub(super) fn exclusive(guards: &Guards, a: &[u32], b: &[u32]) -> bool {
    a.iter().any(|x| b.iter().any(|y| are_sides(guards, *x, *y)))
}

/// Whether two guards are the sides of one branch.
pub(super) fn are_sides(guards: &Guards, a: u32, b: u32) -> bool {
    let side = |number: u32| match guards.get_index((number & !SOME_ITEM) as usize) {
        Some((Guard::Side(_), branch)) => Some(*branch),
        _ => None,
    };
    a != b && side(a).is_some() && side(a) == side(b)
}
