//! Parts that have nothing to do with each other.

use indexmap::IndexMap;
use itertools::Itertools;

use crate::automaton::Automaton;
use crate::components::components;
use crate::symbol::SymbolId;

/// The places of `parts` in groups that share no name and no cell with each other, in order.
pub fn regions(parts: &[&Automaton]) -> Vec<Vec<usize>> {
    let words = |part: &Automaton| -> Vec<SymbolId> {
        let names = part.alphabet().iter().map(|name| name.0);
        names.chain(part.cells().iter().map(|cell| cell.0)).collect()
    };
    let mut users: IndexMap<SymbolId, Vec<u32>> = IndexMap::new();
    for (at, part) in (0..).zip(parts) {
        words(part).into_iter().for_each(|word| users.entry(word).or_default().push(at));
    }
    let near = |at: u32| words(parts[at as usize]).iter().flat_map(|w| users[w].clone()).collect();
    let (_, groups) = components(parts.len(), near);
    let sorted = |group: Vec<u32>| group.into_iter().map(|at| at as usize).sorted().collect_vec();
    groups.into_iter().map(sorted).sorted().collect()
}
