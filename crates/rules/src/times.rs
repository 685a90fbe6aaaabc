//! Times of configurations at sizes.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use tickbound_model::verdict::TimedConfiguration;
use tickbound_model::{Bound, Configuration, Problem};
use tickbound_simulator::simulate;
use tickbound_solver::{LeastTime, SearchOptions, SolveError, least, tune, within};
use tickbound_timing::Cost;

use crate::request::{RuleError, RuleRequest};

/// The parameters of a configuration that are not sizes.
pub(crate) type Variant = Vec<i64>;

/// Most configurations near the least time that are listed for a size.
const MAX_NEAR: usize = 2_000;

struct AtSize {
    least: LeastTime,
    /// The problem and its closed form, where a configuration is valid.
    model: Option<(Problem, Option<Cost>)>,
}

pub(crate) struct Times<'r> {
    request: &'r RuleRequest<'r>,
    at: Vec<OnceLock<AtSize>>,
    known: AtomicUsize,
    /// The times of variants at all sizes; `None` where one is not valid.
    columns: BTreeMap<Variant, Vec<Option<i64>>>,
}

impl<'r> Times<'r> {
    pub fn new(request: &'r RuleRequest<'r>) -> Times<'r> {
        let at = (0..request.sizes.count()).map(|_| OnceLock::new()).collect();
        Times { request, at, known: AtomicUsize::new(0), columns: BTreeMap::new() }
    }

    /// The least time at a size; `None` if nothing is valid, or no search has ended.
    pub fn least(&self, size: usize) -> Option<&TimedConfiguration> {
        match &self.at[size].get()?.least {
            LeastTime::Proved(best) => Some(best),
            _ => None,
        }
    }

    /// Whether it is proved that no configuration is valid at a size.
    pub fn is_infeasible(&self, size: usize) -> bool {
        self.at[size].get().is_some_and(|at| at.least == LeastTime::Infeasible)
    }

    /// Whether the search at a size was not made or did not end.
    pub fn is_open(&self, size: usize) -> bool {
        self.at[size].get().is_none_or(|at| at.least == LeastTime::Open)
    }

    /// Finds the least times at some sizes, where they are not known; `known` are variants that
    /// are good somewhere. What a stop leaves out is open.
    pub fn find_least(&self, sizes: &[usize], known: &[Variant]) -> Result<(), RuleError> {
        let open: Vec<usize> =
            sizes.iter().copied().filter(|size| self.at[*size].get().is_none()).collect();
        open.into_par_iter().try_for_each(|size| {
            if self.request.stopped() {
                return Ok(());
            }
            let values = self.request.sizes.values(size);
            let problem = (self.request.problem_at)(size)?;
            let whole = known.iter().map(|variant| whole(&values, variant));
            let known: Vec<Configuration> = whole.collect();
            let RuleRequest { options, interrupt, .. } = self.request;
            let least = least_time(&problem, &known, options, interrupt);
            let least = least.map_err(|error| RuleError::at(self.request, size, error))?;
            let model = matches!(least, LeastTime::Proved(_)).then(|| {
                let cost = exact_cost(&problem);
                (problem, cost)
            });
            // Another thread never has the same size.
            let _ = self.at[size].set(AtSize { least, model });
            let done = self.known.fetch_add(1, Ordering::Relaxed) + 1;
            (self.request.progress)(&format!("least times of {done} of {} sizes", self.at.len()));
            Ok(())
        })
    }

    /// Variants whose time at a size is within a loss, in millionths, of the least.
    pub fn near(&self, size: usize, loss: u64) -> Result<Vec<Variant>, RuleError> {
        let (Some((problem, _)), Some(best)) = (self.model(size), self.least(size)) else {
            return Ok(Vec::new());
        };
        let most = longest(best.time, loss);
        let RuleRequest { options, interrupt, .. } = self.request;
        let found = within(problem, (most, MAX_NEAR), options, interrupt);
        let found = found.map_err(|error| RuleError::at(self.request, size, error))?;
        let first = self.request.sizes.names().count();
        let all = found.0.into_iter().chain([best.clone()]);
        Ok(all.map(|found| found.configuration.0[first..].to_vec()).collect())
    }

    /// The time of a variant at a size; `None` if it is not valid there.
    pub fn time(&self, size: usize, variant: &[i64]) -> Option<i64> {
        let (problem, cost) = self.model(size)?;
        let bound = self.bound(problem, size, variant)?;
        ticks(problem, cost.as_ref(), &bound)
    }

    fn model(&self, size: usize) -> Option<&(Problem, Option<Cost>)> {
        self.at[size].get()?.model.as_ref()
    }

    fn bound(&self, problem: &Problem, size: usize, variant: &[i64]) -> Option<Bound> {
        problem.bind_configuration(&whole(&self.request.sizes.values(size), variant)).ok()
    }

    /// The time that the simulator takes for a variant at a size.
    pub fn simulated(&self, size: usize, variant: &[i64]) -> Result<Option<i64>, RuleError> {
        let Some((problem, _)) = self.model(size) else { return Ok(None) };
        let Some(bound) = self.bound(problem, size, variant) else { return Ok(None) };
        let run = simulate(problem, &bound, &Default::default());
        run.map(|run| Some(run.time))
            .map_err(|error| RuleError::at(self.request, size, SolveError::from(error)))
    }

    /// Computes the times of variants at all sizes whose least times are known.
    pub fn fill(&mut self, variants: &[Variant]) {
        for variant in variants {
            if !self.columns.contains_key(variant) {
                let sizes = (0..self.at.len()).into_par_iter();
                let column = sizes.map(|size| self.time(size, variant)).collect();
                self.columns.insert(variant.clone(), column);
            }
        }
    }

    /// The time of a variant at a size that [`Times::fill`] has computed.
    pub fn filled(&self, size: usize, variant: &Variant) -> Option<i64> {
        *self.columns.get(variant)?.get(size)?
    }

    /// The place of the variant that takes least at a size, the first of several, and its time.
    pub fn choice(&self, size: usize, variants: &[Variant]) -> Option<(usize, i64)> {
        let all = variants.iter().enumerate();
        let all = all.filter_map(|(place, variant)| Some((place, self.filled(size, variant)?)));
        all.min_by_key(|(place, time)| (*time, *place))
    }
}

