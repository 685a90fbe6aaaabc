//! The states that were met, each once, and what they lead to.
//!
//! A state is computed when it is first needed. Three kinds of steps lead on: *edges* stay in the
//! phases where the groups are, and pass over everything that is not open; at the end of a phase a
//! group goes on or ends, which depends on its place in the program; and a group is placed, which
//! depends on how many are left. So the last two are computed from what they depend on.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::instant::Offer;
use crate::launch::WarpLaunch;
use crate::state::{Group, Order, Positions, State, Unit, Warps};
use crate::symmetry::Symmetry;

/// An open point inside of phases, and what a choice leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Edge {
    /// Ticks that pass.
    pub ticks: i64,
    /// The state that is reached.
    pub to: u32,
    /// Where its groups were.
    pub order: Order,
}

/// What comes next in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This group has reached the end of its phase.
    Complete(usize),
    /// Something is open, or will be; see [`Graph::edges`].
    Open,
    /// No group has a place.
    Empty,
}

/// A state that was met.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub kind: Kind,
    /// A place for a group is free.
    pub free: bool,
    /// Some of its groups may change their names; see [`Graph::named`].
    pub ties: bool,
    /// Falls along every edge.
    pub rank: u32,
    /// Which phases its groups are in.
    pub phases: u32,
    /// Number among the states whose groups are in these phases.
    pub number: u32,
    /// Its edges, once they are worked out.
    edges: Option<(u32, u32)>,
}

/// What happens at the end of a phase, or when a place is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Turn {
    /// The group that has reached the end of its phase begins this one.
    Advance(u32),
    /// It ends.
    Finish,
    /// A group that begins with this phase is placed; it is the last before the order applies.
    Place(u32),
}

/// What a turn leads to: states, and where their groups were.
type Targets = Vec<(u32, Order)>;

pub(crate) struct Graph<'l> {
    pub launch: &'l WarpLaunch,
    states: IndexSet<Box<[u32]>, FxBuildHasher>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    turns: FxHashMap<(u32, Turn), (u32, u32)>,
    targets: Targets,
    symmetries: FxHashMap<u32, Symmetry>,
    phases: IndexSet<Vec<u32>, FxBuildHasher>,
    /// How many states there are in each combination of phases.
    members: Vec<u32>,
}

impl<'l> Graph<'l> {
    pub fn new(launch: &'l WarpLaunch) -> Graph<'l> {
        Graph {
            launch,
            states: IndexSet::default(),
            nodes: Vec::new(),
            edges: Vec::new(),
            turns: FxHashMap::default(),
            targets: Targets::new(),
            symmetries: FxHashMap::default(),
            phases: IndexSet::default(),
            members: Vec::new(),
        }
    }

    /// How many states were met.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn node(&self, node: u32) -> Node {
        self.nodes[node as usize]
    }

    /// The state itself.
    pub fn state(&self, node: u32) -> State {
        let key = self.states.get_index(node as usize).map_or(&[][..], |key| key);
        decode(key, self.launch)
    }

    /// Takes in a state; returns its number, and where its groups were.
    pub fn meet(&mut self, state: State) -> (u32, Order) {
        let (state, order) = state.canonical(self.launch);
        let key = encode(&state);
        if let Some(node) = self.states.get_index_of(&key) {
            return (node as u32, order);
        }
        let mut of = self.describe(&state);
        let node = self.states.len() as u32;
        if let Some(symmetry) = Symmetry::of(self.launch, &state) {
            of.ties = true;
            self.symmetries.insert(node, symmetry);
        }
        self.states.insert(key);
        self.nodes.push(of);
        (node, order)
    }

    /// The state in which no group was placed.
    pub fn root(&mut self) -> u32 {
        self.meet(State::empty(self.launch)).0
    }

    /// Positions of the groups of a state, as they are named of all that mean the same.
    pub fn named(&self, node: u32, positions: Positions) -> Positions {
        if !self.node(node).ties {
            return positions;
        }
        self.symmetries
            .get(&node)
            .map_or_else(|| positions.clone(), |symmetry| symmetry.least(&positions))
    }

    fn describe(&mut self, state: &State) -> Node {
        let (kind, open) = match state.offer(self.launch) {
            Offer::Complete(group) => (Kind::Complete(group), false),
            Offer::Starts(sets) => (Kind::Open, sets.len() == 1),
            Offer::Wait(_) => (Kind::Open, true),
            Offer::End => (Kind::Empty, false),
        };
        let units = &state.units;
        let in_unit = |unit: &Unit| {
            let phases = unit.groups.iter().map(|g| g.phase);
            phases.chain(std::iter::once(u32::MAX)).collect::<Vec<u32>>()
        };
        let phases = self.phases.insert_full(units.iter().flat_map(in_unit).collect()).0;
        self.members.resize(self.phases.len(), 0);
        let number = self.members[phases];
        self.members[phases] += 1;
        Node {
            kind,
            free: units.iter().any(|unit| unit.groups.len() < self.launch.places),
            ties: false,
            rank: 2 * state.segments(self.launch) + u32::from(open),
            phases: phases as u32,
            number,
            edges: None,
        }
    }

