//! Which configurations are measured: all, the model's best, a random sample, or a guide's choice.

use std::sync::atomic::{AtomicBool, Ordering};

use chacha20::rand_core::Rng;
use indexmap::{IndexMap, IndexSet};
use num_bigint::BigUint;
use tickbound_model::space::MAX_CONFIGURATIONS;
use tickbound_model::{Bound, Configuration, Configurations, Problem};
use tickbound_simulator::{program, simulate};

use tickbound_solver::{SearchOptions, SolveError, tune};

use super::guided::{self, Candidate};
use super::random::{below, seeded};

/// Which configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// This many of the model's best; under the profile `resources`, of the best distinct programs.
    Top(usize),
    /// This many, chosen at random.
    Sample {
        /// How many.
        count: usize,
        /// The same seed chooses the same ones.
        seed: u64,
    },
}

/// The configurations of a selection, in the order in which they are measured: the model's best
/// first for [`Selection::Top`], else in the space's order; drawn from a space too large to list,
/// in an order that the problem and the seed fix.
///
/// # Errors
/// The problem cannot be searched, or is too large to be measured whole; a sample of configurations
/// that can neither be counted nor listed.
pub fn select(
    problem: &Problem,
    configurations: &Configurations<'_>,
    selection: Selection,
    interrupt: &AtomicBool,
) -> Result<Vec<Bound>, SolveError> {
    match selection {
        Selection::All => Ok(problem.space()?.bound),
        Selection::Sample { count, seed } => match configurations.count() {
            Some(total) if total > MAX_CONFIGURATIONS.into() => {
                let drawn = drawn(configurations, &total, count, seed);
                drawn.iter().map(|c| Ok(configurations.bind(c)?)).collect()
            }
            // What cannot be counted can perhaps be listed.
            _ => listed(problem, count, seed),
        },
        Selection::Top(count) => {
            let options = SearchOptions { top: count, ..SearchOptions::default() };
            let result = tune(problem, &options, interrupt, &|_| {})?;
            let programs = result.programs.list.iter().map(|program| &program.first);
            // Without a way to compare programs, every configuration is one.
            let all =
                programs.chain(result.optima.iter().filter(|_| result.programs.list.is_empty()));
            let best = all.take(count);
            best.map(|found| Ok(configurations.bind(&found.configuration)?)).collect()
        }
    }
}

/// Most configurations of which all are candidates.
const MAX_CANDIDATES: u32 = 20_000;
/// Candidates drawn from more.
const DRAWN: usize = 5_000;

/// What a guided search chooses from.
#[derive(Debug)]
pub struct Candidates {
    /// A configuration of each distinct program.
    pub bound: Vec<Bound>,
    /// The same with the model's ticks.
    pub candidates: Vec<Candidate>,
    /// How many configurations were examined; those without ticks are no candidates.
    pub looked: usize,
    /// They are the model's best and a sample, as there are too many.
    pub sampled: bool,
}

impl Candidates {
    /// Keeps some.
    pub fn retain(&mut self, keep: impl Fn(&Bound) -> bool) {
        let mut kept = self.bound.iter().map(&keep).collect::<Vec<_>>().into_iter();
        self.candidates.retain(|_| kept.next().unwrap_or_default());
        self.bound.retain(keep);
    }
}

/// The candidates of a guided search: each distinct program of a problem with a model. Of a large
/// space they are the model's best and a random sample.
pub fn candidates(
    problem: &Problem,
    configurations: &Configurations<'_>,
    seed: u64,
    interrupt: &AtomicBool,
) -> Result<Candidates, SolveError> {
    let sampled = configurations.count().is_none_or(|n| n > MAX_CANDIDATES.into());
    let all = match sampled {
        false => problem.space()?.bound,
        true => {
            let of = |selection| select(problem, configurations, selection, interrupt);
            let mut all = of(Selection::Top(guided::FIRST))?;
            all.extend(of(Selection::Sample { count: DRAWN, seed })?);
            all
        }
    };
    Ok(Candidates { sampled, ..candidates_among(problem, all, interrupt)? })
}

/// The candidates among these configurations: one of each distinct program.
pub fn candidates_among(
    problem: &Problem,
    all: Vec<Bound>,
    interrupt: &AtomicBool,
) -> Result<Candidates, SolveError> {
    let looked = all.len();
    let mut programs: IndexMap<Vec<i64>, (Bound, i64)> = IndexMap::new();
    for bound in all {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        let Ok(run) = simulate(problem, &bound, &Default::default()) else {
            continue;
        };
        let own = program(problem, &bound)?.unwrap_or_else(|| bound.configuration.0.clone());
        programs.entry(own).or_insert((bound, run.time));
    }
    let values: Vec<&[i64]> = programs.values().map(|(b, _)| &b.configuration.0[..]).collect();
    let points = guided::points(&values);
    let ticks = programs.values().map(|(_, ticks)| *ticks);
    let candidates = points.into_iter().zip(ticks).map(|(point, ticks)| Candidate { point, ticks });
    let candidates = candidates.collect();
    let bound = programs.into_values().map(|(bound, _)| bound).collect();
    Ok(Candidates { bound, candidates, looked, sampled: false })
}

/// How many valid configurations there are; the greatest number if uncounted or more.
pub fn total(configurations: &Configurations<'_>) -> usize {
    configurations.count().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX)
}

