//! Solutions in the order of their cost.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::TooWide;
use crate::limits::TableLimits;
use crate::relation::Relation;
use crate::tree::Tree;
use crate::weight::Least;

/// The solutions of a tree, those with the least cost first; see [`Tree::ascending`].
pub struct Ascending<'t, F> {
    tree: &'t Tree<Least>,
    /// Eliminated variables: the one that was eliminated last is chosen first.
    heap: BinaryHeap<Reverse<Begun>>,
    limits: TableLimits<'t>,
    /// The final cost for the values of the kept variables.
    final_cost: F,
    taken: usize,
}

/// Values for the kept variables and for some of the others.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Begun {
    /// No solution that begins like this costs less.
    bound: i64,
    /// Buckets that are still open: fewer are nearer to a solution.
    open: usize,
    values: Vec<u32>,
    /// The bound before `final_cost`.
    sum: Least,
}

impl Tree<Least> {
    /// The solutions with their costs, the least first. Where some variables were kept,
    /// `final_cost` computes the final cost for a combination of them (given as values of all
    /// variables, of which the others are 0); it must not decrease with the cost. Costs are lower
    /// bounds until a solution is complete, and exact then.
    ///
    /// # Errors
    /// Too many combinations of the kept variables.
    pub fn ascending<'t, F: Fn(&[u32], i64) -> i64>(
        &'t self,
        limits: &TableLimits<'t>,
        final_cost: F,
    ) -> Result<Ascending<'t, F>, TooWide> {
        Ok(self.ascending_from(&self.root(limits)?, limits, final_cost))
    }

    /// As [`Tree::ascending`], with the [root](Tree::root) of this tree. Each item is an error if
    /// there are too many beginnings of solutions to remember, or at a stop.
    pub fn ascending_from<'t, F: Fn(&[u32], i64) -> i64>(
        &'t self,
        root: &Relation<Least>,
        limits: &TableLimits<'t>,
        final_cost: F,
    ) -> Ascending<'t, F> {
        let mut values = vec![0; self.sizes.len()];
        let mut heap = BinaryHeap::with_capacity(root.len());
        for (key, sum) in root.rows() {
            root.scope.unpack(key, &mut values);
            let bound = final_cost(&values, sum.0);
            let (open, values) = (self.buckets.len(), values.clone());
            heap.push(Reverse(Begun { bound, open, values, sum: *sum }));
        }
        Ascending { tree: self, heap, limits: *limits, final_cost, taken: 0 }
    }

    /// Every way to go on in the bucket that was eliminated last among the open ones.
    fn continued(&self, begun: &Begun, mut each: impl FnMut(Vec<u32>, Least)) {
        let variable = self.buckets[begun.open - 1].variable;
        let mut values = begun.values.clone();
        let expected = self.expected_of(begun.open - 1, &values);
        for value in 0..self.sizes[variable] {
            values[variable] = value;
            if let Some(own) = self.own(begun.open - 1, &values) {
                each(values.clone(), replaced(begun.sum, expected, own));
            }
        }
    }
}

/// The sum with what was expected of a bucket replaced by the cost of a value.
pub(crate) fn replaced(sum: Least, expected: Least, own: Least) -> Least {
    if sum == Least::FAILS || own == Least::FAILS {
        return if own == Least::FAILS || expected != Least::FAILS { Least::FAILS } else { own };
    }
    // Beyond 63 bits stays there.
    if sum.0 == i64::MAX || own.0 == i64::MAX {
        return Least(i64::MAX);
    }
    Least(sum.0.saturating_sub(expected.0).saturating_add(own.0))
}

impl<F: Fn(&[u32], i64) -> i64> Iterator for Ascending<'_, F> {
    type Item = Result<(i64, Vec<u32>), TooWide>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Reverse(begun) = self.heap.pop()?;
            if begun.open == 0 {
                return Some(Ok((begun.bound, begun.values)));
            }
            self.taken += 1;
            if self.taken.is_multiple_of(1024) && (self.limits.stop)() {
                return Some(Err(TooWide::Stopped));
            }
            if self.heap.len() > self.limits.rows {
                return Some(Err(TooWide::Rows(self.limits.rows)));
            }
            let (heap, final_cost) = (&mut self.heap, &self.final_cost);
            self.tree.continued(&begun, |values, sum| {
                // A divided join may expect more than what is true of the parts together; the bound
                // never falls.
                let bound = final_cost(&values, sum.0).max(begun.bound);
                heap.push(Reverse(Begun { bound, open: begun.open - 1, values, sum }));
            });
        }
    }
}
