//! A guided search over measurements that are there already.

use serde::{Deserialize, Serialize};

use super::{Candidate, Guide};

/// Most measurements of one search.
pub const MOST: usize = 100;

/// What guided searches come to, as medians over their seeds; the later one of two in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replay {
    /// How many searches, each with its own seed.
    pub seeds: u64,
    /// Measurements until one takes at most 5 % more than the best; nothing if [`MOST`] do not
    /// suffice. The search never stops before, even if it expects less.
    pub within_5_percent: Option<usize>,
    /// Measurements until it would stop by itself; nothing if that is after [`MOST`].
    pub stopped_after: Option<usize>,
    /// What was reached then, as a fraction of the optimum.
    pub reached: f64,
}

/// Searches among candidates whose times are known, above 0, `seeds` times; nothing of no
/// candidates or no seeds.
pub fn replay(candidates: &[Candidate], times: &[f64], seeds: u64) -> Option<Replay> {
    let best = times.iter().copied().reduce(f64::min)?;
    let mut runs: Vec<One> = (0..seeds).map(|seed| one(candidates, times, best, seed)).collect();
    runs.sort_by_key(|run| run.near.unwrap_or(usize::MAX));
    let within_5_percent = runs.get(runs.len() / 2)?.near;
    runs.sort_by_key(|run| run.stopped.unwrap_or(usize::MAX));
    let stopped_after = runs.get(runs.len() / 2)?.stopped;
    runs.sort_by(|a, b| a.reached.total_cmp(&b.reached));
    let reached = runs.get(runs.len() / 2)?.reached;
    Some(Replay { seeds, within_5_percent, stopped_after, reached })
}

struct One {
    near: Option<usize>,
    stopped: Option<usize>,
    reached: f64,
}

fn one(candidates: &[Candidate], times: &[f64], best: f64, seed: u64) -> One {
    let mut guide = Guide::new(candidates.to_vec(), seed);
    let mut run = One { near: None, stopped: None, reached: 0.0 };
    while guide.measured() < MOST && (run.near.is_none() || run.stopped.is_none()) {
        let Some(next) = guide.choose() else { break };
        if guide.is_settled() {
            run.stopped.get_or_insert(guide.measured());
        }
        guide.tell(next, Some(times[next]));
        if run.stopped.is_none() {
            run.reached = run.reached.max(best / times[next]);
        }
        if times[next] <= best * 1.05 {
            run.near.get_or_insert(guide.measured());
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_knows_and_one_that_does_not() {
        let times: Vec<f64> = (0..60).map(|i| 2.0 + f64::from((i * 37) % 60)).collect();
        let candidates = |ticks: &dyn Fn(usize) -> i64| -> Vec<Candidate> {
            let point = |i: usize| vec![i as f64 / 59.0];
            (0..60).map(|i| Candidate { point: point(i), ticks: ticks(i) }).collect()
        };
        let knows = replay(&candidates(&|i| times[i] as i64 * 1000), &times, 3).unwrap();
        assert_eq!((knows.within_5_percent, knows.reached), (Some(1), 1.0));
        assert_eq!(knows.stopped_after.map(|n| n < 15), Some(true), "{knows:?}");
        let wrong = replay(&candidates(&|i| 100 - times[i] as i64), &times, 3).unwrap();
        assert!(wrong.within_5_percent > Some(1), "{wrong:?}");
        assert_eq!(replay(&[], &[], 3), None);
        assert_eq!(replay(&candidates(&|_| 1), &times, 0), None);
    }
}