/// A configuration of the problem whose first parameters are the sizes.
fn whole(size: &[i64], variant: &[i64]) -> Configuration {
    Configuration([size, variant].concat())
}

/// The longest time within a loss, in millionths, of a least time.
pub(crate) fn longest(least: i64, loss: u64) -> i64 {
    let most = i128::from(least) * (1_000_000 + i128::from(loss)) / 1_000_000;
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// The loss of a time against a least time, in millionths, rounded up.
pub(crate) fn loss_between(time: i64, least: i64) -> u64 {
    let more = i128::from(time.saturating_sub(least).max(0)) * 1_000_000;
    let least = i128::from(least.max(1));
    u64::try_from((more + least - 1) / least).unwrap_or(u64::MAX)
}

/// The least time of a problem, also where it has no closed form; `known` are tried first.
pub(crate) fn least_time(
    problem: &Problem,
    known: &[Configuration],
    options: &SearchOptions,
    interrupt: &AtomicBool,
) -> Result<LeastTime, SolveError> {
    match least(problem, known, options, interrupt)? {
        LeastTime::NoClosedForm => Ok(tune(problem, options, interrupt, &|_| {})?.into()),
        found => Ok(found),
    }
}

/// The run time in closed form, if it has one that is exact.
pub(crate) fn exact_cost(problem: &Problem) -> Option<Cost> {
    Cost::new(problem).ok().filter(Cost::is_exact)
}

/// The ticks of a configuration: by the closed form, else simulated.
pub(crate) fn ticks(problem: &Problem, cost: Option<&Cost>, bound: &Bound) -> Option<i64> {
    match cost {
        Some(cost) => cost.term().value(&bound.env).ok(),
        None => simulate(problem, bound, &Default::default()).ok().map(|run| run.time),
    }
}
