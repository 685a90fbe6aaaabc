//! Which configuration to measure next, so that few measurements come near the best.
//!
//! In go candidates with the model's ticks, and after each measurement its time; out comes the next
//! candidate, until none is worth it:
//!
//! 1. the [`FIRST`] best by the model;
//! 2. then the one with the greatest expected improvement over the best time so far. A [Gaussian
//!    process](process) over the parameters and the model's time states how far times are from the
//!    model's, as the logarithm of their ratio, and how sure that is: where the model is wrong, it
//!    often is as wrong for others of which it states the same;
//! 3. but every [`RANDOM`]th measurement is at random, so that a region which the model misjudges
//!    is not left out for good;
//! 4. it stops where the greatest expected improvement was below [`GAIN`] [`IN_A_ROW`] times in a
//!    row: a whole round between two that are at random. It does not stop before as many were
//!    measured besides the first as there are coordinates: fewer do not show the effect of each.
//!
//! A candidate that fails counts as one that takes as long as the slowest so far: its neighbours
//! become less attractive, and nothing is known of its time. The same seed and the same times give
//! the same choices.

pub mod process;
mod replay;

use chacha20::ChaCha8Rng;
use itertools::Itertools;
use rayon::prelude::*;

use super::random::{below, seeded};
use process::{Guess, Process};
pub use replay::{MOST, Replay, replay};

/// How many of the model's best come first.
pub const FIRST: usize = 5;
/// Of this many measurements one is at random.
pub const RANDOM: usize = 4;
/// The expected gain below which a measurement is not worth it: a part of the best time so far.
pub const GAIN: f64 = 0.01;
/// How often in a row the expected gain must be below that.
pub const IN_A_ROW: usize = 3;
/// From this many measurements on length scales are found anew only where a sixteenth more are
/// known.
const MANY: usize = 64;
/// Candidates whose expected improvement is computed together.
const CHUNK: usize = 512;
/// Candidates that are named as likely to be chosen next.
const AHEAD: usize = 32;

/// A configuration that can be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Where it is among the others; see [`points`].
    pub point: Vec<f64>,
    /// The model's ticks.
    pub ticks: i64,
}

impl Candidate {
    /// The logarithm of the model's time.
    fn model(&self) -> f64 {
        (self.ticks.max(1) as f64).ln()
    }
}

/// Adds the model's time as a coordinate: 0 for the least, 1 for the greatest, by its logarithm.
fn add_model(candidates: &mut [Candidate]) {
    let times = || candidates.iter().map(Candidate::model);
    let (Some(least), Some(most)) = (times().reduce(f64::min), times().reduce(f64::max)) else {
        return;
    };
    if most > least {
        for candidate in candidates {
            candidate.point.push((candidate.model() - least) / (most - least));
        }
    }
}

/// Configurations as points in a unit cube: the place of each value among those that its parameter
/// has. A parameter with one value has no coordinate.
pub fn points(configurations: &[&[i64]]) -> Vec<Vec<f64>> {
    let parameters = configurations.first().map_or(0, |c| c.len());
    let values =
        |p: usize| configurations.iter().map(|c| c[p]).sorted_unstable().dedup().collect_vec();
    let axes: Vec<(usize, Vec<i64>)> =
        (0..parameters).map(|p| (p, values(p))).filter(|(_, all)| all.len() > 1).collect();
    let place = |(p, all): &(usize, Vec<i64>), c: &[i64]| {
        all.partition_point(|v| *v < c[*p]) as f64 / (all.len() - 1) as f64
    };
    configurations.iter().map(|c| axes.iter().map(|axis| place(axis, c)).collect()).collect()
}

/// A search under way.
#[derive(Debug)]
pub struct Guide {
    candidates: Vec<Candidate>,
    /// The model's best, in the order in which they are measured.
    first: Vec<usize>,
    /// Which are not measured yet.
    open: Vec<bool>,
    /// What was measured, in this order, with the logarithm of the time, if it has one.
    told: Vec<(usize, Option<f64>)>,
    /// Those with the greatest expected improvement when that was last computed, best first.
    promising: Vec<usize>,
    /// The last process whose length scales were found.
    process: Option<Process>,
    /// How often in a row the expected gain was too small.
    small: usize,
    random: ChaCha8Rng,
}

