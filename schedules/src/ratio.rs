//! Bounds for launches with many iterations: what a run takes for its work, by the cycles of the states.
//!
//! In goes a launch, out come a number of ticks that no schedule undercuts and one that none exceeds. Neither the number of groups nor that of
//! iterations matters for how long that takes.
//!
//! 1. *States without places in the program.* Where a group goes on at the end of a phase depends on its position. Here it may go
//!    on wherever some group goes on after such a phase. So each run of the launch is a path from the empty state to an empty state, and there
//!    are others. While groups are left each free place is taken, as in the launch (the *main* part of the path); once
//!    none is left no place is taken (its *rest*).
//! 2. *Work.* The end of a phase counts as much as the ticks that the phase takes when its group is alone, and a little more, so that no cycle is
//!    without work. All phases of the launch end once, so the work of the whole path is known, though not where it is done; that of the rest is at
//!    most that of as many groups as there are places.
//! 3. *Potentials.* Let `r` be the least ratio of ticks and work over all cycles of the main part (Dantzig, Blattner, Rao 1966), and `s` over those of
//!    the rest, or `r` if that is less. With `ticks - r * work` for a step of the main part and `ticks - s * work` for one of the rest, no cycle
//!    is negative, so there is a shortest path, of length `c`: its lengths to all states are potentials. A path with work `w` in
//!    its main part and `v` in the rest takes at least `r * w + s * v + c` ticks.
//! 4. The greatest time is the same with negative ticks.
//!
//! Ratios are fractions and nothing is rounded before the end. Cycles are found by relaxing all steps until one closes, or nothing changes;
//! each lowers the ratio.

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use crate::MAX_PLACES;
use crate::error::{ScheduleError, TooLarge};
use crate::graph::{Graph, Kind, Turn};
use crate::launch::Launch;
use crate::state::State;

/// Work that counts as a tick. The end of a phase that takes no time counts as one by itself, which weighs little beside this.
const TICK: i64 = 1 << 16;

/// Most ticks and most work of a cycle, and most work of a phase: sums of products of these stay within 127 bits.
const MOST: i128 = 1 << 32;

/// A step from one state to another.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: u32,
    to: u32,
    ticks: i64,
    work: i64,
}

/// A fraction; what it divides by is positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ratio {
    ticks: i128,
    work: i128,
}

/// All paths of a launch whose groups forget where they are.
#[derive(Default)]
struct Paths {
    /// Number of states.
    states: u32,
    /// While groups are left.
    main: Vec<Step>,
    /// A group is placed and none is left.
    last: Vec<Step>,
    /// After that.
    rest: Vec<Step>,
    /// States without groups.
    empty: Vec<u32>,
}

impl Launch {
    /// A number of ticks that no schedule undercuts, and one that none exceeds; `None` if there are more than `states` of a unit, numbers grow
    /// too large, or `stop` said so.
    ///
    /// # Errors
    /// The launch is too large, or its time.
    pub fn ratios(
        &self,
        states: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(i64, i64)>, ScheduleError> {
        if self.units.saturating_mul(self.places) > MAX_PLACES {
            return Err(ScheduleError::TooLarge(TooLarge::Places(MAX_PLACES)));
        }
        let Some(paths) = Paths::new(self, states, stop) else { return Ok(None) };
        let Some(work) = Work::new(self) else {
            return Err(ScheduleError::TooLarge(TooLarge::Time));
        };
        let Some(least) = paths.least(work, 1, stop) else { return Ok(None) };
        let Some(most) = paths.least(work, -1, stop) else { return Ok(None) };
        let around = i128::from(self.begins) + i128::from(self.finish);
        let [least, most] = [least + around, around - most].map(i64::try_from);
        Ok(least.ok().zip(most.ok()))
    }

    /// The work of a phase, by its number.
    fn work(&self, phase: u32) -> i64 {
        self.path(&self.phases[phase as usize]).saturating_mul(TICK).saturating_add(1)
    }
}

/// The work of a launch.
#[derive(Debug, Clone, Copy)]
struct Work {
    all: i128,
    /// The most that is left when the last group is placed.
    rest: i128,
}

impl Work {
    fn new(launch: &Launch) -> Option<Work> {
        let (mut all, mut longest) = (0_i128, 0_i128);
        for (count, first) in &launch.queue {
            let next = |p: &u32| launch.positions[*p as usize].next;
            let positions = std::iter::successors(Some(*first), next);
            let phases = positions.map(|p| launch.positions[p as usize].phase);
            let mut group = 0;
            for phase in phases {
                let work = i128::from(launch.work(phase));
                group += (work <= MOST).then_some(work)?;
            }
            all = all.checked_add(group.checked_mul(i128::from(*count))?)?;
            longest = longest.max(group);
        }
        let places = i128::try_from(launch.places.checked_mul(launch.units)?).ok()?;
        let rest = longest.checked_mul(places)?.min(all);
        (all < i128::from(i64::MAX)).then_some(Work { all, rest })
    }
}

impl Paths {
    /// All states that are reached, and the steps between them.
    fn new(launch: &Launch, states: usize, stop: &dyn Fn() -> bool) -> Option<Paths> {
        let follow = Follow::new(launch);
        let mut graph = Graph::new(launch);
        let (root, _) = graph.meet(State::empty(launch));
        let mut paths = Paths::default();
        // Which part a state was followed in: main, rest.
        let mut seen: FxHashSet<(u32, bool)> = FxHashSet::default();
        let mut waiting = vec![(root, false)];
        while let Some((node, rest)) = waiting.pop() {
            if !seen.insert((node, rest)) {
                continue;
            }
            if graph.len() > states || (seen.len().is_multiple_of(1024) && stop()) {
                return None;
            }
            let of = graph.node(node);
            let mut steps = Vec::new();
            match of.kind {
                Kind::Complete(group) => follow.complete(&mut graph, (node, group), &mut steps),
                _ if of.free && !rest => follow.place(&mut graph, node, &mut steps),
                Kind::Empty => paths.empty.push(node),
                Kind::Open => {
                    for edge in graph.edges(node) {
                        let edge = graph.edge(edge);
                        steps.push(Step { from: node, to: edge.to, ticks: edge.ticks, work: 0 });
                    }
                }
            }
            waiting.extend(steps.iter().map(|s| (s.to, rest)));
            if rest {
                paths.rest.append(&mut steps);
                continue;
            }
            if of.free && !matches!(of.kind, Kind::Complete(_)) {
                waiting.extend(steps.iter().map(|s| (s.to, true)));
                paths.last.extend_from_slice(&steps);
            }
            paths.main.append(&mut steps);
        }
        paths.states = u32::try_from(graph.len()).ok()?;
        Some(paths)
    }

