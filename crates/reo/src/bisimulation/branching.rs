//! Branching bisimulation: merges states that silent steps connect without a decision.
//!
//! Signature refinement (Blom, van de Pol, *Distributed branching bisimulation minimization by
//! inductive signatures*, 2009). A silent step within a block is *inert*; the signature of a state
//! has the steps of all states that inert steps lead to. Silent cycles are one state, and
//! signatures are made with successors first, so that each iteration looks at a step once.
//! Branching bisimilar states are weakly bisimilar (`docs/reo.md`), and no relation is saturated.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use super::actions::{Actions, SILENT};
use super::partition::{Silent, pair};
use super::quotient::samples;
use crate::automaton::Automaton;
use crate::limits::{Limited, ProductLimits};

/// One state for each class of branching bisimilar states, numbered in the order of their first
/// states; the given automaton if no two states are. All its states must be reachable.
pub(super) fn quotient(automaton: Automaton, limits: &ProductLimits) -> Limited<Automaton> {
    let actions = Actions::new(&automaton);
    let mut classes = Classes::new(&automaton, &actions, limits)?;
    while classes.refine(limits)? {}
    if classes.blocks == automaton.states() {
        return Ok(automaton);
    }
    Ok(classes.automaton(&automaton, &actions))
}

/// Silent cycles in blocks, and their steps.
struct Classes {
    silent: Silent,
    /// Where the steps of each cycle begin, and the end of the last.
    rows: Vec<usize>,
    /// Pairs of action and cycle, without silent steps within a cycle; sorted in each row.
    steps: Vec<u64>,
    block: Vec<u32>,
    blocks: usize,
}

impl Classes {
    fn new(automaton: &Automaton, actions: &Actions, limits: &ProductLimits) -> Limited<Classes> {
        let bytes = automaton.states() as u128 * 64 + automaton.transitions() as u128 * 12;
        limits.fits("branching bisimulation", bytes)?;
        let silent = Silent::new(automaton, actions);
        let cycles = silent.members.len();
        let (mut rows, mut steps) = (Vec::with_capacity(cycles + 1), Vec::new());
        rows.push(0);
        let mut row: Vec<u64> = Vec::new();
        for (cycle, members) in (0..).zip(&silent.members) {
            let all = members.iter().flat_map(|state| actions.of(automaton, *state));
            let all = all.map(|(action, to)| (action, silent.cycle[to as usize]));
            row.clear();
            row.extend(all.filter(|step| *step != (SILENT, cycle)).map(|(a, to)| pair(a, to)));
            row.sort_unstable();
            row.dedup();
            steps.extend_from_slice(&row);
            rows.push(steps.len());
        }
        let blocks = usize::from(cycles > 0);
        Ok(Classes { silent, rows, steps, block: vec![0; cycles], blocks })
    }

    /// Splits blocks by signatures; whether there are more than before.
    fn refine(&mut self, limits: &ProductLimits) -> Limited<bool> {
        let cycles = self.block.len();
        limits.go_on_from(Some(self.blocks as u64), self.silent.cycle.len() as u64, 0)?;
        let mut sizes = vec![0_u32; self.blocks];
        self.block.iter().for_each(|block| sizes[*block as usize] += 1);
        let mut signatures: IndexSet<Box<[u64]>, FxBuildHasher> = IndexSet::default();
        let mut stored = 0;
        let mut number = vec![0; cycles];
        let mut next: IndexSet<(u32, usize), FxBuildHasher> = IndexSet::default();
        let (mut refined, mut signature) = (Vec::with_capacity(cycles), Vec::new());
        for cycle in 0..cycles {
            let own = self.block[cycle];
            // No other cycle of the block has a use for the signature of one that is alone.
            if sizes[own as usize] > 1 {
                self.signature(cycle, |to| &signatures[number[to as usize]], &mut signature);
                number[cycle] = signatures.get_index_of(&signature[..]).unwrap_or_else(|| {
                    stored += signature.len() as u128 * 8 + 48;
                    signatures.insert_full(signature[..].into()).0
                });
                limits.fits("signatures of branching bisimulation", stored)?;
            }
            if cycle % 4096 == 0 {
                limits.go_on()?;
            }
            refined.push(next.insert_full((own, number[cycle])).0 as u32);
        }
        let more = next.len() > self.blocks;
        (self.block, self.blocks) = (refined, next.len());
        Ok(more)
    }

    /// The signature of a cycle, sorted; `known` has those of cycles with smaller numbers.
    fn signature<'s>(
        &self,
        cycle: usize,
        known: impl Fn(u32) -> &'s [u64],
        signature: &mut Vec<u64>,
    ) {
        signature.clear();
        for step in &self.steps[self.rows[cycle]..self.rows[cycle + 1]] {
            let (action, to) = ((step >> 32) as u32, *step as u32);
            let block = self.block[to as usize];
            if action == SILENT && block == self.block[cycle] {
                signature.extend_from_slice(known(to));
            } else {
                signature.push(pair(action, block));
            }
        }
        signature.sort_unstable();
        signature.dedup();
    }

    /// The steps of each block are those of its members that are not inert.
    fn automaton(&self, automaton: &Automaton, actions: &Actions) -> Automaton {
        let mut numbers: IndexMap<u32, Vec<u64>, FxBuildHasher> = IndexMap::default();
        for cycle in &self.silent.cycle {
            numbers.entry(self.block[*cycle as usize]).or_default();
        }
        for (cycle, block) in self.block.iter().enumerate() {
            let steps = self.steps[self.rows[cycle]..self.rows[cycle + 1]].iter();
            let steps = steps.map(|s| pair((s >> 32) as u32, self.block[*s as u32 as usize]));
            let inert = pair(SILENT, *block);
            numbers.entry(*block).or_default().extend(steps.filter(|step| *step != inert));
        }
        let place = |block: u32| numbers.get_index_of(&block).unwrap_or(0) as u32;
        let of_state = |state: &u32| place(self.block[self.silent.cycle[*state as usize] as usize]);
        let initial = automaton.initial().iter().map(of_state).collect();
        let mut builder = automaton.builder(self.blocks, initial);
        let samples = samples(automaton, actions);
        for (from, (_, steps)) in (0..).zip(&numbers) {
            let mut steps = steps.clone();
            steps.sort_unstable();
            steps.dedup();
            for step in steps {
                if let Some(Some(sample)) = samples.get((step >> 32) as usize) {
                    let constraint = automaton.constraint(sample).clone();
                    builder.push(from, sample.label, constraint, place(step as u32));
                }
            }
        }
        builder.done()
    }
}
