//! Configurations that are one program, folded.

use indexmap::IndexMap;
use tickbound_model::verdict::TimedConfiguration;
use tickbound_model::{Configuration, Problem, Profile};
use tickbound_simulator::program;

use crate::error::SolveError;

/// Configurations that use the same of a device in launches of the same size: the profile
/// `resources` cannot distinguish them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramClass {
    /// The first of them.
    pub first: TimedConfiguration,
    /// How many there are.
    pub configurations: usize,
    /// The parameters in which they differ.
    pub differ: Vec<String>,
}

/// The best distinct programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramClasses {
    /// They, least time first; of equal times in the order of their first configurations.
    pub list: Vec<ProgramClass>,
    /// All configurations of each were counted, and not only those that a search came by.
    pub whole: bool,
}

/// Most configurations that are folded.
const MOST: usize = 100_000;

/// Folds configurations that come in the order of their times.
#[derive(Debug)]
pub(crate) struct Fold<'p> {
    problem: &'p Problem,
    top: usize,
    looked: usize,
    last: i64,
    programs: IndexMap<Vec<i64>, (i64, Vec<Configuration>)>,
}

impl<'p> Fold<'p> {
    /// A fold for the `top` best programs; `None` if none were requested or the profile has none.
    pub fn new(problem: &'p Problem, top: usize) -> Option<Fold<'p>> {
        let folds = top > 0 && problem.profile == Profile::Resources;
        let programs = IndexMap::new();
        folds.then(|| Fold { problem, top, looked: 0, last: i64::MIN, programs })
    }

    /// Whether a configuration of this time can belong to one of the best programs. Those of equal
    /// times are all examined, so that no order among them matters.
    pub fn wants(&self, time: i64) -> bool {
        self.programs.len() < self.top || time == self.last
    }

    /// Whether no more configurations are folded.
    pub fn is_full(&self) -> bool {
        self.looked >= MOST
    }

    /// Takes the next configuration.
    ///
    /// # Errors
    /// It is not valid, or has a usage without a value.
    pub fn add(&mut self, configuration: &Configuration, time: i64) -> Result<(), SolveError> {
        (self.looked, self.last) = (self.looked + 1, time);
        let bound = self.problem.bind_configuration(configuration)?;
        let program = program(self.problem, &bound)?.unwrap_or_default();
        let own = self.programs.entry(program).or_insert((time, Vec::new()));
        own.1.push(bound.configuration);
        Ok(())
    }

    /// The programs; `whole`: nothing was left out that could belong to them.
    pub fn programs(self, whole: bool) -> ProgramClasses {
        let names: Vec<&str> = self.problem.parameters.iter().map(|p| p.name.as_str()).collect();
        let mut list: Vec<ProgramClass> =
            self.programs.into_values().map(|(time, all)| folded(&names, time, all)).collect();
        list.sort_by(|a, b| {
            let key = |f: &ProgramClass| (f.first.time, f.first.configuration.clone());
            key(a).cmp(&key(b))
        });
        list.truncate(self.top);
        ProgramClasses { list, whole }
    }
}

/// Folds what the search has listed, where it did not fold as it went; `whole`: it has
/// listed everything.
///
/// # Errors
/// A usage without a value.
pub(crate) fn of_listed(
    problem: &Problem,
    top: usize,
    (listed, whole): (&[TimedConfiguration], bool),
) -> Result<ProgramClasses, SolveError> {
    let Some(mut fold) = Fold::new(problem, top) else { return Ok(ProgramClasses::default()) };
    for found in listed {
        fold.add(&found.configuration, found.time)?;
    }
    Ok(fold.programs(whole))
}

fn folded(names: &[&str], time: i64, mut all: Vec<Configuration>) -> ProgramClass {
    all.sort();
    let first = all.first().cloned().unwrap_or(Configuration(Vec::new()));
    let differs = |p: &usize| all.iter().any(|c| c.0.get(*p) != first.0.get(*p));
    let differ = (0..names.len()).filter(differs).map(|p| names[p].to_owned()).collect();
    ProgramClass {
        configurations: all.len(),
        differ,
        first: TimedConfiguration { configuration: first, time },
    }
}
