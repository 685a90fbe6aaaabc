//! What is stored, what has to hold so that it is, and sets of executions in which something is
//! needed.

use std::collections::{BTreeSet, HashMap};
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
fn are_sides(guards: &Guards, a: u32, b: u32) -> bool {
    let side = |number: u32| match guards.get_index((number & !SOME_ITEM) as usize) {
        Some((Guard::Side(_), branch)) => Some(*branch),
        _ => None,
    };
    a != b && side(a).is_some() && side(a) == side(b)
}

/// All formulas that are needed: components that are at least, and a few ways in which they are.
pub type Needs = HashMap<FormulaId, Vec<(u8, Way)>>;

/// Executions of a formula that are needed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Way {
    /// Loops of which only one iteration is known to be needed.
    pub once: BTreeSet<Leaf>,
    /// Those of `once` whose loop has been left: an offset may say which iteration it was.
    pub left: BTreeSet<Leaf>,
    /// Loops of which the last iteration is not known to be needed.
    pub short: BTreeSet<Leaf>,
    /// Numbers of guards that have to hold.
    pub path: BTreeSet<u32>,
    /// Numbers of guards that loops have an iteration, which conditions do not count.
    pub runs: BTreeSet<u32>,
    /// Loops after which the same is needed of what their last iteration has made of a variable.
    pub last: BTreeSet<(Leaf, FormulaId)>,
}

impl Way {
    /// Whether it has all executions of another one, also where an offset gives the
    /// iteration.
    pub fn covers(&self, other: &Way) -> bool {
        let left = |leaf| !other.left.contains(leaf) || self.left.contains(leaf);
        self.once.is_subset(&other.once)
            && self.once.iter().all(left)
            && self.short.is_subset(&other.short)
            && self.path.is_subset(&other.path)
            && self.runs.is_subset(&other.runs)
            && self.last.is_superset(&other.last)
    }

    /// The same where as many iterations of `of` are needed as of `other`; without one, only one.
    pub fn moved(mut self, of: Leaf, other: Option<Leaf>) -> Way {
        self.left.remove(&of);
        match other.is_some_and(|other| other == of || !self.once.contains(&other)) {
            true => self.once.remove(&of),
            false => self.once.insert(of),
        };
        self
    }

    /// What two ways are together that differ in the side of a branch.
    pub fn with_other_side(&self, b: &Way, guards: &Guards) -> Option<Way> {
        let a = self;
        let mut only = a.path.symmetric_difference(&b.path);
        let (Some(x), Some(y), None) = (only.next(), only.next(), only.next()) else { return None };
        let sides = a.path.contains(x) != a.path.contains(y) && are_sides(guards, *x, *y);
        sides.then(|| Way {
            once: a.once.union(&b.once).copied().collect(),
            left: a.left.intersection(&b.left).copied().collect(),
            short: a.short.union(&b.short).copied().collect(),
            path: a.path.intersection(&b.path).copied().collect(),
            runs: a.runs.union(&b.runs).copied().collect(),
            last: a.last.intersection(&b.last).copied().collect(),
        })
    }
}
