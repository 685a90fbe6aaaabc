//! Strategies: ways to close the bracket. One file each; all of them work on a [`Task`].
//!
//! A strategy may stop at any moment; what it has proved is in the bracket by then. Every
//! configuration a solver proposes is run in the simulator before it counts.

mod ascend;
mod bisect;
mod bisect_fresh;
mod descend;
mod enumerate;
mod optimize;
mod race;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tickbound_encodings::system::System;
use tickbound_model::simulate::{self, Script};
use tickbound_model::{Problem, Space};

use super::bracket::Bracket;
use super::instance::{Answer, Instance, Questions};
use super::open::{Open, OpenInstance};
use super::{Inquiry, SolveError, bracket, is_too_large};

tickbound_model::named! {
    /// A strategy's name.
    pub enum Strategy: Entry {
        /// Z3's own optimisation, confirmed by a plain solver.
        Optimize = "optimize" => optimize::ENTRY,
        /// From the best known time downwards until nothing is faster.
        Descend = "descend" => descend::ENTRY,
        /// From the lower bound upwards until something is found.
        Ascend = "ascend" => ascend::ENTRY,
        /// Halving the bracket on one live solver.
        Bisect = "bisect" => bisect::ENTRY,
        /// Halving with a new solver for every question, as the papers do; for comparison.
        BisectFresh = "bisect-fresh" => bisect_fresh::ENTRY,
        /// Simulating every configuration that the lower bounds leave over.
        Enumerate = "enumerate" => enumerate::ENTRY,
        /// Several at once on one bracket.
        Race = "race" => race::ENTRY,
    }
}

/// What a name stands for.
pub(crate) struct Entry {
    run: Run,
    /// Its place in a race, the most promising first; `None` if it takes no part.
    rank: Option<u8>,
    /// It begins with neither bounds nor probes.
    pub from_nothing: bool,
    /// It leaves to the program how the search is done.
    pub leaves_choice: bool,
}

/// How a strategy closes the bracket.
#[derive(Clone, Copy)]
enum Run {
    /// By asking a solver about a formula.
    OnFormula(fn(&Task<'_>, Formula<'_>) -> Result<(), SolveError>),
    /// By simulating.
    OnSimulator(fn(&Task<'_>) -> Result<(), SolveError>),
}

impl Entry {
    const fn on_formula(run: fn(&Task<'_>, Formula<'_>) -> Result<(), SolveError>) -> Entry {
        Entry { run: Run::OnFormula(run), rank: None, from_nothing: false, leaves_choice: false }
    }

    const fn on_simulator(run: fn(&Task<'_>) -> Result<(), SolveError>) -> Entry {
        Entry { run: Run::OnSimulator(run), rank: None, from_nothing: false, leaves_choice: false }
    }
}

impl Strategy {
    /// True if a transition system is needed.
    #[must_use]
    pub fn needs_encoding(self) -> bool {
        matches!(self.entry().run, Run::OnFormula(_))
    }
}

/// What a strategy works on.
pub struct Task<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Its valid configurations.
    pub space: &'a Space,
    /// For each configuration a number of ticks it does not undercut.
    pub lower: &'a [i64],
    /// The formula, if the strategy needs one.
    pub formula: Option<Formula<'a>>,
    /// The shared bracket.
    pub bracket: &'a Bracket<'a>,
    /// The schedule that led to the best time of each configuration, where schedules are open.
    scripts: Mutex<HashMap<usize, (i64, Script)>>,
}

/// A transition system and how far to unroll it.
#[derive(Clone, Copy)]
pub struct Formula<'a> {
    /// The system.
    pub system: &'a System,
    /// Steps after which every configuration that is not pruned has reached the goal.
    pub steps: usize,
    /// Configurations that are pruned: their lower bound exceeds the first incumbent. Those that
    /// just reach it stay, so that it is the solver and not the bound that refutes one tick less.
    pub pruned: &'a (dyn Fn(usize) -> bool + Sync),
    /// What else is needed where schedules are open.
    pub open: Option<&'a Open>,
}

impl<'a> Task<'a> {
    /// A task without an encoding yet.
    pub(super) fn new(inquiry: &Inquiry<'a>, lower: &'a [i64]) -> Task<'a> {
        let Inquiry { problem, space, bracket, .. } = *inquiry;
        Task { problem, space, lower, formula: None, bracket, scripts: Mutex::default() }
    }

