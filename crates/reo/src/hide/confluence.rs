//! Silent steps that decide nothing, taken at once.
//!
//! A silent step `q -> r` with the unguarded effect `u` on memory is *confluent* if for each other
//! step `q -N,g-> p` there is a step `r -N,g'-> p'` such that `u` then `g'` is the same as `g` (and
//! `p' = p`), or as `g` then the effect of a confluent step `p -> p'`. Then `q` and `r` are
//! branching bisimilar, and `q` can be left out (Groote and van de Pol, State space reduction using
//! partial tau-confluence, 2000; with effects on memory: `docs/reo.md`). Cycles of confluent steps
//! are cut at their least state. This keeps chains of buffers linear when composed piece by piece.

use std::ops::Range;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::live;
use super::paths::sequence;
use crate::automaton::{Automaton, AutomatonBuilder, Transition};
use crate::constraint::simplify::written;
use crate::constraint::{ConstraintStore, DataConstraint, DataTerm, Literal};
use crate::label;
use crate::symbol::{Cell, SymbolId};

/// For each state the places of its candidates in the rows of the automaton, in order.
type Candidates = Vec<Vec<usize>>;

/// The automaton with confluent silent steps taken; only states that can be reached.
///
/// Its constraints must be in simplest form, as [`super::hide`] leaves them.
pub fn reduce(automaton: &Automaton) -> Automaton {
    let in_order;
    let automaton = if has_rows_in_order(automaton) {
        automaton
    } else {
        in_order = automaton.without_idle();
        &in_order
    };
    let mut candidates = candidates(automaton);
    if candidates.iter().all(Vec::is_empty) {
        return automaton.clone();
    }
    let mut check = Check::new(automaton);
    // A candidate depends on those of the states that the steps beside it lead to.
    let mut changed = vec![true; automaton.states()];
    while changed.contains(&true) {
        let mut failed: Vec<(usize, usize)> = Vec::new();
        for (state, places) in candidates.iter().enumerate().filter(|(_, c)| !c.is_empty()) {
            let row = automaton.rows()[state]..automaton.rows()[state + 1];
            if automaton.targets()[row].iter().any(|to| changed[*to as usize]) {
                let fails = |at: &&usize| !check.confluent(state as u32, **at, &candidates);
                failed.extend(places.iter().filter(fails).map(|at| (state, *at)));
            }
        }
        changed.fill(false);
        for (state, at) in failed {
            candidates[state].retain(|other| *other != at);
            changed[state] = true;
        }
    }
    let reduced = Taken::new(automaton, &candidates, &mut check).automaton(&mut check);
    super::hide_between(&reduced.into_reachable(), &[])
}

fn has_rows_in_order(automaton: &Automaton) -> bool {
    let words = automaton.words();
    let label = |at: usize| &automaton.labels()[at * words..][..words];
    let mut rows = automaton.rows().windows(2);
    rows.all(|row| (row[0] + 1..row[1]).all(|at| label(at - 1) <= label(at)))
}

/// Silent steps that nothing guards, to another state.
fn candidates(automaton: &Automaton) -> Candidates {
    let free = |step: &Transition<'_>| {
        let silent = label::is_silent(step.label) && step.to != step.from;
        silent && is_update(automaton.constraint(step))
    };
    let row = |state: u32| {
        let steps = (automaton.rows()[state as usize]..).zip(automaton.steps(state));
        steps.filter(|(_, step)| free(step)).map(|(at, _)| at).collect()
    };
    (0..automaton.states() as u32).map(row).collect()
}

/// Whether a constraint only gives each of some cells a value from memory before the step.
fn is_update(constraint: &DataConstraint) -> bool {
    let mut written = HashSet::default();
    constraint.literals().iter().all(|literal| {
        let Literal::Equal(a, b) = literal else { return false };
        let (cell, value) = match (a, b) {
            (value, DataTerm::After(cell)) | (DataTerm::After(cell), value) => (cell, value),
            _ => return false,
        };
        let other = |t: &DataTerm| !matches!(t, DataTerm::Before(_) | DataTerm::Constant(_));
        value.leaf(&other).is_none() && written.insert(*cell)
    })
}

