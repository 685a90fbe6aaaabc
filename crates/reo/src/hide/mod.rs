//! Hiding names: what the environment does not see becomes silent, and data that nothing reads go.
//!
//! [`hide`] removes names from labels; steps in which nothing else fires become silent. Then either
//!
//! * [`close`] takes silent steps into those behind them (Baier, Sirjani, Arbab and Rutten 2006,
//!   section 4.2): keeps what is seen step by step, not which choices are made silently;
//! * [`confluence::reduce`] takes silent steps that decide nothing: keeps branching bisimilarity;
//! * [`crate::bisimulation`] gives the weak quotient.

pub mod confluence;
pub(crate) mod live;
mod paths;

pub use paths::sequence;
use paths::{silent_paths, without_covered};

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;
use rustc_hash::FxHashMap as HashMap;

use crate::automaton::Automaton;
use crate::constraint::DataConstraint;
use crate::constraint::simplify::{Gone, around, simplify};
use crate::label::{self, Map};
use crate::limits::{Limited, ProductLimits};
use crate::symbol::NameId;

/// Without `names` in labels and constraints, and without steps that do nothing or whose constraint
/// nothing fulfils. Constraints are in their simplest form afterwards.
pub fn hide(automaton: &Automaton, names: &[NameId]) -> Automaton {
    rewritten(automaton, names, true)
}

/// As [`hide`], with constraints left as they are that mention nothing of what goes.
pub fn hide_between(automaton: &Automaton, names: &[NameId]) -> Automaton {
    rewritten(automaton, names, false)
}

/// Every constraint in its simplest form, without steps that nothing fulfils.
pub fn simplified(automaton: Automaton) -> Automaton {
    if automaton.constraints().len() == 1 && !automaton.has_silent_labels() {
        return automaton;
    }
    let live = live::cells(&automaton);
    let pieces = automaton.states().div_ceil(PIECE);
    let simplest: Vec<OnceLock<bool>> = vec![OnceLock::new(); automaton.constraints().len()];
    let unchanged = (0..pieces).into_par_iter().all(|piece| {
        let end = automaton.states().min((piece + 1) * PIECE);
        is_simplest(&automaton, &live, &simplest, piece * PIECE..end)
    });
    if unchanged { automaton } else { hide(&automaton, &[]) }
}

/// States that one thread looks at in turn.
const PIECE: usize = 1 << 14;

/// Whether the steps of some states have their simplest constraints, and none does nothing;
/// `simplest` caches this for constraints whose cells are all read again.
fn is_simplest(
    automaton: &Automaton,
    live: &live::Live,
    simplest: &[OnceLock<bool>],
    states: Range<usize>,
) -> bool {
    // Of constraints elsewhere, by what is read again.
    let mut elsewhere: HashMap<(u32, u32), OnceLock<bool>> = HashMap::default();
    states.flat_map(|state| automaton.steps(state as u32)).all(|step| {
        let known = if live.keeps_all(step.condition, step.to) {
            &simplest[step.condition as usize]
        } else {
            elsewhere.entry((step.condition, live.class(step.to))).or_default()
        };
        let same = *known.get_or_init(|| {
            let given = automaton.constraint(&step);
            let dead = live.dead(given, step.to);
            simplify(given, &Gone { names: &[], cells: &dead }).as_ref() == Some(given)
        });
        same && !automaton.is_idle(&step)
    })
}

fn rewritten(automaton: &Automaton, names: &[NameId], everywhere: bool) -> Automaton {
    let mut gone = names.to_vec();
    gone.sort_unstable();
    let kept: Vec<NameId> =
        automaton.alphabet().iter().filter(|n| gone.binary_search(n).is_err()).copied().collect();
    let map = Map::new(automaton.alphabet(), &kept);
    let live = live::cells(automaton);
    let mut seen: HashMap<(u32, u32), Option<DataConstraint>> = HashMap::default();
    let mut builder = automaton.builder_over(kept);
    for step in automaton.all_steps() {
        // Beside its constraint, the simplest one depends on the live cells of the target, by their
        // class, unless all that it writes is live.
        let all = live.keeps_all(step.condition, step.to);
        let left = if all { u32::MAX } else { live.class(step.to) };
        let constraint = seen.entry((step.condition, left)).or_insert_with(|| {
            let given = automaton.constraints().get(step.condition);
            let dead = live.dead(given, step.to);
            let gone = Gone { names: &gone, cells: &dead };
            if everywhere {
                simplify(given, &gone)
            } else if gone.touches(given) {
                around(given.literals().to_vec(), &gone, &[])
            } else {
                Some(given.clone())
            }
        });
        if let Some(constraint) = constraint {
            builder.push(step.from, &map.apply(step.label), constraint.clone(), step.to);
        }
    }
    builder.done().into_without_idle()
}

/// Silent steps taken into the steps behind them, as hiding is defined; states that can
/// no longer be reached are gone.
///
/// A state has the steps of all states that it reaches silently, with the constraints on the path.
/// Where silent steps change memory in a cycle, each combination of state and change is followed
/// once.
///
/// # Errors
/// When the work was stopped, the paths of silent steps become too many for the memory, or values
/// change in a silent cycle without end.
pub fn close(automaton: &Automaton, limits: &ProductLimits) -> Limited<Automaton> {
    if automaton.all_steps().all(|s| !label::is_silent(s.label)) {
        return Ok(automaton.reachable().0);
    }
    let states = automaton.states();
    let mut builder = automaton.builder(states, automaton.initial().to_vec());
    let live = live::cells(automaton);
    let mut paths_in_all: u128 = 0;
    for state in 0..states as u32 {
        limits.go_on()?;
        let paths = silent_paths(automaton, &live, state, limits)?;
        for (through, before) in &paths {
            for step in automaton.steps(*through).filter(|s| !label::is_silent(s.label)) {
                paths_in_all += 1;
                limits.fits("silent closure", paths_in_all * 64)?;
                if let Some(whole) = sequence(before, automaton.constraint(&step), &[]) {
                    builder.push(state, step.label, whole, step.to);
                }
            }
        }
    }
    Ok(without_covered(simplified(builder.done().into_reachable())))
}
