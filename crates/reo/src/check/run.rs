//! Shortest runs to a place, and runs that break a formula, by a product with what is due.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use indexmap::IndexSet;

use super::cover::{Cover, Due, covers};
use super::formula::{Ltl, LtlFormula};
use crate::automaton::{Automaton, Transition};
use crate::components::components;
use crate::constraint::DataConstraint;
use crate::limits::{Limited, ProductLimits};
use crate::symbol::NameId;

/// A run from an initial state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutomatonRun {
    /// For each step the names that fire and the constraint.
    pub steps: Vec<(Vec<NameId>, DataConstraint)>,
    /// The state at the end.
    pub state: u32,
}

/// A shortest run to a state that no step leaves, if any; a silent loop does not count as leaving.
pub fn deadlock(automaton: &Automaton) -> Option<AutomatonRun> {
    let search = Search::new(automaton);
    let stuck = |s: &u32| automaton.steps(*s).all(|step| automaton.is_idle(&step));
    search.order.iter().find(|s| stuck(s)).map(|s| search.run(*s))
}

/// A shortest run whose last step breaks `invariant`, if any. Silent steps do not count.
pub fn violation(automaton: &Automaton, invariant: &LtlFormula) -> Option<AutomatonRun> {
    let search = Search::new(automaton);
    for state in &search.order {
        for step in automaton.steps(*state) {
            let fire: Vec<NameId> = automaton.fires(&step).collect();
            if !fire.is_empty() && !invariant.holds(&|name| fire.contains(&name)) {
                let mut run = search.run(*state);
                run.steps.push((fire, automaton.constraint(&step).clone()));
                run.state = step.to;
                return Some(run);
            }
        }
    }
    None
}

/// A breadth-first search: which step led to each state first.
struct Search<'a> {
    automaton: &'a Automaton,
    order: Vec<u32>,
    from: Vec<Option<Transition<'a>>>,
}

impl<'a> Search<'a> {
    fn new(automaton: &'a Automaton) -> Self {
        let (order, _) = automaton.breadth_first();
        let mut from = vec![None; automaton.states()];
        for step in order.iter().flat_map(|state| automaton.steps(*state)) {
            if automaton.initial().binary_search(&step.to).is_err() {
                from[step.to as usize].get_or_insert(step);
            }
        }
        Search { automaton, order, from }
    }

    fn run(&self, state: u32) -> AutomatonRun {
        let mut steps = Vec::new();
        let mut at = state;
        while let Some(step) = &self.from[at as usize] {
            let fire = self.automaton.fires(step).collect();
            steps.push((fire, self.automaton.constraint(step).clone()));
            at = step.from;
        }
        steps.reverse();
        AutomatonRun { steps, state }
    }
}

/// An infinite run: a run, and then a cycle of steps for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasso {
    /// The run to the state at which the cycle begins.
    pub run: AutomatonRun,
    /// For each step of the cycle its names and constraint; without steps the run is stuck.
    pub cycle: Vec<(Vec<NameId>, DataConstraint)>,
}

/// An infinite run of `automaton` of which `formula` does not hold, if there is one.
///
/// Each step is one step of the run, silent ones among them: in these no name fires. A step that
/// does nothing at all is none. In a state without steps nothing fires for ever. Nothing is assumed
/// to happen only because it can.
pub fn counterexample(
    automaton: &Automaton,
    formula: &Ltl,
    limits: &ProductLimits,
) -> Limited<Option<Lasso>> {
    let automaton = automaton.without_idle();
    let broken = formula.clone().negated();
    let graph = Graph::new(&automaton, &broken, limits)?;
    Ok(graph.fair().map(|(begin, component)| graph.lasso(begin, &component)))
}

/// One step of the automaton and one cover that it fulfils.
#[derive(Clone, Copy)]
struct Edge<'a> {
    /// Nothing where the automaton is stuck.
    step: Option<Transition<'a>>,
    /// The number of what is due before it, and of its cover.
    cover: (u32, u32),
    to: u32,
}

/// States with what is due there, breadth first from the beginning.
struct Graph<'a, 'f> {
    automaton: &'a Automaton,
    nodes: IndexSet<(u32, u32)>,
    edges: Vec<Vec<Edge<'a>>>,
    /// Of what is due, by number.
    covers: Vec<Vec<Cover<'f>>>,
    /// From where each node was found first.
    from: Vec<Option<(u32, Edge<'a>)>>,
}

impl<'a, 'f> Graph<'a, 'f> {
    fn new(automaton: &'a Automaton, formula: &'f Ltl, limits: &ProductLimits) -> Limited<Self> {
        let mut due: IndexSet<Due<'f>> = IndexSet::from([Due::from([formula])]);
        let nodes: IndexSet<(u32, u32)> = automaton.initial().iter().map(|s| (*s, 0)).collect();
        let from = vec![None; nodes.len()];
        let mut graph = Graph { automaton, nodes, edges: Vec::new(), covers: Vec::new(), from };
        let mut size = 0;
        while let Some(&(state, wanted)) = graph.nodes.get_index(graph.edges.len()) {
            limits.go_on()?;
            while graph.covers.len() <= wanted as usize {
                graph.covers.push(covers(&due[graph.covers.len()], limits)?);
                size += 512 * graph.covers.last().map_or(0, Vec::len) as u128;
            }
            let mut edges = Vec::new();
            let silent = automaton.steps(state).len() == 0;
            for step in automaton.steps(state).map(Some).chain(silent.then_some(None)) {
                let fire: Vec<NameId> = step.iter().flat_map(|s| automaton.fires(s)).collect();
                let (all, to) = (&graph.covers[wanted as usize], step.map_or(state, |s| s.to));
                for (number, cover) in (0..).zip(all) {
                    if cover.now.iter().all(|f| f.holds(&|name| fire.contains(&name))) {
                        let next = due.insert_full(cover.next.clone()).0 as u32;
                        let (to, new) = graph.nodes.insert_full((to, next));
                        let edge = Edge { step, cover: (wanted, number), to: to as u32 };
                        if new {
                            graph.from.push(Some((graph.edges.len() as u32, edge)));
                        }
                        edges.push(edge);
                    }
                }
            }
            size += 128 + size_of_val(&edges[..]) as u128;
            limits.fits("the formula on the product", size)?;
            graph.edges.push(edges);
        }
        Ok(graph)
    }

