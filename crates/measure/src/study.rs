//! A search that chooses configurations for others to measure, and takes their times.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use tickbound_input::message::suggest;
use tickbound_model::{Configuration, Configurations, Problem};
use tickbound_solver::SolveError;

use crate::guided::Guide;
use crate::select::{Candidates, candidates, candidates_among};

/// A search under way, among the distinct programs of a problem.
#[derive(Debug)]
pub struct Study<'p> {
    problem: &'p Problem,
    all: Candidates,
    guide: Guide,
    /// The candidate of each configuration.
    places: HashMap<Vec<i64>, usize>,
    best: Option<(usize, f64)>,
}

impl<'p> Study<'p> {
    /// A study of the whole space; of a large one the model's best and a random sample.
    ///
    /// # Errors
    /// A fault of the problem.
    pub fn new(
        configurations: &Configurations<'p>,
        seed: u64,
        interrupt: &AtomicBool,
    ) -> Result<Study<'p>, SolveError> {
        let problem = configurations.problem();
        Ok(Study::with_candidates(
            problem,
            candidates(problem, configurations, seed, interrupt)?,
            seed,
        ))
    }

    /// A study of these configurations, of which those that are not valid are left out.
    ///
    /// # Errors
    /// A fault of the problem.
    pub fn among(
        problem: &'p Problem,
        configurations: &[Configuration],
        seed: u64,
        interrupt: &AtomicBool,
    ) -> Result<Study<'p>, SolveError> {
        let bound = configurations.iter().filter_map(|c| problem.bind_configuration(c).ok());
        let bound = bound.collect();
        Ok(Study::with_candidates(problem, candidates_among(problem, bound, interrupt)?, seed))
    }

    fn with_candidates(problem: &'p Problem, all: Candidates, seed: u64) -> Study<'p> {
        let guide = Guide::new(all.candidates.clone(), seed);
        let places = all.bound.iter().enumerate();
        let places = places.map(|(place, b)| (b.configuration.0.clone(), place)).collect();
        Study { problem, all, guide, places, best: None }
    }

    /// How many configurations it chooses from: one of each distinct program.
    pub fn candidates(&self) -> usize {
        self.all.bound.len()
    }

    /// Whether another measurement is not expected to be worth it.
    pub fn is_settled(&self) -> bool {
        self.guide.is_settled()
    }

    /// The configuration to measure next, with the model's ticks; `None` if all were chosen.
    pub fn ask(&mut self) -> Option<(&Configuration, i64)> {
        let chosen = self.guide.choose()?;
        Some((&self.all.bound[chosen].configuration, self.all.candidates[chosen].ticks))
    }

    /// Takes the time of a configuration in seconds; `None` if it failed.
    ///
    /// # Errors
    /// What is wrong with the configuration: it is none of those that are chosen from.
    pub fn tell(
        &mut self,
        configuration: &HashMap<String, i64>,
        seconds: Option<f64>,
    ) -> Result<(), String> {
        let names = || self.problem.parameters.iter().map(|p| p.name.as_str());
        if let Some(other) = configuration.keys().find(|name| !names().any(|n| n == *name)) {
            return Err(format!("no parameter is named {other}: {}", suggest(other, names())));
        }
        let value = |name| {
            configuration
                .get(name)
                .copied()
                .ok_or_else(|| format!("{name} has no value; tell the values of all parameters"))
        };
        let values: Vec<i64> = names().map(value).collect::<Result<_, _>>()?;
        let Some(place) = self.places.get(&values).copied() else {
            let configuration = Configuration(values);
            let named = self.problem.name_values(&configuration);
            return Err(format!("{named} is none of the configurations that are chosen from"));
        };
        self.guide.tell(place, seconds);
        let seconds = seconds.filter(|s| s.is_finite() && *s > 0.0);
        if let Some(seconds) = seconds.filter(|s| self.best.is_none_or(|(_, best)| *s < best)) {
            self.best = Some((place, seconds));
        }
        Ok(())
    }

    /// The fastest configuration so far, and its seconds.
    pub fn best(&self) -> Option<(&Configuration, f64)> {
        self.best.map(|(place, seconds)| (&self.all.bound[place].configuration, seconds))
    }
}
