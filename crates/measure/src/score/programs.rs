//! Scores of distinct programs: configurations whose differences no item sees are one program.

use std::collections::BTreeMap;
use std::hash::Hash;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Reached, reached};

/// Numbers of programs that are reported.
pub const TRIALS: [usize; 3] = [1, 10, 50];

/// How near the best a time is that counts as found: within this many hundredths.
const NEAR: f64 = 5.0;

/// How well a model ranks distinct programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Programs {
    /// How many there are.
    pub programs: usize,
    /// What the model's best programs reach, and as many configurations chosen at random.
    pub reached: Vec<Reached>,
    /// Programs measured in the model's order until one takes at most 5 % more than the best.
    pub model_within_5_percent: f64,
    /// Configurations measured in random order until one does.
    pub random_within_5_percent: f64,
}

/// Scores configurations given as program, ticks and measured time; a program's time is the mean of
/// its configurations'. Nothing of no configurations.
pub fn programs<P: Hash + Eq>(entries: Vec<(P, i64, f64)>) -> Option<Programs> {
    let alike: Vec<(i64, f64)> = entries.iter().map(|(_, _, time)| (0, *time)).collect();
    let mut all: IndexMap<P, (i64, Vec<f64>)> = IndexMap::new();
    for (program, ticks, time) in entries {
        all.entry(program).or_insert((ticks, Vec::new())).1.push(time);
    }
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let pairs: Vec<(i64, f64)> = all.values().map(|(ticks, times)| (*ticks, mean(times))).collect();
    if pairs.is_empty() {
        return None;
    }
    let trials = TRIALS.into_iter().filter(|trials| *trials <= pairs.len());
    Some(Programs {
        programs: pairs.len(),
        reached: trials
            .map(|trials| Reached {
                trials,
                model: reached(&pairs, trials),
                random: reached(&alike, trials),
            })
            .collect(),
        model_within_5_percent: until_near(&pairs),
        random_within_5_percent: until_near(&alike),
    })
}

/// How many are measured in the order of their ticks until one is near the best, on average over
/// all orders of equal ticks: of g in random order, of which m are near, the first that is near is
/// at place `(g + 1) / (m + 1)`.
fn until_near(pairs: &[(i64, f64)]) -> f64 {
    let best = pairs.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
    let near = best * (1.0 + NEAR / 100.0);
    let mut groups: BTreeMap<i64, (usize, usize)> = BTreeMap::new();
    for (ticks, time) in pairs {
        let (all, good) = groups.entry(*ticks).or_default();
        *all += 1;
        *good += usize::from(*time <= near);
    }
    let mut before = 0;
    for (all, good) in groups.into_values() {
        if good > 0 {
            return before as f64 + (all + 1) as f64 / (good + 1) as f64;
        }
        before += all;
    }
    before as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Program a has a mean of 2, b of 1.04, c of 1.
        let entries =
            vec![("a", 1, 1.5), ("b", 2, 1.04), ("c", 3, 1.0), ("a", 1, 2.5), ("d", 9, 8.0)];
        let scored = programs(entries).unwrap();
        assert_eq!((scored.programs, scored.reached.len()), (4, 1));
        assert!((scored.reached[0].model - 0.5).abs() < 1e-12);
        assert!((scored.model_within_5_percent - 2.0).abs() < 1e-12);
        // Two of five are near.
        assert!((scored.random_within_5_percent - 2.0).abs() < 1e-12);
        assert_eq!(programs(Vec::<((), i64, f64)>::new()), None);
    }

    #[test]
    fn ties_come_in_any_order() {
        // Of three with equal ticks one is near: places 1, 2 and 3.
        let scored = programs(vec![(1, 5, 1.0), (2, 5, 4.0), (3, 5, 9.0), (4, 6, 2.0)]).unwrap();
        assert!((scored.model_within_5_percent - 2.0).abs() < 1e-12);
        let mean = (1.0 + 4.0 + 9.0) / 3.0;
        assert!((scored.reached[0].model - 1.0 / mean).abs() < 1e-12);
    }
}
