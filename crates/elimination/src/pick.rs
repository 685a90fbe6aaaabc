//! Single solutions of a counted network: the k-th, so that a random number picks one fairly.

use num_bigint::BigUint;

use crate::tree::Tree;
use crate::weight::{SolutionCount, Weight};

impl<W: Weight> Tree<W> {
    /// Completes `values`, which hold a combination of the kept variables that the root has, to a
    /// solution; false if the tree is not exact and this choice leads nowhere.
    pub fn complete(&self, values: &mut [u32]) -> bool {
        self.buckets.iter().rev().all(|bucket| {
            let relations = bucket.groups.iter().flat_map(|g| &g.relations);
            (0..self.sizes[bucket.variable]).any(|value| {
                values[bucket.variable] = value;
                relations.clone().all(|r| self.relations[*r].at(values).is_some())
            })
        })
    }
}

impl Tree<SolutionCount> {
    /// The solution with this number, from 0, in an order that the tree fixes; `None` if there are
    /// not this many. Meant for trees that are exact and keep no variable.
    pub fn solution(&self, number: &BigUint) -> Option<Vec<u32>> {
        let total: BigUint = self.total()?.into();
        let mut number = number.clone();
        if number >= total {
            return None;
        }
        let mut values = vec![0; self.sizes.len()];
        // Messages to nowhere are factors of their own; their product is the total.
        let mut block = total;
        for bucket in self.buckets.iter().rev() {
            let groups = || bucket.groups.iter();
            let message = groups().try_fold(SolutionCount::Small(1), |product, g| {
                Some(product.times(self.relations[g.message].at(&values)?))
            })?;
            // Each way to go on in this bucket represents as many solutions of all the other open
            // buckets.
            block /= BigUint::from(message);
            let mut found = false;
            for value in 0..self.sizes[bucket.variable] {
                values[bucket.variable] = value;
                let mut weights =
                    groups().flat_map(|g| &g.relations).map(|r| self.relations[*r].at(&values));
                let ways =
                    weights.try_fold(SolutionCount::Small(1), |product, w| Some(product.times(w?)));
                let Some(ways) = ways.map(BigUint::from) else { continue };
                let here = &ways * &block;
                if number < here {
                    block = here;
                    found = true;
                    break;
                }
                number -= here;
            }
            if !found {
                return None;
            }
        }
        Some(values)
    }
}
