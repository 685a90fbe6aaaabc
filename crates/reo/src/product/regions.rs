//! Parts that have nothing to do with each other.

use indexmap::IndexMap;
use itertools::Itertools;

use crate::automaton::Automaton;
use crate::components::components;
use crate::symbol::SymbolId;

/// The places of `parts` in groups that share no name and no cell with each other, in order.
pub fn regions(parts: &[&Automaton]) -> Vec<Vec<usize>> {
    groups(parts.len(), |at| {
        let names = parts[at].alphabet().iter().map(|name| name.0);
        names.chain(parts[at].cells().iter().map(|cell| cell.0)).collect()
    })
}

/// The numbers below `count` in groups that share no word with each other, in order.
pub(super) fn groups(count: usize, words: impl Fn(usize) -> Vec<SymbolId>) -> Vec<Vec<usize>> {
    let mut users: IndexMap<SymbolId, Vec<u32>> = IndexMap::new();
    for at in 0..count {
        words(at).into_iter().for_each(|word| users.entry(word).or_default().push(at as u32));
    }
    let near = |at: u32| words(at as usize).iter().flat_map(|w| users[w].clone()).collect();
    let (_, groups) = components(count, near);
    let sorted = |group: Vec<u32>| group.into_iter().map(|at| at as usize).sorted().collect_vec();
    groups.into_iter().map(sorted).sorted().collect()
}
