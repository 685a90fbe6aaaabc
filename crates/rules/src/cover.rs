//! The fewest variants that are good enough at every size.

use itertools::Itertools;

/// Variants by their places such that each size has one whose loss is at most `most`, or `None` if
/// there are none. `losses[v][s]` is the loss of variant `v` at size `s`; `None`: not valid.
///
/// In each step the variant is taken that is good enough at most of the sizes that are left; of
/// several the one that is at most sizes of all, then the first. On the spaces that were examined
/// this is the least number (55 of 55, `docs/rules.md`); in general it may be more.
pub(crate) fn cover(losses: &[&[Option<u64>]], sizes: usize, most: u64) -> Option<Vec<usize>> {
    let good = |v: usize, s: usize| losses[v][s].is_some_and(|loss| loss <= most);
    let mut left: Vec<usize> = (0..sizes).collect();
    let served: Vec<usize> =
        (0..losses.len()).map(|v| left.iter().filter(|s| good(v, **s)).count()).collect();
    let mut taken = Vec::new();
    while !left.is_empty() {
        let gain = |v: usize| left.iter().filter(|s| good(v, **s)).count();
        let best = (0..losses.len()).max_by_key(|v| (gain(*v), served[*v], usize::MAX - v))?;
        if gain(best) == 0 {
            return None;
        }
        left.retain(|s| !good(best, *s));
        taken.push(best);
    }
    Some(taken)
}

/// The least loss for which [`cover`] takes at most `variants`, and these; `None` if there is none.
pub(crate) fn least_loss(
    losses: &[&[Option<u64>]],
    sizes: usize,
    variants: usize,
) -> Option<(u64, Vec<usize>)> {
    let levels = losses.iter().copied().flatten().flatten().copied();
    let levels: Vec<u64> = levels.sorted_unstable().dedup().collect();
    let fits = |most: u64| cover(losses, sizes, most).filter(|taken| taken.len() <= variants);
    // More loss never needs more variants in an exact cover; a greedy one is tried as if so.
    let (mut low, mut high) = (0, levels.len().checked_sub(1)?);
    fits(levels[high])?;
    while low < high {
        let middle = low + (high - low) / 2;
        match fits(levels[middle]) {
            Some(_) => high = middle,
            None => low = middle + 1,
        }
    }
    Some((levels[low], fits(levels[low])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_covers() {
        let losses: [&[Option<u64>]; 3] = [
            &[Some(0), Some(50), None, Some(90)],
            &[Some(70), Some(0), Some(10), Some(60)],
            &[Some(80), None, Some(0), Some(0)],
        ];
        assert_eq!(cover(&losses, 4, 100), Some(vec![1]));
        assert_eq!(cover(&losses, 4, 65), Some(vec![1, 0]));
        assert_eq!(cover(&losses, 4, 10), Some(vec![1, 2, 0]));
        assert_eq!(cover(&losses[..1], 4, 100), None);
        assert_eq!(cover(&losses, 0, 0), Some(vec![]));
        assert_eq!(least_loss(&losses, 4, 1), Some((70, vec![1])));
        assert_eq!(least_loss(&losses, 4, 2), Some((50, vec![0, 2])));
        assert_eq!(least_loss(&losses, 4, 3), Some((0, vec![2, 0, 1])));
        assert_eq!(least_loss(&losses[..1], 4, 9), None);
    }
}