/// Compares paths of pairs of steps.
struct Check<'a> {
    automaton: &'a Automaton,
    labels: Vec<&'a [u64]>,
    live: live::Live,
    /// The automaton's constraints, with its numbers, and those of sequences.
    constraints: ConstraintStore,
    sequences: HashMap<(u32, u32, u32), Option<u32>>,
}

impl<'a> Check<'a> {
    fn new(automaton: &'a Automaton) -> Self {
        Check {
            automaton,
            labels: automaton.labels().chunks_exact(automaton.words()).collect(),
            live: live::cells(automaton),
            constraints: automaton.constraints().clone(),
            sequences: HashMap::default(),
        }
    }

    /// The number of `first` then `second`, which ends in state `to`.
    fn sequence(&mut self, first: u32, second: u32, to: u32) -> Option<u32> {
        // Neither changes what the other has left, and both are in simplest form already.
        if first == 0 || second == 0 {
            return Some(first.max(second));
        }
        let key = (first, second, self.live.class(to));
        if let Some(known) = self.sequences.get(&key) {
            return *known;
        }
        let (a, b) = (self.constraints.get(first).clone(), self.constraints.get(second).clone());
        let mut dead = self.live.dead(&a, to);
        dead.extend(self.live.dead(&b, to));
        dead.sort_unstable();
        let made = sequence(&a, &b, &dead).map(|c| self.constraints.intern(c));
        self.sequences.insert(key, made);
        made
    }

    /// Whether the silent step at a place in the rows is confluent if `candidates` are.
    fn confluent(&mut self, state: u32, at: usize, candidates: &Candidates) -> bool {
        let automaton = self.automaton;
        let taken = automaton.step(state, at);
        let mut others = automaton.rows()[state as usize]..automaton.rows()[state as usize + 1];
        others.all(|k| k == at || self.meets(&taken, &automaton.step(state, k), candidates))
    }

    /// Whether `other`, possible beside the silent step `taken`, is as well done after it.
    fn meets(&mut self, taken: &Transition, other: &Transition, candidates: &Candidates) -> bool {
        let automaton = self.automaton;
        let places = &candidates[other.to as usize];
        let onward = || places.iter().map(|at| automaton.step(other.to, *at));
        // A silent step on a longer path to the same place.
        let back = label::is_silent(other.label)
            && onward().any(|o| {
                o.to == taken.to
                    && self.sequence(other.condition, o.condition, o.to) == Some(taken.condition)
            });
        back || self.alike(taken.to, other.label).any(|at| {
            let after = automaton.step(taken.to, at);
            let late = self.sequence(taken.condition, after.condition, after.to);
            late.is_some()
                && (after.to == other.to && late == Some(other.condition)
                    || onward().any(|o| {
                        o.to == after.to
                            && self.sequence(other.condition, o.condition, o.to) == late
                    }))
        })
    }

    /// The places of the steps of a state that have a label.
    fn alike(&self, state: u32, wanted: &[u64]) -> Range<usize> {
        let ends = &self.automaton.rows()[state as usize..];
        let row = &self.labels[ends[0]..ends[1]];
        let first = row.partition_point(|label| *label < wanted);
        let many = row[first..].partition_point(|label| *label == wanted);
        ends[0] + first..ends[0] + first + many
    }
}

/// For each state its representative, and what happens to memory on the path there.
struct Taken<'a> {
    automaton: &'a Automaton,
    end: Vec<u32>,
    change: Vec<u32>,
    contents: Vec<(Cell, SymbolId)>,
}

impl<'a> Taken<'a> {
    fn new(automaton: &'a Automaton, candidates: &Candidates, check: &mut Check) -> Self {
        let first = |(state, places): (u32, &Vec<usize>)| {
            let step = places.first().map(|at| automaton.step(state, *at));
            step.map(|step| (step.to, step.condition))
        };
        let mut next: Vec<_> = (0..).zip(candidates).map(first).collect();
        cut_cycles(&mut next);
        let mut taken = Taken::along(automaton, &next, check);
        let moved = automaton.initial().iter().any(|s| taken.end[*s as usize] != *s);
        if moved && !taken.move_contents(check) {
            automaton.initial().iter().for_each(|s| next[*s as usize] = None);
            taken = Taken::along(automaton, &next, check);
        }
        taken
    }

