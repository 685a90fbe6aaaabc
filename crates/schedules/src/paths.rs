//! The paths of a launch whose groups forget where they are.
//!
//! Where a group goes on at the end of a phase depends on its position. Here it may go on wherever
//! some group goes on after such a phase. So each run of the launch is a path from the empty state
//! to an empty state, and there are others. While groups are left each free place is taken, as in
//! the launch (the *main* part of the path); once none is left no place is taken (its *rest*).
//! Neither the number of groups nor that of iterations decides how many states there are.

use itertools::Itertools;
use rustc_hash::FxHashSet;

use crate::graph::{Graph, Kind, Turn};
use crate::launch::WarpLaunch;

/// Work that counts as a tick; the end of a phase without time counts 1.
const TICK: i64 = 1 << 16;

/// A step from one state to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub from: u32,
    pub to: u32,
    pub ticks: i64,
    /// The work that is done: of a phase that ends.
    pub work: i64,
}

#[derive(Default)]
pub(crate) struct Paths {
    /// Number of states.
    pub states: u32,
    /// While groups are left.
    pub main: Vec<Step>,
    /// A group is placed and none is left.
    pub last: Vec<Step>,
    /// After that, by the number of groups that have a place.
    pub rest: Vec<Vec<Step>>,
    /// States without groups.
    pub empty: Vec<u32>,
}

impl WarpLaunch {
    pub(crate) fn work(&self, phase: u32) -> i64 {
        self.path(&self.phases[phase as usize]).saturating_mul(TICK).saturating_add(1)
    }
}

impl Paths {
    /// All states reached, and the steps between them; `None` if more than `states`, or at a stop.
    pub fn new(graph: &mut Graph<'_>, states: usize, stop: &dyn Fn() -> bool) -> Option<Paths> {
        let follow = Follow::new(graph.launch);
        let root = graph.root();
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
                Kind::Complete(group) => follow.complete(graph, (node, group), &mut steps),
                _ if of.free && !rest => follow.place(graph, node, &mut steps),
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
                let groups = graph.state(node).groups().count();
                if paths.rest.len() <= groups {
                    paths.rest.resize(groups + 1, Vec::new());
                }
                paths.rest[groups].append(&mut steps);
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
    fn new(launch: &WarpLaunch) -> Follow {
        let mut turns = vec![Vec::new(); launch.phases.len()];
        for position in &launch.positions {
            let phase = |p: u32| launch.positions[p as usize].phase;
            let turn = position.next.map_or(Turn::Finish, |next| Turn::Advance(phase(next)));
            let known: &mut Vec<Turn> = &mut turns[position.phase as usize];
            if !known.contains(&turn) {
                known.push(turn);
            }
        }
        let first = launch.queue.iter().map(|(_, p)| launch.positions[*p as usize].phase);
        let first = first.sorted_unstable().dedup().collect();
        let phases = u32::try_from(launch.phases.len()).unwrap_or(u32::MAX);
        Follow { turns, work: (0..phases).map(|phase| launch.work(phase)).collect(), first }
    }

    /// A group has reached the end of its phase.
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
