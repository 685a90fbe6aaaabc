//! One state for each block.

use super::actions::Actions;
use super::partition::Partition;
use super::signature::{Saturated, Silent};
use crate::automaton::{Automaton, AutomatonBuilder, Transition};
use crate::constraint::DataConstraint;
use crate::limits::ProductLimits;

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

/// Weak: the fewest steps from which the others follow. They are unique, as blocks that reach each
/// other silently would be equivalent.
pub(super) fn weak(automaton: &Automaton, actions: &Actions, found: &Partition) -> Automaton {
    let cycles = Silent::new(automaton, actions);
    let unlimited = ProductLimits::memory(u64::MAX);
    let Ok(saturated) = Saturated::new(automaton, actions, &cycles, &found.block, &unlimited)
    else {
        return automaton.clone();
    };
    let mut cycle_of = vec![usize::MAX; found.blocks];
    for (state, block) in found.block.iter().enumerate() {
        if cycle_of[*block as usize] == usize::MAX {
            cycle_of[*block as usize] = cycles.cycle[state] as usize;
        }
    }
    let silent = |block: u32| {
        let all = saturated.silent[cycle_of[block as usize]].iter();
        all.copied().filter(move |b| *b != block)
    };
    let steps = |block: u32| &saturated.steps[cycle_of[block as usize]];
    let reaches = |from: u32, to: u32| {
        from != to && saturated.silent[cycle_of[from as usize]].binary_search(&to).is_ok()
    };
    let samples = samples(automaton, actions);
    let mut builder = builder(automaton, found);
    let nothing = vec![0; automaton.words()];
    for block in 0..found.blocks as u32 {
        for to in silent(block).filter(|to| !silent(block).any(|via| reaches(via, *to))) {
            builder.push(block, &nothing, DataConstraint::default(), to);
        }
        for step in steps(block) {
            let (action, to) = ((step >> 32) as u32, *step as u32);
            let later = || silent(block).any(|via| steps(via).binary_search(step).is_ok());
            let earlier = || {
                let first = steps(block).partition_point(|s| (s >> 32) < step >> 32);
                let alike = steps(block)[first..].iter().take_while(|s| **s >> 32 == step >> 32);
                alike.into_iter().any(|s| reaches(*s as u32, to))
            };
            if let Some(sample) = samples.get(action as usize).and_then(Option::as_ref)
                && !later()
                && !earlier()
            {
                builder.push(block, sample.label, automaton.constraint(sample).clone(), to);
            }
        }
    }
    builder.done()
}

/// A step for each action.
fn samples<'a>(automaton: &'a Automaton, actions: &Actions) -> Vec<Option<Transition<'a>>> {
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