    fn postponed(&self, edge: &Edge<'_>) -> &Due<'f> {
        &self.covers[edge.cover.0 as usize][edge.cover.1 as usize].postponed
    }

    /// The untils that are ever postponed.
    fn untils(&self) -> Due<'f> {
        self.covers.iter().flatten().flat_map(|cover| &cover.postponed).copied().collect()
    }

    /// The first node of a strongly connected component in which a run can stay for ever without
    /// postponing any until for ever, and the component.
    fn fair(&self) -> Option<(u32, BTreeSet<u32>)> {
        let onward = |node: u32| self.edges[node as usize].iter().map(|e| e.to).collect();
        let (_, members) = components(self.nodes.len(), onward);
        let untils = self.untils();
        let mut first: Option<(u32, BTreeSet<u32>)> = None;
        for component in members {
            let begin = component.iter().copied().min()?;
            if first.as_ref().is_some_and(|(known, _)| *known < begin) {
                continue;
            }
            let component: BTreeSet<u32> = component.into_iter().collect();
            // Untils that every step of the component postpones.
            let mut left = None;
            for edge in component.iter().flat_map(|n| &self.edges[*n as usize]) {
                if component.contains(&edge.to) {
                    let left = left.get_or_insert_with(|| untils.clone());
                    left.retain(|until| self.postponed(edge).contains(until));
                }
            }
            if left.is_some_and(|left| left.is_empty()) {
                first = Some((begin, component));
            }
        }
        first
    }

    /// The run to a node, and a cycle through it that postpones no until for ever.
    fn lasso(&self, begin: u32, component: &BTreeSet<u32>) -> Lasso {
        let prefix = back(begin, |n| self.from[n as usize]);
        let mut cycle: Vec<Edge<'a>> = Vec::new();
        for until in self.untils() {
            let fulfils = |edge: &Edge<'_>| !self.postponed(edge).contains(until);
            if !cycle.iter().any(fulfils) {
                let at = cycle.last().map_or(begin, |e| e.to);
                cycle.extend(self.path(at, component, fulfils));
            }
        }
        if cycle.last().is_none_or(|e| e.to != begin) {
            let at = cycle.last().map_or(begin, |e| e.to);
            cycle.extend(self.path(at, component, |edge| edge.to == begin));
        }
        // What is due may need several rounds of the same steps.
        let again = |d: usize| (d..cycle.len()).all(|k| cycle[k].step == cycle[k - d].step);
        let once = (1..cycle.len()).find(|d| cycle.len().is_multiple_of(*d) && again(*d));
        cycle.truncate(once.unwrap_or(cycle.len()));
        let state = self.nodes[begin as usize].0;
        Lasso { run: AutomatonRun { steps: self.told(&prefix), state }, cycle: self.told(&cycle) }
    }

    /// A shortest path within a component whose last edge is one that is wanted.
    fn path(
        &self,
        begin: u32,
        component: &BTreeSet<u32>,
        wanted: impl Fn(&Edge<'a>) -> bool,
    ) -> Vec<Edge<'a>> {
        let mut from: BTreeMap<u32, Option<(u32, Edge<'a>)>> = BTreeMap::from([(begin, None)]);
        let mut queue = VecDeque::from([begin]);
        while let Some(at) = queue.pop_front() {
            for edge in self.edges[at as usize].iter().filter(|e| component.contains(&e.to)) {
                if wanted(edge) {
                    let mut path = back(at, |n| from.get(&n).copied().flatten());
                    path.push(*edge);
                    return path;
                }
                from.entry(edge.to).or_insert_with(|| {
                    queue.push_back(edge.to);
                    Some((at, *edge))
                });
            }
        }
        Vec::new()
    }

    /// The steps of a path; where the automaton is stuck there are none.
    fn told(&self, path: &[Edge<'a>]) -> Vec<(Vec<NameId>, DataConstraint)> {
        let told = |s| (self.automaton.fires(&s).collect(), self.automaton.constraint(&s).clone());
        path.iter().filter_map(|edge| edge.step).map(told).collect()
    }
}

/// The path to a node, `from` telling the edge by which each was found.
fn back<'a>(mut node: u32, from: impl Fn(u32) -> Option<(u32, Edge<'a>)>) -> Vec<Edge<'a>> {
    let mut path = Vec::new();
    while let Some((before, edge)) = from(node) {
        path.push(edge);
        node = before;
    }
    path.reverse();
    path
}
