//! In which order parts are composed when names are hidden between the steps.
//!
//! A hidden name can go once every part that has it is in. Greedy: next comes a part that shares a
//! name with those that are in, the one with which most hidden names can go, then the one that
//! brings fewest new ones, then the first in the text. The first part shares fewest hidden names.
//! (Cf. Jongmans, Kappe, Arbab, Constraint automata with memory cells and their composition, 2017.)

use indexmap::{IndexMap, IndexSet};

use crate::automaton::Automaton;
use crate::symbol::NameId;

/// Positions of `parts`, each once, in the order in which they should be put together.
pub fn order(parts: &[&Automaton], hidden: &[NameId]) -> Vec<usize> {
    let hidden: IndexSet<NameId> = hidden.iter().copied().collect();
    let mut users: IndexMap<NameId, Vec<usize>> = IndexMap::new();
    for (at, part) in parts.iter().enumerate() {
        part.alphabet().iter().for_each(|n| users.entry(*n).or_default().push(at));
    }
    let shared = |at: usize| parts[at].alphabet().iter().filter(|n| users[*n].len() > 1);
    let mut left: IndexMap<NameId, usize> = users.iter().map(|(n, u)| (*n, u.len())).collect();
    let mut waiting: IndexSet<usize> = (0..parts.len()).collect();
    let mut near: IndexSet<usize> = IndexSet::new();
    let mut order = Vec::with_capacity(parts.len());
    while !waiting.is_empty() {
        let done = |at: usize| shared(at).filter(|n| hidden.contains(*n) && left[*n] == 1).count();
        let begun = |at: usize| {
            let untouched = |n: &&NameId| hidden.contains(*n) && left[*n] == users[*n].len();
            shared(at).filter(untouched).count()
        };
        let best = near.iter().copied().min_by_key(|at| (usize::MAX - done(*at), begun(*at), *at));
        let ends = || waiting.iter().copied().min_by_key(|at| (begun(*at), *at));
        let Some(next) = best.or_else(ends) else { break };
        waiting.swap_remove(&next);
        near.swap_remove(&next);
        order.push(next);
        for name in parts[next].alphabet() {
            left[name] -= 1;
            near.extend(users[name].iter().filter(|at| waiting.contains(*at)));
        }
    }
    order
}
