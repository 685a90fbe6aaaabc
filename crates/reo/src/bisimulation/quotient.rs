//! One state for each block.

use super::actions::{Actions, SILENT};
use super::partition::{Partition, pair};
use crate::automaton::{Automaton, AutomatonBuilder, Transition};
use crate::components::components;
use crate::limits::{Limited, ProductLimits};

fn builder(automaton: &Automaton, found: &Partition) -> AutomatonBuilder {
    let initial = automaton.initial().iter().map(|s| found.block[*s as usize]).collect();
    automaton.builder(found.blocks, initial)
}

/// Strong: the steps of any member, between blocks. A silent step between states of one block
/// becomes one that does nothing; it stays, as a state without it is not strongly bisimilar.
pub(super) fn strong(automaton: &Automaton, found: &Partition) -> Automaton {
    let mut builder = builder(automaton, found);
    let mut seen = vec![false; found.blocks];
    for state in 0..automaton.states() as u32 {
        let block = found.block[state as usize];
        if !std::mem::replace(&mut seen[block as usize], true) {
            for step in automaton.steps(state) {
                let constraint = automaton.constraint(&step).clone();
                builder.push(block, step.label, constraint, found.block[step.to as usize]);
            }
        }
    }
    builder.done()
}

/// Weak: the fewest steps from which the others follow by silent steps before or after them. They
/// are unique, as blocks that reach each other silently would be equivalent.
pub(super) fn weak(
    automaton: &Automaton,
    actions: &Actions,
    found: &Partition,
    limits: &ProductLimits,
) -> Limited<Automaton> {
    let graph = BlockGraph::new(automaton, actions, found, limits)?;
    let samples = samples(automaton, actions);
    let mut builder = builder(automaton, found);
    for block in 0..found.blocks as u32 {
        limits.go_on()?;
        let row = &graph.rows[block as usize];
        for alike in row.chunk_by(|a, b| a >> 32 == b >> 32) {
            let action = (alike[0] >> 32) as u32;
            let Some(Some(sample)) = samples.get(action as usize) else { continue };
            for to in graph.fewest(block, action, alike) {
                builder.push(block, sample.label, automaton.constraint(sample).clone(), to);
            }
        }
    }
    Ok(builder.done())
}

struct BlockGraph {
    /// For each block pairs of action and block, sorted; no silent step to itself.
    rows: Vec<Vec<u64>>,
    /// For each block the others that silent steps lead to, sorted.
    silent: Vec<Vec<u32>>,
}

impl BlockGraph {
    fn new(
        automaton: &Automaton,
        actions: &Actions,
        found: &Partition,
        limits: &ProductLimits,
    ) -> Limited<BlockGraph> {
        let mut rows: Vec<Vec<u64>> = vec![Vec::new(); found.blocks];
        for (state, block) in (0..).zip(&found.block) {
            let steps = actions.of(automaton, state);
            let steps = steps.map(|(action, to)| pair(action, found.block[to as usize]));
            rows[*block as usize].extend(steps.filter(|step| *step != pair(SILENT, *block)));
        }
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
        }
        let mut graph = BlockGraph { rows, silent: vec![Vec::new(); found.blocks] };
        let onward = |block: u32| graph.after(block, SILENT).collect::<Vec<u32>>();
        let (_, order) = components(found.blocks, onward);
        let mut stored = 0;
        // Successors come first.
        for block in order.into_iter().flatten() {
            let after: Vec<u32> = graph.after(block, SILENT).collect();
            let further = after.iter().flat_map(|to| &graph.silent[*to as usize]);
            let mut all: Vec<u32> = further.chain(&after).copied().collect();
            all.sort_unstable();
            all.dedup();
            stored += all.len() as u128 * 4 + 24;
            limits.fits("weak bisimulation", stored)?;
            graph.silent[block as usize] = all;
        }
        Ok(graph)
    }

    /// The blocks after an action.
    fn after(&self, block: u32, action: u32) -> impl Iterator<Item = u32> {
        let row = &self.rows[block as usize];
        let from = row.partition_point(|step| step >> 32 < u64::from(action));
        let alike = row[from..].iter().take_while(move |step| *step >> 32 == u64::from(action));
        alike.map(|step| *step as u32)
    }

    fn reaches(&self, from: u32, to: u32) -> bool {
        self.silent[from as usize].binary_search(&to).is_ok()
    }

    /// Of the steps of a block with an action those that do not follow from others.
    fn fewest(&self, block: u32, action: u32, alike: &[u64]) -> Vec<u32> {
        // Where the action leads after silent steps.
        let mut later: Vec<u32> = Vec::new();
        if action != SILENT {
            let silent = self.silent[block as usize].iter();
            later.extend(silent.flat_map(|via| self.after(*via, action)));
            later.sort_unstable();
            later.dedup();
        }
        let mut targets: Vec<u32> = alike.iter().map(|step| *step as u32).collect();
        targets.retain(|to| later.binary_search(to).is_err());
        let direct: Vec<u32> = alike.iter().map(|step| *step as u32).collect();
        targets.retain(|to| !direct.iter().chain(&later).any(|from| self.reaches(*from, *to)));
        targets
    }
}

/// A step for each action.
pub(super) fn samples<'a>(
    automaton: &'a Automaton,
    actions: &Actions,
) -> Vec<Option<Transition<'a>>> {
    let mut samples = Vec::new();
    for (step, action) in automaton.all_steps().zip(&actions.of_step) {
        let at = *action as usize;
        if samples.len() <= at {
            samples.resize(at + 1, None);
        }
        samples[at].get_or_insert(step);
    }
    samples
}