impl Guide {
    /// A search among candidates; of equal ticks the earlier one comes first.
    pub fn new(mut candidates: Vec<Candidate>, seed: u64) -> Guide {
        add_model(&mut candidates);
        let mut first: Vec<usize> = (0..candidates.len()).collect();
        first.sort_by_key(|c| candidates[*c].ticks);
        first.truncate(FIRST);
        let open = vec![true; candidates.len()];
        let (none, promising) = (Vec::new(), Vec::new());
        let random = seeded(seed);
        let process = None;
        Guide { candidates, first, open, told: none, promising, process, small: 0, random }
    }

    /// How many were measured.
    pub fn measured(&self) -> usize {
        self.told.len()
    }

    /// Whether the expected gain has been too small for long enough.
    pub fn is_settled(&self) -> bool {
        let coordinates = self.candidates.first().map_or(0, |c| c.point.len());
        self.small >= IN_A_ROW && self.told.len() >= FIRST + coordinates
    }

    /// The number of the candidate to measure next, also when the search [is
    /// settled](Guide::is_settled); nothing if all were chosen. Each number is to be
    /// [told](Guide::tell) before the next request or, where several devices measure, later.
    pub fn choose(&mut self) -> Option<usize> {
        let chosen = self.chosen()?;
        self.open[chosen] = false;
        Some(chosen)
    }

    /// At most `count` candidates likely to be chosen next: only the model's best are certain.
    pub fn upcoming(&self, count: usize) -> Vec<usize> {
        let all = self.first.iter().chain(&self.promising).copied();
        all.filter(|c| self.open[*c]).unique().take(count).collect()
    }

    fn chosen(&mut self) -> Option<usize> {
        let open: Vec<usize> = (0..self.open.len()).filter(|c| self.open[*c]).collect();
        if let Some(first) = self.first.iter().find(|c| self.open[**c]) {
            return Some(*first);
        }
        let any = |random: &mut ChaCha8Rng| open.get(below(random, open.len())).copied();
        if (self.told.len() + 1).is_multiple_of(RANDOM) {
            return any(&mut self.random);
        }
        match self.most_promising(&open) {
            Some((candidate, gain)) => {
                self.small = if gain < GAIN { self.small + 1 } else { 0 };
                Some(candidate)
            }
            // Nothing has a time yet.
            None => any(&mut self.random),
        }
    }

    /// Takes the time of a candidate, in any unit; nothing if it failed.
    pub fn tell(&mut self, candidate: usize, time: Option<f64>) {
        let logarithm = time.filter(|t| t.is_finite() && *t > 0.0).map(f64::ln);
        if let Some(open) = self.open.get_mut(candidate) {
            *open = false;
            self.told.push((candidate, logarithm));
        }
    }

    /// The candidate with the greatest expected improvement, and that; the first of equal ones.
    fn most_promising(&mut self, open: &[usize]) -> Option<(usize, f64)> {
        let times = self.told.iter().filter_map(|(_, time)| *time);
        let best = times.clone().reduce(f64::min)?;
        let worst = times.reduce(f64::max)?;
        let told = self.told.iter();
        let values: Vec<f64> = told
            .clone()
            .map(|(c, time)| time.unwrap_or(worst) - self.candidates[*c].model())
            .collect();
        let points: Vec<_> = told.map(|(c, _)| self.candidates[*c].point.clone()).collect();
        let is_near =
            |known: &&Process| points.len() >= MANY && 16 * points.len() < 17 * known.count();
        let process = match self.process.as_ref().filter(is_near) {
            Some(known) => known.through(points, &values)?,
            None => self.process.insert(Process::new(points, &values)?).clone(),
        };
        let gains = greatest(&self.candidates, open, &process, best);
        self.promising = gains.iter().map(|(candidate, _)| *candidate).collect();
        gains.first().copied()
    }
}

