//! Groups that differ, handed to units one by one, as a transition system.
//!
//! A group's ticks depend on nothing outside it, so each group that differs is run by itself in the
//! encoding at hand. What is left is list scheduling: the next group goes to the unit that is free
//! first. The state has *levels*, in the order of time: how many units are free from which moment
//! on. And it has what is left of the queue, *stretch* by stretch of groups with equal ticks. A
//! step is the first of these that applies:
//!
//! 1. Groups that take no time end where they begin: the rest of their stretch is passed.
//! 2. If no unit is free later than a group takes after the first is, each unit takes one before
//!    any takes a second, and so on. If there is one for each unit, this many are handed out: at
//!    the beginning of a stretch as many for each unit as there are.
//! 3. The units of the first level take a group each, while there are any, and become a level
//!    of their own.
//!
//! Only the third adds a level, where groups do not suffice for the first, and then the stretch
//! ends. So there are at most as many levels as stretches, and one.
//!
//! The ticks of groups are numbers here. They come from the encoding's own system, run for each
//! group, not from the simulator.

use crate::encoded::{EncodeError, Encoded};
use crate::plan::{Plan, Queue};
use crate::system::run::SystemRunner;
use crate::system::{Bool, Int, InternalError, StateVariable, System, SystemBuilder};

/// Most steps in which a group, or what comes before and after all groups, is run.
const MAX_STEPS: usize = 20_000;
/// Most expressions that are computed for all groups together: a few seconds.
const MAX_NODES: usize = 200_000_000;

/// Encodes a plan by an encoding that knows nothing of queues.
///
/// # Errors
/// A group of the queue whose ticks that encoding does not find, or a fault of this program.
pub(crate) fn encode(
    plan: &Plan,
    alone: &dyn Fn(&Plan) -> Result<Encoded, InternalError>,
) -> Result<Encoded, EncodeError> {
    let Some(queue) = &plan.queue else { return Ok(alone(plan)?) };
    let groups = alone(&queue.groups)?;
    let around = alone(&Plan { queue: None, ..plan.clone() })?;
    let mut owners = vec![0; queue.groups.configurations.len()];
    for (c, order) in queue.order.iter().enumerate() {
        order.iter().for_each(|(group, _)| owners[*group] = c);
    }
    let of_groups = ticks(&groups.system, &owners)?;
    let of_rest = ticks(&around.system, &(0..queue.order.len()).collect::<Vec<_>>())?;
    let system = launch(plan, queue, &of_groups, &of_rest)?;
    // The launch itself is never closed.
    let report = groups.report.map(|mut report| {
        report.open += 1;
        report
    });
    Ok(Encoded { system, report })
}

/// What each configuration of a system takes; `owners` are their configurations of the launch.
fn ticks(system: &System, owners: &[usize]) -> Result<Vec<i64>, EncodeError> {
    let mut runner = SystemRunner::new(system);
    let mut left = MAX_NODES / runner.size().max(1);
    let one = |(c, configuration): (usize, &usize)| {
        let run = runner.run(c, MAX_STEPS.min(left));
        let run =
            run.map_err(|error| EncodeError::Group { configuration: *configuration, error })?;
        left = left.saturating_sub(run.steps);
        Ok(run.cost)
    };
    owners.iter().enumerate().map(one).collect()
}

/// Groups with equal ticks that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    ticks: i64,
    groups: i64,
}

/// The stretches of each configuration.
fn stretches(queue: &Queue, ticks: &[i64]) -> Vec<Vec<Stretch>> {
    let of_one = |order: &Vec<(usize, i64)>| {
        let mut all: Vec<Stretch> = Vec::new();
        for (group, groups) in order {
            match all.last_mut() {
                Some(last) if last.ticks == ticks[*group] => last.groups += groups,
                _ => all.push(Stretch { ticks: ticks[*group], groups: *groups }),
            }
        }
        all
    };
    queue.order.iter().map(of_one).collect()
}