    /// The least ticks of a path with this work, rounded up; with `sign` -1 of negative ticks. `None` if `stop` said so, or numbers are too large.
    fn least(&self, work: Work, sign: i64, stop: &dyn Fn() -> bool) -> Option<i128> {
        let signed = |steps: &[Step]| -> Vec<Step> {
            steps.iter().map(|s| Step { ticks: sign * s.ticks, ..*s }).collect()
        };
        let (main, last, rest) = (signed(&self.main), signed(&self.last), signed(&self.rest));
        let nothing = Ratio { ticks: 0, work: 1 };
        let of_main = least_ratio(&main, self.states, stop)?.unwrap_or(nothing);
        let of_rest = least_ratio(&rest, self.states, stop)?.unwrap_or(of_main);
        let of_rest = if of_rest.is_less(of_main) { of_rest } else { of_main };
        // In units of one tick divided by this, everything is whole.
        let unit = of_main.work * of_rest.work;
        let lengths = |steps: &[Step], ratio: Ratio| -> Vec<(u32, u32, i128)> {
            let per_work = ratio.ticks * (unit / ratio.work);
            let length = |s: &Step| i128::from(s.ticks) * unit - i128::from(s.work) * per_work;
            steps.iter().map(|s| (s.from, s.to, length(s))).collect()
        };
        let mut at: Vec<Option<i128>> = vec![None; self.states as usize];
        at[0] = Some(0);
        settle(&lengths(&main, of_main), &mut at, stop)?;
        let mut later: Vec<Option<i128>> = vec![None; self.states as usize];
        for (from, to, length) in lengths(&last, of_main) {
            let reached = at[from as usize].map(|t| t + length);
            later[to as usize] = least_of(later[to as usize], reached);
        }
        settle(&lengths(&rest, of_rest), &mut later, stop)?;
        let end = self.empty.iter().filter_map(|node| later[*node as usize]).min()?;
        let of = |ratio: Ratio, work: i128| (ratio.ticks * (unit / ratio.work)).checked_mul(work);
        let whole = of(of_main, work.all - work.rest)?.checked_add(of(of_rest, work.rest)?)?;
        let whole = whole.checked_add(end)?;
        Some(whole.div_euclid(unit) + i128::from(whole.rem_euclid(unit) > 0))
    }
}

/// Where groups may go on.
struct Follow {
    /// By phase: what its end may lead to.
    turns: Vec<Vec<Turn>>,
    /// By phase: its work.
    work: Vec<i64>,
    /// Phases with which groups begin.
    first: Vec<u32>,
}

impl Follow {
    fn new(launch: &Launch) -> Follow {
        let mut turns = vec![Vec::new(); launch.phases.len()];
        for position in &launch.positions {
            let phase = |p: u32| launch.positions[p as usize].phase;
            let turn = position.next.map_or(Turn::Finish, |next| Turn::Advance(phase(next)));
            let known: &mut Vec<Turn> = &mut turns[position.phase as usize];
            if !known.contains(&turn) {
                known.push(turn);
            }
        }
        let mut first: Vec<u32> = Vec::new();
        for (_, position) in &launch.queue {
            first.push(launch.positions[*position as usize].phase);
        }
        first.sort_unstable();
        first.dedup();
        let phases = u32::try_from(launch.phases.len()).unwrap_or(u32::MAX);
        Follow { turns, work: (0..phases).map(|phase| launch.work(phase)).collect(), first }
    }