/// Those of the candidates `open` with the greatest expected improvement over `best`, and that; the
/// first of equal ones first. An improvement is at most that with the greatest deviation, which
/// takes less time to compute.
fn greatest(
    candidates: &[Candidate],
    open: &[usize],
    process: &Process,
    best: f64,
) -> Vec<(usize, f64)> {
    let gain = |c: usize, Guess { mean, deviation }: Guess| {
        (c, Guess { mean: mean + candidates[c].model(), deviation }.improvement(best))
    };
    let most = |c: &usize| gain(*c, process.roughly_at(&candidates[*c].point));
    let exact = |(c, _): &(usize, f64)| gain(*c, process.at(&candidates[*c].point));
    let order = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let mut bounds: Vec<(usize, f64)> = open.par_iter().map(most).collect();
    bounds.sort_by(order);
    let mut gains: Vec<(usize, f64)> = Vec::new();
    for chunk in bounds.chunks(CHUNK) {
        if gains.get(AHEAD - 1).is_some_and(|(_, least)| *least > chunk[0].1) {
            break;
        }
        gains.par_extend(chunk.par_iter().map(exact));
        gains.sort_by(order);
        gains.truncate(AHEAD);
    }
    gains
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds leave out nothing that is among the greatest.
    #[test]
    fn the_greatest_improvements_are_those_of_all() {
        let mut random = seeded(5);
        let mut number = || f64::from(below(&mut random, 1000) as u32) / 1000.0;
        let candidates: Vec<Candidate> =
            (0..3000).map(|_| Candidate { point: vec![number(), number()], ticks: 1000 }).collect();
        let points: Vec<Vec<f64>> = candidates[..40].iter().map(|c| c.point.clone()).collect();
        let values: Vec<f64> = points.iter().map(|p| (7.0 * p[0]).sin() * 0.3 + p[1]).collect();
        let process = Process::new(points, &values).unwrap();
        let best = values.iter().copied().fold(f64::INFINITY, f64::min) + candidates[0].model();
        let open: Vec<usize> = (40..3000).collect();
        let mut all: Vec<(usize, f64)> = open
            .iter()
            .map(|c| {
                let Guess { mean, deviation } = process.at(&candidates[*c].point);
                let mean = mean + candidates[*c].model();
                (*c, Guess { mean, deviation }.improvement(best))
            })
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.truncate(AHEAD);
        assert_eq!(greatest(&candidates, &open, &process, best), all);
    }

    #[test]
    fn points_by_hand() {
        let all: [&[i64]; 3] = [&[8, 1, 7], &[16, 1, 0], &[64, 1, 7]];
        assert_eq!(points(&all), [[0.0, 1.0], [0.5, 0.0], [1.0, 1.0]]);
        assert!(points(&[]).is_empty());
    }

    /// Candidates on a line. The model knows nothing; the time has one valley.
    fn valley() -> (Vec<Candidate>, Vec<f64>) {
        let candidates =
            (0..200).map(|i| Candidate { point: vec![f64::from(i) / 199.0], ticks: 7 });
        let time = |i: i32| 1.0 + 4.0 * (f64::from(i) / 199.0 - 0.73).powi(2);
        (candidates.collect(), (0..200).map(time).collect())
    }

    #[test]
    fn the_models_best_come_first_and_every_fourth_is_at_random() {
        let (mut candidates, times) = valley();
        for (place, best) in [(40, 1), (150, 2), (3, 2), (77, 3), (99, 4)] {
            candidates[place].ticks = best;
        }
        let orders: Vec<Vec<usize>> = [1, 1, 2]
            .into_iter()
            .map(|seed| {
                let mut guide = Guide::new(candidates.clone(), seed);
                (0..9)
                    .map(|_| {
                        let next = guide.choose().unwrap();
                        guide.tell(next, Some(times[next]));
                        next
                    })
                    .collect()
            })
            .collect();
        assert_eq!(orders[0][..5], [40, 3, 150, 77, 99]);
        assert_eq!(orders[0], orders[1]);
        // The sixth and the seventh follow from the times; the eighth is drawn.
        assert_eq!(orders[0][..7], orders[2][..7]);
        assert_ne!(orders[0][7], orders[2][7]);
    }

    #[test]
    fn finds_a_valley_that_the_model_does_not_know_and_settles() {
        let (candidates, times) = valley();
        let mut guide = Guide::new(candidates, 0);
        let mut best = f64::INFINITY;
        while !guide.is_settled() {
            let next = guide.choose().expect("it settles before all are measured");
            best = best.min(times[next]);
            guide.tell(next, Some(times[next]));
        }
        assert!(best < 1.01 && guide.measured() < 40, "{best} after {}", guide.measured());
    }

    #[test]
    fn failures_are_left_behind_and_all_are_measured_once() {
        let (candidates, times) = valley();
        let mut guide = Guide::new(candidates[..30].to_vec(), 3);
        let mut seen = Vec::new();
        while let Some(next) = guide.choose() {
            seen.push(next);
            guide.tell(next, Some(times[next]).filter(|_| next % 3 == 0));
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..30).collect::<Vec<_>>());
        let mut none = Guide::new(candidates[..9].to_vec(), 3);
        while let Some(next) = none.choose() {
            none.tell(next, None);
        }
        assert_eq!((none.measured(), none.is_settled()), (9, false));
        assert_eq!(Guide::new(Vec::new(), 0).choose(), None);
    }
}