/// The system of a launch whose groups take these ticks, beside what comes before and after them.
fn launch(
    plan: &Plan,
    queue: &Queue,
    of_groups: &[i64],
    of_rest: &[i64],
) -> Result<System, InternalError> {
    let all = stretches(queue, of_groups);
    let build = SystemBuilder::new(plan.parameters.clone(), plan.configurations.clone());
    let line = Line::new(&build, &all, queue.units);
    let most = usize::try_from(queue.units).unwrap_or(usize::MAX);
    let levels = Levels::new(&build, line.at.len().min(most));
    let ticks = line.pick(|s| Some(s?.ticks));
    let step = Step {
        ended: line.given.now().equals(line.groups()),
        nothing: ticks.equals(build.int(0)),
        in_turn: levels.last().at_most(levels.first().time + ticks),
        of_level: levels.first().units,
    };
    let hand_out = line.define(&step);
    let each = hand_out.all.ite(line.rounds(), ticks);
    levels.define(queue.units, &hand_out, (each, ticks), step.ended | step.nothing);
    let rest: Vec<Option<i64>> = of_rest.iter().map(|t| Some(*t)).collect();
    let cost = levels.last() + build.table("rest", &rest);
    build.finish(step.ended, cost, build.bool(true))
}

/// What a step depends on.
struct Step<'b> {
    /// No group is left.
    ended: Bool<'b>,
    /// The groups at hand take no time.
    nothing: Bool<'b>,
    /// The first unit would end one of them when all units are free, or later.
    in_turn: Bool<'b>,
    /// Units of the first level.
    of_level: Int<'b>,
}

/// How groups are handed out in a step.
struct HandOut<'b> {
    /// To each unit as many.
    each: Bool<'b>,
    /// And as many as there are for each.
    all: Bool<'b>,
    /// To how many units of the first level, otherwise.
    some: Int<'b>,
}

/// Units that are free from the same moment on.
#[derive(Clone, Copy)]
struct Level<'b> {
    /// That moment.
    time: Int<'b>,
    /// How many; 0 behind the last level.
    units: Int<'b>,
}

fn either<'b>(first: Bool<'b>, a: Level<'b>, b: Level<'b>) -> Level<'b> {
    Level { time: first.ite(a.time, b.time), units: first.ite(a.units, b.units) }
}

/// The levels, in the order of time.
struct Levels<'b> {
    build: &'b SystemBuilder,
    /// When the units of each are free, and how many they are.
    states: Vec<[StateVariable<'b, Int<'b>>; 2]>,
    now: Vec<Level<'b>>,
}

impl<'b> Levels<'b> {
    /// This many; one at least.
    fn new(build: &'b SystemBuilder, count: usize) -> Levels<'b> {
        let state =
            |k: usize| [format!("free[{k}]"), format!("units[{k}]")].map(|n| build.state(n));
        let states: Vec<[StateVariable<'b, Int<'b>>; 2]> = (0..count.max(1)).map(state).collect();
        let now = states.iter().map(|[time, units]| Level { time: time.now(), units: units.now() });
        Levels { build, now: now.collect(), states }
    }

    fn first(&self) -> Level<'b> {
        self.now[0]
    }

    fn is_used(&self, level: Level<'b>) -> Bool<'b> {
        !level.units.equals(self.build.int(0))
    }

    /// When the last unit is free.
    fn last(&self) -> Int<'b> {
        let [first, others @ ..] = self.now.as_slice() else { return self.build.unread() };
        others.iter().fold(first.time, |last, level| self.is_used(*level).ite(level.time, last))
    }