/// Brings configurations into an order that the seed fixes, each order as likely as another (R. A.
/// Fisher, F. Yates; Knuth, The Art of Computer Programming, volume 2, section 3.4.2).
pub fn shuffle(configurations: &mut [Bound], seed: u64) {
    let mut random = seeded(seed);
    for last in (1..configurations.len()).rev() {
        configurations.swap(last, below(&mut random, last + 1));
    }
}

/// `count` of the configurations of a space that is listed, in its order.
fn listed(problem: &Problem, count: usize, seed: u64) -> Result<Vec<Bound>, SolveError> {
    let space = problem.space()?;
    let chosen = sample(space.bound.len(), count, seed);
    let mut chosen = chosen.into_iter().peekable();
    let bound = space.bound.into_iter().enumerate();
    Ok(bound.filter(|(i, _)| chosen.next_if_eq(i).is_some()).map(|(_, b)| b).collect())
}

/// `count` different ones of `total` configurations, all equally likely; at most all.
fn drawn(
    configurations: &Configurations<'_>,
    total: &BigUint,
    count: usize,
    seed: u64,
) -> IndexSet<Configuration> {
    if let Ok(total) = usize::try_from(total) {
        let numbers = sample(total, count, seed).into_iter();
        return numbers.filter_map(|number| configurations.nth(&number.into())).collect();
    }
    // There are more than `count` can say, so different ones are found soon.
    let mut random = seeded(seed);
    let mut drawn = IndexSet::new();
    while drawn.len() < count {
        drawn.extend(configurations.random(&mut || random.next_u32()));
    }
    drawn
}

/// `count` different numbers below `total`, in increasing order: each set of as many is as likely
/// as another within the limits of 64 random bits a choice (R. W. Floyd's algorithm; J. Bentley,
/// *Programming Pearls*, CACM 30(9), 1987).
fn sample(total: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = seeded(seed);
    let mut chosen = std::collections::BTreeSet::new();
    for next in total.saturating_sub(count)..total {
        let any = below(&mut random, next + 1);
        if !chosen.insert(any) {
            chosen.insert(next);
        }
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use serde_json::{Value, json};
    use tickbound_elimination::TableLimits;

    use super::*;

    /// A problem whose launch always divides.
    fn problem(parameters: &Value, constraints: &Value) -> Problem {
        let json = json!({
            "version": 1, "name": "p", "profile": "opencl", "platform": "h200", "inputs": {},
            "parameters": parameters, "constraints": constraints,
            "launch": { "global_size": 1, "local_size": 1 }, "kernel": [],
        });
        Problem::from_value(&json, &IndexMap::new(), &tickbound_model::platforms::find).unwrap()
    }

    #[test]
    fn draws_all_where_there_are_no_more() {
        let range = json!("range(1, 3)");
        let problem = problem(&json!({ "A": range, "B": range }), &json!(["A <= B"]));
        let all = problem.configurations(&TableLimits::default()).unwrap();
        let drawn = |total: u32, count| drawn(&all, &total.into(), count, 5);
        assert_eq!(drawn(6, 6).len(), 6);
        assert_eq!(drawn(6, 100).len(), 6);
        assert_eq!(drawn(6, 4).len(), 4);
    }

    /// Too many to list, more than 64 bits can number, and too wide to count.
    #[test]
    fn samples_large_spaces_and_uncounted_ones() {
        let sampled_within = |rows, parameters: &Value, constraints: &Value, count| {
            let problem = problem(parameters, constraints);
            let limits = TableLimits { rows, ..TableLimits::default() };
            let all = problem.configurations(&limits).unwrap();
            let selection = Selection::Sample { count, seed: 3 };
            let chosen = select(&problem, &all, selection, &AtomicBool::new(false)).unwrap();
            let different: IndexSet<_> = chosen.iter().map(|b| &b.configuration).collect();
            assert_eq!(different.len(), chosen.len());
            (all.count(), chosen.len())
        };
        let sampled =
            |p: &_, c: &_, count| sampled_within(TableLimits::default().rows, p, c, count);
        let range = |last: u32| json!(format!("range(1, {last})"));
        let of = |n: usize, domain: Value| -> Value {
            (0..n)
                .map(|i| (format!("P{i}"), domain.clone()))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let (count, chosen) = sampled(&of(3, range(200)), &json!([]), 20);
        assert_eq!((count, chosen), (Some(8_000_000u32.into()), 20));
        let (count, chosen) = sampled(&of(20, range(200)), &json!([]), 20);
        assert_eq!((count, chosen), (Some(BigUint::from(200u32).pow(20)), 20));
        let unequal = json!(["P0 != P1", "P1 != P2", "P0 != P2"]);
        let (count, chosen) = sampled_within(2, &of(3, range(4)), &unequal, 2);
        assert_eq!((count, chosen), (None, 2));
    }

    #[test]
    fn candidates_are_all_or_the_best_and_a_sample() {
        let of = |last: u32| {
            let range = json!(format!("range(1, {last})"));
            let problem = problem(&json!({ "A": range, "B": range }), &json!([]));
            let all = problem.configurations(&TableLimits::default()).unwrap();
            let found = candidates(&problem, &all, 3, &AtomicBool::new(false)).unwrap();
            assert_eq!(found.bound.len(), found.candidates.len());
            (found.bound.len(), found.looked, found.sampled)
        };
        assert_eq!(of(9), (81, 81, false));
        let (different, looked, sampled) = of(400);
        assert!(sampled && (looked - guided::FIRST..=looked).contains(&different), "{different}");
        assert_eq!(looked, DRAWN + guided::FIRST);
    }

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
