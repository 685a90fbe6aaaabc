//! The one configuration that takes least over several sizes together, each launched some times.
//!
//! The total of a configuration is the sum over the sizes `s` of `weight(s) * T(s)`. With `L`, the
//! sum of `weight(s) * least(s)`, no total is below `L`. If `U` is the best total that is known, a
//! configuration with a smaller one takes at most `least(s) + (U - 1 - L) / weight(s)` at every
//! size, as it is `least` or more at the others. So the configurations within this time at one
//! size are all that need be examined, and [`mix`] lists them at the sizes where they are fewest.

use std::sync::atomic::AtomicBool;

use itertools::Itertools;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use tickbound_model::{Configuration, Problem};
use tickbound_simulator::simulate;
use tickbound_solver::{LeastTime, SearchOptions, SolveError, within};
use tickbound_timing::Cost;

use crate::request::RuleError;
use crate::times::{exact_cost, least_time, longest, loss_between, ticks};

/// Most configurations that are listed at a size for the proof.
const MAX_LISTED: usize = 20_000;
/// Most configurations that are tried at a size before the proof.
const MAX_TRIED: usize = 500;
/// The losses, in millionths of the least time at a size, within which configurations are tried
/// before the proof.
const NEAR: [u64; 2] = [10_000, 200_000];

/// What a configuration is wanted for.
pub struct MixRequest<'r> {
    /// The names of the sizes, and how often each is launched, at least 1.
    pub sizes: &'r [(String, i64)],
    /// The problem at a size; its parameters have the names that they have at the others.
    pub problem_at: &'r (dyn Fn(usize) -> Result<Problem, RuleError> + Sync),
    /// How least times are searched for.
    pub options: SearchOptions,
    /// Ends the search when it becomes true.
    pub interrupt: &'r AtomicBool,
    /// Shows what is done.
    pub progress: &'r (dyn Fn(&str) + Sync),
}

/// What [`mix`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    /// The configuration.
    pub configuration: Configuration,
    /// Its ticks at each size, which the simulator has confirmed.
    pub times: Vec<i64>,
    /// The least ticks at each size.
    pub least: Vec<i64>,
    /// Its total over all launches, in ticks.
    pub total: i64,
    /// No configuration has a smaller total than this.
    pub lower: i64,
}

impl Mix {
    /// Whether no configuration has a smaller total.
    pub fn is_proved(&self) -> bool {
        self.lower == self.total
    }
}

/// Finds the configuration with the least total.
///
/// # Errors
/// A fault of the problem at a size, no configuration that is valid at all of them, or a stop
/// before one is known.
pub fn mix(request: &MixRequest<'_>) -> Result<Mix, RuleError> {
    let places = (0..request.sizes.len()).into_par_iter();
    let sizes = places.map(|place| AtSize::new(request, place)).collect::<Result<Vec<_>, _>>()?;
    if let Some(size) = sizes.iter().find(|size| size.least == LeastTime::Infeasible) {
        return Err(RuleError::NoMix(size.name.to_owned()));
    }
    let mut search = MixSearch { request, sizes, best: None };
    let is_proved = search.run()?;
    search.answer(is_proved)
}

/// A size, its least time and its closed form.
struct AtSize<'m> {
    name: &'m str,
    weight: i128,
    problem: Problem,
    least: LeastTime,
    cost: Option<Cost>,
}

impl<'m> AtSize<'m> {
    fn new(request: &MixRequest<'m>, place: usize) -> Result<AtSize<'m>, RuleError> {
        let (name, weight) = &request.sizes[place];
        let problem = (request.problem_at)(place)?;
        let cost = exact_cost(&problem);
        let least = least_time(&problem, &[], &request.options, request.interrupt);
        let least = least.map_err(|error| RuleError::At { size: name.clone(), error })?;
        Ok(AtSize { name, weight: (*weight).into(), problem, least, cost })
    }

    fn error(&self, error: SolveError) -> RuleError {
        RuleError::At { size: self.name.to_owned(), error }
    }

    /// The ticks of a configuration; `None` if it is not valid here.
    fn time(&self, configuration: &Configuration) -> Option<i64> {
        let bound = self.problem.bind_configuration(configuration).ok()?;
        ticks(&self.problem, self.cost.as_ref(), &bound)
    }

    /// The ticks of a configuration, run by the simulator.
    fn confirmed(
        &self,
        configuration: &Configuration,
        claimed: Option<i64>,
    ) -> Result<i64, SolveError> {
        let bound = self.problem.bind_configuration(configuration)?;
        let run = simulate(&self.problem, &bound, &Default::default())?;
        match claimed == Some(run.time) {
            true => Ok(run.time),
            false => Err(SolveError::Disagreement(format!(
                "a closed form is {claimed:?} ticks, and the simulator takes {}",
                run.time
            ))),
        }
    }

    /// What no configuration undercuts here: 0 where a stop has left the least time open.
    fn least_ticks(&self) -> i64 {
        if let LeastTime::Proved(best) = &self.least { best.time } else { 0 }
    }
}

struct MixSearch<'m> {
    request: &'m MixRequest<'m>,
    sizes: Vec<AtSize<'m>>,
    /// The best configuration that is known, and its total.
    best: Option<(i128, Configuration)>,
}

