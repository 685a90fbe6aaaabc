//! Where silent steps lead from a state, and what they do to memory on the way.
//!
//! Conditions on values without a name gather along a path: each passage of a silent cycle adds its
//! own. A constraint is therefore kept as *components*, literals that share such values, each once:
//! components alike but for the numbers of their values say the same. A path whose constraint has
//! all components of another one to the same state, and writes the same cells, adds nothing. Both
//! are so for any functions and predicates.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::live::Live;
use crate::automaton::{Automaton, Transition};
use crate::constraint::simplify::{Gone, around, components, read, written};
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::label;
use crate::limits::{Limited, ProductLimits, Stopped};
use crate::symbol::{Cell, SymbolId};

/// Most returns of a silent path to one state with a value in more functions than before.
const MAX_RETURNS: usize = 3;

/// Most constraints of the silent paths from one state to another.
const MAX_WAYS: usize = 128;

#[derive(Default)]
struct Path {
    to: u32,
    constraint: DataConstraint,
    components: Components,
    /// The path without its last step, by its place.
    before: Option<usize>,
    /// How deep functions are applied to each other, and the outermost one there.
    depth: (usize, Option<SymbolId>),
}

/// Where silent steps lead from `state`, itself among them, each with the constraint on the way.
/// [`Stopped::Values`] if a silent cycle applies a function again and again, or ways are too many.
pub(super) fn silent_paths(
    automaton: &Automaton,
    live: &Live,
    state: u32,
    limits: &ProductLimits,
) -> Limited<Vec<(u32, DataConstraint)>> {
    let mut paths = vec![Path { to: state, ..Path::default() }];
    let mut known: IndexMap<u32, Vec<usize>, FxBuildHasher> = IndexMap::default();
    known.entry(state).or_default().push(0);
    let (mut next, mut stored) = (0, 0u128);
    while next < paths.len() {
        limits.go_on()?;
        stored += 128 + 64 * paths[next].constraint.terms() as u128;
        limits.fits("silent closure", stored)?;
        let silent = |step: &Transition<'_>| label::is_silent(step.label);
        for step in automaton.steps(paths[next].to).filter(silent) {
            let (before, after) = (&paths[next].constraint, automaton.constraint(&step));
            // Paths that differ in values which no later step reads are equal.
            let mut dead = live.dead(before, step.to);
            dead.extend(live.dead(after, step.to));
            dead.sort_unstable();
            let Some(both) = sequence(before, after, &dead) else { continue };
            let path = Path::new(step.to, both, next);
            let there = known.entry(step.to).or_default();
            if there.iter().any(|at| paths[*at].components.cover(&path.components)) {
                continue;
            }
            if there.len() == MAX_WAYS || returns(&paths, &path) > MAX_RETURNS {
                return Err(Stopped::Values(path.depth.1));
            }
            there.push(paths.len());
            paths.push(path);
        }
        next += 1;
    }
    Ok(paths.into_iter().map(|path| (path.to, path.constraint)).collect())
}

/// How often a path has returned to its state with functions applied deeper than before.
fn returns(paths: &[Path], path: &Path) -> usize {
    let (mut depth, mut returns, mut at) = (path.depth.0, 0, path.before);
    while let Some(before) = at.map(|at| &paths[at]) {
        if before.to == path.to && before.depth.0 < depth {
            (depth, returns) = (before.depth.0, returns + 1);
        }
        at = before.before;
    }
    returns
}

impl Path {
    fn new(to: u32, constraint: DataConstraint, before: usize) -> Path {
        let (components, repeats) = Components::new(&constraint);
        let constraint = if repeats {
            components.all.iter().fold(DataConstraint::default(), |all, one| all.and(one))
        } else {
            constraint
        };
        let mut depth = (0, None);
        for literal in constraint.literals() {
            literal.terms().for_each(|term| depth = depth.max(calls(term)));
        }
        Path { to, constraint, components, before: Some(before), depth }
    }
}

/// A constraint as its components, sorted, and the cells that it writes.
#[derive(Default)]
struct Components {
    all: Vec<DataConstraint>,
    written: Vec<Cell>,
}

