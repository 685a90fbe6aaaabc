//! Which configurations are measured: all, the model's best, or a random sample.

use std::sync::atomic::AtomicBool;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use indexmap::IndexSet;
use tickbound_model::space::MAX_CONFIGURATIONS;
use tickbound_model::{Bound, Configuration, Configurations, Problem};

use tickbound_solve::{Options, SolveError, tune};

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
/// first for [`Selection::Top`], else in the space's order; drawn from a space too large to list, in the order of
/// the draws.
///
/// # Errors
/// The problem cannot be searched, or is too large to be measured whole.
pub fn select(
    problem: &Problem,
    configurations: &Configurations<'_>,
    selection: Selection,
    interrupt: &AtomicBool,
) -> Result<Vec<Bound>, SolveError> {
    match selection {
        Selection::All => Ok(problem.space()?.bound),
        Selection::Sample { count, seed } if total(configurations) > MAX_CONFIGURATIONS => {
            let drawn = drawn(configurations, count, seed);
            drawn.iter().map(|c| Ok(configurations.bind(c)?)).collect()
        }
        Selection::Sample { count, seed } => {
            let space = problem.space()?;
            let chosen = sample(space.bound.len(), count, seed);
            let mut chosen = chosen.into_iter().peekable();
            let bound = space.bound.into_iter().enumerate();
            Ok(bound.filter(|(i, _)| chosen.next_if_eq(i).is_some()).map(|(_, b)| b).collect())
        }
        Selection::Top(count) => {
            let options = Options { top: count, ..Options::default() };
            let result = tune(problem, &options, interrupt, &|_| {})?;
            let best = result.optima.iter().take(count);
            best.map(|found| Ok(configurations.bind(&found.configuration)?)).collect()
        }
    }
}

/// How many valid configurations there are; the greatest number if they were not counted, or are more.
#[must_use]
pub fn total(configurations: &Configurations<'_>) -> usize {
    configurations.count().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX)
}

fn seeded(seed: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// `count` different configurations of a space far larger, each as likely as another.
fn drawn(configurations: &Configurations<'_>, count: usize, seed: u64) -> IndexSet<Configuration> {
    let mut random = seeded(seed);
    let mut drawn = IndexSet::new();
    while drawn.len() < count {
        match configurations.random(&mut || random.next_u32()) {
            Some(configuration) => drawn.insert(configuration),
            // There are none, or they cannot be counted.
            None => break,
        };
    }
    drawn
}

/// `count` different numbers below `total`, in increasing order: each set of as many is as likely as
/// another, as far as 64 random bits a choice allow (R. W. Floyd's algorithm; J. Bentley, *Programming
/// Pearls*, CACM 30(9), 1987).
fn sample(total: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = seeded(seed);
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