impl MixSearch<'_> {
    /// The sum of least times, each as often as it is launched.
    fn floor(&self) -> i128 {
        self.sizes.iter().map(|s| s.weight * i128::from(s.least_ticks())).sum()
    }

    /// The total of a configuration; `None` if it is not valid at all sizes.
    fn total(&self, configuration: &Configuration) -> Option<i128> {
        let time = |size: &AtSize<'_>| Some(size.weight * i128::from(size.time(configuration)?));
        self.sizes.iter().map(time).sum()
    }

    /// Takes the best of some configurations, the first of several, if its total is smaller.
    fn offer(&mut self, all: &[Configuration]) {
        let totals = all.par_iter().map(|one| self.total(one)).collect::<Vec<_>>();
        let first = totals.iter().zip(all).filter_map(|(total, one)| Some(((*total)?, one)));
        let first = first.min_by_key(|(total, _)| *total);
        if let Some((total, one)) = first
            && self.best.as_ref().is_none_or(|(best, _)| total < *best)
        {
            self.best = Some((total, one.clone()));
        }
    }

    /// The most ticks that a better configuration than the best takes at a size; `None` if nothing
    /// can be better.
    fn most_ticks(&self, size: &AtSize<'_>) -> Option<i64> {
        let Some((best, _)) = &self.best else { return Some(i64::MAX) };
        let gap = best - 1 - self.floor();
        let most = i128::from(size.least_ticks()) + gap / size.weight;
        (gap >= 0).then(|| i64::try_from(most).unwrap_or(i64::MAX))
    }

    /// Offers the configurations that take at most `ticks` at a size; whether these are all.
    fn examine(&mut self, place: usize, ticks: i64, most: usize) -> Result<bool, RuleError> {
        let size = &self.sizes[place];
        let MixRequest { options, interrupt, progress, .. } = self.request;
        progress(&format!("configurations at {}", size.name));
        let found = within(&size.problem, (ticks, most), options, interrupt);
        let (found, all) = found.map_err(|error| size.error(error))?;
        self.offer(&found.into_iter().map(|found| found.configuration).collect::<Vec<_>>());
        Ok(all)
    }

    /// Whether it is proved that no total is below the best.
    fn run(&mut self) -> Result<bool, RuleError> {
        let proved = |size: &AtSize<'_>| match &size.least {
            LeastTime::Proved(best) => Some(best.configuration.clone()),
            _ => None,
        };
        self.offer(&self.sizes.iter().filter_map(proved).collect::<Vec<_>>());
        for (loss, place) in NEAR.into_iter().cartesian_product(0..self.sizes.len()) {
            let ticks = longest(self.sizes[place].least_ticks(), loss);
            if self.most_ticks(&self.sizes[place]).is_some_and(|most| most > ticks) {
                self.examine(place, ticks, MAX_TRIED)?;
            }
        }
        loop {
            let before = self.best.as_ref().map(|(total, _)| *total);
            // Where little more than the least time is left, few configurations are.
            let mut places: Vec<usize> = (0..self.sizes.len()).collect();
            places.sort_by_key(|place| {
                let size = &self.sizes[*place];
                loss_between(self.most_ticks(size).unwrap_or(0), size.least_ticks())
            });
            for place in places {
                let Some(ticks) = self.most_ticks(&self.sizes[place]) else { return Ok(true) };
                if self.examine(place, ticks, MAX_LISTED)? {
                    return Ok(true);
                }
            }
            if self.best.as_ref().map(|(total, _)| *total) == before {
                return Ok(false);
            }
        }
    }

    /// The best configuration, as the simulator confirms it at each size.
    fn answer(&self, is_proved: bool) -> Result<Mix, RuleError> {
        let Some((total, configuration)) = &self.best else {
            return Err(match is_proved {
                true => RuleError::NoMix("all sizes together".to_owned()),
                false => RuleError::Nothing,
            });
        };
        let times = self.sizes.iter().map(|size| {
            let claimed = size.time(configuration);
            size.confirmed(configuration, claimed).map_err(|error| size.error(error))
        });
        let times = times.collect::<Result<_, _>>()?;
        let least = self.sizes.iter().map(AtSize::least_ticks).collect();
        let number = |total: i128| i64::try_from(total).map_err(|_| RuleError::Total);
        let (total, floor) = (number(*total)?, number(self.floor())?);
        let lower = if is_proved { total } else { floor };
        Ok(Mix { configuration: configuration.clone(), times, least, total, lower })
    }
}
