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
pub(super) mod race;

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
    pub enum Strategy {
        /// Z3's own optimisation, confirmed by a plain solver.
        Optimize = "optimize",
        /// From the best known time downwards until nothing is faster.
        Descend = "descend",
        /// From the lower bound upwards until something is found.
        Ascend = "ascend",
        /// Halving the bracket on one live solver.
        Bisect = "bisect",
        /// Halving with a new solver for every question, as the papers do; for comparison.
        BisectFresh = "bisect-fresh",
        /// Simulating every configuration that the lower bounds leave over.
        Enumerate = "enumerate",
        /// Several at once on one bracket.
        Race = "race",
    }
}

impl Strategy {
    /// True if a transition system is needed.
    #[must_use]
    pub fn needs_encoding(self) -> bool {
        self != Strategy::Enumerate
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
    /// The encoding, if the strategy needs one.
    pub system: Option<Formula<'a>>,
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
    /// Steps after which every configuration that is not left out has reached the goal.
    pub steps: usize,
    /// Configurations that are left out: their lower bound exceeds the first incumbent. Those that
    /// just reach it stay, so that it is the solver and not the bound that refutes one tick less.
    pub left_out: &'a (dyn Fn(usize) -> bool + Sync),
    /// What else is needed where schedules are open.
    pub open: Option<&'a Open>,
}

impl<'a> Task<'a> {
    /// A task without an encoding yet.
    pub(super) fn new(inquiry: &Inquiry<'a>, lower: &'a [i64]) -> Task<'a> {
        let Inquiry { problem, space, bracket, .. } = *inquiry;
        Task { problem, space, lower, system: None, bracket, scripts: Mutex::default() }
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
    fn questions(&self, encoded: Formula<'a>) -> Box<dyn Questions + 'a> {
        match encoded.open {
            Some(open) => Box::new(OpenInstance::new(open, self.bracket)),
            None => Box::new(Instance::new(
                encoded.system,
                encoded.steps,
                encoded.left_out,
                self.bracket,
            )),
        }
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
        match instance.at_most(ticks) {
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

/// Runs one strategy to its end on this thread.
pub(super) fn run(strategy: Strategy, task: &Task<'_>) -> Result<(), SolveError> {
    match (strategy, task.system) {
        (Strategy::Enumerate, _) | (_, None) => enumerate::run(task),
        (Strategy::Race, _) => race::run(task),
        // Z3's optimisation needs the goal within a fixed number of steps, which an open schedule
        // does not have.
        (Strategy::Optimize, Some(encoded)) if encoded.open.is_none() => {
            optimize::run(task, encoded)
        }
        (Strategy::Optimize, Some(encoded)) => descend::run(task, encoded),
        (Strategy::Descend, Some(encoded)) => descend::run(task, encoded),
        (Strategy::Ascend, Some(encoded)) => ascend::run(task, encoded),
        (Strategy::Bisect, Some(encoded)) => bisect::run(task, encoded),
        (Strategy::BisectFresh, Some(encoded)) => bisect_fresh::run(task, encoded),
    }
}

/// The middle of the bracket, below its upper end; with no upper end, twice the lower one.
fn middle(bounds: bracket::Bounds) -> i64 {
    match bounds.best {
        Some((_, upper)) => bounds.lower + (upper - 1 - bounds.lower) / 2,
        None => bounds.lower.saturating_mul(2).saturating_add(1),
    }
}
