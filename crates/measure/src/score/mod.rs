//! How well the model's ranking predicts measured times.
//!
//! In go pairs of the model's ticks and measured times; out come
//!
//! * *Spearman's rank correlation*: Pearson's correlation of the ranks, equal values having the
//!   mean of their ranks;
//! * *Kendall's tau-b*: `(C - D) / sqrt((P - Tx) (P - Ty))`, where of all P pairs of configurations
//!   C are ordered alike, D the other way round, Tx have equal ticks and Ty equal times (M. G.
//!   Kendall, *The treatment of ties in ranking problems*, Biometrika 33, 1945);
//! * the *fraction of the optimum* that the model's best k reach: the best measured time of all
//!   over the best measured time among them. Configurations that the model cannot distinguish may
//!   come in any order, so the latter is the mean over all orders of equal ticks ([`reached`]);
//! * the same for *distinct programs*, and how many measurements it takes until one is near the
//!   best ([`programs`]);
//! * what a random choice of k reaches: the same, as if all ticks were equal, so the mean is that
//!   over all choices.

mod correlation;
mod floor;
mod programs;
mod results;

pub use correlation::{kendall, spearman};
pub use floor::{FloorScore, floor_score};
pub use programs::{Programs, programs};
pub use results::{Results, ResultsError};

use serde::{Deserialize, Serialize};

/// Numbers of trials that are reported.
pub const TRIALS: [usize; 3] = [1, 10, 100];

/// How well a model ranks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// Configurations compared.
    pub entries: usize,
    /// Spearman's rank correlation; nothing if one side is all equal.
    pub spearman: Option<f64>,
    /// Kendall's tau-b; nothing if one side is all equal.
    pub kendall: Option<f64>,
    /// What some trials reach.
    pub reached: Vec<Reached>,
}

/// The fraction of the optimum that some trials reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reached {
    /// How many trials.
    pub trials: usize,
    /// This many of the model's best.
    pub model: f64,
    /// This many at random.
    pub random: f64,
}

/// Scores pairs of ticks and measured times above 0; nothing of no pairs.
pub fn score(pairs: &[(i64, f64)]) -> Option<Score> {
    if pairs.is_empty() {
        return None;
    }
    let ticks: Vec<f64> = pairs.iter().map(|(ticks, _)| *ticks as f64).collect();
    let times: Vec<f64> = pairs.iter().map(|(_, time)| *time).collect();
    let alike: Vec<(i64, f64)> = pairs.iter().map(|(_, time)| (0, *time)).collect();
    let reached = TRIALS.into_iter().filter(|trials| *trials <= pairs.len()).map(|trials| {
        Reached { trials, model: reached(pairs, trials), random: reached(&alike, trials) }
    });
    Some(Score {
        entries: pairs.len(),
        spearman: spearman(&ticks, &times),
        kendall: kendall(&ticks, &times),
        reached: reached.collect(),
    })
}

/// The fraction of the optimum that the `trials` configurations of least ticks reach: the best time
/// of all over the mean, over all orders of configurations with equal ticks, of the best time among
/// the first `trials`.
///
/// Let n of the trials be certain, because fewer ticks than the last one's are theirs, with best
/// time a; the other m are any m of the g configurations with the last one's ticks. Sorted by time,
/// `t_1 <= ... <= t_g`, the best of these m is `t_i` for `C(g - i, m - 1)` of `C(g, m)` choices, so
/// the mean is the sum of `C(g - i, m - 1) / C(g, m) * min(a, t_i)`, which is exact. With m = g
/// nothing is open.
pub fn reached(pairs: &[(i64, f64)], trials: usize) -> f64 {
    let best = pairs.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
    let mut pairs = pairs.to_vec();
    pairs.sort_by(|a, b| (a.0).cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let trials = trials.min(pairs.len());
    let Some(last) = trials.checked_sub(1).map(|i| pairs[i].0) else { return 0.0 };
    let certain = pairs.iter().take_while(|(ticks, _)| *ticks < last);
    let (n, a) = certain.fold((0, f64::INFINITY), |(n, a), (_, time)| (n + 1, a.min(*time)));
    let group: Vec<f64> =
        pairs[n..].iter().take_while(|(ticks, _)| *ticks == last).map(|(_, t)| *t).collect();
    let (g, m) = (group.len() as f64, (trials - n) as f64);
    // C(g - i, m - 1) / C(g, m), from one i to the next.
    let mut chance = m / g;
    let mut mean = 0.0;
    for (i, time) in group.iter().enumerate() {
        mean += chance * a.min(*time);
        let left = g - 1.0 - i as f64;
        chance *= if left > 0.0 { ((left - m + 1.0) / left).max(0.0) } else { 0.0 };
    }
    best / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reached_by_hand() {
        // Ticks tell all apart: the first is 2 / 3, the first two have the best.
        let apart = [(1, 3.0), (2, 2.0), (3, 4.0)];
        assert!((reached(&apart, 1) - 2.0 / 3.0).abs() < 1e-12);
        assert!((reached(&apart, 2) - 1.0).abs() < 1e-12);
        // Two are equal in front, 1.5 on average; with both nothing is open.
        let tied = [(1, 1.0), (1, 2.0), (2, 5.0)];
        assert!((reached(&tied, 1) - 1.0 / 1.5).abs() < 1e-12);
        assert!((reached(&tied, 2) - 1.0).abs() < 1e-12);
        assert!((reached(&tied, 9) - 1.0).abs() < 1e-12);
        // One is certain, two of three others: of 3 choices, 2 have the 1.
        let mixed = [(0, 4.0), (1, 1.0), (1, 2.0), (1, 8.0)];
        let by_hand = 3.0 / (1.0 + 1.0 + 2.0);
        assert!((reached(&mixed, 3) - by_hand).abs() < 1e-12);
    }

    /// All subsets of a few, counted one by one.
    #[test]
    fn random_choice_by_counting() {
        let times = [3.0, 1.0, 2.0, 5.0, 2.5, 9.0];
        let pairs: Vec<(i64, f64)> = times.iter().map(|t| (0, *t)).collect();
        for k in 1..=6u32 {
            let chosen = (0u32..64).filter(|set| set.count_ones() == k);
            let best = |set: u32| {
                let of_set = (0..6).filter(|i| set >> i & 1 == 1).map(|i| times[i]);
                of_set.fold(f64::INFINITY, f64::min)
            };
            let best: Vec<f64> = chosen.map(best).collect();
            let mean = best.iter().sum::<f64>() / best.len() as f64;
            assert!((reached(&pairs, k as usize) - 1.0 / mean).abs() < 1e-12, "{k}");
        }
    }

    #[test]
    fn a_perfect_and_a_useless_model() {
        let perfect: Vec<(i64, f64)> = (1..=20).map(|i| (i, i as f64 / 7.0)).collect();
        let score = score(&perfect).unwrap();
        assert_eq!((score.spearman, score.kendall), (Some(1.0), Some(1.0)));
        assert_eq!(score.reached.len(), 2, "there are no 100 configurations");
        assert!(score.reached.iter().all(|r| (r.model - 1.0).abs() < 1e-12 && r.random < 1.0));
        let useless: Vec<(i64, f64)> = (1..=20).map(|i| (3, i as f64)).collect();
        let score = super::score(&useless).unwrap();
        assert_eq!((score.spearman, score.kendall), (None, None));
        assert!(score.reached.iter().all(|r| r.model == r.random));
        assert_eq!(super::score(&[]), None);
    }
}