    /// The same task with a formula.
    pub(super) fn on(&self, formula: Formula<'a>) -> Task<'a> {
        let Task { problem, space, lower, bracket, .. } = *self;
        Task { problem, space, lower, formula: Some(formula), bracket, scripts: Mutex::default() }
    }

    /// Follows a schedule in the simulator and offers the time to the bracket.
    pub(super) fn follow(&self, c: usize, claimed: i64, script: Script) -> Result<i64, SolveError> {
        let bound = &self.space.bound[c];
        let run = script.run(self.problem, bound, &simulate::Options::default())?;
        if run.as_ref().is_none_or(|run| run.time != claimed) {
            return Err(SolveError::Disagreement {
                configuration: self.problem.name_values(&bound.configuration).to_string(),
                encoding: claimed,
                simulator: run.map_or(-1, |run| run.time),
            });
        }
        self.keep(c, claimed, script);
        self.bracket.offer(c, claimed);
        Ok(claimed)
    }

    fn keep(&self, c: usize, time: i64, script: Script) {
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = scripts.entry(c).or_insert_with(|| (time, script.clone()));
        if time < known.0 {
            *known = (time, script);
        }
    }

    /// The schedule that led to the best time of a configuration; `None` if that was first come,
    /// first served.
    pub(super) fn script(&self, c: usize, time: i64) -> Option<Script> {
        let scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        scripts.get(&c).filter(|(t, _)| *t == time).map(|(_, s)| s.clone())
    }

    /// The formula on a live solver.
    fn questions(&self, formula: Formula<'a>) -> Result<Box<dyn Questions + 'a>, SolveError> {
        Ok(match formula.open {
            Some(open) => Box::new(OpenInstance::new(open, self.bracket)?),
            None => Box::new(Instance::new(formula, self.bracket)?),
        })
    }

    /// Runs configuration `c` in the simulator and offers its time to the bracket. `claimed` is what
    /// an encoding said it takes.
    pub(super) fn replay(&self, c: usize, claimed: Option<i64>) -> Result<i64, SolveError> {
        let bound = &self.space.bound[c];
        let time = match simulate::simulate(self.problem, bound, &simulate::Options::default()) {
            Ok(run) => run.time,
            // Too large to simulate: the encoding's word has to do, and the result says so.
            Err(e) => match claimed.filter(|_| is_too_large(&e)) {
                Some(ticks) => ticks,
                None => return Err(e.into()),
            },
        };
        if let Some(claimed) = claimed.filter(|t| *t != time) {
            return Err(SolveError::Disagreement {
                configuration: self.problem.name_values(&bound.configuration).to_string(),
                encoding: claimed,
                simulator: time,
            });
        }
        self.bracket.offer(c, time);
        Ok(time)
    }

    /// Asks the live solver for at most `ticks` and puts the answer into the bracket. False if
    /// there is no answer.
    fn ask(&self, instance: &mut dyn Questions, ticks: i64) -> Result<bool, SolveError> {
        match instance.at_most(ticks)? {
            Answer::Yes(c, cost) => self.replay(c, Some(cost)).map(|_| true),
            Answer::Scheduled(c, cost, script) => self.follow(c, cost, script).map(|_| true),
            Answer::No => {
                self.bracket.refute(ticks);
                Ok(true)
            }
            Answer::Nothing => Ok(false),
        }
    }
}

/// Runs one strategy to its end on this thread. Without a formula configurations are simulated.
pub(super) fn run(strategy: Strategy, task: &Task<'_>) -> Result<(), SolveError> {
    match (strategy.entry().run, task.formula) {
        (Run::OnFormula(run), Some(formula)) => run(task, formula),
        (Run::OnSimulator(run), _) => run(task),
        (Run::OnFormula(_), None) => enumerate::run(task),
    }
}

/// The middle of the bracket, below its upper end; with no upper end, twice the lower one.
fn middle(bounds: bracket::Bounds) -> i64 {
    match bounds.best {
        Some((_, upper)) => bounds.lower + (upper - 1 - bounds.lower) / 2,
        None => bounds.lower.saturating_mul(2).saturating_add(1),
    }
}