    /// What an open state leads to, in order, each only once. At least one warp is started on the
    /// way, or what is reached is open at last.
    pub fn edges(&mut self, node: u32) -> std::ops::Range<usize> {
        if let Some((from, to)) = self.node(node).edges {
            return from as usize..to as usize;
        }
        let state = self.state(node);
        let mut found: Vec<Edge> = Vec::new();
        let mut reach = |graph: &mut Self, mut next: State| {
            let ticks = next.follow(graph.launch);
            let (to, order) = graph.meet(next);
            found.push(Edge { ticks, to, order });
        };
        match state.offer(self.launch) {
            Offer::Starts(sets) => {
                for starts in &sets {
                    let mut next = state.clone();
                    next.start(self.launch, starts);
                    reach(self, next);
                }
            }
            _ => reach(self, state),
        }
        found.sort_unstable();
        found.dedup();
        let from = self.edges.len();
        self.edges.extend(found);
        self.nodes[node as usize].edges = Some((from as u32, self.edges.len() as u32));
        from..self.edges.len()
    }

    pub fn edge(&self, edge: usize) -> Edge {
        self.edges[edge]
    }

    /// What a turn leads to, as a range of [`Graph::target`]. Where several units have a free
    /// place, which of them takes the group is open.
    pub fn turn(&mut self, node: u32, turn: Turn) -> std::ops::Range<usize> {
        if let Some((from, to)) = self.turns.get(&(node, turn)) {
            return *from as usize..*to as usize;
        }
        let targets = self.take(node, turn);
        let from = self.targets.len();
        self.targets.extend(targets);
        self.turns.insert((node, turn), (from as u32, self.targets.len() as u32));
        from..self.targets.len()
    }

    /// A state that a turn leads to, and where its groups were.
    pub fn target(&self, target: usize) -> (u32, Order) {
        self.targets[target]
    }

    /// How many states were met whose groups are in the same phases as those of this one.
    pub fn alike(&self, node: &Node) -> usize {
        self.members[node.phases as usize] as usize
    }

    fn take(&mut self, node: u32, turn: Turn) -> Targets {
        let mut targets = Targets::new();
        for (state, order) in turned(self.launch, &self.state(node), turn) {
            let (to, sorted) = self.meet(state);
            let target = (to, order.then(sorted));
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        targets
    }
}

/// What a turn makes of a state, and where the groups were: a group that is placed was the last.
pub(crate) fn turned(launch: &WarpLaunch, state: &State, turn: Turn) -> Vec<(State, Order)> {
    let groups = state.groups().count();
    let mut next = state.clone();
    match (turn, state.complete(launch)) {
        (Turn::Advance(phase), Some(group)) => {
            next.begin_phase(launch, group, phase, launch.barrier);
            vec![(next, Order::SAME)]
        }
        (Turn::Finish, Some(group)) => {
            next.remove(group);
            vec![(next, Order::of((0..groups).filter(|n| *n != group)))]
        }
        (Turn::Place(phase), None) => {
            let mut placed = Vec::new();
            let mut before = 0;
            for (unit, of) in state.units.iter().enumerate() {
                before += of.groups.len();
                if of.groups.len() < launch.places {
                    let mut next = state.clone();
                    next.place(launch, unit, phase);
                    let old = (0..before).chain([groups]).chain(before..groups);
                    placed.push((next, Order::of(old)));
                }
            }
            placed
        }
        _ => Vec::new(),
    }
}

fn encode(state: &State) -> Box<[u32]> {
    let mut key = Vec::new();
    for unit in &state.units {
        key.extend(&unit.busy);
        key.push(unit.slots.len() as u32);
        key.extend(&unit.slots);
        key.push(unit.groups.len() as u32);
        for group in &unit.groups {
            key.extend([group.phase, group.pending, group.warps.len() as u32]);
            for w in &group.warps {
                key.extend([w.dispatcher, w.rest, w.ready, w.age.cast_unsigned(), w.count]);
            }
        }
    }
    key.into()
}

fn decode(key: &[u32], launch: &WarpLaunch) -> State {
    let mut words = key.iter().copied();
    let mut next = || words.next().unwrap_or(0);
    let units = (0..launch.units).map(|_| {
        let busy = (0..launch.dispatchers).map(|_| next()).collect();
        let slots = (0..next()).map(|_| next()).collect();
        let groups = (0..next()).map(|_| {
            let (phase, pending, warps) = (next(), next(), next());
            let warps = (0..warps).map(|_| Warps {
                dispatcher: next(),
                rest: next(),
                ready: next(),
                age: next().cast_signed(),
                count: next(),
            });
            Group { phase, pending, warps: warps.collect() }
        });
        Unit { busy, slots, groups: groups.collect() }
    });
    State { units: units.collect() }
}
