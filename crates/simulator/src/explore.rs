//! Every schedule of a small problem: the least and the greatest time.
//!
//! The search is exhaustive, depth first, over the states of [`Machine`] in which something is
//! open. A state is examined once. It leaves out only what cannot change a time:
//!
//! 1. *Time is relative.* What follows depends on how long things still take, not on the time. So a
//!    state is kept relative to now, with the ticks that remain up to the last group's end.
//! 2. *Units do not compete.* Segments of different units that are started at one instant do not
//!    influence each other, so their order does not matter: the lowest unit decides first.
//! 3. *What is alike has no name.* Units are alike. So are groups if the kernel mentions neither
//!    `gid` nor `group`, and warps of one group on one dispatcher if it mentions neither `lid` nor
//!    `gid`. States that differ only in the names of such things have the same future.
//! 4. *The place of a warp decides what it will do*, because expressions are constant. Its mark
//!    counts only if the kernel has an `until`.

use std::collections::HashMap;

use super::chooser::Decision;
use super::engine::Engine;
use super::schedule::Machine;
use super::{SimulateError, SimulateOptions, launch, simulate};
use tickbound_model::{Bound, Problem};

/// When an exploration gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExploreLimits {
    /// Most different states in which something is open.
    pub max_states: u64,
    /// Most events, as in [`SimulateOptions::max_events`].
    pub max_events: u64,
}

impl Default for ExploreLimits {
    fn default() -> Self {
        ExploreLimits { max_states: 1_000_000, max_events: 1_000_000_000 }
    }
}

/// What an exploration has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explored {
    /// The least time of all schedules.
    pub best: i64,
    /// The greatest time of all schedules.
    pub worst: i64,
    /// In how many different states something was open.
    pub states: u64,
}

/// Finds the least and the greatest time of one configuration over all schedules.
///
/// This is for small problems: the number of states grows exponentially with warps and units.
pub fn explore(
    problem: &Problem,
    bound: &Bound,
    limits: &ExploreLimits,
) -> Result<Explored, SimulateError> {
    let options = SimulateOptions { max_events: limits.max_events, ..SimulateOptions::default() };
    if !problem.has_open_schedule() {
        let time = simulate(problem, bound, &options)?.time;
        return Ok(Explored { best: time, worst: time, states: 0 });
    }
    let mut search = Search {
        engine: Engine::new(problem, bound, &options)?,
        max_states: limits.max_states,
        known: HashMap::new(),
        completed: Range::NONE,
    };
    let root = Machine::new(&mut search.engine, bound)?;
    let all = search.all(root)?;
    Ok(Explored {
        best: launch::finish(&mut search.engine, all.best)?,
        worst: launch::finish(&mut search.engine, all.worst)?,
        states: search.known.len() as u64,
    })
}

/// The least and the greatest of some times, absolute or relative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    best: i64,
    worst: i64,
}

impl Range {
    const NONE: Range = Range { best: i64::MAX, worst: i64::MIN };

    fn join(&mut self, other: Range) {
        self.best = self.best.min(other.best);
        self.worst = self.worst.max(other.worst);
    }
}

/// A state in which something is open.
struct Node<'p> {
    machine: Machine<'p>,
    fingerprint: Box<[i64]>,
    /// The options that have not been tried.
    options: Vec<Decision>,
    /// The times of the options that have been tried.
    tried: Range,
}

/// What a state leads to.
enum Reached<'p> {
    Known(Range),
    Open(Box<Node<'p>>),
}

struct Search<'p> {
    engine: Engine<'p>,
    max_states: u64,
    /// For each state, the ticks from then to the end of the last group.
    known: HashMap<Box<[i64]>, Range>,
    /// The times of the schedules that were followed to their end.
    completed: Range,
}

impl<'p> Search<'p> {
    /// The range of all schedules from here.
    fn all(&mut self, root: Machine<'p>) -> Result<Range, SimulateError> {
        let mut path = Vec::new();
        let mut last = self.follow(root)?;
        loop {
            match last {
                Reached::Open(node) => path.push(*node),
                Reached::Known(range) => match path.last_mut() {
                    Some(node) => node.tried.join(range),
                    None => return Ok(range),
                },
            }
            let states = (self.known.len() + path.len()) as u64;
            if states > self.max_states {
                return Err(self.too_many());
            }
            let option = path.last_mut().and_then(|node| node.options.pop());
            last = match (option, path.last()) {
                (Some(option), Some(node)) => {
                    let mut machine = node.machine.clone();
                    machine.take(&mut self.engine, option)?;
                    self.follow(machine)?
                }
                _ => Reached::Known(path.pop().map_or(Range::NONE, |node| self.learn(node))),
            };
        }
    }

    /// Goes on while there is no choice.
    fn follow(&mut self, mut machine: Machine<'p>) -> Result<Reached<'p>, SimulateError> {
        let mut options = Vec::new();
        loop {
            machine.options_of_one(&mut options);
            match options.as_slice() {
                [] if machine.advance(&mut self.engine)? => {}
                [] => {
                    let end = Range { best: machine.instant(), worst: machine.instant() };
                    self.completed.join(end);
                    return Ok(Reached::Known(end));
                }
                [only] => machine.take(&mut self.engine, *only)?,
                _ => break,
            }
        }
        let fingerprint = machine.fingerprint();
        if let Some(ticks) = self.known.get(&fingerprint) {
            let now = machine.instant();
            let range = Range { best: now + ticks.best, worst: now + ticks.worst };
            self.completed.join(range);
            return Ok(Reached::Known(range));
        }
        options.reverse();
        let tried = Range::NONE;
        Ok(Reached::Open(Box::new(Node { machine, fingerprint, options, tried })))
    }

    /// All options of a node have been tried.
    fn learn(&mut self, node: Node<'p>) -> Range {
        let (range, now) = (node.tried, node.machine.instant());
        let ticks = Range { best: range.best - now, worst: range.worst - now };
        self.known.insert(node.fingerprint, ticks);
        range
    }

    fn too_many(&mut self) -> SimulateError {
        let Range { best, worst } = self.completed;
        let mut finish = |end| launch::finish(&mut self.engine, end).ok();
        let times = if best <= worst { finish(best).zip(finish(worst)) } else { None };
        let configuration = self.engine.configuration();
        SimulateError::TooManyStates { limit: self.max_states, times, configuration }
    }
}
