//! Sets of executions in which something is needed.

use std::collections::{BTreeSet, HashMap};

use super::super::symbolic::Leaf;
use super::formula::FormulaId;
use super::stored::{Guards, are_sides};

/// All formulas that are needed: components that are at least, and a few ways in which they are.
pub type Needs = HashMap<FormulaId, Vec<(u8, Way)>>;

/// Executions of a formula that are needed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Way {
    /// Loops of which only one iteration is known to be needed.
    pub once: BTreeSet<Leaf>,
    /// Those of `once` whose loop has been left: an offset may say which iteration it was.
    pub left: BTreeSet<Leaf>,
    /// Loops of which the last iteration is not known to be needed.
    pub short: BTreeSet<Leaf>,
    /// Numbers of guards that have to hold.
    pub path: BTreeSet<u32>,
    /// Loops after which the same is needed of what their last iteration has made of a variable.
    pub last: BTreeSet<(Leaf, FormulaId)>,
}

impl Way {
    /// Whether it has all executions of another one.
    pub fn covers(&self, other: &Way) -> bool {
        self.once.is_subset(&other.once)
            && self.short.is_subset(&other.short)
            && self.path.is_subset(&other.path)
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
            last: a.last.intersection(&b.last).copied().collect(),
        })
    }
}
