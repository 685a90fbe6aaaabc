//! How long a kernel takes, from several runs.
//!
//! Run times are not normally distributed: they have a floor, a long tail, and often two humps. So
//! the time of a kernel is the *median* of its runs, and its uncertainty is a confidence interval
//! that assumes nothing about the distribution but independent runs: of `n` runs in increasing
//! order, the median lies between the `l`-th least and the `l`-th greatest with probability `1 - 2
//! P(B <= l - 1)`, where B is the number of heads of `n` fair coins (H. A. David, H. N. Nagaraja,
//! *Order Statistics*, 3rd ed. 2003, section 7.1; recommended for run times by T. Hoefler, R.
//! Belli, *Scientific Benchmarking of Parallel Computing Systems*, SC 2015, and by J.-Y. Le Boudec,
//! *Performance Evaluation of Computer and Communication Systems*, 2010, theorem 2.1). We take the
//! narrowest such interval with at least 95 %; it takes 6 runs.
//!
//! The *spread* is half the interval's width over the median. Runs go on until it is at most
//! [`SampleRule::spread`]. As the rule looks more than once, the confidence is a little below 95 %;
//! it looks only when the number of runs has grown by two fifths, at most nine times.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Fewest runs that have an interval at all.
const LEAST: usize = 6;
/// Probability that the interval misses the median, at most.
const MISS: f64 = 0.05;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SampleRule {
    /// Runs before those that count, the one whose output is checked among them; at least 1.
    pub warm_up: usize,
    /// Seconds for which the device has had work by then: devices then raise their clock rate.
    pub warm_seconds: f64,
    /// Fewest runs that count.
    pub least: usize,
    /// Most runs that count.
    pub most: usize,
    /// The spread that is small enough, as a fraction.
    pub spread: f64,
    /// Seconds from the start of compiling after which no run may end; one is made in any case.
    pub seconds: f64,
}

impl Default for SampleRule {
    fn default() -> Self {
        SampleRule {
            warm_up: 2,
            warm_seconds: 0.05,
            least: 7,
            most: 100,
            spread: 0.02,
            seconds: 5.0,
        }
    }
}

impl SampleRule {
    /// [`SampleRule::warm_seconds`] as a length of time; none if it is not one.
    pub fn warming(&self) -> Duration {
        Duration::try_from_secs_f64(self.warm_seconds).unwrap_or_default()
    }

    /// Whether these runs are enough.
    pub fn enough(&self, runs: &[f64]) -> bool {
        let n = runs.len();
        n >= self.most
            || (n >= self.least && looks(self.least).any(|look| look == n) && self.steady(runs))
    }

    /// Whether the median is known well enough.
    pub fn steady(&self, runs: &[f64]) -> bool {
        runs.len() >= self.least && spread(runs).is_some_and(|s| s <= self.spread)
    }
}

/// Numbers of runs at which the rule looks.
fn looks(least: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(least.max(1)), |n| Some(n + (n * 2).div_ceil(5)))
        .take_while(|n| *n < 1 << 20)
}

fn sorted(runs: &[f64]) -> Vec<f64> {
    let mut runs = runs.to_vec();
    runs.sort_by(f64::total_cmp);
    runs
}

/// The median; nothing of no runs.
pub fn median(runs: &[f64]) -> Option<f64> {
    let runs = sorted(runs);
    let middle = runs.len() / 2;
    match runs.len() {
        0 => None,
        n if n % 2 == 1 => Some(runs[middle]),
        _ => Some((runs[middle - 1] + runs[middle]) / 2.0),
    }
}

/// The interval that has the median with at least 95 %; nothing of fewer than 6 runs.
pub fn interval(runs: &[f64]) -> Option<(f64, f64)> {
    interval_missing(runs, MISS)
}

/// The interval that misses the median with at most this probability; nothing for too few runs.
pub fn interval_missing(runs: &[f64], miss: f64) -> Option<(f64, f64)> {
    let l = rank(runs.len(), miss)?;
    let runs = sorted(runs);
    Some((runs[l - 1], runs[runs.len() - l]))
}

/// Half the interval's width over the median; nothing where there is no interval.
pub fn spread(runs: &[f64]) -> Option<f64> {
    let ((low, high), median) = (interval(runs)?, median(runs)?);
    Some(if high > low { (high - low) / 2.0 / median } else { 0.0 })
}

/// The greatest `l` for which the `l`-th least and greatest of `n` runs are far enough apart.
fn rank(n: usize, miss: f64) -> Option<usize> {
    if n < LEAST {
        return None;
    }
    // P(B = 0), P(B = 1), ... of n coins, in logarithms as 2^-n is too small for many runs.
    let mut log = -(n as f64) * std::f64::consts::LN_2;
    let (mut below, mut l) = (0.0, 0);
    while l < n.div_ceil(2) {
        below += log.exp();
        if 2.0 * below > miss {
            break;
        }
        log += ((n - l) as f64 / (l + 1) as f64).ln();
        l += 1;
    }
    (l > 0).then_some(l)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 2^n outcomes of n coins, those with fewer than l heads; n is at most 120.
    fn fewer(n: u32, l: u32) -> u128 {
        let step = |binomial: u128, k: u32| binomial * u128::from(n - k) / u128::from(k + 1);
        let binomials = (0..l).scan(1u128, |binomial, k| {
            let this = *binomial;
            *binomial = step(this, k);
            Some(this)
        });
        binomials.sum()
    }

    #[test]
    fn ranks_are_the_greatest_that_miss_at_most_one_in_twenty() {
        assert_eq!((fewer(5, 3), fewer(100, 1)), (16, 1));
        for n in 1..=100u32 {
            let misses_seldom = |l: u32| 40 * fewer(n, l) <= 1 << n;
            let greatest = (1..=n / 2).take_while(|l| misses_seldom(*l)).last();
            assert_eq!(rank(n as usize, MISS).map(|l| l as u32), greatest, "{n} runs");
        }
        let ranks = [5, 6, 9, 100].map(|n| rank(n, MISS));
        assert_eq!(ranks, [None, Some(1), Some(2), Some(40)]);
        // With 99 %: 8 runs are the fewest; of 31 the interval is from the 8th to the 24th.
        assert_eq!([7, 8, 31].map(|n| rank(n, 0.01)), [None, Some(1), Some(8)]);
    }

    #[test]
    fn median_interval_and_spread() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        let nine = [5.0, 1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0];
        assert_eq!(interval(&nine), Some((2.0, 8.0)));
        assert_eq!(spread(&nine), Some(0.6));
        assert_eq!(spread(&nine[..5]), None);
        assert_eq!(spread(&[0.0; 7]), Some(0.0));
    }

    #[test]
    fn runs_go_on_until_the_spread_is_small() {
        let rule = SampleRule { most: 20, ..SampleRule::default() };
        assert!(!rule.enough(&[1.0; 6]));
        assert!(rule.enough(&[1.0; 7]));
        let wild: Vec<f64> = (1..=20).map(f64::from).collect();
        assert!(!rule.enough(&wild[..19]));
        assert!(rule.enough(&wild) && !rule.steady(&wild));
        // 8 runs are no number at which it looks; 10 are.
        assert!(!rule.enough(&[1.0; 8]));
        assert!(rule.enough(&[1.0; 10]));
    }

    #[test]
    fn the_rule_looks_at_most_nine_times() {
        let rule = SampleRule::default();
        let looks: Vec<usize> = looks(rule.least).take_while(|n| *n <= rule.most).collect();
        assert_eq!(looks, [7, 10, 14, 20, 28, 40, 56, 79]);
    }
}
