//! What the messages of a tree say of solutions of which only the beginning is known.
//!
//! Variables come in the [order](Tree::order) in which [`Tree::ascending`] chooses them: the kept
//! ones, then those that were eliminated, the last one first. For each number of them the tree
//! knows what no solution undercuts that goes on from there.

use crate::ascend::replaced;
use crate::relation::Relation;
use crate::tree::Tree;
use crate::weight::{Least, Weight};

impl Tree<Least> {
    /// The kept variables, then the others, the one that was eliminated last first.
    pub fn order(&self) -> Vec<usize> {
        let eliminated = self.buckets.iter().rev().map(|b| b.variable);
        self.kept.iter().copied().chain(eliminated).collect()
    }

    /// The least sum, by the messages, of solutions that have these values in the first
    /// `decided` variables of the order, all kept ones among them, and one of `next` in the
    /// variable after them; `None` if there is no such solution. The [root](Tree::root) is that of
    /// this tree; `values` are of all variables, and what stands behind the decided ones is written
    /// over.
    pub fn least_from(
        &self,
        root: &Relation<Least>,
        values: &mut [u32],
        decided: usize,
        next: &[u32],
    ) -> Option<Least> {
        let mut sum = *root.at(values)?;
        let eliminated = decided.checked_sub(self.kept.len())?;
        for bucket in (0..self.buckets.len()).rev().take(eliminated) {
            let own = self.own(bucket, values)?;
            sum = replaced(sum, self.expected_of(bucket, values), own);
        }
        let Some(bucket) = self.buckets.len().checked_sub(eliminated + 1) else { return Some(sum) };
        let variable = self.buckets[bucket].variable;
        if next.len() == self.sizes[variable] as usize {
            return Some(sum);
        }
        let expected = self.expected_of(bucket, values);
        let each = next.iter().filter_map(|value| {
            values[variable] = *value;
            self.own(bucket, values).map(|own| replaced(sum, expected, own))
        });
        each.min()
    }

    /// What the relations of a bucket come to; `None` if they exclude its value.
    pub(crate) fn own(&self, bucket: usize, values: &[u32]) -> Option<Least> {
        let relations = self.buckets[bucket].groups.iter().flat_map(|g| &g.relations);
        let mut weights = relations.map(|r| self.relations[*r].at(values));
        weights.try_fold(Least(0), |sum, w| Some(sum.times(w?)))
    }

    /// The value of a bucket by its messages.
    pub(crate) fn expected_of(&self, bucket: usize, values: &[u32]) -> Least {
        let messages =
            self.buckets[bucket].groups.iter().map(|g| self.relations[g.message].at(values));
        messages.fold(Least(0), |sum, m| sum.times(&m.copied().unwrap_or(Least(0))))
    }
}