    /// A group has come to the end of its phase.
    fn complete(&self, graph: &mut Graph<'_>, (node, group): (u32, usize), out: &mut Vec<Step>) {
        let state = graph.state(node);
        let Some(phase) = state.groups().nth(group).map(|g| g.phase as usize) else { return };
        for turn in &self.turns[phase] {
            for target in graph.turn(node, *turn) {
                let to = graph.target(target).0;
                out.push(Step { from: node, to, ticks: 0, work: self.work[phase] });
            }
        }
    }

    /// A group takes a free place.
    fn place(&self, graph: &mut Graph<'_>, node: u32, out: &mut Vec<Step>) {
        for phase in &self.first {
            for target in graph.turn(node, Turn::Place(*phase)) {
                out.push(Step { from: node, to: graph.target(target).0, ticks: 0, work: 0 });
            }
        }
    }
}

impl Ratio {
    fn is_large(self) -> bool {
        self.ticks.abs() > MOST || self.work > MOST
    }

    fn is_less(self, other: Ratio) -> bool {
        self.ticks * other.work < other.ticks * self.work
    }
}

fn least_of(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The least ratio over all cycles, which all do work; `Some(None)` without cycles, `None` if `stop` said so or a cycle is too long.
fn least_ratio(steps: &[Step], states: u32, stop: &dyn Fn() -> bool) -> Option<Option<Ratio>> {
    // Above every ratio.
    let all: i128 = steps.iter().map(|s| i128::from(s.ticks.abs())).sum();
    let mut ratio = Ratio { ticks: all + 1, work: 1 };
    let mut found = None;
    loop {
        match negative_cycle(steps, states, ratio, stop) {
            ControlFlow::Continue(()) => return Some(found),
            ControlFlow::Break(None) => return None,
            ControlFlow::Break(Some(cycle)) if cycle.is_large() => return None,
            ControlFlow::Break(Some(cycle)) => {
                ratio = cycle;
                found = Some(cycle);
            }
        }
    }
}

/// The ratio of a cycle whose ratio is less than this one, if there is any; `Break(None)` if `stop` said so.
fn negative_cycle(
    steps: &[Step],
    states: u32,
    ratio: Ratio,
    stop: &dyn Fn() -> bool,
) -> ControlFlow<Option<Ratio>> {
    let length = |s: &Step| i128::from(s.ticks) * ratio.work - i128::from(s.work) * ratio.ticks;
    let mut at = vec![0_i128; states as usize];
    // By which step a state was reached.
    let mut by: Vec<Option<u32>> = vec![None; states as usize];
    loop {
        let mut changed = false;
        for (n, step) in (0..).zip(steps) {
            let reached = at[step.from as usize] + length(step);
            if reached < at[step.to as usize] {
                at[step.to as usize] = reached;
                by[step.to as usize] = Some(n);
                changed = true;
            }
        }
        if !changed {
            return ControlFlow::Continue(());
        }
        if stop() {
            return ControlFlow::Break(None);
        }
        if let Some(cycle) = closed(steps, &by) {
            return ControlFlow::Break(Some(cycle));
        }
    }
}

/// The ratio of a cycle of the steps by which states were reached.
fn closed(steps: &[Step], by: &[Option<u32>]) -> Option<Ratio> {
    let mut walk = vec![0_u32; by.len()];
    for (number, start) in (1..).zip(0..by.len()) {
        let mut node = start;
        while walk[node] == 0 {
            walk[node] = number;
            let Some(step) = by[node] else { break };
            node = steps[step as usize].from as usize;
        }
        if walk[node] != number || by[node].is_none() {
            continue;
        }
        let (mut ratio, first) = (Ratio { ticks: 0, work: 0 }, node);
        while let Some(step) = by[node] {
            let step = steps[step as usize];
            ratio.ticks += i128::from(step.ticks);
            ratio.work += i128::from(step.work);
            node = step.from as usize;
            if node == first {
                return Some(ratio);
            }
        }
    }
    None
}

/// Lowers the lengths of paths until no step is shorter; `None` if `stop` said so. There is no negative cycle.
fn settle(
    steps: &[(u32, u32, i128)],
    at: &mut [Option<i128>],
    stop: &dyn Fn() -> bool,
) -> Option<()> {
    loop {
        let mut changed = false;
        for (from, to, length) in steps {
            let Some(before) = at[*from as usize] else { continue };
            let reached = before + length;
            if at[*to as usize].is_none_or(|known| reached < known) {
                at[*to as usize] = Some(reached);
                changed = true;
            }
        }
        if !changed {
            return Some(());
        }
        if stop() {
            return None;
        }
    }
}