    fn along(automaton: &'a Automaton, next: &[Option<(u32, u32)>], check: &mut Check) -> Self {
        let mut end: Vec<u32> = (0..automaton.states() as u32).collect();
        let mut change = vec![0; automaton.states()];
        let mut done: Vec<bool> = next.iter().map(Option::is_none).collect();
        for start in 0..automaton.states() {
            let mut path = Vec::new();
            let mut at = start;
            while !done[at] {
                path.push(at);
                at = next[at].map_or(at, |(to, _)| to as usize);
            }
            for state in path.into_iter().rev() {
                let Some((to, condition)) = next[state] else { continue };
                let to = to as usize;
                // An update can always be followed by another, so the sequence exists.
                let both = check.sequence(condition, change[to], end[to]);
                (end[state], change[state]) = (end[to], both.unwrap_or(condition));
                done[state] = true;
            }
        }
        Taken { automaton, end, change, contents: automaton.contents().to_vec() }
    }

    /// Does to the contents what happens before the first step; `false` if contents cannot express
    /// it: a datum of which nothing is known may move, but not be in two cells that are read again.
    fn move_contents(&mut self, check: &Check) -> bool {
        let [initial] = self.automaton.initial() else { return false };
        let end = self.end[*initial as usize];
        let before: HashMap<Cell, SymbolId> = self.contents.iter().copied().collect();
        let mut after = before.clone();
        let mut unknown: Vec<(Cell, Cell)> = Vec::new();
        let change = check.constraints.get(self.change[*initial as usize]);
        for literal in change.literals() {
            let (cell, value) = match literal {
                Literal::Equal(DataTerm::Before(from), DataTerm::After(to)) => {
                    if !before.contains_key(from) {
                        unknown.push((*from, *to));
                    }
                    (to, before.get(from))
                }
                Literal::Equal(DataTerm::Constant(c), DataTerm::After(to)) => (to, Some(c)),
                _ => return false,
            };
            match value {
                Some(value) => after.insert(*cell, *value),
                None => after.remove(cell),
            };
        }
        unknown.retain(|(_, to)| check.live.is_live(*to, end));
        let changed = written(change);
        let stays = |cell| changed.binary_search(cell).is_err() && check.live.is_live(*cell, end);
        let mut origins: Vec<Cell> = unknown.into_iter().map(|(from, _)| from).collect();
        origins.sort_unstable();
        if origins.windows(2).any(|w| w[0] == w[1]) || origins.iter().any(stays) {
            return false;
        }
        self.contents = after.into_iter().collect();
        self.contents.sort_unstable();
        true
    }

    fn automaton(&self, check: &mut Check) -> Automaton {
        let automaton = self.automaton;
        let initial = automaton.initial().iter().map(|s| self.end[*s as usize]).collect();
        let names = automaton.alphabet().iter().copied();
        let mut builder = AutomatonBuilder::over(names, automaton.states(), initial);
        builder.contents(self.contents.iter().copied());
        for state in (0..automaton.states() as u32).filter(|s| self.end[*s as usize] == *s) {
            for step in automaton.steps(state) {
                let (to, change) = (self.end[step.to as usize], self.change[step.to as usize]);
                if let Some(both) = check.sequence(step.condition, change, to) {
                    let constraint = check.constraints.get(both).clone();
                    builder.push(state, step.label, constraint, to);
                }
            }
        }
        builder.done().into_without_idle()
    }
}

/// Takes from each cycle of `next` the step of its least state.
fn cut_cycles(next: &mut [Option<(u32, u32)>]) {
    let mut seen = vec![usize::MAX; next.len()];
    for start in 0..next.len() {
        let mut at = start;
        while seen[at] == usize::MAX {
            seen[at] = start;
            match next[at] {
                Some((to, _)) => at = to as usize,
                None => break,
            }
        }
        if seen[at] == start && next[at].is_some() {
            let mut least = at;
            let mut around = next[at].map_or(at, |(to, _)| to as usize);
            while around != at {
                least = least.min(around);
                around = next[around].map_or(at, |(to, _)| to as usize);
            }
            next[least] = None;
        }
    }
}