    /// Defines the levels after this step; `ticks` are added to all, and to some of the first.
    fn define(
        &self,
        units: i64,
        hand_out: &HandOut<'b>,
        (each, one): (Int<'b>, Int<'b>),
        stays: Bool<'b>,
    ) {
        let (build, first, some) = (self.build, self.first(), hand_out.some);
        let none = Level { time: build.int(0), units: build.int(0) };
        let moved = Level { time: first.time + one, units: some };
        let left = Level { units: first.units + build.int(-1) * some, ..first };
        let whole = !self.is_used(left);
        // Those that do not move, in order, and where the others come among them.
        let count = self.now.len();
        let others = (0..count).map(|k| {
            let following = self.now.get(k + 1).copied().unwrap_or(none);
            either(whole, following, if k == 0 { left } else { self.now[k] })
        });
        let others: Vec<Level<'b>> = others.collect();
        let before: Vec<Bool<'b>> =
            others.iter().map(|o| self.is_used(*o) & o.time.at_most(moved.time)).collect();
        for (k, [time, units_of]) in self.states.iter().enumerate() {
            let behind = match k {
                0 => moved,
                _ => either(before[k - 1], moved, others[k - 1]),
            };
            let some = either(before[k], others[k], behind);
            let now = self.now[k];
            let all = Level { time: now.time + each, units: now.units };
            let next = either(stays, now, either(hand_out.each, all, some));
            time.define(build.int(0), next.time);
            units_of.define(build.int(if k == 0 { units } else { 0 }), next.units);
        }
    }
}

/// Where the queue is.
struct Line<'b> {
    build: &'b SystemBuilder,
    all: &'b [Vec<Stretch>],
    units: i64,
    /// By stretch, and one behind the last.
    at: Vec<StateVariable<'b, Bool<'b>>>,
    /// Groups of that stretch that have been handed out.
    given: StateVariable<'b, Int<'b>>,
}

impl<'b> Line<'b> {
    fn new(build: &'b SystemBuilder, all: &'b [Vec<Stretch>], units: i64) -> Line<'b> {
        let most = all.iter().map(Vec::len).max().unwrap_or(0);
        let at = (0..=most).map(|n| build.state(format!("stretch[{n}]"))).collect();
        Line { build, all, units, at, given: build.state("given") }
    }

    /// A number of a stretch, in each configuration that has it.
    fn table(&self, n: usize, number: impl Fn(Option<Stretch>) -> Option<i64>) -> Int<'b> {
        let values: Vec<Option<i64>> = self.all.iter().map(|s| number(s.get(n).copied())).collect();
        self.build.table(&format!("stretch[{n}]"), &values)
    }

    /// What belongs to the stretch where the queue is.
    fn here(&self, of: impl Fn(usize) -> Int<'b>) -> Int<'b> {
        let all = (0..self.at.len()).rev();
        all.fold(self.build.unread(), |other, n| self.at[n].now().ite(of(n), other))
    }

    /// A number of the stretch where the queue is; none behind a configuration's last stretch.
    fn pick(&self, number: impl Fn(Option<Stretch>) -> Option<i64>) -> Int<'b> {
        self.here(|n| self.table(n, &number))
    }

    /// Ticks of all rounds in which each unit takes a group of the stretch where the queue is.
    fn rounds(&self) -> Int<'b> {
        // A product of the system: beyond 64 bits it is too long a time, not a missing one.
        self.here(|n| {
            self.table(n, |s| Some(s?.ticks)) * self.table(n, |s| Some(s?.groups / self.units))
        })
    }

    /// Groups of the stretch where the queue is; none behind the last.
    fn groups(&self) -> Int<'b> {
        self.pick(|s| Some(s.map_or(0, |s| s.groups)))
    }

    /// Defines where the queue is after this step, and how groups are handed out in it.
    fn define(&self, step: &Step<'b>) -> HandOut<'b> {
        let (build, units, given) = (self.build, self.units, self.given.now());
        let groups = self.groups();
        let each = step.in_turn & (given + build.int(units)).at_most(groups);
        let all = each & given.equals(build.int(0));
        let left = groups + build.int(-1) * given;
        let some = left.at_most(step.of_level).ite(left, step.of_level);
        let whole = self.pick(|s| Some(s?.groups - s?.groups % units));
        let taken = all.ite(whole, each.ite(build.int(units), some));
        let after = step.nothing.ite(groups, given + taken);
        let passed = !step.ended & after.equals(groups);
        for (n, at) in self.at.iter().enumerate() {
            let before = if n == 0 { build.bool(false) } else { self.at[n - 1].now() };
            at.define(build.bool(n == 0), passed.ite(before, at.now()));
        }
        let next = step.ended.ite(given, passed.ite(build.int(0), after));
        self.given.define(build.int(0), next);
        HandOut { each, all, some }
    }
}