impl Components {
    /// The components, and whether one was there more than once.
    fn new(constraint: &DataConstraint) -> (Components, bool) {
        let (all, repeats) = components(constraint);
        (Components { all, written: written(constraint) }, repeats)
    }

    /// Whether a step with the other constraint can do nothing that one with this cannot.
    fn cover(&self, other: &Components) -> bool {
        let has = |one: &DataConstraint| other.all.binary_search(one).is_ok();
        self.all.iter().all(has) && self.written == other.written
    }
}

/// Without steps that do no more than others with the same names and target.
pub(super) fn without_covered(automaton: Automaton) -> Automaton {
    let mut builder = automaton.builder(automaton.states(), automaton.initial().to_vec());
    let mut fewer = false;
    for state in 0..automaton.states() as u32 {
        let row: Vec<Transition<'_>> = automaton.steps(state).collect();
        for alike in row.chunk_by(|a, b| (a.label, a.to) == (b.label, b.to)) {
            let written = |step| Components::new(automaton.constraint(step)).0;
            let all: Vec<Components> = match alike {
                [_] => vec![Components::default()],
                _ => alike.iter().map(written).collect(),
            };
            for (at, step) in alike.iter().enumerate() {
                // Of two that cover each other the first stays.
                let by = |(k, other): (usize, &Components)| {
                    k != at && other.cover(&all[at]) && (k < at || !all[at].cover(other))
                };
                if all.iter().enumerate().any(by) {
                    fewer = true;
                } else {
                    builder.push(state, step.label, automaton.constraint(step).clone(), step.to);
                }
            }
        }
    }
    if fewer { builder.done() } else { automaton }
}

/// How deep functions are applied to each other in a term, and the outermost one.
fn calls(term: &DataTerm) -> (usize, Option<SymbolId>) {
    match term {
        DataTerm::Call(f, terms) => {
            let inner = terms.iter().map(|term| calls(term).0).max();
            (inner.unwrap_or(0) + 1, Some(*f))
        }
        _ => (0, None),
    }
}

/// One step after another, as one: what the second reads of memory is what the first has left.
/// At most one of the two may speak of data at names. `None` if they cannot follow each other.
/// Cells in `dead`, sorted, are not read after the second.
pub fn sequence(
    first: &DataConstraint,
    second: &DataConstraint,
    dead: &[Cell],
) -> Option<DataConstraint> {
    if first.is_true() && dead.is_empty() {
        return Some(second.clone());
    }
    let (reads, again) = (read(second), written(second));
    let meets = |c: &Cell| reads.binary_search(c).is_ok() || again.binary_search(c).is_ok();
    let mut between = written(first);
    between.retain(meets);
    // Values between the steps are values without a name, behind those that are there already.
    const BETWEEN: u32 = 1 << 30;
    const SECOND: u32 = 1 << 29;
    let at = |cell: &Cell| between.binary_search(cell).ok().map(|k| BETWEEN + k as u32);
    let mut all = Vec::with_capacity(first.literals().len() + second.literals().len());
    all.extend(first.literals().iter().map(|l| {
        l.map(&mut |term| match term {
            DataTerm::After(cell) => at(cell).map_or_else(|| term.clone(), DataTerm::Some),
            other => other.clone(),
        })
    }));
    all.extend(second.literals().iter().map(|l| {
        l.map(&mut |term| match term {
            DataTerm::Before(cell) => at(cell).map_or_else(|| term.clone(), DataTerm::Some),
            DataTerm::Some(k) => DataTerm::Some(k + SECOND),
            other => other.clone(),
        })
    }));
    let kept = between.iter().filter(|c| again.binary_search(c).is_err());
    all.extend(
        kept.filter_map(|c| Some(Literal::Equal(DataTerm::After(*c), DataTerm::Some(at(c)?)))),
    );
    // What both speak of is where their classes meet.
    let fewer = if first.literals().len() < second.literals().len() { first } else { second };
    let mut touched = Vec::with_capacity(2 * fewer.literals().len());
    fewer.visit(|leaf| touched.push(leaf.clone()));
    touched.sort_unstable();
    around(all, &Gone { names: &[], cells: dead }, &touched)
}
