//! Which configurations are measured: all, the model's best, or a random sample.

use std::sync::atomic::AtomicBool;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use tickbound_model::{Bound, Problem, Space};

use tickbound_solve::{Options, SolveError, Strategy, tune};

/// Which configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// So many of the best by the model.
    Top(usize),
    /// So many, chosen at random.
    Sample {
        /// How many.
        count: usize,
        /// The same seed chooses the same ones.
        seed: u64,
    },
}

/// The configurations of a selection, in the order in which they are measured: the model's best
/// first for [`Selection::Top`], else in the space's order.
///
/// # Errors
/// The problem cannot be searched.
pub fn select(
    problem: &Problem,
    space: Space,
    selection: Selection,
    interrupt: &AtomicBool,
) -> Result<Vec<Bound>, SolveError> {
    match selection {
        Selection::All => Ok(space.bound),
        Selection::Sample { count, seed } => {
            let chosen = sample(space.bound.len(), count, seed);
            let mut chosen = chosen.into_iter().peekable();
            let bound = space.bound.into_iter().enumerate();
            Ok(bound.filter(|(i, _)| chosen.next_if_eq(i).is_some()).map(|(_, b)| b).collect())
        }
        Selection::Top(count) => {
            let options =
                Options { strategy: Strategy::Enumerate, top: count, ..Options::default() };
            let result = tune(problem, &options, interrupt, &|_| {})?;
            let find = |found: &tickbound_model::verdict::Found| {
                space.bound.iter().find(|b| b.configuration == found.configuration).cloned()
            };
            Ok(result.optima.iter().take(count).filter_map(find).collect())
        }
    }
}

/// `count` different numbers below `total`, in increasing order: each set of as many is as likely as
/// another, as far as 64 random bits a choice allow (R. W. Floyd's algorithm; J. Bentley, *Programming
/// Pearls*, CACM 30(9), 1987).
fn sample(total: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(key);
    let mut chosen = std::collections::BTreeSet::new();
    for next in total.saturating_sub(count)..total {
        let below = next as u128 + 1;
        let any = ((u128::from(random.next_u64()) * below) >> 64) as usize;
        if !chosen.insert(any) {
            chosen.insert(next);
        }
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples() {
        assert_eq!(sample(5, 9, 0), [0, 1, 2, 3, 4]);
        assert_eq!(sample(0, 3, 0), [0; 0]);
        assert_eq!(sample(1000, 3, 7), sample(1000, 3, 7));
        assert_ne!(sample(1000, 3, 7), sample(1000, 3, 8));
        let mut count = [0; 6];
        (0..3000).for_each(|seed| sample(6, 2, seed).into_iter().for_each(|i| count[i] += 1));
        assert!(count.iter().all(|n| (900..1100).contains(n)), "{count:?}");
    }
}
